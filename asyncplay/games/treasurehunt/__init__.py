"""Treasurehunt: agents on a walled grid walk towards gems that grow by chance; each sees a window around itself.

Every step may bring a reward, nothing is won or lost in the end, and an episode has a fixed number of turns. A player
is an agent. Modules: layout (the words of a position), rules, encode (what an agent sees), block (many environments
at a time), show (for people).
"""

import math

import numpy as np

from asyncplay.games.kernels import Kernels
from asyncplay.games.options import GameOption
from asyncplay.games.spec import GameSpec, no_symmetries
from asyncplay.games.treasurehunt import layout
from asyncplay.games.treasurehunt.encode import DRAWS, determinize, encode, key
from asyncplay.games.treasurehunt.rules import chance, legal, play, reset, returns, to_move

OPTIONS = (
    GameOption("players", int, 5, "Agents on the grid.", within=(2, layout.MAX_PLAYERS)),
    GameOption("size", int, 10, "Rows and columns of the grid, its walls included.", within=(5, 64)),
    GameOption("gem_rate", float, 0.02, "Odds that an empty cell becomes a gem in a turn.", within=(0, 1)),
    GameOption("window", int, 5, "Rows and columns that an agent sees around itself.", choices=(3, 5, 7, 9)),
    GameOption("frames", int, 5, "What it sees: the present frame and those of its turns before.", within=(1, 8)),
    GameOption("turns", int, 50, "Of an episode.", within=(1, 1000)),
    GameOption("shuffled", bool, False, "Whether the agents act in a fresh order every turn."),
)

KERNELS = Kernels(
    name="treasurehunt",
    reset=reset,
    legal=legal,
    play=play,
    chance=chance,
    to_move=to_move,
    returns=returns,
    encode=encode,
    key=key,
    determinize=determinize,
)


def spec(*, players: int, size: int, gem_rate: float, window: int, frames: int, turns: int, shuffled: bool) -> GameSpec:
    """An episode on such a grid."""
    features = frames * layout.PLANES * window * window
    options = [players, size, window, frames, turns, math.ceil(gem_rate * DRAWS), int(shuffled)]
    return GameSpec(
        name="treasurehunt",
        players=players,
        rules=np.array(options, np.int64),
        state_words=layout.state_words(players, size, window, frames),
        actions=layout.ACTIONS,
        features=features,
        feature_dtype=np.uint8,
        planes=None,
        frames=frames,
        max_legal=layout.ACTIONS,
        max_decisions=turns * players,
        zero_sum=False,
        is_hidden=True,
        n_symmetries=1,
        symmetries=lambda: no_symmetries(features, layout.ACTIONS),
        kernels=KERNELS,
        entry_module=None,
        block_module="asyncplay.games.treasurehunt.block",
        value_scale=1.0 / (layout.GEM_REWARD * turns),
        room_words=layout.frame_words(window),
        show_module="asyncplay.games.treasurehunt.show",
    )
