"""Agents that decide for a seat: random, rules, perfect play, OpenSpiel, libraries in other languages."""
