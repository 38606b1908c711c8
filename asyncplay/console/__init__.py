"""The live view of a run in a terminal. rich is at home here."""
