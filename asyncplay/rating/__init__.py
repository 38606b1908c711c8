"""How strong a trained run is."""
