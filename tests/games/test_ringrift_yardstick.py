"""The one-ply player of RingRift's rules against its own words."""

import numpy as np
import pytest
from games.ringrift_table import Table, set_up

from asyncplay import rng
from asyncplay.games.kernels import ready
from asyncplay.games.ringrift import decisions, layout
from asyncplay.games.ringrift.decisions import Position
from asyncplay.games.ringrift.drawing import cap_height
from asyncplay.games.ringrift.yardstick import advise


def worth(table: Table, position: Position, player: int) -> float:
    own = [rings for rings in position.stacks.values() if rings[-1] == player]
    return (
        2 * position.territory[player - 1] / table.spec.rules[layout.MINIMUM]
        + 2 * position.credit[player - 1] / table.spec.rules[layout.THRESHOLD]
        + 0.02 * len(own)
        + 0.01 * sum(map(cap_height, own))
        + 0.005 * list(position.markers.values()).count(player)
    )


def score_after(table: Table, action: int) -> float:
    me, state = table.position.to_act, table.state.copy()
    table.spec.kernels.play(table.spec.rules, state, action, table.spec.new_room())
    after = decisions.read(table.spec, state)
    if after.reason is not None:
        return 0.0 if after.winner is None else 10.0 if after.winner == me else -10.0
    others = [player for player in range(1, table.spec.players + 1) if player != me]
    return worth(table, after, me) - max(worth(table, after, player) for player in others)


@pytest.mark.parametrize(("board", "players"), [("square8", 2), ("hex8", 3)])
def test_it_takes_the_first_action_with_the_highest_score(board, players):
    """In every fourth position of a random game."""
    table, choices = Table(board=board, players=players, rings=6), rng.stream(2)
    kernels, rules, room = table.spec.kernels, table.spec.rules, table.spec.new_room()
    while legal := sorted(decisions.legal_decisions(table.spec, table.state).values()):
        if table.position.decisions % 4 == 0:
            scores = np.array([score_after(table, action) for action in legal])
            best = {action for action, score in zip(legal, scores, strict=True) if score > scores.max() - 1e-9}
            chosen = ready(advise)(rules, table.state, room)
            assert chosen in best
            assert len(best) > 1 or chosen == legal[int(scores.argmax())]
        kernels.play(rules, table.state, legal[rng.below(choices, len(legal))], room)


def test_it_takes_a_win():
    table = set_up(stacks={(0, 0): (1, 1), (7, 7): (2,)}, markers={(2, 0): 2}, credit=[17, 0], hand=[0, 5])
    action = ready(advise)(table.spec.rules, table.state, table.spec.new_room())
    assert decisions.describe(table.spec, table.state, action) == ("move", (0, 0), (2, 0))
