"""A stored game as a picture, for games that can be drawn."""

from collections import deque
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from asyncplay import games, rng
from asyncplay.data.reader import StoredGame, read_games, reading
from asyncplay.errors import AsyncplayError
from asyncplay.payloads import RecordDamaged, unpack
from asyncplay.rundir.layout import read_config, refuse_own
from asyncplay.search.layout import CHANCE_STREAM


class DrawnGame(NamedTuple):
    """The last position as text, and all of the game as an animated SVG, a picture a turn."""

    number: int
    lines: list[str]
    svg: str


def draw(folder: Path, number: int | None) -> DrawnGame:
    """The stored game of this number, the latest without one; AsyncplayError if it cannot be drawn."""
    config = read_config(folder)
    name = config.game.name
    if name not in games.NAMES or find_spec(f"asyncplay.games.{name}.show") is None:
        raise AsyncplayError(f"{folder} is of {name}, which nobody has drawn yet; treasurehunt can be")
    show, spec = import_module(f"asyncplay.games.{name}.show"), games.load(name, config.game.options)
    game = _find(folder, number)
    try:
        actions = unpack(game.record).actions.tolist()
    except RecordDamaged as error:
        raise AsyncplayError(f"game {game.number} of {folder} is damaged: {error}") from None
    states = show.replay(spec, rng.stream(game.seed, CHANCE_STREAM), actions)
    svg = show.animate(spec, states[:: spec.players])
    return DrawnGame(game.number, show.draw(spec, states[-1]), svg)


def write_svg(drawn: DrawnGame, target: Path, folder: Path) -> None:
    refuse_own(target, folder)
    try:
        target.write_text(drawn.svg, encoding="utf-8")
    except OSError as error:
        raise AsyncplayError(f"--out {target}: cannot be written: {error.strerror}") from None


def _find(folder: Path, number: int | None) -> StoredGame:
    with reading(folder) as connection:
        found = deque((game for game in read_games(connection) if number in (None, game.number)), maxlen=1)
    if not found:
        which = "no games yet" if number is None else f"no game {number}"
        raise AsyncplayError(f"{folder} has {which}; `asyncplay data {folder} stats` says what it has")
    if found[-1].flaw is not None:
        raise AsyncplayError(f"game {found[-1].number} of {folder} is damaged: {found[-1].flaw}")
    return found[-1]
