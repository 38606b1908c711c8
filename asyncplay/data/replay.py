"""The latest training rows, and batches drawn from them.

Rows are numbered in the order they come. The window is the latest of them; it grows by a power law of all
rows that ever came, so that old games are forgotten at a rate which slows down as play gets better, and never
beyond its bytes: where rows are large the oldest blocks leave before the law says so, and that is counted. Rows
lie in blocks, each a few flat arrays: memory follows the window, nothing is ever moved, and a row's legal actions
take the room they need, whether the game has 7 actions or 50,000.
"""

import bisect
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from asyncplay.config.sections import ReplaySettings
from asyncplay.payloads import Array, Examples, Ints, concatenate

Numbers = NDArray[np.int64]
TurnActions = Callable[[Examples, Numbers], Ints]
"""Examples and the symmetry that turns each row: what their legal actions become, int32[L]."""

MOST_BYTES = 1 << 62
BLOCKS = 8  # a block has no more than this part of the window's bytes
ENTRY_BYTES = 8  # of a legal action and its target
OFFSET_BYTES = 4  # of the one offset more than there are rows


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
    Limit: ``capacity_bytes``, whole blocks and what waits while the window is refilled; and the window's rows with at
    most two blocks more.
    """

    def __init__(
        self,
        features: int,
        feature_dtype: DTypeLike,
        players: int,
        *,
        window: ReplaySettings,
        capacity_bytes: int = MOST_BYTES,
        state_words: int = 0,  # of the states that rows carry
        block_rows: int = 16_384,
    ) -> None:
        """``capacity_bytes`` must have room for some rows: a block is an eighth of it at most, and has a row at least.

        ``block_rows``: of a block whose bytes allow it.
        """
        self.inserted = 0  # rows that ever came
        self.age_rows = 0.0  # of the last draw
        self.early_rows = 0  # forgotten for want of bytes, while the window's law would have kept them
        self._first = 0  # oldest row in the window
        self._window, self.capacity_bytes = window, capacity_bytes
        self.feature_dtype = np.dtype(feature_dtype)
        self._features, self._players, self._state_words = features, players, state_words
        self._block_bytes = capacity_bytes // BLOCKS
        self.row_bytes = fixed_row_bytes(features, feature_dtype, players, state_words)  # of one without legal actions
        self._block_rows = max(min(block_rows, self._block_bytes // (self.row_bytes + 2 * ENTRY_BYTES)), 1)
        self._blocks: deque[_Block] = deque()  # in order
        self._missing = 0  # rows that ``refill`` will bring
        self._late: deque[Examples] = deque()  # came before those and wait for them
        self._held_bytes = self._late_bytes = 0

    @property
    def rows(self) -> int:
        """Rows in the window."""
        return self.inserted - self._first

    @property
    def held_bytes(self) -> int:
        return self._held_bytes + self._late_bytes

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
        """Take the next of the missing rows; none, where others have filled the window meanwhile."""
        if self.is_whole:
            return
        assert examples.rows <= self._missing, "more rows came back than had been there"
        self._missing -= examples.rows
        self._append(examples)
        if self.is_whole:
            self._append_late()

    def add(self, examples: Examples) -> None:
        """Take copies of the rows; what leaves the window is forgotten."""
        if self.is_whole:
            self._append(examples)
            return
        self._late.append(examples)
        self._late_bytes += n_bytes(examples)
        if self._late_bytes > self.capacity_bytes - self._block_bytes:  # so what is missing would be forgotten at once
            self.inserted += self._missing
            self.early_rows += self.rows
            self._first, self._missing = self.inserted, 0
            while self._blocks:
                self._drop_oldest()
            self._append_late()
        else:
            self._make_room(0)

    def _append_late(self) -> None:
        while self._late:
            rows = self._late.popleft()
            self._late_bytes -= n_bytes(rows)
            self._append(rows)

    def _append(self, examples: Examples) -> None:
        """Write rows into the last block and into new ones, as many as its bytes allow at a time."""
        start = 0
        while start < examples.rows:
            block = self._blocks[-1] if self._blocks else None
            n_rows = 0 if block is None else block.n_fitting(examples, start)
            if block is None or n_rows == 0:
                block = self._open_block()
                n_rows = max(block.n_fitting(examples, start), 1)
            part = examples.part(start, start + n_rows)
            grown_bytes = block.growth_bytes(len(part.legal))
            self._make_room(grown_bytes)
            block.write(part)
            self._held_bytes += grown_bytes
            self.inserted += n_rows
            start += n_rows
        self._forget()

    def _open_block(self) -> "_Block":
        block_bytes = self._block_rows * (self.row_bytes + ENTRY_BYTES) + OFFSET_BYTES
        self._make_room(block_bytes)
        block = _Block(
            self._block_rows,
            self._features,
            self.feature_dtype,
            self._players,
            self._state_words,
            first=self.inserted,
            most_bytes=self._block_bytes,
        )
        self._held_bytes += block_bytes
        self._blocks.append(block)
        return block

    def _make_room(self, n_bytes: int) -> None:
        """Forget the oldest blocks, but for the one that is being filled, until there are ``n_bytes`` of room."""
        while self.held_bytes + n_bytes > self.capacity_bytes and len(self._blocks) > 1:
            stop = self._blocks[1].first
            self.early_rows += max(stop - self._first, 0)
            self._first = max(self._first, stop)
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        self._held_bytes -= self._blocks.popleft().held_bytes

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
        starts = [block.first for block in self._blocks]
        edges = np.searchsorted(numbers, [*starts, self.inserted])
        return [
            (block.view(), numbers[low:high] - block.first)
            for block, low, high in zip(self._blocks, edges[:-1], edges[1:], strict=True)
            if low < high
        ]

    def _forget(self) -> None:
        self._first = max(self._first, self.inserted - window_rows(self._window, self.inserted))
        while len(self._blocks) > 1 and self._blocks[1].first <= self._first:
            self._drop_oldest()


class _Block:
    """Room for a number of rows, filled once from front to back."""

    def __init__(
        self,
        rows: int,
        features: int,
        feature_dtype: DTypeLike,
        players: int,
        state_words: int,
        *,
        first: int,
        most_bytes: int,
    ) -> None:
        """``first``: the number of its first row; ``most_bytes``: beyond which it takes no further row."""
        self.first, self._rows, self._most_bytes = first, 0, most_bytes
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
        return n_bytes(self._columns)

    def view(self) -> Examples:
        """Its arrays. Rows written later may lie in others, so whoever holds these sees nothing change."""
        return self._columns

    def n_fitting(self, examples: Examples, start: int) -> int:
        """How many rows from ``start`` on it has room for, by number and by bytes."""
        n_rows = min(len(self._columns.features) - self._rows, examples.rows - start)
        free_entries = (self._most_bytes - self._held_fixed) // ENTRY_BYTES - self._n_entries
        last_entry = int(examples.offsets[start]) + free_entries
        by_bytes = bisect.bisect_right(examples.offsets, last_entry, start + 1, start + n_rows + 1) - 1 - start
        return min(n_rows, by_bytes)

    def growth_bytes(self, n_entries: int) -> int:
        """How much larger it becomes by ``write`` of so many legal actions."""
        return (self._entry_room(n_entries) - len(self._columns.legal)) * ENTRY_BYTES

    def write(self, rows: Examples) -> None:
        """Put ``rows`` behind those written last."""
        place, last = self._rows, self._rows + rows.rows
        for name in ("features", "values", "seats", "weight", "versions", "states"):
            getattr(self._columns, name)[place:last] = getattr(rows, name)
        first_entry = self._n_entries
        last_entry = first_entry + len(rows.legal)
        room = self._entry_room(len(rows.legal))
        if room > len(self._columns.legal):
            legal, targets = _grown(self._columns.legal, room), _grown(self._columns.targets, room)
            self._columns = self._columns._replace(legal=legal, targets=targets)
        self._columns.legal[first_entry:last_entry] = rows.legal
        self._columns.targets[first_entry:last_entry] = rows.targets
        self._columns.offsets[place + 1 : last + 1] = first_entry + rows.offsets[1:]
        self._rows = last

    @property
    def _n_entries(self) -> int:
        return int(self._columns.offsets[self._rows])

    @property
    def _held_fixed(self) -> int:
        """Bytes beside those that grow with the legal actions."""
        return self.held_bytes - len(self._columns.legal) * ENTRY_BYTES

    def _entry_room(self, n_entries: int) -> int:
        """Legal actions per row are not known beforehand: their arrays double when they are full, up to the block's
        bytes."""
        wanted, room = self._n_entries + n_entries, len(self._columns.legal)
        if wanted <= room:
            return room
        return max(wanted, min(2 * room, (self._most_bytes - self._held_fixed) // ENTRY_BYTES))


def fixed_row_bytes(features: int, feature_dtype: DTypeLike, players: int, state_words: int = 0) -> int:
    """Of a row in the window, beside its legal actions and their targets."""
    fixed = 4 * players + 8 * state_words + 16  # offset, seats, weight, version
    return features * np.dtype(feature_dtype).itemsize + fixed


def n_bytes(examples: Examples) -> int:
    return sum(column.nbytes for column in examples)


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
