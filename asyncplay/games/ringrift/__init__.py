"""RingRift for 2 to 4 players on four boards: stacks that leave markers, captures, lines and territory.

Modules: boards (geometry), layout (the words of a position and the planes of actions), movement, lines, recovery and
territory (what is legal and what it does), turns (the phases), endings (who wins), encode (what networks see),
symmetry, yardstick (a one-ply player), decisions (actions and positions in the words of the rules), drawing
and show (for people).
"""

from functools import partial

import numpy as np

from asyncplay.games import spec as contract
from asyncplay.games.kernels import Kernels, kernel
from asyncplay.games.options import By, GameOption
from asyncplay.games.ringrift import layout
from asyncplay.games.ringrift.boards import BOARDS, MOST_DIRECTIONS, MOST_SYMMETRIES, BoardGeometry, tables_of
from asyncplay.games.ringrift.encode import board_plane, encode, feature_scale, key, n_globals, n_planes
from asyncplay.games.ringrift.endings import REASONS, returns, why
from asyncplay.games.ringrift.symmetry import symmetries, turn
from asyncplay.games.ringrift.turns import legal, play, reset, to_move
from asyncplay.games.ringrift.yardstick import advise, room_words
from asyncplay.games.spec import GameSpec

AUTO = "auto"
MOST_RINGS, MOST_DECISIONS, MOST_ROUNDS = 200, 100_000, 100

OPTIONS = (
    GameOption("board", str, "square8", "The board.", choices=tuple(BOARDS)),
    GameOption("players", int, 2, "Seats.", within=(2, layout.MAX_PLAYERS)),
    GameOption(
        "rings",
        int,
        By(lambda board: BOARDS[board].rings, ("board",)),
        "Rings of each player.",
        within=(1, MOST_RINGS),
    ),
    GameOption("stack_strike", bool, False, "Recovery may strike the top ring of a neighbouring stack."),
    GameOption(
        "swap",
        bool,
        False,
        "The second player may take the first one's side; with two players only.",
        choices=By(lambda players: (False, True) if players == 2 else (False,), ("players",)),
    ),
    GameOption("rounds", int, 3, "Rounds that the last player standing needs.", within=(1, MOST_ROUNDS)),
    GameOption(
        "max_moves",
        int,
        AUTO,
        "Decisions after which a game has no winner; auto: by board and players.",
        within=(1, MOST_DECISIONS),
        words=(AUTO,),
    ),
)


@kernel(contract.CHANCE)
def chance(rules, state, stream):
    """There is none."""


@kernel(contract.DETERMINIZE)
def determinize(rules, state, viewer, stream, worlds):
    """Nothing is hidden: copies."""
    for world in range(len(worlds)):
        for word in range(len(state)):
            worlds[world, word] = state[word]


KERNELS = Kernels(
    name="ringrift",
    reset=reset,
    legal=legal,
    play=play,
    chance=chance,
    to_move=to_move,
    returns=returns,
    encode=encode,
    key=key,
    determinize=determinize,
    ending=contract.no_ending,
    turn=turn,
)


def spec(
    *, board: str, players: int, rings: int, stack_strike: bool, swap: bool, rounds: int, max_moves: int | str
) -> GameSpec:
    """A game on a board, with its move limit."""
    geometry = BOARDS[board]
    limit = geometry.limits[players - 2] if max_moves == AUTO else int(max_moves)
    options = [players, rings, int(stack_strike), int(swap), rounds, limit]
    rules = _rules(geometry, options)
    n_cells, width, planes = geometry.n_cells, geometry.width, n_action_planes(geometry)
    state_words, max_legal = (
        layout.CELLS + n_cells,
        int(tables_of(geometry).rays.sum()),
    )  # moves, if nothing were in the way
    return GameSpec(
        name="ringrift",
        players=players,
        rules=rules,
        state_words=state_words,
        actions=planes * n_cells + layout.GLOBAL_ACTIONS,
        features=n_planes(players) * n_cells + n_globals(players),
        feature_dtype=np.uint8,
        planes=(n_planes(players), width, width),
        global_features=n_globals(players),
        mask_plane=board_plane(players) if geometry.is_hexagonal else -1,
        feature_scale=feature_scale(players, n_cells, width, rules),
        action_planes=planes,
        global_actions=layout.GLOBAL_ACTIONS,
        max_legal=max_legal,  # no other phase has as many as moves
        max_decisions=limit,
        zero_sum=players == 2,
        is_hidden=False,
        n_symmetries=len(tables_of(geometry).turned_cells),
        symmetries=partial(symmetries, geometry, players),
        kernels=KERNELS,
        entry_module="asyncplay.search.entries.ringrift",
        show_module="asyncplay.games.ringrift.show",
        room_words=room_words(n_cells, len(geometry.directions), state_words, max_legal),
        advise=advise,
        reasons=REASONS,
        why=why,
    )


def n_action_planes(board: BoardGeometry) -> int:
    """See layout.py."""
    n_directions, n_axes = len(board.directions), len(board.axes)
    return layout.GO + n_directions * board.width + 2 * n_axes + 1 + layout.CLAIM_PLANES


def _rules(board: BoardGeometry, options: list[int]) -> np.ndarray:
    """The options, what follows from them, and the tables of the board."""
    players, rings = options[:2]
    line = 3 if board.short_line and players > 2 else 4
    threshold = (rings * (players + 1) * 2 + 3) // 6  # a third of the product, rounded
    minimum = len(board.cells()) // players + 1
    shape = [board.n_cells, board.width, len(board.directions), len(board.axes), int(board.is_hexagonal)]
    steps = [x + y * board.width for x, y in board.directions]
    directions = np.zeros((MOST_SYMMETRIES, MOST_DIRECTIONS), np.int64)
    tables = tables_of(board)
    directions[: len(tables.turned_directions)] = tables.turned_directions
    is_on_board = np.isin(np.arange(board.n_cells), list(board.cells()))
    parts = [
        [*options, line, threshold, minimum, *shape],
        [*steps, *[0] * (MOST_DIRECTIONS - len(steps))],
        directions.ravel(),
        tables.rays.ravel(),
        is_on_board,
        tables.turned_cells.ravel(),
    ]
    return np.concatenate([np.asarray(part, np.int64) for part in parts])
