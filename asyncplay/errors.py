"""What can go wrong at the borders: the user's input, the wire, the disk, the pool."""


class AsyncplayError(Exception):
    """A mistake or failure with a message for people: the culprit, its value, what was wanted."""


class ConfigError(AsyncplayError):
    """One line for each mistake of a configuration."""


class WireError(AsyncplayError):
    """Bytes that are no frame of ours. Costs the worker which sent them, nobody else."""


class PoolFailed(AsyncplayError):
    """Workers die faster than they can be replaced; the message is the diagnosis."""
