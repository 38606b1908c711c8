"""``asyncplay games``."""


def games(*, json: bool = False) -> int:
    """List the games that can be trained, with their options as they are by default."""
    from json import dumps

    from asyncplay.archive.catalogue import as_lines, catalogue
    from asyncplay.cli.output import print_lines

    found = catalogue()
    print_lines([dumps(found)] if json else as_lines(found))
    return 0
