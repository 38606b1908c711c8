"""A game for asyncplay: its rules, and the search compiled for it."""
