"""What a batch sends, and whether its cost stays the same however long a run lasts and however large its table is.

A worker and a coordinator speak in frames inside one process, so that nothing but their own work is measured. The
load: batches of 100 iterations over a synthetic betting tree (outcome sampling) or over that of hold'em (external).
Windows of the long run alternate with windows of a run that is put back to 1,000 known infosets each time; each is
divided by the speed of a fixed kernel beside it.
"""

import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from asyncplay import games
from asyncplay.bench.holdem import holdem_config
from asyncplay.config.tables import AbstractionSettings, SolveSettings
from asyncplay.engine.ledger import Ledger
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import unknown
from asyncplay.methods.mccfr.messages import Delta, TraverseSpec
from asyncplay.methods.mccfr.pieces import ROLE, payload
from asyncplay.methods.mccfr.round_size import RoundSize
from asyncplay.methods.mccfr.rounds import Rounds
from asyncplay.methods.mccfr.worker import TraversePlayer
from asyncplay.solve import solvable
from asyncplay.solve.deltas import MergedTable
from asyncplay.solve.flatten import flatten
from asyncplay.solve.mccfr import Sampler, SamplerSettings
from asyncplay.solve.regret import SUM, new_table
from asyncplay.wire.codec import HEADER, decode, encode
from asyncplay.wire.messages import Job, Message

BATCH = 100
EARLY_INFOSETS, PUBLISHED_INFOSETS = 1_000, 50_000
WINDOW_BATCHES = 200
REFERENCE_ITERATIONS = 50_000
PARTS = 5  # equal parts of the run, with a median each
SECONDS, QUICK_SECONDS = 600.0, 30.0


class DeltaLoad(NamedTuple):
    """What is solved."""

    game: str
    options: Mapping[str, int | float | str | bool]
    solve: SolveSettings
    abstraction: AbstractionSettings = AbstractionSettings()


def forest(deals: int) -> DeltaLoad:
    return DeltaLoad(solvable.SYNTHETIC_TREE, {"deals": deals, "depth": 11}, SolveSettings(method="outcome"))


def holdem() -> DeltaLoad:
    config = holdem_config()
    return DeltaLoad(config.game.name, config.game.options, SolveSettings(method="external"), config.abstraction)


LOADS: dict[str, Callable[[], DeltaLoad]] = {solvable.SYNTHETIC_TREE: lambda: forest(50), "holdem": holdem}
"""50 deals are 102,350 infosets; hold'em has 272,000."""


def measure(*, game: str = solvable.SYNTHETIC_TREE, quick: bool = False) -> dict[str, Any]:
    if game not in LOADS:
        raise AsyncplayError(f"--game: {unknown('game whose table grows', game, tuple(LOADS))}")
    load = LOADS[game]()
    solvable.warm(load.game, load.options)
    published = Exchange(load)
    published.fill(PUBLISHED_INFOSETS)
    full_bytes = published.full_state_bytes()
    delta_bytes = statistics.mean(published.batch().frame_bytes for _ in range(WINDOW_BATCHES))
    run = Exchange(load)
    row_bytes = [run.until_known(EARLY_INFOSETS)]
    pairs = _windows(run, _Young(run, load), QUICK_SECONDS if quick else SECONDS)
    late, part = pairs[len(pairs) // 3 :], len(pairs) // PARTS
    drift = 1 - statistics.median(pair.old for pair in late) / statistics.median(pair.young for pair in late)
    row_bytes.append(run.batch().row_bytes)
    if game == solvable.SYNTHETIC_TREE:
        row_bytes.append(Exchange(forest(500)).batch().row_bytes)
    return {
        "game": game,
        "full_state_bytes": full_bytes,
        "delta_bytes": delta_bytes,
        "reduction": full_bytes / delta_bytes,
        "bytes_per_touched_row": row_bytes,
        "nodes_per_s": _by_part(pairs, part, lambda pair: pair.nodes_per_s),
        "against_reference": _by_part(pairs, part, lambda pair: pair.old),
        "drift": drift,
        "infosets": run.table.n_known,
        "batches": run.rounds.stats.pieces,
    }


def _by_part(pairs: list["_Pair"], size: int, value: Callable[["_Pair"], float]) -> list[float]:
    """The median of each of the equal parts of a run."""
    return [statistics.median(map(value, pairs[first : first + size])) for first in range(0, size * PARTS, size)]


class BatchTraffic(NamedTuple):
    """What one batch took."""

    nodes: int
    frame_bytes: int
    row_bytes: float  # arrays only, by touched row


class Exchange:
    """A worker and its coordinator, frame by frame."""

    number = 0

    def __init__(self, load: DeltaLoad) -> None:
        self._game = solvable.compile_game(load.game, load.options, load.abstraction)
        self.table = MergedTable(self._game.offsets, new_table(self._game))
        self._player = TraversePlayer(count(1))
        sections = load.options, asdict(load.solve), asdict(load.abstraction)
        options, solve, abstraction = map(json.dumps, sections)
        self._spec = encode(TraverseSpec(load.game, options, solve, abstraction))
        self.begin()

    def begin(self) -> None:
        """Start at iteration 0; the worker gets all that the table knows."""
        self._ledger = Ledger(None, is_divisible=False)
        self.rounds = Rounds(self.table, self._ledger, RoundSize(BATCH), 1, True)

    def send(self, message: Message, now_s: float) -> None:
        """To the worker."""
        self._player.receive(decode(encode(message)[HEADER.size :]))

    def batch(self) -> BatchTraffic:
        issued = self._ledger.issue(self.number, self.rounds.portion())
        assert issued is not None, "work without end has an end"
        job, piece = issued
        self.rounds.prepare(self, piece, 0.0)
        order = Job(job, ROLE, piece.first, piece.size, 1, self._spec)
        self._player.take(decode(encode(order)[HEADER.size :]))  # type: ignore[arg-type]  # a Job comes out again
        frames = [encode(message) for message in self._player.advance(0.0).messages]
        deltas = [delta for frame in frames if isinstance(delta := decode(frame[HEADER.size :]), Delta)]
        for delta in deltas:
            self.rounds.take(self.number, piece, delta)
        self._ledger.finish(self.number, job)
        n_rows = sum(len(delta.infosets) for delta in deltas)
        n_bytes = sum(map(payload, deltas))
        return BatchTraffic(deltas[-1].nodes, sum(map(len, frames)), n_bytes / n_rows)

    def until_known(self, infosets: int) -> float:
        """Return the bytes of a touched row in the last batch."""
        row_bytes = 0.0
        while self.table.n_known < infosets:
            row_bytes = self.batch().row_bytes
        return row_bytes

    def fill(self, infosets: int) -> None:
        """Get to know so many infosets, quickly: external sampling tries every action."""
        sampler = solvable.make_sampler(self._game, SamplerSettings(), 1)
        for iteration in count():
            if self.table.n_known >= infosets:
                return
            sampler.run(iteration, 1)
            self.table.merge(*sampler.withdraw(), 1)

    def full_state_bytes(self) -> int:
        """What a worker would send that sent all it knows."""
        rows = self.table.known()
        is_known = np.isin(np.arange(self.table.n_infosets), rows)
        sums = self.table.values[np.repeat(is_known, np.diff(self.table.offsets)), SUM].copy()
        return len(encode(Delta(1, True, BATCH, 0, 0.0, rows, self.table.regrets(rows), sums)))


class _Young:
    """A second exchange, put back to where the first one is now as often as one likes."""

    def __init__(self, model: Exchange, load: DeltaLoad) -> None:
        self._kept = model.table.capture()
        self.exchange = Exchange(load)

    def again(self) -> Exchange:
        table, everything = self.exchange.table, np.ones(self.exchange.table.n_infosets, np.uint8)
        table.restore(self._kept["table"], everything)  # so that the worker gets the infosets that it must forget
        self.exchange.begin()
        self.exchange.batch()
        table.restore(self._kept["table"], self._kept["known"])
        return self.exchange


class _Pair(NamedTuple):
    """Nodes/s of two windows beside each other, divided by the reference."""

    old: float
    young: float
    nodes_per_s: float  # of the old one, as it was


def _windows(run: Exchange, young: _Young, seconds: float) -> list[_Pair]:
    reference = _Reference()
    pairs: list[_Pair] = []
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s or len(pairs) < 9:
        early = _rate(young.again()) / reference.rate()
        nodes_per_s = _rate(run)
        pairs.append(_Pair(nodes_per_s / reference.rate(), early, nodes_per_s))
    return pairs


def _rate(exchange: Exchange) -> float:
    begin_s = time.perf_counter()
    nodes = sum(exchange.batch().nodes for _ in range(WINDOW_BATCHES))
    return nodes / (time.perf_counter() - begin_s)


class _Reference:
    """The same walk through Leduc poker each time."""

    def __init__(self) -> None:
        self._sampler = Sampler(flatten(games.load("leduc")), SamplerSettings(), 0)

    def rate(self) -> float:
        self._sampler.withdraw()
        begin_s = time.perf_counter()
        nodes = self._sampler.run(0, REFERENCE_ITERATIONS).nodes
        return nodes / (time.perf_counter() - begin_s)
