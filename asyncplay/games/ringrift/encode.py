"""What networks see of RingRift: planes and global features relative to the viewer, and a key of the same.

Seat k is k places to the left of the viewer. Planes, first seven for each seat: height and cap height of the stacks it
controls, 1 where it controls one, rings of it in a stack of anyone, 1 where its ring lies under the cap, its markers,
its territory. Then the empty cells, the cells of the board, and the focus of this turn: the stack just placed or moved,
or the marker just slid; the phase tells which.

Global features: the phase, a 1 among 13; recovery turn; board changed in this turn; sides may be swapped; the seats'
last-player-standing holder, and its rounds; rings in hand, credit and territory of each seat; the number of players.
"""

import numpy as np

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import body, helper, kernel
from asyncplay.games.ringrift.layout import (
    CELLS,
    CHANGED,
    COLLAPSED,
    COUNT,
    CREDITS,
    EMPTY,
    FINISHED,
    FOCUS,
    HANDS,
    HOLDER,
    MARKER,
    MAX_PLAYERS,
    MINIMUM,
    N_CELLS,
    NOBODY,
    NOWHERE,
    OFF,
    PHASE,
    PHASES,
    PLAYERS,
    RECOVERED,
    RINGS,
    ROUNDS,
    SWAPPED,
    TERRITORIES,
    THRESHOLD,
    TURN,
    cap_of,
    height_of,
    ring_of,
    top_of,
)
from asyncplay.games.ringrift.turns import can_swap

HEIGHT, CAP, CONTROLS, RINGS_IN, UNDER_CAP, MARKERS, OWNED, SEAT_PLANES = range(8)
EMPTY_PLANE, BOARD_PLANE, FOCUS_PLANE, OTHER_PLANES = range(4)
IN_RECOVERY, HAS_CHANGED, MAY_SWAP, STANDING = (
    PHASES,
    PHASES + 1,
    PHASES + 2,
    PHASES + 3,
)  # global; STANDING: a seat each
MOST_BYTE = 255


def n_planes(players: int) -> int:
    """Planes of a game of so many players."""
    return SEAT_PLANES * players + OTHER_PLANES


def board_plane(players: int) -> int:
    """The plane of the cells on the board."""
    return SEAT_PLANES * players + BOARD_PLANE


def n_globals(players: int) -> int:
    """Global features of a game of so many players."""
    return STANDING + 4 * players + 2


@kernel(contract.ENCODE_BYTES, is_long=True)
def encode(rules, state, viewer, features, room):
    """Counts as they are: networks scale them."""
    n_cells, players = rules[N_CELLS], rules[PLAYERS]
    first = viewer ^ state[SWAPPED]
    for index in range(len(features)):
        features[index] = 0
    others = SEAT_PLANES * players * n_cells
    for cell in range(n_cells):
        word = state[CELLS + cell]
        if word == OFF:
            continue
        features[others + BOARD_PLANE * n_cells + cell] = 1
        if word == EMPTY:
            features[others + EMPTY_PLANE * n_cells + cell] = 1
        elif word < COLLAPSED:
            features[(SEAT_PLANES * place_of(rules, word - MARKER, first) + MARKERS) * n_cells + cell] = 1
        elif word < OFF:
            features[(SEAT_PLANES * place_of(rules, word - COLLAPSED, first) + OWNED) * n_cells + cell] = 1
        else:
            write_stack(rules, word, first, features, cell)
    if state[FOCUS] != NOWHERE:
        features[others + FOCUS_PLANE * n_cells + state[FOCUS]] = 1
    write_globals(rules, state, first, features[others + OTHER_PLANES * n_cells :])


@helper
def place_of(rules, seat, first):
    """How many places to the left of the viewer's seat a seat is."""
    return seat - first if seat >= first else seat - first + rules[PLAYERS]


@body
def write_stack(rules, word, first, features, cell):
    """The planes of a stack."""
    n_cells, height, cap = rules[N_CELLS], height_of(word), cap_of(word)
    plane = SEAT_PLANES * place_of(rules, top_of(word), first)
    features[(plane + HEIGHT) * n_cells + cell] = height
    features[(plane + CAP) * n_cells + cell] = cap
    features[(plane + CONTROLS) * n_cells + cell] = 1
    for depth in range(height):
        seat = place_of(rules, ring_of(word, depth), first)
        features[(SEAT_PLANES * seat + RINGS_IN) * n_cells + cell] += 1
    if cap < height:
        seat = place_of(rules, ring_of(word, cap), first)
        features[(SEAT_PLANES * seat + UNDER_CAP) * n_cells + cell] = 1


@body
def write_globals(rules, state, first, features):
    """What belongs to no cell."""
    players = rules[PLAYERS]
    if state[PHASE] != FINISHED:
        features[state[PHASE]] = 1
    features[IN_RECOVERY] = state[RECOVERED]
    features[HAS_CHANGED] = state[CHANGED]
    features[MAY_SWAP] = can_swap(rules, state)
    if state[HOLDER] != NOBODY:
        features[STANDING + place_of(rules, state[HOLDER], first)] = 1
    rounds = STANDING + players
    features[rounds] = min(state[COUNT], rules[ROUNDS])
    for seat in range(players):
        place = rounds + 1 + place_of(rules, seat, first)
        features[place] = state[HANDS + seat]
        features[place + players] = up_to(state[CREDITS + seat], rules[THRESHOLD])
        features[place + 2 * players] = up_to(state[TERRITORIES + seat], rules[MINIMUM])
    features[rounds + 1 + 3 * players] = players


@helper
def up_to(count, enough):
    """A count that may grow far beyond what is enough during one turn."""
    return min(count, enough + enough // 2, MOST_BYTE)


def feature_scale(players: int, n_cells: int, width: int, rules: np.ndarray) -> tuple[tuple[int, float], ...]:
    """Runs of (features, factor) that bring every count to about 1."""
    by_plane = [1.0] * SEAT_PLANES
    by_plane[HEIGHT] = by_plane[CAP] = by_plane[RINGS_IN] = 1 / width
    seats = [(n_cells, factor) for _ in range(players) for factor in by_plane]
    most = [int(rules[word]) for word in (RINGS, THRESHOLD, MINIMUM)]
    counts = [(players, 1 / number) for number in most]
    flags = OTHER_PLANES * n_cells + STANDING + players
    return (*seats, (flags, 1.0), (1, 1 / int(rules[ROUNDS])), *counts, (1, 1 / MAX_PLAYERS))


@kernel(contract.KEY)
def key(rules, state, viewer):
    """A hash over the position; how many decisions and turns it took is not in it, as nobody sees that."""
    small = viewer | state[PHASE] << 4 | state[TURN] << 8 | state[RECOVERED] << 12 | state[CHANGED] << 13
    small |= can_swap(rules, state) << 14 | (state[HOLDER] + 1) << 16 | min(state[COUNT], rules[ROUNDS]) << 20
    mixed = rng.mix(np.uint64(small | (state[FOCUS] + 1) << 32))
    for seat in range(rules[PLAYERS]):
        counts = state[HANDS + seat] | state[CREDITS + seat] << 16 | state[TERRITORIES + seat] << 32
        mixed = rng.mix(mixed ^ np.uint64(counts))
    for cell in range(rules[N_CELLS]):
        mixed = rng.mix(mixed ^ np.uint64(state[CELLS + cell]))
    return mixed
