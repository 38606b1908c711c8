"""What a position of RingRift looks like in memory, and how to read it.

A cell is one word: EMPTY, MARKER + seat, COLLAPSED + seat, OFF (a cell of the box outside a hexagon), or a stack:
IS_STACK, the height in 5 bits, then the colours of its rings in 2 bits each, the top first. No stack grows higher than
the board is wide: it has to go at least its height, or to have gone one less, so 25 rings are the most.

Seats are those of the rules, 0 .. P-1, and a ring's colour is its seat. The swap rule lets two players exchange them:
the contract's player is the one who began at that seat, so with SWAPPED seat s is played by player 1 - s.

Action planes, W the width of the box, D directions, X axes; an action is plane * C + cell:

=============  ===========  ====================================================================================
PLACE          3            put 1, 2 or 3 rings on the cell
GO             D * (W - 1)  direction by direction, distance 1 .. W-1: go from the cell, or capture on the way
SLIDE          D            recovery: the marker on the cell goes to its neighbour, or strikes the stack there
WHOLE          X            collapse the whole line that starts at the cell and runs along the axis
PART           X            collapse as many cells of a longer line as a line needs, from the cell on
PAY            1            the stack on the cell pays a cost, gives a buried ring or loses its cap
CLAIM          5            claim the region whose lowest cell this is; its border: the mover's colour, those of the
                            seats to the left of it, none
=============  ===========  ====================================================================================

Two global actions are behind the planes: skip, and swap_sides. In all 5,186 actions on square8 (81 planes of 64 cells),
5,591 on hex8 (69 of 81), 61,011 on square19 (169 of 361) and 103,127 on hexagonal (165 of 625).
"""

from asyncplay.games.kernels import body, helper, routine
from asyncplay.games.ringrift.boards import MOST_DIRECTIONS, MOST_SYMMETRIES

MAX_PLAYERS, MOST_PLACED = 4, 3

# rules: options and constants, then tables; C is the number of cells of the box
PLAYERS, RINGS, HAS_STRIKE, HAS_SWAP, ROUNDS, LIMIT = range(6)
LINE, THRESHOLD, MINIMUM = 6, 7, 8  # length of a line; credit and territory that win
N_CELLS, WIDTH, N_DIRECTIONS, N_AXES, IS_HEXAGONAL = range(9, 14)
STEPS = 14  # a word a direction: what it adds to the number of a cell
DIRECTION_TURNS = STEPS + MOST_DIRECTIONS  # what direction d becomes by symmetry y: + 8 * y + d
RAYS = DIRECTION_TURNS + MOST_SYMMETRIES * MOST_DIRECTIONS  # steps to the edge: + 8 * cell + direction
# then ON_BOARD (a word a cell) and GOES (where a cell goes by symmetry y: + C * y + cell): see ``goes``

# state
PHASE, TURN, DECISIONS, TURNS = range(4)  # TURN: the seat to act; TURNS: those that have begun
FOCUS = 4  # the cell of the stack just placed or moved, or of the marker just slid; else NOWHERE
CHANGED, RECOVERED, SWAPPED = 5, 6, 7  # this turn changed the board; is a recovery turn; sides were swapped
HOLDER, COUNT = 8, 9  # last-player-standing: a seat or NOBODY, and its rounds
RESULT = 10  # GOING_ON, or 1 + the reason
HANDS, CREDITS, TERRITORIES = 11, 15, 19  # a word a seat each
GONE = 23  # a word a seat: the turn at whose end it had no ring left; 0: it still has one
RANKS = 27  # a word a seat, once the game is over; 0 at the limit
CELLS = 31  # a word a cell
NOWHERE = NOBODY = -1

PLACING, MOVING, CAPTURING, CHAINING, RECOVERING = range(5)
CHOOSING_SLID_LINE, EXTRACTING, CHOOSING_LINE, PAYING_LINE = range(5, 9)
CLAIMING, PAYING_CLAIM, EXTRACTING_CLAIM, ELIMINATING, FINISHED = range(9, 14)
PHASES = FINISHED  # in which somebody decides

GOING_ON = 0
BY_ELIMINATION, BY_TERRITORY, BY_EARLY_STANDING, BY_STANDING, BY_STALEMATE, BY_MAX_MOVES = range(6)

# words of a cell
EMPTY, MARKER, COLLAPSED, OFF, IS_STACK = 0, 1, 5, 9, 16
HEIGHT_SHIFT, HEIGHT_MASK, RING_SHIFT, RING_BITS, COLOUR = 5, 31, 10, 2, 3

# planes of actions
PLACE, GO = 0, MOST_PLACED
NO_BORDER, CLAIM_PLANES = MAX_PLAYERS, MAX_PLAYERS + 1
SKIP, SWAP, GLOBAL_ACTIONS = 0, 1, 2


@helper
def slide_plane(rules):
    """The first plane of slides."""
    return GO + rules[N_DIRECTIONS] * (rules[WIDTH] - 1)


@helper
def whole_plane(rules):
    """The first plane of whole lines."""
    return slide_plane(rules) + rules[N_DIRECTIONS]


@helper
def part_plane(rules):
    """The first plane of parts of lines."""
    return whole_plane(rules) + rules[N_AXES]


@helper
def pay_plane(rules):
    """The plane of stacks that pay."""
    return part_plane(rules) + rules[N_AXES]


@helper
def claim_plane(rules):
    """The first plane of claims."""
    return pay_plane(rules) + 1


@helper
def global_action(rules, number):
    """SKIP or SWAP as an action."""
    return (claim_plane(rules) + CLAIM_PLANES) * rules[N_CELLS] + number


@helper
def goes(rules, y, cell):
    """Where a cell goes by a symmetry."""
    n_cells = rules[N_CELLS]
    return rules[RAYS + (MOST_DIRECTIONS + 1 + y) * n_cells + cell]


@body
def is_on_board(rules, cell):
    """Whether a cell of the box is one of the board."""
    return rules[RAYS + MOST_DIRECTIONS * rules[N_CELLS] + cell]


@helper
def has_neighbour(rules, cell, direction):
    """Whether the board goes on in this direction."""
    return rules[RAYS + MOST_DIRECTIONS * cell + direction] > 0


@helper
def height_of(word):
    """Rings of a stack."""
    return (word >> HEIGHT_SHIFT) & HEIGHT_MASK


@helper
def top_of(word):
    """The colour that controls a stack."""
    return (word >> RING_SHIFT) & COLOUR


@helper
def ring_of(word, depth):
    """The colour of a ring, the top at depth 0."""
    return (word >> (RING_SHIFT + RING_BITS * depth)) & COLOUR


@helper
def cap_of(word):
    """Rings of the controller's colour from the top on."""
    cap, height, top = 1, height_of(word), top_of(word)
    while cap < height and ring_of(word, cap) == top:
        cap += 1
    return cap


@helper
def stack_of(rings, height):
    """The word of a stack whose rings are in the low bits, or of an empty cell."""
    return IS_STACK | height << HEIGHT_SHIFT | rings << RING_SHIFT if height > 0 else EMPTY


@body
def with_top(word, seat):
    """A ring of this colour put on a stack or an empty cell."""
    return stack_of((word >> RING_SHIFT) << RING_BITS | seat, height_of(word) + 1)


@body
def with_bottom(word, seat):
    """A ring of this colour put under a stack."""
    height = height_of(word)
    return stack_of(word >> RING_SHIFT | seat << (RING_BITS * height), height + 1)


@helper
def without_top(word, count):
    """A stack that lost so many rings from the top."""
    return stack_of((word >> RING_SHIFT) >> (RING_BITS * count), height_of(word) - count)


@helper
def bottommost(word, seat):
    """The depth of the lowest ring of a colour in a stack; NOWHERE if it has none."""
    for above in range(height_of(word) - 1, -1, -1):
        if ring_of(word, above) == seat:
            return above
    return NOWHERE


@helper
def has_buried(word, seat):
    """Whether a cell has a stack with a ring of this colour below the top."""
    return word >= IS_STACK and bottommost(word, seat) > 0


@body
def without_ring(word, depth):
    """A stack that lost the ring at this depth."""
    rings = word >> RING_SHIFT
    above = rings & ((1 << (RING_BITS * depth)) - 1)
    below = (rings >> (RING_BITS * (depth + 1))) << (RING_BITS * depth)
    return stack_of(above | below, height_of(word) - 1)


@helper
def is_controlled(word, seat):
    """Whether a cell has a stack of this seat."""
    return word >= IS_STACK and top_of(word) == seat


@routine
def controls_any(rules, state, seat):
    """Whether a seat controls a stack."""
    for cell in range(rules[N_CELLS]):
        if is_controlled(state[CELLS + cell], seat):
            return True
    return False


@routine
def count_markers(rules, state, seat):
    """Markers of a seat on the board."""
    count = 0
    for cell in range(rules[N_CELLS]):
        count += state[CELLS + cell] == MARKER + seat
    return count


@routine
def colours_on_board(rules, state):
    """The set of colours with a ring on the board, buried ones included."""
    colours = 0
    for cell in range(rules[N_CELLS]):
        word = state[CELLS + cell]
        if word >= IS_STACK:
            for depth in range(height_of(word)):
                colours |= 1 << ring_of(word, depth)
    return colours


@helper
def collapse(state, cell):
    """Make a cell territory of the seat to act; a marker or stack there is gone."""
    state[CELLS + cell] = COLLAPSED + state[TURN]
    state[TERRITORIES + state[TURN]] += 1
