"""Games solved by a table."""
