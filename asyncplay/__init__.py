"""Self-play training: one asyncio process owns the model, worker processes play."""

__version__ = "0.1.0"
