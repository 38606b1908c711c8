"""A run of the synthetic load on the simulated accelerator: the whole engine with nothing to learn."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from asyncplay.config.sections import Config
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.ledger import Ledger, shares
from asyncplay.engine.work import Assignment, Work
from asyncplay.errors import ConfigError
from asyncplay.methods import parts
from asyncplay.methods.synthetic.messages import SyntheticSpec
from asyncplay.model.backends.sim import SimBackend, done_at
from asyncplay.monitor.figures import Figures
from asyncplay.rundir.folder import RunFolder
from asyncplay.wire.codec import encode

PLAYERS = 2


def make_engine(config: Config, say: Callable[[str], None] = lambda line: None) -> Engine:
    """An engine under the load that ``[load]`` describes."""
    if config.device.backend not in ("auto", "sim"):
        raise ConfigError(f"device.backend is {config.device.backend}, the synthetic load takes only sim")
    backend = SimBackend(config.device, PLAYERS)
    workers = min(parts.n_workers(config), config.load.slots)
    slots = shares(config.load.slots, workers)[0]
    spec = encode(SyntheticSpec(json.dumps(asdict(replace(config.load, slots=slots))), PLAYERS))
    assignment = Assignment("synthetic", spec, config.train.seed, chunk=16 * slots, low_water=8 * slots)
    engine = Engine(
        parts.make_pool(config.pool.kind),
        Work(assignment, Ledger(config.train.units or None)),
        workers=workers,
        settings=parts.live_settings(config, workers),
        limits=parts.limits(config),
        patience=parts.patience(config),
        depth=backend.depth,
        say=say,
    )
    engine.serve(0, Endpoint(config.load.row_bytes, config.load.actions, backend.launch, is_timed=True))
    return engine


class SyntheticRun:
    """The engine, and what to say about it."""

    def __init__(self, config: Config, folder: Path, say: Callable[[str], None]) -> None:
        self.folder, self.engine = RunFolder(folder, say), make_engine(config, say)
        self._recorder = parts.open_event_recorder(config, self.folder, PLAYERS)
        self.note, self.measure = self._recorder.note, self._recorder.measure
        self._device = config.device

    async def run(self) -> None:
        async with self._recorder:
            self.note("start", "a synthetic load on the simulated accelerator")
            await self.engine.run()
            self.note("stop", f"{self.engine.ledger.books.done:,} done")

    def drain(self) -> None:
        self.engine.drain()

    def checkpoint(self) -> None:
        raise ConfigError("a synthetic load has nothing to save")

    def figures(self) -> Figures:
        stats = self.engine.stats()
        max_rows = self.engine.settings.max_rows
        return Figures(
            name="rows",
            total=stats.rows,
            unit="rows",
            units=self.engine.ledger.books.done,
            workers=tuple(self.engine.supervisor.stats()),
            parts=(stats,),
            limit_per_s=max_rows / done_at(self._device, 0.0, 0.0, max_rows),
            device="sim",
            holds=frozenset(self.engine.work.holds),
        )

    def summary(self, seconds: float) -> list[str]:
        return []
