"""Neural self-play."""
