"""The memory of a group of games that think together, and the growing and pruning of their trees.

A group has G slots, one game and one tree each. Nodes and edges of all trees lie in two pools of
records; slot s owns nodes[s * nodes_per_game ...] and edges[s * edges_per_game ...]. Numbers of nodes
and edges count through the whole pool. The root of a tree is the first node of its slot; children come
after their parents, and a node's edges, one for each legal action, lie together in the same order as
the nodes. So a subtree is kept by moving records down, in place (``keep_subtree``).

Every node keeps its position: a descent costs no rules until it meets a new node.

Everything is allocated once, by ``allocate``; kernels own nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from asyncplay.games.kernels import helper
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec
from asyncplay.rng import STREAM_WORDS

Array = Any  # inside numba these are arrays, in Python NDArrays; the comments give their types

NODE = np.dtype(
    [
        ("parent", np.int32),
        ("ordinal", np.int32),  # which edge of the parent leads here; NO_EDGE below a chance turn
        ("first_edge", np.int32),
        ("n_edges", np.int32),
        ("visits", np.int32),  # simulations that came here, those still waiting included
        ("mover", np.int16),  # a seat, CHANCE_TURN or GAME_OVER
        ("status", np.int16),  # FRESH, WAITING, OPEN or ENDED
        ("value", np.float32),  # the network's estimate for the mover
        ("newest_child", np.int32),  # of a chance turn; its other children follow by ``sibling``
        ("sibling", np.int32),
    ],
    align=True,
)
FRESH, WAITING, OPEN, ENDED = 0, 1, 2, 3  # to be asked, asked, known or forced, game over

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

# Numbers that stand for no node: node 0 is a root and nobody's child; FULL: the pool is used up. They are
# numpy's because numba compiles a function once more for each plain constant that is passed to it.
NONE, NO_EDGE, FULL = np.int64(0), np.int64(-1), np.int64(-1)

GAME = np.dtype(
    [
        ("seed", np.uint64),
        ("total_simulations", np.int64),  # of all games this slot has seen
        ("status", np.int32),  # IDLE, STARTING, THINKING, OUTSIDE, FORCED or FINISHED
        ("decisions", np.int32),  # taken so far, forced ones included
        ("simulations", np.int32),  # done for the present decision
        ("budget", np.int32),  # simulations the present decision may have
        ("n_nodes", np.int32),
        ("n_edges", np.int32),
        ("is_noised", np.int32),  # the root's priors have their noise
        ("version", np.int32),  # of the weights that answered last
        ("outside", np.int32),  # bit set of the seats whose decisions come from outside
        ("forced", np.int32),  # the action to play when the status is FORCED
        ("policy_end", np.int32),  # entries used of this slot's policies
    ],
    align=True,
)
IDLE, STARTING, THINKING, OUTSIDE, FORCED, FINISHED = 0, 1, 2, 3, 4, 5
CHANCE_STREAM, THOUGHT_STREAM = 0, 1  # what happens in the game; noise, choices and imagined chance

ROW = np.dtype([("slot", np.int32), ("node", np.int32), ("seat", np.int32)])  # seat: whose search it is
DECISION = np.dtype(
    [
        ("action", np.int32),
        ("policy_end", np.int32),  # its policy ends here, and starts where the one before ended
        ("version", np.int32),
        ("value", np.float32),  # what the search expected for the player
    ]
)
VISITED = np.dtype([("action", np.int32), ("visits", np.int32)])


class Games(NamedTuple):
    """The real games, as opposed to what trees imagine."""

    slots: Array  # GAME[G]
    states: Array  # int64[G, S]
    streams: Array  # uint64[G, 2, 4], CHANCE_STREAM and THOUGHT_STREAM


class Forest(NamedTuple):
    """The trees of all slots."""

    nodes: Array  # NODE[G * nodes_per_game]
    edges: Array  # EDGE[G * edges_per_game]
    states: Array  # int64[G * nodes_per_game, S]
    nodes_per_game: int
    edges_per_game: int


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
    """Room to work in."""

    actions: Array  # int32[max_legal]
    shares: Array  # float64[max_legal]
    values: Array  # float64[P], by seat
    moved: Array  # int32[nodes_per_game]


class Memory(NamedTuple):
    """What a group thinks with, as kernels take it."""

    games: Games
    forest: Forest
    leaves: Leaves
    scratch: Scratch


class Sizes(NamedTuple):
    """How much room a group has."""

    games: int
    rows: int  # most leaves of one select: games times leaves a game
    nodes_per_game: int
    edges_per_game: int
    policy_entries: int  # a game


def allocate(spec: GameSpec, sizes: Sizes) -> Memory:
    """Return zeroed memory for a group; every slot is IDLE."""
    n_games, n_nodes = sizes.games, sizes.games * sizes.nodes_per_game
    return Memory(
        Games(
            np.zeros(n_games, GAME),
            np.zeros((n_games, spec.state_words), np.int64),
            np.zeros((n_games, 2, STREAM_WORDS), np.uint64),
        ),
        Forest(
            np.zeros(n_nodes, NODE),
            np.zeros(n_games * sizes.edges_per_game, EDGE),
            np.zeros((n_nodes, spec.state_words), np.int64),
            sizes.nodes_per_game,
            sizes.edges_per_game,
        ),
        Leaves(
            np.zeros(sizes.rows, ROW),
            np.zeros(sizes.rows * spec.max_legal, np.int32),
            np.zeros(sizes.rows + 1, np.int32),
        ),
        Scratch(
            np.zeros(spec.max_legal, np.int32),
            np.zeros(spec.max_legal, np.float64),
            np.zeros(spec.players, np.float64),
            np.zeros(sizes.nodes_per_game, np.int32),
        ),
    )


def allocate_records(spec: GameSpec, sizes: Sizes) -> Records:
    """Return zeroed records for a group."""
    return Records(
        np.zeros((sizes.games, spec.max_decisions), DECISION),
        np.zeros((sizes.games, sizes.policy_entries), VISITED),
        np.zeros((sizes.games, spec.players), np.float64),
    )


def _memory_types() -> tuple[Any, Any]:
    """The numba types of ``Memory`` and ``Records``: the same for all games."""
    game, node, edge, row = (np.zeros(1, kind) for kind in (GAME, NODE, EDGE, ROW))
    words, numbers, floats = np.zeros((1, 1), np.int64), np.zeros(1, np.int32), np.zeros(1)
    memory = Memory(
        Games(game, words, np.zeros((1, 2, STREAM_WORDS), np.uint64)),
        Forest(node, edge, words, 1, 1),
        Leaves(row, numbers, numbers),
        Scratch(numbers, floats, floats, numbers),
    )
    records = Records(np.zeros((1, 1), DECISION), np.zeros((1, 1), VISITED), np.zeros((1, 1)))
    return typeof(memory), typeof(records)


MEMORY, RECORDS = _memory_types()


@helper
def plant(game, rules, memory, slot):
    """Start a new tree from the position of the slot's game, as the player to move knows it."""
    games, forest = memory.games, memory.forest
    root = slot * forest.nodes_per_game
    games.slots[slot].n_nodes = 0
    games.slots[slot].n_edges = 0
    state = games.states[slot]
    thought = games.streams[slot, THOUGHT_STREAM]
    game.determinize(rules, state, game.to_move(rules, state), thought, forest.states[root : root + 1])
    return add_node(game, rules, memory, slot, root, NO_EDGE)


@helper
def grow(game, rules, memory, slot, parent, ordinal):
    """Add the node behind an edge; return it, or FULL."""
    games, forest = memory.games, memory.forest
    if games.slots[slot].n_nodes == forest.nodes_per_game:
        return FULL
    node = slot * forest.nodes_per_game + games.slots[slot].n_nodes
    copy_words(forest.states[parent], forest.states[node])
    action = forest.edges[forest.nodes[parent].first_edge + ordinal].action
    game.play(rules, forest.states[node], action)
    return add_node(game, rules, memory, slot, parent, ordinal)


@helper
def draw_child(game, rules, memory, slot, parent):
    """Draw what happens at a chance turn; return the node it leads to, an old or a new one, or FULL."""
    games, forest = memory.games, memory.forest
    if games.slots[slot].n_nodes == forest.nodes_per_game:
        return FULL
    drawn = slot * forest.nodes_per_game + games.slots[slot].n_nodes
    copy_words(forest.states[parent], forest.states[drawn])
    game.chance(rules, forest.states[drawn], games.streams[slot, THOUGHT_STREAM])
    known = find_drawn(forest, parent, forest.states[drawn])
    if known != NONE:
        return known
    child = add_node(game, rules, memory, slot, parent, NO_EDGE)
    if child != FULL:
        adopt(forest.nodes, parent, child)
    return child


@helper
def find_drawn(forest, parent, state):
    """Return the child of a chance turn with this position, or NONE."""
    child = np.int64(forest.nodes[parent].newest_child)
    while child != NONE and not same_words(forest.states[child], state):
        child = np.int64(forest.nodes[child].sibling)
    return child


@helper
def adopt(nodes, parent, child):
    """Put a child into the list of a chance turn."""
    nodes[child].sibling = nodes[parent].newest_child
    nodes[parent].newest_child = child


@helper
def add_node(game, rules, memory, slot, parent, ordinal):
    """Make a node of the position already written into the next free place; return it, or FULL."""
    forest, actions, owner = memory.forest, memory.scratch.actions, memory.games.slots[slot]
    node = slot * forest.nodes_per_game + owner.n_nodes
    state = forest.states[node]
    mover = game.to_move(rules, state)
    n_edges = game.legal(rules, state, actions) if mover >= 0 else 0
    if owner.n_edges + n_edges > forest.edges_per_game:
        return FULL
    first_edge = slot * forest.edges_per_game + owner.n_edges
    write_node(forest.nodes, node, parent, ordinal, first_edge, n_edges, mover)
    for i in range(n_edges):
        write_edge(forest.edges, first_edge + i, actions[i])
    owner.n_nodes += 1
    owner.n_edges += n_edges
    return node


@helper
def write_node(nodes, node, parent, ordinal, first_edge, n_edges, mover):
    """A node nobody has visited. One with a single action needs no network and is open at once."""
    nodes[node].parent = parent
    nodes[node].ordinal = ordinal
    nodes[node].first_edge = first_edge
    nodes[node].n_edges = n_edges
    nodes[node].visits = 0
    nodes[node].mover = mover
    nodes[node].status = ENDED if mover == GAME_OVER else FRESH if n_edges > 1 else OPEN
    nodes[node].value = 0.0
    nodes[node].newest_child = NONE
    nodes[node].sibling = NONE


@helper
def write_edge(edges, edge, action):
    """An edge nobody has visited; its prior is 1 until the network says otherwise."""
    edges[edge].value_sum = 0.0
    edges[edge].prior = 1.0
    edges[edge].visits = 0
    edges[edge].child = NONE
    edges[edge].action = action


@helper
def keep_subtree(memory, slot, root):
    """Make ``root`` the root of its slot, dropping everything else; return False if it is too big.

    Too big is more than half of either pool: the next decision needs the room.
    """
    forest, owner, moved = memory.forest, memory.games.slots[slot], memory.scratch.moved
    n_kept, n_edges = mark_subtree(forest, slot, root, owner.n_nodes, moved)
    if 2 * n_kept > forest.nodes_per_game or 2 * n_edges > forest.edges_per_game:
        return False
    base = slot * forest.nodes_per_game
    owner.n_edges = 0
    for node in range(root, base + owner.n_nodes):
        if moved[node - base] != NO_EDGE:
            parent = base if node == root else base + moved[forest.nodes[node].parent - base]
            move_node(
                forest, node, base + moved[node - base], parent, slot * forest.edges_per_game + owner.n_edges
            )
            owner.n_edges += forest.nodes[base + moved[node - base]].n_edges
    owner.n_nodes = n_kept
    forest.nodes[base].ordinal = NO_EDGE
    return True


@helper
def mark_subtree(forest, slot, root, n_nodes, moved):
    """Number the nodes below ``root`` from 0, NO_EDGE for the others; return their count and their edges'."""
    base = slot * forest.nodes_per_game
    n_kept, n_edges = 0, 0
    for node in range(root, base + n_nodes):
        parent = forest.nodes[node].parent
        is_kept = node == root or (parent >= root and moved[parent - base] != NO_EDGE)
        moved[node - base] = n_kept if is_kept else NO_EDGE
        n_kept += is_kept
        n_edges += forest.nodes[node].n_edges if is_kept else 0
    return n_kept, n_edges


@helper
def move_node(forest, old, new, parent, first_edge):
    """Move a node with its edges down to ``new``, and tell its parent, which has moved already."""
    nodes, edges = forest.nodes, forest.edges
    old_edge = nodes[old].first_edge
    nodes[new] = nodes[old]
    nodes[new].parent = parent
    nodes[new].first_edge = first_edge
    nodes[new].newest_child = NONE  # children come later and put themselves into the list
    copy_words(forest.states[old], forest.states[new])
    for i in range(nodes[new].n_edges):
        edges[first_edge + i] = edges[old_edge + i]
    if nodes[new].ordinal != NO_EDGE and new != parent:
        edges[nodes[parent].first_edge + nodes[new].ordinal].child = new
    elif nodes[parent].mover == CHANCE_TURN and new != parent:
        adopt(nodes, parent, new)


@helper
def copy_words(source, target):
    """Copy a position."""
    for word in range(len(source)):
        target[word] = source[word]


@helper
def same_words(one, other):
    """Say whether two positions are equal."""
    for word in range(len(one)):
        if one[word] != other[word]:
            return False
    return True
