"""Endings worked out: what every seat gets if all play best from here, without a network.

Formula (max^n; the twin in tests/search/twin.py is written beside the same lines). The values of a position are, by
seat, the mean over those actions of its mover that are best for the mover: a player to whom several are equal takes
any of them alike. At the end they are what the game, or its stage, has brought.

In a world that was imagined every card is known, so this is what searching the world for ever would come to. The
number of lines grows with the factorial of what is left: ``exact_decisions`` says where to begin.
"""

from asyncplay.games.kernels import helper, routine
from asyncplay.search.layout import FRESH, SOLVED
from asyncplay.search.tree import copy_words

EQUAL = 1e-9  # values that differ by less are the same: means of the same numbers, added in another order


@helper
def is_ending(game, memory, tree, node):
    """Say whether a position is to be worked out; a root never is, as its decision needs priors."""
    forest, exact = memory.forest, memory.settings.exact_decisions
    if exact == 0 or forest.nodes[node].status != FRESH or node == tree * forest.nodes_per_tree:
        return False
    return game.left(memory.rules, forest.states[node]) <= exact


@helper
def solve(game, memory, node):
    """Work a node out; its values, still those of the rules, are left in the first line."""
    copy_words(memory.forest.states[node], memory.endings.states[0])
    work_out(game, memory.rules, memory.endings)
    memory.forest.nodes[node].status = SOLVED


@routine
def work_out(game, rules, endings):
    """Follow every line from the first position to its end; leave the values by seat in the first row."""
    depth = 0
    enter(game, rules, endings, depth)
    while True:
        line = endings.lines[depth]
        if line.n_tried < line.n_actions:
            copy_words(endings.states[depth], endings.states[depth + 1])
            game.play(rules, endings.states[depth + 1], endings.actions[depth, line.n_tried])
            line.n_tried += 1
            depth += 1
            enter(game, rules, endings, depth)
            continue
        for seat in range(endings.values.shape[1]):
            endings.values[depth, seat] /= line.n_best
        if depth == 0:
            return
        depth -= 1
        compare(endings.lines[depth], endings.values[depth], endings.values[depth + 1])


@helper
def enter(game, rules, endings, depth):
    """Begin with a position: pass through what is forced, list the actions, or count at the end."""
    line, state, actions = endings.lines[depth], endings.states[depth], endings.actions[depth]
    n_actions = game.legal(rules, state, actions)
    while n_actions == 1:
        game.play(rules, state, actions[0])
        n_actions = game.legal(rules, state, actions)
    line.mover = game.to_move(rules, state)
    line.n_actions = n_actions
    line.n_tried = 0
    line.n_best = 0
    if n_actions == 0:
        line.n_best = 1
        game.returns(rules, state, endings.values[depth])


@helper
def compare(line, best, values):
    """Take in the values of an action."""
    gain = 1.0 if line.n_best == 0 else values[line.mover] - best[line.mover] / line.n_best
    if gain < -EQUAL:
        return
    is_better = gain > EQUAL
    line.n_best = 1 if is_better else line.n_best + 1
    for seat in range(len(best)):
        best[seat] = values[seat] if is_better else best[seat] + values[seat]
