"""Self-play training: one asyncio process owns the model, worker processes play."""
