"""Where the networks of a run answer: on the coordinator's device, or in the workers, each by itself.

The coordinator trains, versions and publishes in both. What is placed in the workers lies in a file of the run folder,
written once for all of them; they are told its path and digest. Asks that were under way when the placement changed are
answered as before.
"""

import asyncio
import hashlib
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from asyncplay.config.live import PLACEMENT
from asyncplay.engine.engine import Engine
from asyncplay.model.backend import Prepared
from asyncplay.rundir.folder import RunFolder
from asyncplay.rundir.layout import SERVING
from asyncplay.wire.messages import PlaceModel

log = logging.getLogger(__name__)

COORDINATOR, WORKERS = "coordinator", "workers"
MB = 1 << 20
WORTH = 1.1  # how much faster the workers must be to be chosen
LOOK_S, SETTLE_S, WINDOW_S = 0.25, 0.3, 1.0
TIMEOUT = "batch.timeout_ms"
REMARK = "workers answer themselves: 0 means one of their groups at a time, any other value all of them"
TURNS = (COORDINATOR, WORKERS, WORKERS, COORDINATOR)


class ModelKey(NamedTuple):
    """A model as a role of the workers knows it."""

    role: str
    model: int


class Placement:
    """Places models where ``device.placement`` says.

    Lifetime: ``run`` is one task of the run's group. Order: the latest version of a model is the one that is placed; a
    file is removed when two newer ones have been told of. End: the files are gone, the workers are too.
    """

    def __init__(
        self,
        engine: Engine,
        folder: RunFolder,
        *,
        session_bytes: int,
        free_bytes: Callable[[], float],
        say: Callable[[str], None],
        note: Callable[[str, str], None],
    ) -> None:
        """``session_bytes``: of a network in a worker; ``free_bytes`` tells what is left; ``note`` stores an event."""
        self._engine, self._folder, self._say, self._note = engine, folder, say, note
        self._session_bytes, self._free_bytes = session_bytes, free_bytes
        self._latest: dict[ModelKey, Prepared] = {}
        self._placed: dict[ModelKey, tuple[Any, ...]] = {}  # what workers were told last
        self._changed, self._lock = asyncio.Event(), asyncio.Lock()
        self._tried = ""  # a placement that is being measured
        self._chosen = ""  # by measurement
        self._is_held = False
        engine.settings.listen(self._changed.set)
        shutil.rmtree(folder.path / SERVING, ignore_errors=True)  # of a process that was killed

    @property
    def in_force(self) -> str:
        """The coordinator, or the workers once they have been told."""
        return WORKERS if self._placed else COORDINATOR

    @property
    def is_settled(self) -> bool:
        """Whether the workers have been told of the placement that is wanted, and none is being measured."""
        is_free = self._engine.settings.placement == "auto" and not self._chosen
        return not is_free and self.in_force == self._wanted()

    def publish(self, key: ModelKey, prepared: Prepared) -> None:
        """Place a new version soon; until then the one before it answers."""
        self._latest[key] = prepared
        self._changed.set()

    async def serve(self, key: ModelKey, prepared: Prepared) -> None:
        """Place a model before this returns."""
        self._latest[key] = prepared
        await self._apply()

    async def run(self) -> None:
        """Heed settings and new versions until cancelled; where the choice is free, measure first."""
        try:
            while True:
                await self._apply()
                if self._engine.settings.placement == "auto" and not self._chosen:
                    await self._choose()
                else:
                    await self._changed.wait()
        finally:
            shutil.rmtree(self._folder.path / SERVING, ignore_errors=True)

    async def _apply(self) -> None:
        """Tell the workers what is new, and let them stand still while the run is paused: no lane can make them."""
        self._changed.clear()
        async with self._lock:
            settings = self._engine.settings
            if self._wanted() == WORKERS:
                how = (settings.max_rows, settings.pinned_s != 0)
                for key, prepared in list(self._latest.items()):
                    if self._placed.get(key) != (prepared.version, *how) and await self._place(key, prepared, *how):
                        self._placed[key] = (prepared.version, *how)
            else:
                for role, model in self._placed:
                    self._engine.dispatcher.announce(PlaceModel(role, model, 0, "", "", 1, False))
                self._placed.clear()
            cure = f"{PLACEMENT}={COORDINATOR} gathers from all workers"
            settings.remarks = {TIMEOUT: f"{REMARK}; {cure}"} if self._placed else {}
        if (is_held := settings.is_paused and bool(self._placed)) != self._is_held:
            self._is_held = is_held
            self._engine.supervisor.hold(is_held)

    def _wanted(self) -> str:
        wanted = self._engine.settings.placement
        return wanted if wanted != "auto" else self._tried or self._chosen or COORDINATOR

    async def _place(self, key: ModelKey, prepared: Prepared, max_rows: int, gathers: bool) -> bool:
        """Write a network and tell the workers; where it cannot be written, what answered before goes on."""
        digest = await self._folder.persist("network", lambda place: _write(place / SERVING, key, prepared))
        if digest is None:
            return False
        path = (self._folder.now or self._folder.path).absolute() / SERVING / _name(key, prepared.version)
        self._engine.dispatcher.announce(PlaceModel(*key, prepared.version, str(path), digest, max_rows, gathers))
        return True

    async def _choose(self) -> None:
        """Measure both placements with the run's own games, back and forth; no choice where play does not go on yet or
        the user chooses meanwhile."""
        settings, rows = self._engine.settings, dict.fromkeys(TURNS, 0)
        needed, free = self._engine.supervisor.workers * self._session_bytes, self._free_bytes()
        if needed > free:
            lack = f"networks in the workers would take {needed / MB:,.0f} MB of {free / MB:,.0f} that are free"
            self._choose_for_good(COORDINATOR, lack)
            return
        if not all(worker.rows for worker in self._engine.supervisor.stats()) or self._engine.work.holds:
            await asyncio.sleep(LOOK_S)
            return
        for turn in TURNS:
            self._tried = turn
            await self._apply()
            await asyncio.sleep(SETTLE_S)
            before = self._engine.stats().rows
            await asyncio.sleep(WINDOW_S)
            rows[turn] += self._engine.stats().rows - before
            if settings.placement != "auto" or not rows[turn]:
                break
        else:
            speeds = ", ".join(f"{name} {rows[name] / (2 * WINDOW_S):,.0f} rows/s" for name in (COORDINATOR, WORKERS))
            is_worth_it = rows[WORKERS] >= WORTH * rows[COORDINATOR]
            self._choose_for_good(WORKERS if is_worth_it else COORDINATOR, speeds)
        self._tried = ""

    def _choose_for_good(self, placement: str, why: str) -> None:
        self._chosen, line = placement, f"placement {placement}: {why}"
        log.info("%s", line)
        self._say(line)
        self._note("placement", line)


def _name(key: ModelKey, version: int) -> str:
    return f"{key.role}-{key.model}-{version}.onnx"


def _write(folder: Path, key: ModelKey, prepared: Prepared) -> str:
    """Write a network whole under a name of its own, remove those that two newer ones have followed; return its
    digest."""
    folder.mkdir(exist_ok=True)
    draft = folder / f"draft-{key.role}-{key.model}"
    draft.write_bytes(prepared.model)
    draft.rename(folder / _name(key, prepared.version))
    prefix = f"{key.role}-{key.model}-"
    versions = sorted(int(path.stem.removeprefix(prefix)) for path in folder.glob(f"{prefix}*.onnx"))
    for version in versions[:-2]:
        with suppress(FileNotFoundError):
            (folder / _name(key, version)).unlink()
    return hashlib.sha256(prepared.model).hexdigest()
