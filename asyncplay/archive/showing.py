"""A stored game drawn: one of its positions, or all of it where a game can be animated."""

from collections import deque
from pathlib import Path

from asyncplay import games
from asyncplay.data.reader import StoredGame, read_games, reading
from asyncplay.errors import AsyncplayError
from asyncplay.games.position import Position
from asyncplay.games.show import LastAction, State, show_of
from asyncplay.games.spec import GameSpec
from asyncplay.payloads import Array, RecordDamaged, unpack
from asyncplay.rundir.layout import read_config


class ShownGame:
    """A stored game whose positions can be drawn, for ``viewer``, a seat, or with all that is hidden."""

    def __init__(self, folder: Path, number: int | None, viewer: int | None = None) -> None:
        """Of this number in the store; the latest without one."""
        config = read_config(folder)
        self.spec = games.load(config.game.name, config.game.options)
        if viewer is not None and viewer >= self.spec.players:
            raise AsyncplayError(f"--seat is {viewer}, must be 0 to {self.spec.players - 1}")
        game = _find(folder, number)
        self.number, self._viewer, self._show = game.number, viewer, show_of(self.spec)
        try:
            actions = unpack(game.record).actions
        except RecordDamaged as error:
            raise AsyncplayError(f"{folder}: game {game.number}: {error}") from None
        self._decisions, self._final = replay(self.spec, actions, game.seed)

    @property
    def n_decisions(self) -> int:
        return len(self._decisions)

    def text(self, decision: int) -> str:
        """The position after so many decisions, under a line that says which it is."""
        drawn = self._show.text(self.spec, self._state(decision), self._viewer, self._last(decision))
        return f"game {self.number} of {self.spec.name}, decision {decision} of {self.n_decisions}\n{drawn}"

    def svg(self, decision: int | None) -> str:
        """Without a number of decisions the whole game where it has an animation, else its end."""
        if decision is None and self._viewer is None:
            states = [self._state(place) for place in range(self.n_decisions + 1)]
            if (moving := self._show.animation(self.spec, states)) is not None:
                return moving
        place = self.n_decisions if decision is None else decision
        return self._show.svg(self.spec, self._state(place), self._viewer, self._last(place))

    def check(self, decision: int) -> int:
        """The number of a position of this game; AsyncplayError if it has none."""
        if decision > self.n_decisions:
            raise AsyncplayError(f"--decision is {decision}, game {self.number} has {self.n_decisions}")
        return decision

    def _state(self, decision: int) -> State:
        return self._final if decision == self.n_decisions else self._decisions[decision].state

    def _last(self, decision: int) -> LastAction | None:
        return self._decisions[decision - 1] if decision else None


def _find(folder: Path, number: int | None) -> StoredGame:
    with reading(folder) as connection:
        found = deque((game for game in read_games(connection) if number in (None, game.number)), maxlen=1)
    if not found:
        which = "is no game yet" if number is None else f"is no game {number}"
        raise AsyncplayError(f"{folder}: there {which}; `asyncplay data {folder} stats` counts them")
    if (flaw := found[0].flaw) is not None:
        raise AsyncplayError(f"{folder}: game {found[0].number}: {flaw}")
    return found[0]


def replay(spec: GameSpec, actions: Array, seed: int) -> tuple[list[LastAction], State]:
    """The decisions of a game with the positions they were made in, and the position after them."""
    position, decisions = Position.start(spec, seed), []
    for place, action in enumerate(actions.tolist()):
        if action not in position.legal:
            raise AsyncplayError(f"decision {place} is {action}, which is not legal there; see data RUN verify")
        decisions.append(LastAction(position.state, position.player, action))
        position = position.after(action)
    return decisions, position.state
