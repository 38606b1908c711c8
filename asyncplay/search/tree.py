"""How trees grow, and what is kept of them after a decision.

The root of a tree is the first of its nodes. Children come after their parents, and a node's edges lie together,
in the same order as the nodes. So a subtree is kept by moving records down, in place (``keep_subtree``). Every node
keeps its position: a descent costs no rules until it meets a new node.

A root has an edge for each legal action, a node below it at most ``max_priors``: the best by prior, chosen when the
network's answer comes. A node that becomes a root gets the others back (``widen_root``).
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

    A node with a single action needs no network and is open at once. A prior is 1 until the network's answer comes;
    until then the edges of a node with too many actions only reserve their places.
    """
    forest, actions, owner = memory.forest, memory.scratch.actions, memory.forest.trees[tree]
    node = tree * forest.nodes_per_tree + owner.n_nodes
    mover = game.to_move(memory.rules, forest.states[node])
    n_actions = game.legal(memory.rules, forest.states[node], actions, memory.scratch.room) if mover >= 0 else 0
    n_edges = n_actions if owner.n_nodes == 0 else min(n_actions, memory.settings.max_priors)
    if owner.n_edges + n_edges > forest.edges_per_tree:
        return FULL
    here = forest.nodes[node]
    memory.scratch.n_actions[0] = n_actions
    here.status = FRESH if n_actions > 1 else OPEN
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
        clear_edge(forest.edges[here.first_edge + i], 1.0, actions[i])
    owner.n_nodes += 1
    owner.n_edges += n_edges
    return node


@helper
def keep_subtree(memory, tree, root, n_actions):
    """Make ``root`` the root of its tree, dropping everything else; return False if there is none or it is too big.

    Too big is more than half of either pool: the next decision needs the other half. ``n_actions`` are legal in
    the position, and stand in the scratch.
    """
    forest, owner, moved = memory.forest, memory.forest.trees[tree], memory.scratch.moved
    if forest.nodes[root].status == SOLVED:
        return False  # nothing grew there
    n_kept, n_edges = mark_subtree(memory, tree, root)
    n_added = n_actions - forest.nodes[root].n_edges
    if 2 * n_kept > forest.nodes_per_tree or 2 * n_edges + n_added > forest.edges_per_tree:
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
    if n_added > 0:
        widen_root(memory, tree, n_added)
    return True


@helper
def widen_root(memory, tree, n_added):
    """Give a root that was a node with too many actions an edge for each of those in the scratch, in their order.

    Those that were left out share equally what the others' priors leave of 1.
    """
    forest, owner, actions = memory.forest, memory.forest.trees[tree], memory.scratch.actions
    base, first = tree * forest.nodes_per_tree, tree * forest.edges_per_tree
    root, left = forest.nodes[base], 1.0
    for edge in range(first + owner.n_edges - 1, first + root.n_edges - 1, -1):
        forest.edges[edge + n_added] = forest.edges[edge]
    for node in range(base + 1, base + owner.n_nodes):
        forest.nodes[node].first_edge += n_added
    for i in range(root.n_edges):
        left -= forest.edges[first + i].prior
    old = root.n_edges - 1
    for new in range(root.n_edges + n_added - 1, -1, -1):  # from behind: an edge moves up or stays
        edge = forest.edges[first + new]
        if old >= 0 and forest.edges[first + old].action == actions[new]:
            forest.edges[first + new] = forest.edges[first + old]
            if edge.child != NONE:
                forest.nodes[edge.child].ordinal = new
            old -= 1
        else:
            clear_edge(edge, max(left, 0.0) / n_added, actions[new])
    root.n_edges += n_added
    owner.n_edges += n_added


@helper
def clear_edge(edge, prior, action):
    """An edge that no simulation has taken."""
    edge.value_sum = 0.0
    edge.prior = prior
    edge.visits = 0
    edge.child = NONE
    edge.action = action


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
