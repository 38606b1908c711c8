"""Fills a replay window again from the stored games, by way of the workers: the coordinator plays no game."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from asyncplay.data.reader import StoredGame
from asyncplay.data.replay import Replay
from asyncplay.data.store import record_of
from asyncplay.data.window import damaged, read_part
from asyncplay.engine.dispatch import Dispatcher
from asyncplay.engine.ledger import Ledger, Piece
from asyncplay.engine.work import Assignment, UnitWork
from asyncplay.errors import WireError
from asyncplay.methods.selfplay.games import examples_of
from asyncplay.methods.selfplay.messages import Game, RebuildSpec
from asyncplay.payloads import Examples, pack
from asyncplay.wire.codec import encode

log = logging.getLogger(__name__)

PART_ROWS = 32_768  # read from the store at a time, or as many rows as make
PART_BYTES = 256 << 20
JOB_GAMES = 32
JOB_BYTES = 16 << 20  # of the records of a job's games, where these are many


@dataclass(frozen=True, slots=True)
class Missing:
    """The rows that a window held."""

    first_row: int
    stop_row: int


@dataclass(slots=True)
class Refill:
    """Brings the missing rows of a replay back, oldest first, beside whatever else the workers do.

    Lifetime: ``run`` ends when the window is whole. Order: that of storing, in whatever order the workers return them.
    Limit: one part of the store is in memory at a time. End: cancelled, what came back stays.
    """

    folder: Path
    replay: Replay
    dispatcher: Dispatcher
    game: str
    options: str  # JSON
    players: int  # of the network
    seed: int
    check: Callable[[Game, int], None] = lambda game, seed: None  # WireError if rows of this seed's game cannot be used
    shows_hidden: bool = False  # rows have the game's hidden features

    async def run(self, missing: Missing) -> None:
        """Refill ``replay``, which was told to begin at the first of these rows; StoreError if it cannot be."""
        first_row = missing.first_row
        part_rows = max(min(PART_ROWS, PART_BYTES // self.replay.row_bytes), 1)
        while first_row < missing.stop_row:
            stop_row = min(first_row + part_rows, missing.stop_row)
            if games := await asyncio.to_thread(read_part, self.folder, first_row, stop_row):
                for game, rows in await self._rebuild(games):
                    start = max(first_row - game.first_row, 0)  # what was before the window is forgotten
                    self.replay.refill(rows.part(start, rows.rows))
                stop_row = max(stop_row, games[-1].first_row + games[-1].rows)
            first_row = stop_row
        log.info("rows %d to %d are back", missing.first_row, missing.stop_row - 1)

    async def _rebuild(self, games: list[StoredGame]) -> Iterable[tuple[StoredGame, Examples]]:
        """Play the games again and return their rows, in order."""
        back: dict[int, Examples] = {}

        def check(game: Game) -> None:
            stored = games[game.unit]
            if pack(record_of(game)) != stored.record:
                raise WireError(f"game {stored.number} came back with another record than it has")
            self.check(game, stored.seed)

        def take(game: Game) -> None:
            back[game.unit] = examples_of(game, self.players)

        def spec(piece: Piece) -> bytes:
            return encode(self._spec(games[piece.first : piece.first + piece.size]))

        chunk = max(min(JOB_GAMES, JOB_BYTES // max(len(game.record) for game in games)), 1)
        assignment = Assignment("rebuild", spec, self.seed, chunk=chunk, low_water=2 * chunk)
        work = UnitWork(assignment, Ledger(len(games)), finished=take, check=check)
        self.dispatcher.add(work)
        try:
            await work.settled.wait()
        finally:
            self.dispatcher.remove(work)
        for unit, game in enumerate(games):
            if unit not in back or back[unit].rows != game.rows:
                raise damaged(self.folder, f"game {game.number} cannot be played again")
        return [(game, back[unit]) for unit, game in enumerate(games)]

    def _spec(self, games: list[StoredGame]) -> RebuildSpec:
        returns = [np.array(json.loads(game.returns), np.float64) for game in games]
        return RebuildSpec(
            game=self.game,
            options=self.options,
            seeds=np.array([game.seed for game in games], np.int64),
            returns=np.concatenate(returns),
            return_ends=np.cumsum([len(paid) for paid in returns]),
            records=b"".join(game.record for game in games),
            record_ends=np.cumsum([len(game.record) for game in games]),
            shows_hidden=self.shows_hidden,
        )
