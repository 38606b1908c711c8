"""Liar's dice for people: a bid is 2x5, two dice show a five."""

from collections.abc import Iterable

from asyncplay.games.dealt import ACTIONS, DECISIONS, HISTORY, VALUES
from asyncplay.games.show import LastAction, State
from asyncplay.games.show.dealt import seat_lines
from asyncplay.games.show.tables import TableLine, TableShow, is_over
from asyncplay.games.spec import GameSpec


class LiarsDiceShow(TableShow):
    """The last action calls the bid before it a lie."""

    how = "a bid above the last, such as 2x5: two dice show a five; or liar"

    def name(self, spec: GameSpec, state: State, action: int) -> str:
        return "liar" if action == spec.rules[ACTIONS] - 1 else _bid(spec, action)

    def spellings(self, spec: GameSpec, state: State, action: int) -> Iterable[str]:
        if action == spec.rules[ACTIONS] - 1:
            return "lie", "doubt", "call", "l"
        count, face = _bid(spec, action).split("x")
        return f"{count} {face}", f"bid {count} {face}", f"bid {count}x{face}", f"{count} of {face}", f"{count}*{face}"

    def caption(self, spec: GameSpec, state: State) -> list[str]:
        faces = int(spec.rules[VALUES])
        bids = [self.name(spec, state, int(action)) for action in state[HISTORY : HISTORY + int(state[DECISIONS])]]
        return [f"{faces} stands for any face; bids: {' '.join(bids) or 'none yet'}"]

    def places(self, spec: GameSpec, state: State, viewer: int | None, last: LastAction | None) -> list[TableLine]:
        names = [str(face + 1) for face in range(int(spec.rules[VALUES]))]
        shown = range(spec.players) if is_over(spec, state) else ()
        return seat_lines(spec, state, viewer, names=names, shown=shown, notes=[""] * spec.players)


def _bid(spec: GameSpec, action: int) -> str:
    count, face = divmod(action, int(spec.rules[VALUES]))
    return f"{count + 1}x{face + 1}"


SHOW = LiarsDiceShow()
