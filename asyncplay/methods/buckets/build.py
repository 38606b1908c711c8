"""Builds a file of buckets: ranks all full boards, clusters a sample of hands, then finds the bucket of every hand.

What is done is kept in a folder beside the file: after a kill -9 the same command goes on from there. A save first
makes the data durable, then replaces the state that says which units they are of.
"""

import asyncio
import io
import json
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asyncplay import rng
from asyncplay.config.sections import Config
from asyncplay.data import files, lock
from asyncplay.engine.engine import Engine
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.loop import run_loop
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import AsyncplayError, WireError
from asyncplay.games.holdem.canonical import CLASSES, BoardIndex, index_boards
from asyncplay.games.holdem.layout import FLOP, PREFLOP, RIVER, STREETS, TURN, deck_of
from asyncplay.games.kernels import ready, warm_up
from asyncplay.methods import parts
from asyncplay.methods.buckets.messages import BoardsResult, BoardsSpec
from asyncplay.methods.buckets.worker import CLASS_STATS, EQUITY_UNITS, KERNELS, STATS
from asyncplay.solve.abstraction.bucket_file import (
    HEADER_BYTES,
    BucketParameters,
    digest_of,
    header_of,
    layout_of,
)
from asyncplay.solve.abstraction.clusters import assign, cluster, cumulative
from asyncplay.solve.abstraction.equity import BINS, CDF_TOTAL, FULL_PAIRS, NOT_IN_PLAY, count_alike, most_halves
from asyncplay.wire.codec import encode

METHOD = "equity histograms, earth mover's distance"
UNIT_BOARDS = {FLOP: 2, TURN: 16, RIVER: 128}
SAMPLE_BOARDS = {FLOP: 512, TURN: 2048}
SAMPLE_PAIRS = {FLOP: 256, TURN: 64}
JOB_UNITS = 4
SAVE_S = 5.0
MOST_STATE_BYTES = 1 << 28
NAMES = {FLOP: "flop", TURN: "turn"}  # of their centers in the state
PLAN, STATE, HALVES, DRAFT = "plan.json", "state.npz", "halves", "draft"  # files of the folder

Progress = Callable[[int, int], None]
Longs = NDArray[np.int64]


class Boards(NamedTuple):
    """The canonical boards of a street, and how many boards each stands for."""

    numbered: BoardIndex
    weights: Longs


class Batch(NamedTuple):
    """The boards of a unit of work."""

    street: int
    first: int
    boards: Longs
    weights: Longs


class Build:
    """One build. Lifetime: ``run``, to the finished file or a cancellation, after which another goes on."""

    def __init__(self, path: Path, parameters: BucketParameters, config: Config, progress: Progress) -> None:
        """``progress`` is told how many units are done of how many in all."""
        self._path, self._parameters, self._config, self._progress = path, parameters, config, progress
        self._deck, self._folder = deck_of(parameters.deck), part_folder(path)
        self._boards = {street: weighted_boards(self._deck, street) for street in (FLOP, TURN, RIVER)}
        self._layout = layout_of(parameters)
        self._open_folder()
        river = self._boards[RIVER].numbered
        self._halves = np.memmap(self._folder / HALVES, np.int16, "r+", shape=(len(river.boards), FULL_PAIRS))
        self._one_at_a_time = threading.Lock()  # saves
        self._draft = np.memmap(self._folder / DRAFT, np.uint8, "r+", shape=(self._layout.n_bytes,))
        self._state = self._read_state()

    async def run(self) -> str:
        """Build what is missing, return the file's SHA-256."""
        state = self._state
        await self._work("rank", self._batches(RIVER), "ranked", self._take_ranked)
        if "flop" not in state:
            await self._sample()
        batches = [*self._batches(FLOP), *self._batches(TURN)]
        await self._work("assign", batches, "assigned", self._take_assigned)
        await asyncio.to_thread(self._find_river)
        self._find_preflop()
        return await asyncio.to_thread(self._finish)

    def _open_folder(self) -> None:
        """Begin, or go on with what a build of the same parameters left. All the room is taken at once: a full disk is
        said here, and does not end a process that writes to a mapped file."""
        plan = json.dumps(self._parameters._asdict()).encode()
        sizes = {HALVES: 2 * len(self._boards[RIVER].numbered.boards) * FULL_PAIRS, DRAFT: self._layout.n_bytes}
        if (self._folder / PLAN).exists() and files.read_file(self._folder / PLAN, HEADER_BYTES) != plan:
            cure = "remove it, or build to another --out"
            raise AsyncplayError(f"{self._folder} is left of a build with other parameters; {cure}")
        paths = {self._folder / name: n_bytes for name, n_bytes in sizes.items()}
        if all(path.is_file() and path.stat().st_size == n_bytes for path, n_bytes in paths.items()):
            return
        files.remove(self._folder / STATE)
        for path, n_bytes in paths.items():
            with path.open("wb") as file:
                try:
                    file.truncate(n_bytes)
                    if hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file.fileno(), 0, n_bytes)
                except OSError as error:
                    needed = f"a build needs {sum(sizes.values()) / 1e6:,.0f} MB there"
                    raise AsyncplayError(f"{self._folder}: {error.strerror}; {needed}") from None
        files.write(self._folder / PLAN, plan)
        files.sync(self._folder)

    def _read_state(self) -> dict[str, NDArray[Any]]:
        """What is done: a flag for each unit of a stage, sums, and once they are known the centers of flop and turn."""
        state: dict[str, NDArray[Any]] = {"classes": np.zeros((CLASSES, CLASS_STATS), np.int64)}
        for street, count in enumerate(self._parameters.buckets):
            state[f"stats{street}"] = np.zeros((count, STATS), np.int64)
        n_assigned = len(self._batches(FLOP)) + len(self._batches(TURN))
        state |= {"ranked": np.zeros(len(self._batches(RIVER)), np.bool_), "assigned": np.zeros(n_assigned, np.bool_)}
        path = self._folder / STATE
        if not path.exists():
            return state
        try:
            with np.load(io.BytesIO(files.read_file(path, MOST_STATE_BYTES)), allow_pickle=False) as kept:
                found = dict(kept)
            is_whole = all(
                (found[name].dtype, found[name].shape) == (own.dtype, own.shape) for name, own in state.items()
            )
            centers = [found[name] for name in NAMES.values() if name in found]
            if not is_whole or not all(one.dtype == np.int32 and one.shape[1:] == (BINS,) for one in centers):
                raise ValueError("its arrays have other sizes")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise AsyncplayError(f"{path} is damaged ({error}); remove {self._folder}") from None
        return found

    async def _save(self) -> None:
        """Data first, then the state as it was before; what comes meanwhile is for the next save."""
        buffer = io.BytesIO()
        arrays: dict[str, Any] = self._state
        np.savez(buffer, **arrays)
        await asyncio.to_thread(self._write_state, buffer.getvalue())

    def _write_state(self, state: bytes) -> None:
        with self._one_at_a_time:  # a save whose task was cancelled goes on in its thread
            self._halves.flush()
            self._draft.flush()
            files.replace(self._folder / STATE, state, self._folder / f"{STATE}.new")
            files.sync(self._folder)

    def _batches(self, street: int) -> list[Batch]:
        """The units of a street."""
        boards, weights = self._boards[street].numbered.boards, self._boards[street].weights
        size = UNIT_BOARDS[street]
        return [Batch(street, k, boards[k : k + size], weights[k : k + size]) for k in range(0, len(boards), size)]

    async def _work(
        self, task: str, batches: list[Batch], flag: str, take: Callable[[Batch, BoardsResult], None]
    ) -> None:
        """Have the units done that are not; ``flag``: what says so in the state."""
        done = self._state[flag]
        todo = np.flatnonzero(~done).tolist()

        def finish(result: BoardsResult) -> None:
            take(batches[todo[result.unit]], result)
            done[todo[result.unit]] = True
            flags = [self._state["ranked"], self._state["assigned"]]
            self._progress(sum(int(own.sum()) for own in flags), sum(map(len, flags)))

        if not todo:
            return
        saving = asyncio.create_task(self._save_often())
        try:
            await self._issue(task, [batches[unit] for unit in todo], finish)
        finally:
            saving.cancel()
            await asyncio.wait([saving])
            await self._save()

    async def _save_often(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            await self._save()

    async def _issue(self, task: str, batches: list[Batch], finish: Callable[[BoardsResult], None]) -> None:
        """Let the workers do these units."""
        state, empty = self._state, np.zeros(0, np.int32)
        centers = [state.get(name, empty).ravel() if task == "assign" else empty for name in ("flop", "turn")]

        def spec(piece: Piece) -> bytes:
            own = batches[piece.first : piece.first + piece.size]
            return encode(
                BoardsSpec(
                    task,
                    self._deck,
                    np.concatenate([batch.boards for batch in own]),
                    np.concatenate([batch.weights for batch in own]),
                    np.cumsum([len(batch.boards) for batch in own]),
                    str((self._folder / HALVES).resolve()),
                    SAMPLE_PAIRS.get(own[0].street, 0),
                    *centers,
                )
            )

        assignment = Assignment("boards", spec, self._parameters.seed, chunk=JOB_UNITS, low_water=JOB_UNITS)
        work = UnitWork(assignment, Ledger(len(batches)), finished=finish, check=self._checker(task, batches))
        engine = Engine(
            parts.make_pool(self._config.pool.kind),
            work,
            workers=min(parts.n_workers(self._config), len(batches)),
            settings=parts.live_settings(self._config),
            limits=parts.limits(self._config),
            patience=parts.patience(self._config),
            is_lockstep=self._config.pool.kind == "inline",
        )
        await engine.run()
        if not work.ledger.books.done == len(batches):
            raise AsyncplayError("some boards ended every worker that tried them, so that no file can be built")

    def _checker(self, task: str, batches: list[Batch]) -> Callable[[BoardsResult], None]:
        """WireError for what cannot come of a unit's boards."""

        def check(result: BoardsResult) -> None:
            batch = batches[result.unit]
            n_pairs, n_centers, n_totals, most = FULL_PAIRS, 0, 0, CDF_TOTAL
            if task == "assign":
                n_pairs, n_centers = self._boards[batch.street].numbered.n_pairs, len(self._state[NAMES[batch.street]])
                n_totals = STATS * n_centers + (CLASSES * CLASS_STATS if batch.street == FLOP else 0)
                most = n_centers - 1
            elif task == "rank":
                most = most_halves(self._deck)
            n_bytes = len(result.data)
            is_whole = n_bytes % (2 * BINS) == 0 if task == "sample" else n_bytes == 2 * len(batch.boards) * n_pairs
            if not is_whole or len(result.totals) != n_totals:
                raise WireError(f"unit {result.unit} has results of another size than its boards")
            data = np.frombuffer(result.data, np.int16)
            if len(data) and not (NOT_IN_PLAY if task == "rank" else 0) <= data.min() <= data.max() <= most:
                raise WireError(f"unit {result.unit} has results out of range")

        return check

    def _take_ranked(self, batch: Batch, result: BoardsResult) -> None:
        rows = np.frombuffer(result.data, np.int16).reshape(len(batch.boards), FULL_PAIRS)
        self._halves[batch.first : batch.first + len(rows)] = rows

    async def _sample(self) -> None:
        """Draw boards of flop and turn, and find the centers of the hands beside them."""
        batches = [batch for street in (FLOP, TURN) for batch in self._drawn(street)]
        found: dict[int, bytes] = {}

        def take(result: BoardsResult) -> None:
            found[result.unit] = result.data

        await self._issue("sample", batches, take)
        for street in (FLOP, TURN):
            units = [found[unit] for unit, batch in enumerate(batches) if batch.street == street]
            points = np.frombuffer(b"".join(units), np.int16).astype(np.int32).reshape(-1, BINS)
            self._state[NAMES[street]] = await asyncio.to_thread(self._cluster, points, None, street)
        await self._save()

    def _drawn(self, street: int) -> list[Batch]:
        """Different boards, drawn by how many each stands for; all of them where there are few."""
        boards, weights = self._boards[street].numbered.boards, self._boards[street].weights
        count, chosen = min(SAMPLE_BOARDS[street], len(boards)), set[int]()
        ends, stream = np.cumsum(weights), rng.stream(self._parameters.seed, street)
        while len(chosen) < count:
            chosen.add(int(np.searchsorted(ends, rng.below(stream, int(ends[-1])), "right")))
        places, size = np.array(sorted(chosen)), UNIT_BOARDS[street]
        parts = [places[k : k + size] for k in range(0, count, size)]
        return [Batch(street, 0, boards[part], weights[part]) for part in parts]

    def _cluster(self, points: NDArray[np.int32], weights: Longs | None, street: int) -> NDArray[np.int32]:
        masses = np.ones(len(points), np.int64) if weights is None else weights
        return cluster(points, masses, self._parameters.buckets[street], rng.stream(self._parameters.seed, 4, street))

    def _table(self, street: int) -> NDArray[Any]:
        """The buckets of a street's hands in the draft."""
        first, count = self._layout.offsets[street], self._layout.hands[street]
        return self._draft[first : first + count * np.dtype(self._layout.dtype).itemsize].view(self._layout.dtype)

    def _take_assigned(self, batch: Batch, result: BoardsResult) -> None:
        n_pairs, n_stats = self._boards[batch.street].numbered.n_pairs, STATS * len(self._state[NAMES[batch.street]])
        buckets = np.frombuffer(result.data, np.uint16)
        self._table(batch.street)[batch.first * n_pairs : batch.first * n_pairs + len(buckets)] = buckets
        sums = result.totals[:n_stats].reshape(-1, STATS)
        self._state[f"stats{batch.street}"][: len(sums)] += sums
        if batch.street == FLOP:
            self._state["classes"] += result.totals[n_stats:].reshape(CLASSES, CLASS_STATS)

    def _find_river(self) -> None:
        """On a full board a hand is one number, its equity."""
        most, river, table = most_halves(self._deck), self._boards[RIVER], self._table(RIVER)
        masses = np.zeros(most + 1, np.int64)
        step = UNIT_BOARDS[RIVER]
        for first in range(0, len(self._halves), step):
            rows = self._halves[first : first + step]
            for row, weight in zip(rows, river.weights[first : first + step].tolist(), strict=True):
                masses += weight * np.bincount(row[row != NOT_IN_PLAY], minlength=most + 1)
        values = np.flatnonzero(masses)
        points = (most - np.arange(most + 1, dtype=np.int32))[:, None]  # the weakest is the largest, as elsewhere
        centers = self._cluster(np.ascontiguousarray(points[values]), masses[values], RIVER)
        nearest, distances = np.zeros(most + 1, np.int32), np.zeros(most + 1, np.int64)
        ready(assign)(np.ascontiguousarray(points), centers, nearest, distances)
        buckets = nearest.astype(self._layout.dtype)
        for first in range(0, len(self._halves), step):
            rows = np.maximum(self._halves[first : first + step], 0)
            table[first * FULL_PAIRS : first * FULL_PAIRS + rows.size] = buckets[rows].ravel()
        equities = np.arange(most + 1) * EQUITY_UNITS // most
        self._state[f"stats{RIVER}"] = _sums(self._parameters.buckets[RIVER], nearest, masses, equities)

    def _find_preflop(self) -> None:
        """Classes by the histograms of all flops; with as many buckets as classes each has its own, by equity."""
        classes, count = self._state["classes"], self._parameters.buckets[PREFLOP]
        known = np.flatnonzero(classes[:, BINS])
        masses = classes[known, BINS]
        equities = classes[known, BINS + 1] // masses
        nearest = np.zeros(len(known), np.int32)
        if count >= len(known):
            nearest[np.argsort(classes[known, BINS + 1] / masses, kind="stable")] = np.arange(len(known))
        else:
            points = cumulative(classes[known, :BINS])
            ready(assign)(points, self._cluster(points, masses, PREFLOP), nearest, np.zeros(len(known), np.int64))
        table = self._table(PREFLOP)
        table[:] = 0
        table[known] = nearest
        self._state[f"stats{PREFLOP}"] = _sums(count, nearest, masses, equities)

    def _finish(self) -> str:
        """Statistics and header, then the name."""
        sums = np.concatenate([self._state[f"stats{street}"] for street in range(STREETS)]).astype(np.float64)
        weights = np.maximum(sums[:, 0], 1)
        means = sums[:, 1] / weights
        deviations = np.sqrt(np.maximum(sums[:, 2] / weights - means**2, 0))
        rows = np.stack([sums[:, 0], means / EQUITY_UNITS, deviations / EQUITY_UNITS], axis=1)
        self._draft[HEADER_BYTES : self._layout.offsets[PREFLOP]] = rows.view(np.uint8).ravel()
        self._draft.flush()
        digest = digest_of(self._folder / DRAFT, self._parameters)
        self._draft[:HEADER_BYTES] = np.frombuffer(header_of(self._parameters, digest), np.uint8)
        self._draft.flush()
        files.sync(self._folder / DRAFT)
        (self._folder / DRAFT).rename(self._path)
        files.remove(self._folder)
        files.sync(self._path.parent)
        return digest


def _sums(n_buckets: int, nearest: NDArray[Any], masses: Longs, equities: Longs) -> Longs:
    """Statistics of buckets from those of hands."""
    sums = np.zeros((n_buckets, STATS), np.int64)
    np.add.at(sums, nearest, np.stack([masses, masses * equities, masses * equities**2], axis=1))
    return sums


def weighted_boards(deck: int, street: int) -> Boards:
    index = index_boards(deck, street)
    ready(count_alike)(index.boards, weights := np.zeros(len(index.boards), np.int64))
    return Boards(index, weights)


def plan(n_cards: int, buckets: tuple[int, ...], seed: int) -> BucketParameters:
    """The parameters of a file that this module builds."""
    boards = (1, *(len(index_boards(deck_of(n_cards), street).boards) for street in (FLOP, TURN, RIVER)))
    return BucketParameters(n_cards, buckets, seed, METHOD, BINS, boards)


def part_folder(path: Path) -> Path:
    """Where a build keeps what is done until the file is whole."""
    return path.with_name(f"{path.name}.part")


def build(path: Path, parameters: BucketParameters, config: Config, progress: Progress) -> str:
    """Build a file that is not there yet, or go on with it; return its SHA-256."""
    if path.exists():
        raise AsyncplayError(f"{path} exists; remove it, or build to another --out")
    part_folder(path).mkdir(parents=True, exist_ok=True)
    with lock.hold(part_folder(path)):
        warm_up(KERNELS)
        return run_loop(Build(path, parameters, config, progress).run())
