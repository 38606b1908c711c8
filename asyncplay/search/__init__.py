"""Thought: tree search for neural self-play, regret minimisation for tables."""
