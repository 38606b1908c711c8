"""The process that owns the model: batching, supervision, books."""
