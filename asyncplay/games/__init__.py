"""The rules: one room a game, all behind the contract of spec.py."""
