"""The memory of a group of games that think together.

A group has G slots, one game and D trees each, a tree for each world that the player to move can imagine (one
where nothing is hidden). Slot s owns the trees s * D ... Nodes and edges of all trees lie in two pools of
records; tree t owns nodes[t * nodes_per_tree ...] and edges[t * edges_per_tree ...]. Numbers of nodes
and edges count through the whole pool. Everything is allocated once, by ``allocate``; kernels own nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from asyncplay.games import position
from asyncplay.games.kernels import helper
from asyncplay.games.spec import ENDING_ROWS, GameSpec
from asyncplay.rng import STREAM_WORDS

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

NODE = np.dtype(
    [
        ("parent", np.int32),
        ("ordinal", np.int32),  # which edge of the parent leads here; NO_EDGE below a chance turn
        ("first_edge", np.int32),
        ("n_edges", np.int32),  # of a root one for each legal action, below it the max_priors best ones
        ("visits", np.int32),  # simulations that came here, those still waiting included
        ("mover", np.int16),  # a seat, CHANCE_TURN or GAME_OVER
        ("status", np.int16),  # FRESH, WAITING, OPEN, ENDED or SOLVED
        ("value", np.float32),  # the network's estimate for the mover
        ("newest_child", np.int32),  # of a chance turn; its other children follow by ``sibling``
        ("sibling", np.int32),
    ],
    align=True,
)
FRESH, WAITING, OPEN, ENDED, SOLVED = 0, 1, 2, 3, 4  # to be asked, asked, known or forced, game over, worked out

EDGE = np.dtype(
    [
        ("value_sum", np.float64),  # over visits, for the mover of the node, virtual losses taken off
        ("prior", np.float32),
        ("visits", np.int32),  # those still waiting included
        ("child", np.int32),  # a node or NONE
        ("action", np.int32),
    ],
    align=True,
)

# Numbers that stand for no node: node 0 is a root and never a child; FULL: the pool is used up. They are
# numpy's because numba compiles a function once more for each plain constant that is passed to it.
NONE, NO_EDGE, FULL = np.int64(0), np.int64(-1), np.int64(-1)

GAME = np.dtype(
    [
        ("seed", np.uint64),
        ("status", np.int32),  # IDLE, STARTING, PLACED, THINKING, OUTSIDE, FORCED or FINISHED
        ("decisions", np.int32),  # taken so far, forced ones included
        ("stage_decisions", np.int32),  # those of the present stage, where the game has stages
        ("version", np.int32),  # of the weights that answered last
        ("outside", np.int32),  # bit set of the seats whose decisions come from outside
        ("forced", np.int32),  # the action to play when the status is FORCED
        ("policy_end", np.int32),  # entries used of this slot's policies
        ("shortened", np.int32),  # searches of this game that ended early because their tree was full
        ("unrecorded", np.int32),  # decisions of this game whose policy found no space
        ("is_quick", np.int32),  # the present decision has only a few simulations and leaves no policy
    ],
    align=True,
)
IDLE, STARTING, THINKING, OUTSIDE, FORCED, FINISHED, PLACED = 0, 1, 2, 3, 4, 5, 6
CHANCE_STREAM, THOUGHT_STREAM = (
    position.CHANCE_STREAM,
    1,
)  # what happens in the game; noise, choices and imagined chance

TREE = np.dtype(
    [
        ("total_simulations", np.int64),  # of all decisions this tree has seen
        ("simulations", np.int32),  # done for the present decision
        ("budget", np.int32),  # simulations the present decision may have
        ("limit", np.int32),  # those it may have before the next advance
        ("n_nodes", np.int32),
        ("n_edges", np.int32),
        ("is_noised", np.int32),  # the root's priors have their noise, or shall have none
    ],
    align=True,
)

ROW = np.dtype(
    [
        ("slot", np.int32),
        ("tree", np.int32),
        ("node", np.int32),
        ("seat", np.int32),  # the player whose decision is searched
        ("is_extra", np.int32),  # not its tree's first one of this select
    ]
)
DECISION = np.dtype(
    [
        ("action", np.int32),
        ("policy_end", np.int32),  # its policy ends here, and starts where the one before ended
        ("version", np.int32),
        ("value", np.float32),  # what the search expected for the player
    ]
)
VISITED = np.dtype([("action", np.int32), ("visits", np.int32)])  # visits: with Gumbel roots parts of 2 ** 20
HALVING = np.dtype(
    [
        ("considered", np.int32),  # actions of the present phase; 0: none has begun
        ("opening", np.int32),  # simulations that the root itself takes: 1 if it was new
    ]
)


class Games(NamedTuple):
    """The real games, as opposed to what trees imagine."""

    slots: Array  # GAME[G]
    states: Array  # int64[G, S]
    streams: Array  # uint64[G, 2, 4], CHANCE_STREAM and THOUGHT_STREAM


class Forest(NamedTuple):
    """The trees of all slots."""

    trees: Array  # TREE[G * D]
    nodes: Array  # NODE[G * D * nodes_per_tree]
    edges: Array  # EDGE[G * D * edges_per_tree]
    states: Array  # int64[G * D * nodes_per_tree, S]
    endings: Array  # float32[G * D * nodes_per_tree, P], by seat, of SOLVED nodes; one node without exact endings
    nodes_per_tree: int
    edges_per_tree: int


class Leaves(NamedTuple):
    """The positions of one select that wait for the network; their features are a separate array."""

    rows: Array  # ROW[n]
    legal: Array  # int32[L]
    offsets: Array  # int32[n + 1]


class Records(NamedTuple):
    """What was decided in each slot's game so far."""

    decisions: Array  # DECISION[G, max_decisions]
    policies: Array  # VISITED[G, entries]
    returns: Array  # float64[G, P], valid once the game is finished


class Scratch(NamedTuple):
    """Scratch memory of the kernels."""

    actions: Array  # int32[max_legal], the legal actions of the node that was made last,
    n_actions: Array  # int32[1], so many
    shares: Array  # float64[max_legal]
    values: Array  # float64[P], by seat
    before: Array  # float64[P], by seat
    moved: Array  # int32[nodes_per_tree]
    worlds: Array  # int64[D, S]
    room: Array  # int64[room_words], of the game's kernels
    rooms: Array  # int64[E, S], for a game to work an ending out
    futures: Array  # float64[E, P], by seat, the same


class Roots(NamedTuple):
    """Sequential halving at the roots; A is 1 without it."""

    halvings: Array  # HALVING[G]
    noise: Array  # float64[G, A], by ordinal of the root's edges
    ratings: Array  # float64[G, A], when the phase began; OUT for actions that are not considered any more
    before: Array  # int32[G, A], visits that were there when the decision began


class KernelSettings(NamedTuple):
    """How to search; may change between two calls."""

    simulations: int = 32  # new ones for each world of a decision
    quick_simulations: int = 0  # those of a quick decision; 0: there are none
    worlds: int = 1  # D, imagined for each decision where something is hidden
    exact_decisions: int = 0  # positions with at most so many left are worked out
    leaves: int = 1  # most rows that a tree may add to one select,
    fill_rows: int = 64  # those after the first only until it has so many
    max_priors: int = 128  # actions of a position below the root that are kept, the best by prior
    is_staged: int = 0  # of the game: see GameSpec
    keeps_tree: int = 1  # carry the chosen child's subtree over to the next decision
    c_puct: float = 1.5
    first_play_reduction: float = 0.2
    virtual_loss: float = 1.0
    full_share: float = 1.0  # of the decisions that are not quick, where some are
    noise_alpha: float = 0.3  # Dirichlet noise on the root's priors
    noise_weight: float = 0.25  # 0 for none
    is_gumbel: int = 0  # at the root: see gumbel.py; else PUCT
    gumbel_actions: int = 16
    gumbel_visits: float = 50.0
    gumbel_scale: float = 1.0
    value_scale: float = 1.0  # of the game: see GameSpec
    value_offset: float = 0.0
    temperatures: Array = np.ones(1)  # float64[k], by decision of the game or stage, the last one for the rest


class Memory(NamedTuple):
    """All arrays and settings of a group."""

    rules: Array  # int64[R], of the game
    games: Games
    forest: Forest
    leaves: Leaves
    records: Records
    scratch: Scratch
    roots: Roots
    settings: KernelSettings


class Sizes(NamedTuple):
    """The sizes of a group's arrays."""

    games: int
    worlds: int  # trees of a game
    rows: int  # most leaves of one select: trees times leaves a tree
    nodes_per_tree: int
    edges_per_tree: int
    policy_entries: int  # of a game, to begin with,
    most_policy_entries: int  # and at most: policies beyond are not recorded, but counted


def allocate(spec: GameSpec, sizes: Sizes, settings: KernelSettings) -> Memory:
    """Return zeroed memory for a group; every slot is IDLE."""
    n_trees, roots = sizes.games * sizes.worlds, (sizes.games, spec.max_legal if settings.is_gumbel else 1)
    n_nodes = n_trees * sizes.nodes_per_tree
    return Memory(
        spec.rules,
        Games(
            np.zeros(sizes.games, GAME),
            np.zeros((sizes.games, spec.state_words), np.int64),
            np.zeros((sizes.games, 2, STREAM_WORDS), np.uint64),
        ),
        Forest(
            np.zeros(n_trees, TREE),
            np.zeros(n_nodes, NODE),
            np.zeros(n_trees * sizes.edges_per_tree, EDGE),
            np.zeros((n_nodes, spec.state_words), np.int64),
            np.zeros((n_nodes if settings.exact_decisions else 1, spec.players), np.float32),
            sizes.nodes_per_tree,
            sizes.edges_per_tree,
        ),
        Leaves(
            np.zeros(sizes.rows, ROW),
            np.zeros(sizes.rows * spec.max_legal, np.int32),
            np.zeros(sizes.rows + 1, np.int32),
        ),
        Records(
            np.zeros((sizes.games, spec.max_decisions), DECISION),
            np.zeros((sizes.games, sizes.policy_entries), VISITED),
            np.zeros((sizes.games, spec.players), np.float64),
        ),
        Scratch(
            np.zeros(spec.max_legal, np.int32),
            np.zeros(1, np.int32),
            np.zeros(spec.max_legal, np.float64),
            np.zeros(spec.players, np.float64),
            np.zeros(spec.players, np.float64),
            np.zeros(sizes.nodes_per_tree, np.int32),
            np.zeros((sizes.worlds, spec.state_words), np.int64),
            spec.new_room(),
            np.zeros((settings.exact_decisions + ENDING_ROWS, spec.state_words), np.int64),
            np.zeros((settings.exact_decisions + ENDING_ROWS, spec.players)),
        ),
        Roots(np.zeros(sizes.games, HALVING), np.zeros(roots), np.zeros(roots), np.zeros(roots, np.int32)),
        settings,
    )


def needed_bytes(spec: GameSpec, sizes: Sizes, settings: KernelSettings) -> int:
    """The bytes that ``allocate`` will take, without most of the scratch memory."""
    node = NODE.itemsize + 8 * spec.state_words + (4 * spec.players if settings.exact_decisions else 0)
    tree = TREE.itemsize + sizes.nodes_per_tree * node + sizes.edges_per_tree * EDGE.itemsize
    record = spec.max_decisions * DECISION.itemsize + sizes.policy_entries * VISITED.itemsize + 8 * spec.players
    root = 20 * spec.max_legal if settings.is_gumbel else 0
    game = GAME.itemsize + 8 * spec.state_words + 16 * STREAM_WORDS + sizes.worlds * tree + record + root
    row = ROW.itemsize + 4 * spec.max_legal + 4
    return sizes.games * game + sizes.rows * row + 4 * sizes.nodes_per_tree


def pack(memory: Memory) -> tuple[Any, ...]:
    """Flatten a ``Memory`` for the way into a kernel; ``unpack`` is the other end.

    Measured: numba takes 8.6 us to enter with the nested named tuples, 2.5 us with a plain one.
    """
    return (memory.rules, *(part for parts in memory[1:] for part in parts))


@helper
def unpack(packed):
    """The ``Memory`` that was packed; costs nothing once compiled."""
    return Memory(
        packed[0],
        Games(packed[1], packed[2], packed[3]),
        Forest(*packed[4:11]),
        Leaves(*packed[11:14]),
        Records(*packed[14:17]),
        Scratch(*packed[17:27]),
        Roots(*packed[27:31]),
        KernelSettings(*packed[31:]),
    )


_WORDS, _INTS, _FLOATS, _PAIRS = np.zeros((1, 1), np.int64), np.zeros(1, np.int32), np.zeros(1), np.zeros((1, 1))
_EXAMPLE = Memory(
    np.zeros(1, np.int64),
    Games(np.zeros(1, GAME), _WORDS, np.zeros((1, 2, STREAM_WORDS), np.uint64)),
    Forest(np.zeros(1, TREE), np.zeros(1, NODE), np.zeros(1, EDGE), _WORDS, np.zeros((1, 1), np.float32), 1, 1),
    Leaves(np.zeros(1, ROW), _INTS, _INTS),
    Records(np.zeros((1, 1), DECISION), np.zeros((1, 1), VISITED), _PAIRS),
    Scratch(_INTS, _INTS, _FLOATS, _FLOATS, _FLOATS, _INTS, _WORDS, _WORDS[0], _WORDS, _PAIRS),
    Roots(np.zeros(1, HALVING), _PAIRS, _PAIRS, np.zeros((1, 1), np.int32)),
    KernelSettings(),
)
PACKED = typeof(pack(_EXAMPLE))  # the same for all games
