"""Counters and histograms that never grow with the age of a run."""
