"""How strong a trained run is, and what it does."""
