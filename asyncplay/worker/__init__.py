"""The playing process. Never imports torch or rich."""
