"""Fills the rings of a population again from the stored episodes, by way of the workers."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from asyncplay.config.sections import Config
from asyncplay.data.reader import StoredGame
from asyncplay.data.store import record_of
from asyncplay.data.window import damaged, read_part
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import WireError
from asyncplay.methods.population.messages import Episode, RedoSpec
from asyncplay.payloads import pack
from asyncplay.wire.codec import encode

log = logging.getLogger(__name__)

PART_ROWS = 32_768  # read from the store at a time
JOB_EPISODES = 32


@dataclass(slots=True)
class RingRefill:
    """Brings stored episodes back, oldest first, before anything is trained on.

    Lifetime: ``run`` ends when all are back. Order: that of storing, in whatever order the workers return them. Limit:
    one part of the store is in memory at a time. End: cancelled, what came back stays.
    """

    config: Config
    folder: Path
    dispatcher: Dispatcher
    check: Callable[[Episode, int], None]  # WireError if an episode of this seed cannot be used
    keep: Callable[[Episode], None]

    async def run(self, first_row: int, stop_row: int) -> None:
        """Bring the episodes of these transitions back; StoreError if they cannot be made again."""
        while first_row < stop_row:
            games = await asyncio.to_thread(read_part, self.folder, first_row, min(first_row + PART_ROWS, stop_row))
            for episode in await self._redo(games):
                self.keep(episode)
            first_row = games[-1].end_row if games else first_row + PART_ROWS
        log.info("transitions up to %d are back", stop_row)

    async def _redo(self, games: list[StoredGame]) -> list[Episode]:
        """Make the decisions of these episodes again."""
        back: dict[int, Episode] = {}

        def check(episode: Episode) -> None:
            stored = games[episode.unit]
            if pack(record_of(episode)) != stored.record or episode.returns.tolist() != json.loads(stored.returns):
                raise WireError(f"episode {stored.number} came back with another record than it has")
            self.check(episode, stored.seed)

        def spec(piece: Piece) -> bytes:
            wanted = games[piece.first : piece.first + piece.size]
            return encode(
                RedoSpec(
                    self.config.game.name,
                    json.dumps(self.config.game.options),
                    np.array([game.seed for game in wanted], np.int64),
                    b"".join(game.record for game in wanted),
                    np.cumsum([len(game.record) for game in wanted]),
                )
            )

        seed, chunk = self.config.train.seed, JOB_EPISODES
        assignment = Assignment("redo", spec, seed, chunk=chunk, low_water=2 * chunk)
        work = UnitWork(
            assignment,
            Ledger(len(games)),
            finished=lambda episode: back.update({episode.unit: episode}),
            check=check,
        )
        self.dispatcher.add(work)
        try:
            await work.settled.wait()
        finally:
            self.dispatcher.remove(work)
        for unit, game in enumerate(games):
            if unit not in back:
                raise damaged(self.folder, f"episode {game.number} cannot be made again")
        return [back[unit] for unit in range(len(games))]
