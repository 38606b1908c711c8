"""Finished games as training rows: replay the record, encode every decision that was searched.

A record holds the seed and what was decided; the positions come back by playing it again. So nothing
but actions and visit counts is kept while a game is played, and rows can be made again at any time.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, int64, typeof, uint8

from asyncplay import rng
from asyncplay.games.kernels import Kernel, body, helper
from asyncplay.games.spec import CHANCE_TURN, GameSpec
from asyncplay.search.layout import CHANCE_STREAM, Array

USUAL_LEGAL = 256  # legal actions of a row that there is space for at first


class PlayedGame(NamedTuple):
    """One finished game of T decisions, forced ones included, with E policy entries."""

    seed: int
    actions: Array  # int32[T]
    policy_ends: Array  # int32[T], decision t owns entries policy_ends[t - 1] .. policy_ends[t]; none: not searched
    policy_actions: Array  # int32[E], ascending within a decision, only those with a share
    policy_visits: Array  # int32[E]; of Gumbel roots what shall be learned, in parts of about 2 ** 20 a decision
    versions: Array  # int32[T], of the weights that answered last
    values: Array  # float32[T], what the search expected for the player; 0 without a search
    returns: Array  # float64[P], by seat, in the game's own units
    shortened: int = 0  # searches that ended early because their tree was full
    unrecorded: int = 0  # decisions whose policy found no space


class GameRows(NamedTuple):
    """The searched decisions of one game, from the seat of the player who decided."""

    features: Array  # float32[n, F] or uint8[n, F]
    legal: Array  # int32[L]
    offsets: Array  # int32[n + 1]
    policy: Array  # float32[L], shares of policy_visits, each row's sum is 1
    values: Array  # float32[n, P], entry k for the seat k places to the left of the player
    players: Array  # int32[n]
    decisions: Array  # int32[n], which decision of the game
    final: Array  # int64[S], the position in which the game ended
    states: Array  # int64[n, S], the positions, where the game turns its actions by a kernel; else int64[n, 0]


class Rerun(NamedTuple):
    """A record as the kernel takes it, with room for one position."""

    rules: Array
    seed: Array  # uint64[1]
    actions: Array
    policy_ends: Array
    policy_actions: Array
    policy_visits: Array
    state: Array  # int64[S]
    stream: Array  # uint64[4]
    is_staged: int  # rows are worth what their stage brought, not the whole game
    paid: Array  # float64[P], the returns when the present stage began
    returns: Array  # float64[P], for the present ones
    room: Array  # int64[room_words], of the game's kernels
    max_legal: int  # of the game


class Rows(NamedTuple):
    """What the kernel writes besides features."""

    legal: Array
    offsets: Array
    policy: Array
    players: Array
    decisions: Array
    gains: Array  # float64[n, P], what the game or the row's stage brought, by seat
    states: Array  # int64[n, S], or int64[n, 0] where none are wanted


_INTS, _LONGS, _WORDS, _DOUBLES = (np.zeros(1, dtype) for dtype in (np.int32, np.int64, np.uint64, np.float64))
REPLAY = typeof(Rerun(_LONGS, _WORDS, _INTS, _INTS, _INTS, _INTS, _LONGS, _WORDS, 0, _DOUBLES, _DOUBLES, _LONGS, 0))
ROWS = typeof(Rows(_INTS, _INTS, np.zeros(1, np.float32), _INTS, _INTS, np.zeros((1, 1)), _LONGS[None]))
REBUILD_BYTES = int64(REPLAY, ROWS, uint8[:, ::1])
REBUILD_FLOATS = int64(REPLAY, ROWS, float32[:, ::1])


def rebuild_examples(spec: GameSpec, rebuild: Kernel, record: PlayedGame) -> GameRows:
    """Return the training rows of a game; ``rebuild`` is its kernel."""
    ends = record.policy_ends
    n = np.count_nonzero(ends[1:] > ends[:-1]) + int(len(ends) > 0 and ends[0] > 0)
    features = np.empty((n, spec.row_features), spec.feature_dtype)
    replay, space = _replay(spec, record), n * min(spec.max_legal, USUAL_LEGAL) + spec.max_legal
    while True:
        rows = Rows(
            np.empty(space, np.int32),
            np.zeros(n + 1, np.int32),
            np.empty(space, np.float32),
            np.empty(n, np.int32),
            np.empty(n, np.int32),
            np.empty((n, spec.players)),
            np.empty((n, spec.example_words), np.int64),
        )
        if rebuild(replay, rows, features) == n:
            break
        space *= 2  # more legal actions than usual
    legal, policy = rows.legal[: rows.offsets[n]], rows.policy[: rows.offsets[n]]
    values = values_for(spec, rows.gains, rows.players)
    return GameRows(
        features, legal, rows.offsets, policy, values, rows.players, rows.decisions, replay.state, rows.states
    )


def _replay(spec: GameSpec, record: PlayedGame) -> Rerun:
    state, stream = np.empty(spec.state_words, np.int64), np.empty(rng.STREAM_WORDS, np.uint64)
    paid, returns = np.zeros(spec.players), np.zeros(spec.players)
    seed = np.array([record.seed], np.uint64)
    return Rerun(
        spec.rules,
        seed,
        *record[1:5],
        state,
        stream,
        int(spec.is_staged),
        paid,
        returns,
        spec.new_room(),
        spec.max_legal,
    )


def values_for(spec: GameSpec, gains: Array, players: Array) -> Array:
    """Scale ``gains`` float64[n, P] and turn them to each player's seat: float32[n, P]."""
    seats = (players[:, None] + np.arange(spec.players)) % spec.players
    turned = gains[np.arange(len(gains))[:, None], seats]
    return (turned * spec.value_scale + spec.value_offset).astype(np.float32)


@body
def rebuild(game, replay, rows, features):
    """Replay a game and write a row for each decision with a policy; return how many.

    It stops early where the legal actions of another row might not fit.
    """
    rules, state, row, first = replay.rules, replay.state, np.int64(0), np.int64(0)
    rng.plant(replay.stream, replay.seed[0], CHANCE_STREAM)
    game.reset(rules, state)
    for decision in range(len(replay.actions)):
        while game.to_move(rules, state) == CHANCE_TURN:
            if replay.is_staged:
                first = pay(game, replay, rows, first, row)
            game.chance(rules, state, replay.stream)
        if replay.policy_ends[decision] > policy_start(replay, decision):
            if len(rows.legal) - rows.offsets[row] < replay.max_legal:
                return row
            write_row(game, replay, rows, features[row], row)
            write_policy(replay, rows, row, decision)
            row += 1
        game.play(rules, state, replay.actions[decision], replay.room)
    while game.to_move(rules, state) == CHANCE_TURN:
        game.chance(rules, state, replay.stream)
    pay(game, replay, rows, first, row)
    return row


@helper
def pay(game, replay, rows, first, end):
    """Write what the seats have got since the last time into the rows first .. end - 1; return ``end``."""
    returns, paid = replay.returns, replay.paid
    game.returns(replay.rules, replay.state, returns)
    for seat in range(len(returns)):
        for row in range(first, end):
            rows.gains[row, seat] = returns[seat] - paid[seat]
        paid[seat] = returns[seat]
    return end


@helper
def policy_start(replay, decision):
    """Where the policy entries of a decision start."""
    return replay.policy_ends[decision - 1] if decision > 0 else 0


@helper
def write_row(game, replay, rows, features, row):
    """Write the present position: player, features, legal actions, and the state where it is wanted."""
    player, offset = game.to_move(replay.rules, replay.state), rows.offsets[row]
    game.encode(replay.rules, replay.state, player, features, replay.room)
    rows.players[row] = player
    for word in range(rows.states.shape[1]):
        rows.states[row, word] = replay.state[word]
    rows.offsets[row + 1] = offset + game.legal(replay.rules, replay.state, rows.legal[offset:], replay.room)


@helper
def write_policy(replay, rows, row, decision):
    """Spread the visit counts of a decision over the row's legal actions; both ascend."""
    start, end = policy_start(replay, decision), replay.policy_ends[decision]
    total, entry = 0, start
    for i in range(start, end):
        total += replay.policy_visits[i]
    for i in range(rows.offsets[row], rows.offsets[row + 1]):
        is_visited = entry < end and replay.policy_actions[entry] == rows.legal[i]
        rows.policy[i] = replay.policy_visits[entry] / total if is_visited else 0.0
        entry += is_visited
    rows.decisions[row] = decision
