"""Ways to train, a folder each, and what they share."""
