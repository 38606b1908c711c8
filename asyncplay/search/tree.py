"""How trees grow, and what is kept of them after a decision.

The root of a tree is the first of its nodes. Children come after their parents, and a node's edges,
one for each legal action, lie together, in the same order as the nodes. So a subtree is kept by moving
records down, in place (``keep_subtree``). Every node keeps its position: a descent costs no rules
until it meets a new node.
"""

import numpy as np

from asyncplay.games.kernels import helper
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.search.layout import ENDED, FRESH, FULL, NO_EDGE, NONE, OPEN, SOLVED, THOUGHT_STREAM


@helper
def first_root(memory, slot):
    """The root of a slot's first tree, in which the worlds come together."""
    return slot * memory.settings.worlds * memory.forest.nodes_per_tree


@helper
def plant(game, memory, slot):
    """Start new trees from the position of the slot's game, in worlds as the player to move may imagine them."""
    games, forest, worlds = memory.games, memory.forest, memory.scratch.worlds
    state = games.states[slot]
    mover, thought = game.to_move(memory.rules, state), games.streams[slot, THOUGHT_STREAM]
    game.determinize(memory.rules, state, mover, thought, worlds)
    for world in range(len(worlds)):
        tree = slot * len(worlds) + world
        forest.trees[tree].n_nodes = 0
        forest.trees[tree].n_edges = 0
        root = tree * forest.nodes_per_tree
        copy_words(worlds[world], forest.states[root])
        add_node(game, memory, tree, root, NO_EDGE)


@helper
def grow(game, memory, tree, parent, ordinal):
    """Add the node behind an edge; return it, or FULL."""
    forest, n_nodes = memory.forest, memory.forest.trees[tree].n_nodes
    if n_nodes == forest.nodes_per_tree:
        return FULL
    node = tree * forest.nodes_per_tree + n_nodes
    copy_words(forest.states[parent], forest.states[node])
    action = forest.edges[forest.nodes[parent].first_edge + ordinal].action
    game.play(memory.rules, forest.states[node], action, memory.scratch.room)
    return add_node(game, memory, tree, parent, ordinal)


@helper
def draw_child(game, memory, tree, parent):
    """Draw what happens at a chance turn; return the node it leads to, an old or a new one, or FULL."""
    forest, n_nodes = memory.forest, memory.forest.trees[tree].n_nodes
    if n_nodes == forest.nodes_per_tree:
        return FULL
    drawn = tree * forest.nodes_per_tree + n_nodes
    copy_words(forest.states[parent], forest.states[drawn])
    thought = memory.games.streams[tree // memory.settings.worlds, THOUGHT_STREAM]
    game.chance(memory.rules, forest.states[drawn], thought)
    known = find_drawn(forest, parent, forest.states[drawn])
    if known != NONE:
        return known
    child = add_node(game, memory, tree, parent, NO_EDGE)
    if child != FULL:
        adopt(forest.nodes, parent, child)
    return child


@helper
def find_drawn(forest, parent, state):
    """Return the child of a chance turn with this position, or NONE."""
    child = np.int64(forest.nodes[parent].newest_child)
    while child != NONE:
        difference = 0
        for word in range(len(state)):
            difference |= forest.states[child, word] ^ state[word]
        if difference == 0:
            break
        child = np.int64(forest.nodes[child].sibling)
    return child


@helper
def adopt(nodes, parent, child):
    """Put a child into the list of a chance turn."""
    nodes[child].sibling = nodes[parent].newest_child
    nodes[parent].newest_child = child


@helper
def add_node(game, memory, tree, parent, ordinal):
    """Make a node of the position already written into the next free place; return it, or FULL.

    A node with a single action needs no network and is open at once. A prior is 1 until the network's answer comes.
    """
    forest, actions, owner = memory.forest, memory.scratch.actions, memory.forest.trees[tree]
    node = tree * forest.nodes_per_tree + owner.n_nodes
    mover = game.to_move(memory.rules, forest.states[node])
    n_edges = game.legal(memory.rules, forest.states[node], actions, memory.scratch.room) if mover >= 0 else 0
    if owner.n_edges + n_edges > forest.edges_per_tree:
        return FULL
    here = forest.nodes[node]
    here.status = FRESH if n_edges > 1 else OPEN
    if mover == GAME_OVER or (mover == CHANCE_TURN and memory.settings.is_staged):
        here.status = ENDED
    here.mover = mover
    here.visits = 0
    here.value = 0.0
    here.newest_child = NONE
    here.sibling = NONE
    here.parent = parent
    here.ordinal = ordinal
    here.first_edge = tree * forest.edges_per_tree + owner.n_edges
    here.n_edges = n_edges
    for i in range(n_edges):
        edge = forest.edges[here.first_edge + i]
        edge.value_sum = 0.0
        edge.prior = 1.0
        edge.visits = 0
        edge.child = NONE
        edge.action = actions[i]
    owner.n_nodes += 1
    owner.n_edges += n_edges
    return node


@helper
def keep_subtree(memory, tree, root):
    """Make ``root`` the root of its tree, dropping everything else; return False if there is none or it is too big.

    Too big is more than half of either pool: the next decision needs the other half.
    """
    forest, owner, moved = memory.forest, memory.forest.trees[tree], memory.scratch.moved
    if forest.nodes[root].status == SOLVED:
        return False  # nothing grew there
    n_kept, n_edges = mark_subtree(memory, tree, root)
    if 2 * n_kept > forest.nodes_per_tree or 2 * n_edges > forest.edges_per_tree:
        return False
    base, first_edge = tree * forest.nodes_per_tree, tree * forest.edges_per_tree
    for node in range(root, base + owner.n_nodes):
        if moved[node - base] != NO_EDGE:
            new = base + moved[node - base]
            parent = base if node == root else base + moved[forest.nodes[node].parent - base]
            move_node(forest, node, new, parent, first_edge)
            first_edge += forest.nodes[new].n_edges
    forest.nodes[base].ordinal = NO_EDGE
    owner.n_nodes = n_kept
    owner.n_edges = n_edges
    return True


@helper
def mark_subtree(memory, tree, root):
    """Number the nodes below ``root`` from 0, NO_EDGE for the others; return their count and their edges'."""
    forest, moved = memory.forest, memory.scratch.moved
    base, n_kept, n_edges = tree * forest.nodes_per_tree, 0, 0
    for node in range(root, base + memory.forest.trees[tree].n_nodes):
        parent = forest.nodes[node].parent
        is_kept = node == root or (parent >= root and moved[parent - base] != NO_EDGE)
        moved[node - base] = n_kept if is_kept else NO_EDGE
        n_kept += is_kept
        n_edges += forest.nodes[node].n_edges if is_kept else 0
    return n_kept, n_edges


@helper
def move_node(forest, old, new, parent, first_edge):
    """Move a node with its edges down to ``new``, and link it to its parent, which has moved already."""
    nodes, edges = forest.nodes, forest.edges
    old_edge = nodes[old].first_edge
    nodes[new] = nodes[old]
    nodes[new].parent = parent
    nodes[new].first_edge = first_edge
    nodes[new].newest_child = NONE  # children come later and put themselves into the list
    copy_words(forest.states[old], forest.states[new])
    if nodes[new].status == SOLVED:
        copy_words(forest.endings[old], forest.endings[new])
    for i in range(nodes[new].n_edges):
        edges[first_edge + i] = edges[old_edge + i]
    if new == parent:  # the root
        return
    if nodes[parent].mover == CHANCE_TURN:
        adopt(nodes, parent, new)
    else:
        edges[nodes[parent].first_edge + nodes[new].ordinal].child = new


@helper
def copy_words(source, target):
    """Copy a position, or values."""
    for word in range(len(source)):
        target[word] = source[word]
