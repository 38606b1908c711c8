"""``asyncplay games`` and ``asyncplay games new``."""

from pathlib import Path
from shlex import quote

from cyclopts import App

from asyncplay.cli.kinds import MaybeOptions
from asyncplay.cli.output import print_lines, say
from asyncplay.errors import AsyncplayError

games = App(name="games")


@games.default
def list_games(name: str | None = None, *, option: MaybeOptions = None, json: bool = False) -> int:
    """List the games that can be trained; of one game, facts and options.

    Parameters
    ----------
    name
        The game.
    option
        Show the game with this option chosen, such as players=3; repeatable.
    """
    from json import dumps

    from asyncplay.archive.catalogue import as_lines, catalogue, describe, facts_as_lines

    if name is None:
        if option:
            raise AsyncplayError(f"--option {option[0]}: of which game? wanted is games NAME --option KEY=VALUE")
        found, complaints = catalogue()
        print_lines([dumps(found)] if json else as_lines(found))
        for line in complaints:
            say(f"asyncplay: warning: {line}")
    else:
        facts = describe(name, option or ())
        print_lines([dumps(facts)] if json else facts_as_lines(facts))
    return 0


@games.command
def new(name: str, *, out: Path | None = None) -> int:
    """Write a package with a small game, its tests and a configuration that trains it: docs/add-a-game.md.

    Parameters
    ----------
    name
        Of the game and of its package, such as my_game.
    out
        The folder to make; by default NAME.
    """
    from asyncplay.starter.writing import write

    folder = Path(name) if out is None else out
    files = write(name, folder)
    say(f"{folder}: {', '.join(str(file.relative_to(folder)) for file in files)}")
    place, config = quote(str(folder)), quote(str(folder / f"{name}.toml"))
    for line in ("next:", f"  pip install -e {place}", f"  pytest {place}", f"  asyncplay train {config}"):
        say(line)
    return 0
