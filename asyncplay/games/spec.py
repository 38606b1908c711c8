"""The contract between games and everything that plays them.

A game is a ``GameSpec``: sizes and kernels. All kernels share these arguments:

``rules``     int64[R], what was fixed before the game: the options first (players, board, cards ...),
              then the tables that the kernels look up. Options live here and not in the code, so that
              one compiled kernel serves them all; not in the state either, which is copied often.
``state``     int64[S], one position, all of it: hidden cards, counters and the move limit included.
              Bitboards are single words; a board of many small cells may be seen as bytes
              (``state.view(np.int8)``). Copying the words copies the position.
``viewer``    the seat through whose eyes the position is seen.
``stream``    uint64[4], see rng.py; the only source of chance.
``room``      int64[room_words], scratch memory: whatever a call leaves in it means nothing to the next.

Kernels write into arrays the caller owns, never allocate, never check legality and keep nothing.

============  ===============================================================================
reset         the position before anything happened; no chance in it (a deal is a chance turn)
to_move       the seat to decide, 0 .. P-1, or CHANCE_TURN, or GAME_OVER; a player may have
              several decisions in a row
legal         write the legal actions of the seat to move, ascending, as indices; return how many:
              at least one unless it is a chance turn or the game is over, where it is 0
play          apply a decision of the seat to move
chance        draw what happens at a chance turn and apply it
returns       float64[P], what each seat has got so far, in the game's own units; the reward of a
              step is the difference it makes. Board games: 0 until the end
encode        features of the position as the viewer sees it; every entry is written. Into an array of F + H
              entries also the H hidden features: what the viewer does not see, for the value alone
key           uint64, equal for positions that look the same to the viewer, else different
determinize   int64[D, S], D positions that look the same to the viewer, drawn as the rules of the
              game say; a copy where nothing is hidden
outcomes      of games whose chance can be listed: write what may happen at a chance turn, as ascending
              numbers, and with what odds; return how many there are
happen        let the outcome of that number happen
turn          of games with symmetries that no table of actions can tell: what an action becomes when the position
              is turned by symmetry ``y``. It reads fixed places of the state and indexes nothing by what it
              finds there: states of training examples come from workers, and may be any words
ending        of games that are searched: return 0 if more than ``most`` decisions are left of the game or
              stage; else write into the first row of ``values`` what each seat will have got at its end if all
              play best (max^n), and return 1. Where several actions are best for the mover it is the mean
              over them. ``rooms`` and the other rows are scratch; ``no_ending`` is for games without this kernel
advise        what a rule-based player would do for the seat to move; a yardstick
why           of a finished game: which of its ``reasons`` ended it
============  ===============================================================================

The search is compiled for a game by its ``entry_module``, any module that can be imported: ours lie in
search/entries, that of a game of another package in that package. It has the kernels ``select``, ``advance``,
``rebuild`` and ``roll_out``, three lines each; ``block_module`` is its like for environments, see block.py.

Seats run 0 .. P-1; the seat left of s is s+1 (mod P). Whatever depends on seats is ordered from
the viewer: entry k belongs to seat (viewer + k) mod P.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numba import float32, float64, int32, int64, uint8, uint64, void
from numpy.typing import NDArray

from asyncplay.games.kernels import Kernel, Kernels, kernel, ready

CHANCE_TURN, GAME_OVER = -1, -2
BY_RULES, BY_LIMIT = "rules", "limit"

ENDING_ROWS = 2  # rows to work an ending out in, besides one for each decision

RULES, STATE, STREAM, ROOM = int64[::1], int64[::1], uint64[::1], int64[::1]

RESET = void(RULES, STATE)
TO_MOVE = int64(RULES, STATE)
LEGAL = int64(RULES, STATE, int32[::1], ROOM)
PLAY = void(RULES, STATE, int64, ROOM)
CHANCE = void(RULES, STATE, STREAM)
RETURNS = void(RULES, STATE, float64[::1])
ENCODE_BYTES = void(RULES, STATE, int64, uint8[::1], ROOM)
ENCODE_FLOATS = void(RULES, STATE, int64, float32[::1], ROOM)
KEY = uint64(RULES, STATE, int64)
DETERMINIZE = void(RULES, STATE, int64, STREAM, int64[:, ::1])
ADVISE = int64(RULES, STATE, ROOM)
WHY = int64(RULES, STATE)
OUTCOMES = int64(RULES, STATE, int32[::1], float64[::1])
HAPPEN = void(RULES, STATE, int64)
TURN = int64(RULES, STATE, int64, int64, ROOM)
ENDING = int64(RULES, STATE, int64, int64[:, ::1], float64[:, ::1])


class Symmetries(NamedTuple):
    """The Y ways to turn a position without changing the game; the first is the identity.

    Turned features are ``row[features[y]]``; action ``a`` becomes ``actions[y, a]``, or what the kernel ``turn`` says
    where that depends on the position.
    """

    features: NDArray[np.int32]  # int32[Y, F + H]; the F that the viewer sees come from each other
    actions: NDArray[np.int32] | None  # int32[Y, A]; None: the game has the kernel ``turn``


@dataclass(frozen=True, eq=False, kw_only=True)
class GameSpec:
    """A game with its options chosen: its sizes and kernels, for networks, searches and the store."""

    name: str
    players: int  # P, 2 to 8
    rules: NDArray[np.int64]  # int64[R], the first argument of every kernel
    state_words: int  # S
    actions: int  # A, indices run 0 .. A-1
    features: int  # F: those of the planes, one after another, then the global ones
    feature_dtype: type[np.generic]  # uint8 or float32
    planes: tuple[int, int, int] | None  # channels, rows, columns for convolutions; None: no board
    global_features: int = 0  # those that belong to no cell, of a game with planes
    mask_plane: int = -1  # the plane with a 1 for each cell of the board, where its planes have others; -1: they do not
    frames: int = 1  # the features are so many frames of equal length, oldest first: what the viewer saw at its own
    # decisions before, zeros where there were none, and what it sees now
    feature_scale: tuple[tuple[int, float], ...] = ()  # runs of (features, factor): what networks multiply them by
    action_planes: int = 0  # the first actions are plane * cells + cell; 0: actions have no such order,
    global_actions: int = 0  # else those behind them belong to no cell
    max_legal: int  # most legal actions of any position
    max_decisions: int  # most decisions of any game, forced ones included; the rules end it there
    zero_sum: bool  # the returns of a finished game add up to 0
    is_hidden: bool  # seats see different things, so that a search starts from ``determinize``
    n_symmetries: int  # Y, at least 1
    symmetries: Callable[[], Symmetries]
    kernels: Kernels
    entry_module: str | None  # where the search is compiled for this game; None: it is not searched
    block_module: str | None = None  # where blocks of environments are compiled, see block.py; None: there are none
    value_scale: float = 1.0  # returns * value_scale + value_offset is what networks learn and
    value_offset: float = 0.0  # searches back up: within -1 .. 1
    is_staged: bool = False  # chance turns part the game into stages (rounds): a search ends with its stage,
    # and values are of what a stage brought, not of the whole game
    room_words: int = 0  # that kernels need as ``room``
    advise: Kernel | None = None  # ADVISE
    reasons: tuple[str, ...] = (BY_RULES,)  # for which a game may end; BY_LIMIT: its limit of decisions cut it off
    why: Kernel | None = None  # WHY; None: the first reason is the only one
    max_outcomes: int = 0  # most outcomes of any chance turn; 0: chance cannot be listed
    hidden_features: int = 0  # H, of what is hidden from the viewer; 0: none are encoded
    shows_hidden: bool = False  # rows have them too, behind the F that the viewer sees
    show_module: str | None = None  # where the game is told to people, see show/; None: in numbers
    slow: Any = None  # SlowRules of slow.py, where they are plain Python: searched by search/slow_group.py
    unsearchable: str = ""  # why a game of the slow lane is not searched

    @property
    def row_features(self) -> int:
        """Entries of a row: F, or F + H."""
        return self.features + (self.hidden_features if self.shows_hidden else 0)

    def showing(self, *, hidden: bool) -> Self:
        """The same game whose rows have the hidden features, or have not."""
        return replace(self, shows_hidden=hidden)

    @property
    def example_words(self) -> int:
        """Words of the state that a training example carries: all where its actions are turned by a kernel, or none."""
        return self.state_words if self.kernels.turn is not None else 0

    def new_state(self) -> NDArray[np.int64]:
        """Return the position before anything happened."""
        state = np.empty(self.state_words, np.int64)
        self.kernels.reset(self.rules, state)
        return state

    def new_room(self) -> NDArray[np.int64]:
        """Return scratch memory for the kernels."""
        return np.zeros(max(self.room_words, 1), np.int64)


@kernel(ENDING)
def no_ending(rules, state, most, rooms, values):
    """No position of this game is worked out."""
    return 0


def signature_flaw(spec: GameSpec) -> str | None:
    """Which kernel of a game is none, or has another signature than its place in the contract; None if none."""
    if not isinstance(spec.kernels, Kernels):
        return f"its kernels are {type(spec.kernels).__name__}, wanted is Kernels"
    encode = ENCODE_BYTES if spec.feature_dtype is np.uint8 else ENCODE_FLOATS
    signatures = {"reset": RESET, "legal": LEGAL, "play": PLAY, "chance": CHANCE, "to_move": TO_MOVE}
    signatures |= {"returns": RETURNS, "encode": encode, "key": KEY, "determinize": DETERMINIZE, "outcomes": OUTCOMES}
    signatures |= {"happen": HAPPEN, "ending": ENDING, "turn": TURN, "advise": ADVISE, "why": WHY}
    for name, signature in signatures.items():
        dispatcher = getattr(spec.kernels if hasattr(spec.kernels, name) else spec, name)
        declared = getattr(dispatcher, "contract", None)
        if dispatcher is not None and declared != signature:
            what = "is no kernel" if declared is None else f"has the signature {declared}"
            return f"{name} {what}, wanted is {signature}"
    return None


def end_reason(spec: GameSpec, state: NDArray[np.int64]) -> str:
    """Why a game is over, given its last position."""
    return spec.reasons[0 if spec.why is None else int(ready(spec.why)(spec.rules, state))]


def outcome_of(spec: GameSpec, returns: NDArray[np.float64]) -> NDArray[np.float32]:
    """What a game was worth to each seat, -1 to 1; the best of a game of several stages share its win."""
    if not spec.is_staged:
        return (returns * spec.value_scale + spec.value_offset).astype(np.float32)
    is_best = returns == returns.max()
    return np.where(is_best, 2 / is_best.sum() - 1, -1).astype(np.float32)


def no_symmetries(features: int, actions: int) -> Symmetries:
    """The identity alone, for a game that has no other symmetry."""
    return Symmetries(np.arange(features, dtype=np.int32)[None], np.arange(actions, dtype=np.int32)[None])


def board_symmetries(turned_cells: NDArray[Any], turned_actions: NDArray[Any], channels: int) -> Symmetries:
    """Symmetries of features that are ``channels`` planes over the same cells.

    ``turned_cells`` int[Y, C]: where each cell of the turned board comes from; ``turned_actions``
    int[Y, A]: what each action becomes.
    """
    n_cells = turned_cells.shape[1]
    planes = [turned_cells + channel * n_cells for channel in range(channels)]
    return Symmetries(np.concatenate(planes, axis=1).astype(np.int32), turned_actions.astype(np.int32))
