"""A person plays against what was trained: the game under way, what is typed and what is answered."""
