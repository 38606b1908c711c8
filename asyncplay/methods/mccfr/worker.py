"""Iterations of a sampling solver, on a table of one's own or on one that all workers share.

A shared table is changed in place, and a job tells only what it took. A table of its own is between jobs the merged one
as the coordinator last told it: what a job changed is sent and taken back, and comes again merged with what others
changed. Strategy sums are never told: here they begin at 0 with each job.
"""

import json
from collections import deque
from collections.abc import Iterator

import numpy as np

from asyncplay.config.tables import AbstractionSettings, SolveSettings
from asyncplay.methods.mccfr.messages import Delta, Merged, TraverseSpec
from asyncplay.solve import deltas
from asyncplay.solve.mccfr import PieceWalker, TableSampler, sampler_settings
from asyncplay.solve.regret import discount
from asyncplay.solve.solvable import compile_game, make_sampler, share_table
from asyncplay.wire.codec import HEADER, decode
from asyncplay.wire.messages import Job, Message
from asyncplay.worker.core import Step

NO_CHANGES = np.zeros(0, np.int32), np.zeros(0), np.zeros(0)


class TraversePlayer:
    """Walks one job at a time; its memory is the tree and, where it has its own, the table and a note of the infosets
    that a job touches."""

    def __init__(self, tickets: Iterator[int]) -> None:
        self._sampler: PieceWalker | None = None
        self._discounts: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self._period: int | None = None  # discounts that its table has had; None: it is all zeros yet
        self._jobs: deque[Job] = deque()
        self._news: list[Merged] = []  # not put in yet

    def take(self, job: Job) -> None:
        if self._sampler is None:
            self._sampler = self._make(job)
        self._jobs.append(job)

    def receive(self, message: Message) -> None:
        assert isinstance(message, Merged), f"a traversing player was sent a {type(message).__name__}"
        self._news.append(message)

    def advance(self, now_s: float) -> Step:
        if self._sampler is None or not self._jobs:
            return Step([], None)
        if isinstance(self._sampler, TableSampler):
            self._catch_up(self._sampler)
        return Step(_walk(self._sampler, self._jobs.popleft()), 0 if self._jobs else None)

    def _make(self, job: Job) -> PieceWalker:
        spec = decode(job.spec[HEADER.size :])
        assert isinstance(spec, TraverseSpec), "a job to traverse needs a spec to traverse"
        solve = SolveSettings(**json.loads(spec.solve))
        self._discounts = (solve.alpha, solve.beta, solve.gamma)  # used only when a Merged says so
        deltas.warm()
        game = compile_game(spec.game, json.loads(spec.options), AbstractionSettings(**json.loads(spec.abstraction)))
        if spec.table:
            return share_table(game, sampler_settings(solve), job.seed, spec.table, spec.table_bytes, spec.digest)
        return make_sampler(game, sampler_settings(solve), job.seed)

    def _catch_up(self, sampler: TableSampler) -> None:
        """Whole-table discounts first, then the infosets that were sent, which have them already."""
        for news in self._news:
            for period in range(news.period if self._period is None else self._period, news.period):
                discount(sampler.table, period + 1, *self._discounts)
            self._period = news.period
            deltas.put_regrets(sampler.offsets, sampler.table, news.infosets, news.regrets)
        self._news.clear()


def _walk(sampler: PieceWalker, job: Job) -> list[Message]:
    """Do a job and tell what it changed, in parts that fit into frames; on a shared table only what it took."""
    walked = sampler.run(job.first, job.count)
    if not isinstance(sampler, TableSampler):
        return [Delta(job.number, True, job.count, walked.nodes, float(walked.utility[0]), *NO_CHANGES)]
    infosets, regrets, sums = sampler.withdraw()
    offsets = sampler.offsets
    parts: list[Message] = []
    entry = 0
    for start, stop in deltas.stretches(offsets, infosets) or [(0, 0)]:
        is_last = stop == len(infosets)
        end = entry + int((offsets[infosets[start:stop] + 1] - offsets[infosets[start:stop]]).sum())
        facts = (job.count, walked.nodes, float(walked.utility[0])) if is_last else (0, 0, 0.0)
        parts.append(Delta(job.number, is_last, *facts, infosets[start:stop], regrets[entry:end], sums[entry:end]))
        entry = end
    return parts
