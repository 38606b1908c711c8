"""One page about a run, with plots drawn by us: it needs no network, no scripts and no other file."""
