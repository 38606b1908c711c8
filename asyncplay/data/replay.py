"""The latest training rows, and batches drawn from them.

Rows are numbered in the order they come. The window is the latest of them; it grows by a power law of all
rows that ever came, so that old games are forgotten at a rate which slows down as play gets better. Rows
lie in blocks of equal length, each a few flat arrays: memory follows the window, nothing is ever moved, and
a row's legal actions take the room they need, whether the game has 7 actions or 50,000.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from asyncplay.config.sections import ReplaySettings
from asyncplay.payloads import Array, Examples, Ints, concatenate

Numbers = NDArray[np.int64]
TurnActions = Callable[[Examples, Numbers], Ints]
"""Examples and the symmetry that turns each row: what their legal actions become, int32[L]."""


def window_rows(window: ReplaySettings, inserted: int) -> int:
    """The window's length after ``inserted`` rows."""
    if inserted <= window.start_rows:
        return min(inserted, window.capacity_rows)
    grown = int(window.start_rows * (inserted / window.start_rows) ** window.exponent)
    return min(grown, inserted, window.capacity_rows)


class Draw(NamedTuple):
    """A batch that is chosen but not copied yet; rows that come or go meanwhile do not touch it."""

    picks: Sequence[tuple[Examples, Numbers]]  # a block as it was, and places in it
    age_rows: float  # mean number of rows that came after a row of the batch

    def gather(self) -> Examples:
        """Copy the rows together, oldest first; may run on any thread."""
        return concatenate([block.pick(places) for block, places in self.picks])


class Replay:
    """Keeps the rows of the window.

    Lifetime: one run. All methods belong to the loop; what takes long, ``Draw.gather``, belongs to nobody.
    Limit: the window's rows and at most two blocks more, and what waits while it is refilled.
    """

    def __init__(
        self,
        features: int,
        feature_dtype: DTypeLike,
        players: int,
        *,
        window: ReplaySettings,
        state_words: int = 0,  # of the states that rows carry
        block_rows: int = 16_384,
    ) -> None:
        self.inserted = 0  # rows that ever came
        self.age_rows = 0.0  # of the last draw
        self._first = 0  # oldest row in the window
        self._window, self._block_rows = window, block_rows
        self.feature_dtype = np.dtype(feature_dtype)
        self._features, self._players, self._state_words = features, players, state_words
        self._blocks: dict[int, _Block] = {}
        self._missing = 0  # rows that ``refill`` will bring
        self._late: list[Examples] = []  # came before those and wait for them

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return self.inserted - self._first

    @property
    def held_bytes(self) -> int:
        return sum(block.held_bytes for block in self._blocks.values())

    def begin_at(self, number: int, missing: int = 0) -> None:
        """Give the next row this number, as if those before had come and gone; only while empty.

        The next ``missing`` rows come by ``refill``, in order; what ``add`` brings meanwhile waits and follows them.
        """
        assert self.inserted == 0, "rows were added already"
        self.inserted = self._first = number
        self._missing = missing

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing; before, nothing can be drawn."""
        return not self._missing

    def refill(self, examples: Examples) -> None:
        """Take the next of the missing rows."""
        assert examples.rows <= self._missing, "more rows came back than had been there"
        self._append(examples)
        self._missing -= examples.rows
        if self.is_whole:
            late, self._late = self._late, []
            for rows in late:
                self._append(rows)

    def add(self, examples: Examples) -> None:
        """Take copies of the rows; what leaves the window is forgotten."""
        if self.is_whole:
            self._append(examples)
        else:
            self._late.append(examples)

    def _append(self, examples: Examples) -> None:
        start = 0
        while start < examples.rows:
            number, place = divmod(self.inserted, self._block_rows)
            stop = min(examples.rows, start + self._block_rows - place)
            self._block(number).write(place, examples.part(start, stop))
            self.inserted += stop - start
            start = stop
        self._forget()

    def draw(self, n: int, generator: np.random.Generator) -> Draw:
        """Choose ``n`` rows of the window, each draw independent of the others."""
        assert self.is_whole, "the window is not refilled yet"
        assert self.rows, "nothing to draw from"
        numbers = np.sort(self.inserted - 1 - self._ages(n, generator))
        self.age_rows = float(self.inserted - 1 - numbers.mean())
        return Draw(self._locate(numbers), self.age_rows)

    def sample(self, n: int, generator: np.random.Generator) -> Examples:
        """``draw`` and ``gather`` at once."""
        return self.draw(n, generator).gather()

    def _ages(self, n: int, generator: np.random.Generator) -> Numbers:
        """How many rows came after each chosen one: uniform, or halving with each half-life."""
        half_life_rows = self._window.half_life_rows
        if not half_life_rows:
            return generator.integers(0, self.rows, n)
        reach = -np.expm1(-np.log(2) * self.rows / half_life_rows)
        ages = -half_life_rows * np.log1p(-reach * generator.random(n)) / np.log(2)
        whole: Numbers = np.minimum(ages.astype(np.int64), self.rows - 1)
        return whole

    def _locate(self, numbers: Numbers) -> list[tuple[Examples, Numbers]]:
        """``numbers`` ascend, so each block's share is a run of them."""
        blocks, places = np.divmod(numbers, self._block_rows)
        starts = np.flatnonzero(np.diff(blocks, prepend=-1))
        runs = np.split(places, starts[1:])
        return [(self._blocks[int(blocks[at])].view(), run) for at, run in zip(starts, runs, strict=True)]

    def _block(self, number: int) -> "_Block":
        if number not in self._blocks:
            room = (self._block_rows, self._features, self.feature_dtype, self._players, self._state_words)
            self._blocks[number] = _Block(*room)
        return self._blocks[number]

    def _forget(self) -> None:
        self._first = max(self._first, self.inserted - window_rows(self._window, self.inserted))
        oldest = self._first // self._block_rows
        while self._blocks and (number := next(iter(self._blocks))) < oldest:
            del self._blocks[number]


class _Block:
    """Room for a fixed number of rows, filled once from front to back."""

    def __init__(self, rows: int, features: int, feature_dtype: DTypeLike, players: int, state_words: int) -> None:
        self._columns = Examples(
            features=np.empty((rows, features), feature_dtype),
            legal=np.empty(rows, np.int32),
            offsets=np.zeros(rows + 1, np.int32),
            targets=np.empty(rows, np.float32),
            values=np.empty((rows, players), np.float32),
            seats=np.empty(rows, np.int32),
            weight=np.empty(rows, np.float32),
            versions=np.empty(rows, np.int32),
            states=np.empty((rows, state_words), np.int64),
        )

    @property
    def held_bytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    def view(self) -> Examples:
        """Its arrays. Rows written later may lie in others, so whoever holds these sees nothing change."""
        return self._columns

    def write(self, place: int, rows: Examples) -> None:
        """Put ``rows`` at ``place``, which follows the row written last (or is where the block begins)."""
        last = place + rows.rows
        for name in ("features", "values", "seats", "weight", "versions", "states"):
            getattr(self._columns, name)[place:last] = getattr(rows, name)
        first_entry = int(self._columns.offsets[place])
        last_entry = first_entry + len(rows.legal)
        self._make_room(last_entry)
        self._columns.legal[first_entry:last_entry] = rows.legal
        self._columns.targets[first_entry:last_entry] = rows.targets
        self._columns.offsets[place + 1 : last + 1] = first_entry + rows.offsets[1:]

    def _make_room(self, entries: int) -> None:
        """Legal actions per row are not known beforehand: their arrays double when they are full."""
        legal, targets = self._columns.legal, self._columns.targets
        if entries > len(legal):
            room = max(entries, 2 * len(legal))
            self._columns = self._columns._replace(legal=_grown(legal, room), targets=_grown(targets, room))


def augment(
    examples: Examples, feature_turns: Ints, turn_actions: TurnActions, generator: np.random.Generator
) -> Examples:
    """Turn each row by a symmetry of its own, drawn from all ``Y``.

    Turned features are ``row[feature_turns[y]]``, int32[Y, F]. A row's legal actions keep their places beside their
    targets, so they no longer ascend; states, which only served to turn them, are left behind.
    """
    turns = generator.integers(0, len(feature_turns), examples.rows)
    features = np.empty_like(examples.features)
    for turn, columns in enumerate(feature_turns):
        chosen = np.flatnonzero(turns == turn)
        features[chosen] = examples.features[np.ix_(chosen, columns)]
    return examples._replace(
        features=features, legal=turn_actions(examples, turns), states=np.empty((examples.rows, 0), np.int64)
    )


def turn_by_table(action_turns: Ints) -> TurnActions:
    """Of games whose action ``a`` becomes ``action_turns[y, a]``, int32[Y, A], in every position."""
    return lambda examples, turns: action_turns[np.repeat(turns, np.diff(examples.offsets)), examples.legal]


def _grown(array: Array, room: int) -> Array:
    larger = np.empty(room, array.dtype)
    larger[: len(array)] = array
    return larger
