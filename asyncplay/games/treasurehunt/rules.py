"""The rules of treasurehunt: gems grow, agents take turns to walk. Words as in layout.py.

Chance has its turn before the first agent of every turn; before the first turn it also places the agents. ``place``,
``spawn`` and ``arrange`` let it happen as given, to compare with other programs.
"""

import numpy as np
from numba import float64, int64, void

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER
from asyncplay.games.treasurehunt.encode import write_codes
from asyncplay.games.treasurehunt.layout import (
    ACTIONS,
    AGENT,
    CELLS,
    DOWN,
    EMPTY,
    FRAMES,
    GAINS,
    GEM,
    GEM_REWARD,
    LEFT,
    MAX_PLAYERS,
    ORDER,
    PLACE,
    PLAYERS,
    POSITION,
    SHUFFLES,
    SIZE,
    SPAWN_BELOW,
    TURN,
    TURNS,
    UP,
    WALL,
    WALL_REWARD,
    past_of,
    words_of_frame,
)

DRAW_SHIFT = np.uint64(11)  # the upper 53 bits of a word are its draw


@kernel(contract.RESET)
def reset(rules, state):
    """Walls around an empty map; agents have neither places nor pasts."""
    size = rules[SIZE]
    state[TURN], state[PLACE] = -1, rules[PLAYERS]
    for agent in range(MAX_PLAYERS):
        state[ORDER + agent], state[POSITION + agent], state[GAINS + agent] = agent, -1, 0
    for row in range(size):
        for column in range(size):
            is_wall = row == 0 or column == 0 or row == size - 1 or column == size - 1
            state[CELLS + row * size + column] = WALL if is_wall else EMPTY
    for word in range(past_of(rules, 0), past_of(rules, rules[PLAYERS])):
        state[word] = 0


@kernel(contract.TO_MOVE)
def to_move(rules, state):
    """All agents act in every turn; then gems grow, unless it was the last turn."""
    if state[PLACE] < rules[PLAYERS]:
        return state[ORDER + state[PLACE]]
    return GAME_OVER if state[TURN] + 1 == rules[TURNS] else CHANCE_TURN


@kernel(contract.LEGAL)
def legal(rules, state, actions, room):
    """Walking into a wall or an agent is allowed."""
    if to_move(rules, state) < 0:
        return 0
    for action in range(ACTIONS):
        actions[action] = action
    return ACTIONS


@helper
def target_of(rules, here, action):
    """The cell that an action leads to."""
    if action == UP:
        return here - rules[SIZE]
    if action == DOWN:
        return here + rules[SIZE]
    return here - 1 if action == LEFT else here + 1


@helper
def remember(rules, state, agent):
    """Put what an agent sees now behind the frames that it saw before."""
    n_words, first = words_of_frame(rules), past_of(rules, agent)
    last = first + (rules[FRAMES] - 2) * n_words
    for word in range(first, last):
        state[word] = state[word + n_words]
    if rules[FRAMES] > 1:
        write_codes(rules, state, agent, state, last)


@kernel(contract.PLAY)
def play(rules, state, action, room):
    """The reward is what stood in the target cell; gems and empty cells are entered."""
    agent = state[ORDER + state[PLACE]]
    remember(rules, state, agent)
    here = state[POSITION + agent]
    there = target_of(rules, here, action)
    found = state[CELLS + there]
    if found == WALL:
        state[GAINS + agent] += WALL_REWARD
    elif found != AGENT:
        if found == GEM:
            state[GAINS + agent] += GEM_REWARD
        state[CELLS + here] = EMPTY
        state[CELLS + there] = AGENT
        state[POSITION + agent] = there
    state[PLACE] += 1


@kernel(contract.RETURNS)
def returns(rules, state, gains):
    """The sum of all rewards so far."""
    for agent in range(rules[PLAYERS]):
        gains[agent] = state[GAINS + agent]


@helper
def put(state, agent, cell):
    state[POSITION + agent] = cell
    state[CELLS + cell] = AGENT


@helper
def begin_turn(rules, state):
    state[TURN] += 1
    state[PLACE] = 0


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """Place the agents on distinct cells if they have none; let gems grow; draw the order where it is shuffled."""
    size, players = rules[SIZE], rules[PLAYERS]
    if state[TURN] < 0:
        for agent in range(players):
            cell = 0
            while state[CELLS + cell] != EMPTY:
                cell = (1 + rng.below(stream, size - 2)) * size + 1 + rng.below(stream, size - 2)
            put(state, agent, cell)
    for row in range(1, size - 1):
        for cell in range(row * size + 1, (row + 1) * size - 1):
            if state[CELLS + cell] == EMPTY and int64(rng.next_word(stream) >> DRAW_SHIFT) < rules[SPAWN_BELOW]:
                state[CELLS + cell] = GEM
    if rules[SHUFFLES]:
        for last in range(players - 1, 0, -1):
            other = rng.below(stream, last + 1)
            state[ORDER + last], state[ORDER + other] = state[ORDER + other], state[ORDER + last]
    begin_turn(rules, state)


@kernel(void(contract.RULES, contract.STATE, int64[:, ::1]))
def place(rules, state, starts):
    """Instead of chance, before the first turn: row and column of each agent, int64[P, 2]."""
    for agent in range(rules[PLAYERS]):
        put(state, agent, starts[agent, 0] * rules[SIZE] + starts[agent, 1])


@kernel(void(contract.RULES, contract.STATE, float64[:, ::1], float64))
def spawn(rules, state, draws, rate):
    """Instead of chance: begin a turn in which an empty cell becomes a gem if its draw is below the rate."""
    size = rules[SIZE]
    for row in range(size):
        for column in range(size):
            if state[CELLS + row * size + column] == EMPTY and draws[row, column] < rate:
                state[CELLS + row * size + column] = GEM
    begin_turn(rules, state)


@kernel(void(contract.RULES, contract.STATE, int64[::1]))
def arrange(rules, state, order):
    """Instead of chance: let the agents act in this order, int64[P]."""
    for turn in range(rules[PLAYERS]):
        state[ORDER + turn] = order[turn]
