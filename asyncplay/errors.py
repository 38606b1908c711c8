"""What can go wrong at the borders: the user's input, the wire, the disk, the pool."""


def printable(text: object) -> str:
    """For a terminal: escape codes, newlines and whatever else is not to be seen become backslash sequences."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(text))


def leaves(error: BaseException) -> list[BaseException]:
    """The exceptions inside an exception group, in order; any other exception is its own only leaf."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in leaves(inner)]


class AsyncplayError(Exception):
    """A mistake or failure with a message for people: the culprit, its value, what was wanted."""

    exit_code = 2
    """Of the command that ends by it: 2 for the user's mistake, 1 where nobody on the outside is to blame."""


class ConfigError(AsyncplayError):
    """One line for each mistake of a configuration."""


class WireError(AsyncplayError):
    """Bytes that are no frame of ours. Costs the worker which sent them, nobody else."""


class PoolFailed(AsyncplayError):
    """Workers die faster than they can be replaced; the message is the diagnosis."""

    exit_code = 1


class RunFailed(AsyncplayError):
    """An exception ended a run; the message says where to read on."""

    exit_code = 1
