"""Tabular MCCFR."""
