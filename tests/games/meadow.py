"""Meadow, a game for tests with everything that large boards need.

60,013 actions in 2,400 planes over 5 x 5 cells and 13 that belong to no cell, up to 20,013 of them legal; a flood
fill in ``legal``, ``play``, ``encode`` and ``turn``; features of no cell with a scale; and symmetries that depend on
the position.

The seats take turns. A decision puts a stone on an empty cell, of a kind k with k mod 3 equal to the number of
decisions so far mod 3; the last two bits of the kind are its weight. Or it takes a meadow: a connected set of at most
3 empty cells that no stone of the other seat touches; the meadows of the seat to move are numbered in the order of
their first cells, so their numbers change when the board is turned. Or it passes. The game ends when the board is
full, after two passes in a row, or after LIMIT decisions; who has more cells wins, then who has more weight.

rules: for each symmetry where a cell goes, then for each where a cell comes from. state: the CELLS (0 empty, 1 + seat),
DECISIONS, PASSES, WEIGHTS by seat. room: the meadow of each cell or NONE, and a queue of cells.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, helper, kernel
from asyncplay.games.spec import BY_LIMIT, BY_RULES, GAME_OVER, GameSpec, Symmetries
from asyncplay.search import examples, policy, puct, symmetry

SIDE, CELLS, KINDS, PHASES = 5, 25, 2400, 3
N_STONES, N_MEADOWS, LARGEST = CELLS * KINDS, 12, 3
PASS, TAKE = N_STONES, N_STONES + 1
ACTIONS = N_STONES + 1 + N_MEADOWS
DECISIONS, PASSES, WEIGHTS, STATE_WORDS = CELLS, CELLS + 1, CELLS + 2, CELLS + 4
LIMIT, MOST_WEIGHT, PLANES = 24, 36, 3
SYMMETRIES, GOES, COMES = 8, 0, 8 * CELLS
NONE, UNSEEN = -1, -2
OPTIONS = ()


@helper
def find_meadows(state, seat, room):
    """Write the number of each cell's meadow, or NONE; return how many ``seat`` could take."""
    for cell in range(CELLS):
        room[cell] = UNSEEN
    count = 0
    for cell in range(CELLS):
        if room[cell] == UNSEEN:
            count += flood(state, seat, room, cell, count)
    return count


@helper
def flood(state, seat, room, first, number):
    """Mark the empty cells connected to ``first`` as a meadow if they are one; return 1 if they are."""
    if state[first] != 0:
        room[first] = NONE
        return 0
    queue, n_queued, done, is_open = room[CELLS:], 1, 0, True
    queue[0], room[first] = first, number
    while done < n_queued:
        cell = queue[done]
        done += 1
        for side in range(4):
            row, column = cell // SIDE + (side == 0) - (side == 1), cell % SIDE + (side == 2) - (side == 3)
            if 0 <= row < SIDE and 0 <= column < SIDE:
                other = row * SIDE + column
                is_open = is_open and state[other] in (0, 1 + seat)
                if state[other] == 0 and room[other] == UNSEEN:
                    queue[n_queued], room[other] = other, number
                    n_queued += 1
    if is_open and n_queued <= LARGEST:
        return 1
    for i in range(n_queued):
        room[queue[i]] = NONE
    return 0


@helper
def n_empty(state):
    count = 0
    for cell in range(CELLS):
        count += state[cell] == 0
    return count


@kernel(contract.RESET)
def reset(rules, state):
    """The empty board."""
    for word in range(STATE_WORDS):
        state[word] = 0


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """The seats take turns."""
    is_over = state[PASSES] == 2 or state[DECISIONS] == LIMIT or n_empty(state) == 0
    return GAME_OVER if is_over else state[DECISIONS] & 1


@kernel(contract.WHY)
def why(rules, state):
    """The limit only if nothing else ended it."""
    return 0 if state[PASSES] == 2 or n_empty(state) == 0 else 1


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Stones by kind, then pass, then the meadows."""
    if to_move(rules, state) < 0:
        return 0
    count = 0
    for kind in range(state[DECISIONS] % PHASES, KINDS, PHASES):
        for cell in range(CELLS):
            if state[cell] == 0:
                actions[count] = kind * CELLS + cell
                count += 1
    actions[count] = PASS
    count += 1
    for number in range(find_meadows(state, state[DECISIONS] & 1, room)):
        actions[count] = TAKE + number
        count += 1
    return count


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """A stone, a meadow or nothing."""
    seat = state[DECISIONS] & 1
    if action < PASS:
        state[action % CELLS] = 1 + seat
        state[WEIGHTS + seat] += (action // CELLS) & 3
    elif action >= TAKE:
        find_meadows(state, seat, room)
        for cell in range(CELLS):
            if room[cell] == action - TAKE:
                state[cell] = 1 + seat
    state[PASSES] = state[PASSES] + 1 if action == PASS else 0
    state[DECISIONS] += 1


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """There is none."""


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """1 for the winner and -1 for the loser at the end."""
    gains[0] = gains[1] = 0.0
    if to_move(rules, state) != GAME_OVER:
        return
    lead = (state[WEIGHTS] - state[WEIGHTS + 1]) / (MOST_WEIGHT + 1)
    for cell in range(CELLS):
        lead += (state[cell] == 1) - 1.0 * (state[cell] == 2)
    gains[0] = np.sign(lead)
    gains[1] = -gains[0]


@kernel(contract.ENCODE_BYTES)
def encode(rules, state, viewer, features, room):
    """Planes of the viewer's stones, the other's, the viewer's meadows; then decisions, passes and both weights."""
    find_meadows(state, viewer, room)
    for cell in range(CELLS):
        features[cell] = state[cell] == 1 + viewer
        features[CELLS + cell] = state[cell] == 2 - viewer
        features[2 * CELLS + cell] = room[cell] >= 0
    first = PLANES * CELLS
    features[first] = state[DECISIONS]
    features[first + 1] = state[PASSES]
    features[first + 2] = state[WEIGHTS + viewer]
    features[first + 3] = state[WEIGHTS + 1 - viewer]


@kernel(contract.KEY)
def key(rules, state, viewer):
    """A hash over all words."""
    mixed = rng.mix(np.uint64(viewer))
    for word in range(STATE_WORDS):
        mixed = rng.mix(mixed ^ np.uint64(state[word]))
    return mixed


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(STATE_WORDS):
            worlds[world, word] = state[word]


@kernel(contract.TURN)
def turn(rules, state, action, y, room):
    """Stones go where their cells go; a meadow gets the number that it has on the turned board."""
    if action < PASS:
        return action - action % CELLS + rules[GOES + y * CELLS + action % CELLS]
    if action == PASS:
        return action
    find_meadows(state, state[DECISIONS] & 1, room)
    number = TAKE
    for cell in range(CELLS):
        meadow = room[rules[COMES + y * CELLS + cell]]
        if meadow == action - TAKE:
            return number
        is_new = meadow != NONE
        for before in range(cell):
            is_new = is_new and room[rules[COMES + y * CELLS + before]] != meadow
        number += is_new
    return number


KERNELS = Kernels(
    name="meadow",
    reset=reset,
    legal=legal,
    play=play,
    chance=chance,
    to_move=to_move,
    returns=returns,
    encode=encode,
    key=key,
    determinize=determinize,
    ending=contract.no_ending,
    turn=turn,
)


def turned_cells() -> np.ndarray:
    """int[8, 25], which cell each cell of the turned board comes from."""
    board = np.arange(CELLS).reshape(SIDE, SIDE)
    boards = [np.rot90(side, turns) for side in (board, board.T) for turns in range(4)]
    return np.array([turned.ravel() for turned in boards])


def symmetries() -> Symmetries:
    """Of the square; the last features belong to no cell."""
    cells = turned_cells()
    rest = np.tile(np.arange(PLANES * CELLS, PLANES * CELLS + 4), (SYMMETRIES, 1))
    planes = [cells + plane * CELLS for plane in range(PLANES)]
    return Symmetries(np.concatenate([*planes, rest], axis=1).astype(np.int32), None)


def spec() -> GameSpec:
    """Meadow has no options."""
    comes = turned_cells()
    return GameSpec(
        name="meadow",
        players=2,
        rules=np.concatenate([np.argsort(comes, axis=1).ravel(), comes.ravel()]).astype(np.int64),
        state_words=STATE_WORDS,
        actions=ACTIONS,
        features=PLANES * CELLS + 4,
        feature_dtype=np.uint8,
        planes=(PLANES, SIDE, SIDE),
        global_features=4,
        feature_scale=((PLANES * CELLS, 1.0), (1, 1 / LIMIT), (1, 1.0), (2, 1 / MOST_WEIGHT)),
        action_planes=KINDS,
        global_actions=1 + N_MEADOWS,
        max_legal=CELLS * KINDS // PHASES + 1 + N_MEADOWS,
        max_decisions=LIMIT,
        zero_sum=True,
        is_hidden=False,
        n_symmetries=SYMMETRIES,
        symmetries=symmetries,
        kernels=KERNELS,
        entry_module=__name__,
        room_words=2 * CELLS,
        reasons=(BY_RULES, BY_LIMIT),
        why=why,
    )


@kernel(puct.SELECT_BYTES)
def select(packed, features):
    return puct.select(KERNELS, packed, features)


@kernel(policy.ADVANCE)
def advance(packed, finished):
    return policy.advance(KERNELS, packed, finished)


@kernel(examples.REBUILD_BYTES)
def rebuild(replay, rows, features):
    return examples.rebuild(KERNELS, replay, rows, features)


@kernel(symmetry.TURN_ROWS)
def turn_rows(rules, states, turns, offsets, legal, room):  # noqa: PLR0917
    return symmetry.turn_rows(KERNELS, rules, states, turns, offsets, legal, room)


@kernel(symmetry.CHECK_TURNS)
def check_turns(rules, states, n_turns, offsets, legal, seen, room):  # noqa: PLR0917
    return symmetry.check_turns(KERNELS, rules, states, n_turns, offsets, legal, seen, room)
