"""``asyncplay games``."""

from asyncplay.cli.kinds import MaybeOptions
from asyncplay.errors import AsyncplayError


def games(name: str | None = None, *, option: MaybeOptions = None, json: bool = False) -> int:
    """List the games that can be trained, as they are by default; of one game, its facts and its options.

    Parameters
    ----------
    name
        The game.
    option
        Show the game with this option chosen, such as players=3; repeatable.
    """
    from json import dumps

    from asyncplay.archive.catalogue import as_lines, catalogue, describe, facts_as_lines
    from asyncplay.cli.output import print_lines

    if name is None:
        if option:
            raise AsyncplayError(f"--option {option[0]}: of which game? wanted is games NAME --option KEY=VALUE")
        found = catalogue()
        print_lines([dumps(found)] if json else as_lines(found))
    else:
        facts = describe(name, option or ())
        print_lines([dumps(facts)] if json else facts_as_lines(facts))
    return 0
