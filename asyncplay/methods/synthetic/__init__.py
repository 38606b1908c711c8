"""A load made to measure."""
