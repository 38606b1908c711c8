"""What a run keeps of its games."""
