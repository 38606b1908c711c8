"""What an agent of treasurehunt sees: the window around it, now and when it acted before.

Features are ``frames`` frames, oldest first and the present one last; a frame is PLANES planes of the window. A frame
that is missing, at the start of an episode, is all zero.
"""

import numpy as np
from numba import uint64

from asyncplay import rng
from asyncplay.games import spec as contract
from asyncplay.games.kernels import helper, kernel
from asyncplay.games.treasurehunt.layout import (
    AGENT,
    CELLS,
    CODE_BITS,
    CODE_MASK,
    CODES_A_WORD,
    EMPTY,
    FRAMES,
    GEM,
    PLANES,
    PLAYERS,
    POSITION,
    SELF,
    SIZE,
    SPAWN_BELOW,
    TURN,
    WALL,
    WINDOW,
    past_of,
    words_of_frame,
)

DRAWS = 2.0**53
KEY_SEED = np.uint64(0x7EA5)


@helper
def cell_at(rules, here, row, column):
    """The cell that an agent at ``here`` sees at this place of its window; -1 outside the map."""
    size, half = rules[SIZE], rules[WINDOW] // 2
    y, x = here // size + row - half, here % size + column - half
    return y * size + x if 0 <= y < size and 0 <= x < size else -1


@helper
def write_codes(rules, state, agent, words, first):
    """Write an agent's present frame as codes, from ``words[first]`` on."""
    window, here = rules[WINDOW], state[POSITION + agent]
    for word in range(words_of_frame(rules)):
        words[first + word] = 0
    place = 0
    for row in range(window):
        for column in range(window):
            cell = cell_at(rules, here, row, column)
            code = 1 + (SELF if cell == here else WALL if cell < 0 else state[CELLS + cell])
            words[first + place // CODES_A_WORD] |= code << (CODE_BITS * (place % CODES_A_WORD))
            place += 1


@helper
def write_planes(rules, words, first, features, start):
    """Write a frame of codes as planes, from ``features[start]`` on, which are 0."""
    n_cells = rules[WINDOW] * rules[WINDOW]
    for place in range(n_cells):
        code = (words[first + place // CODES_A_WORD] >> (CODE_BITS * (place % CODES_A_WORD))) & CODE_MASK
        if code:
            features[start + (code - 1) * n_cells + place] = 1


@kernel(contract.ENCODE_BYTES)
def encode(rules, state, viewer, features, room):
    """The viewer's past frames and the one that it sees now."""
    n_words, n_frame = words_of_frame(rules), PLANES * rules[WINDOW] * rules[WINDOW]
    for entry in range(rules[FRAMES] * n_frame):
        features[entry] = 0
    n_past = rules[FRAMES] - 1
    for frame in range(n_past):
        write_planes(rules, state, past_of(rules, viewer) + frame * n_words, features, frame * n_frame)
    write_codes(rules, state, viewer, room, 0)
    write_planes(rules, room, 0, features, n_past * n_frame)


@kernel(contract.KEY)
def key(rules, state, viewer):
    """A hash of the viewer and of all cells that it sees or saw."""
    hashed = rng.mix(KEY_SEED + uint64(viewer))
    first = past_of(rules, viewer)
    for word in range(first, past_of(rules, viewer + 1)):
        hashed = rng.mix(hashed ^ uint64(state[word])) + KEY_SEED
    window, here = rules[WINDOW], state[POSITION + viewer]
    for row in range(window):
        for column in range(window):
            cell = cell_at(rules, here, row, column)
            hashed = rng.mix(hashed ^ uint64(WALL if cell < 0 else state[CELLS + cell])) + KEY_SEED
    return hashed


@helper
def sees(rules, here, cell):
    """Whether a cell is in the window of an agent at ``here``."""
    size, half = rules[SIZE], rules[WINDOW] // 2
    return abs(cell // size - here // size) <= half and abs(cell % size - here % size) <= half


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Beyond the window: agents on random cells, and gems with the odds of a cell that was never entered."""
    size, here = rules[SIZE], state[POSITION + viewer]
    odds = 1.0 - (1.0 - rules[SPAWN_BELOW] / DRAWS) ** (state[TURN] + 1)
    for number in range(len(worlds)):
        world = worlds[number]
        for word in range(len(state)):
            world[word] = state[word]
        for row in range(1, size - 1):
            for cell in range(row * size + 1, (row + 1) * size - 1):
                if not sees(rules, here, cell):
                    world[CELLS + cell] = GEM if rng.uniform(stream) < odds else EMPTY
        for agent in range(rules[PLAYERS]):
            if not sees(rules, here, state[POSITION + agent]):
                cell = here
                while sees(rules, here, cell) or world[CELLS + cell] == AGENT:
                    cell = (1 + rng.below(stream, size - 2)) * size + 1 + rng.below(stream, size - 2)
                world[POSITION + agent] = cell
                world[CELLS + cell] = AGENT
