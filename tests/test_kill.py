"""A training that is killed again and again, at random moments, loses nothing that it had called stored."""

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from asyncplay.data import checkpoint
from asyncplay.data.reader import integrity, reading
from asyncplay.data.store import read_kept
from asyncplay.data.watermark import read_watermark

SMOKE = Path(__file__).parent.parent / "configs" / "smoke.toml"
RUNS, KILLS = 2, 25  # side by side, and of each
PATIENCE_S = 120.0  # for a phase to come; afterwards the kill happens wherever the run is
LAST_GAMES = 400  # played in peace at the end
COMMAND = [sys.executable, "-c", "import sys; from asyncplay.cli import main; sys.exit(main())"]
QUICK = {
    "search.games": 32,
    "search.simulations": 6,
    "net.width": 16,
    "net.blocks": 1,
    "learn.batch-rows": 32,
    "learn.minimum-rows": 64,
    "learn.samples-per-insert": 0.25,
    "learn.publish-steps": 2,
    "learn.publish-distance": 0,
    "replay.start-rows": 1000,
    "replay.exponent": 0,
    "device.backend": "torch",
    "device.threads": 1,
    "arena.every-s": 0,
    "checkpoint.every-s": 0.2,
    "store.commit-games": 16,
    "store.commit-ms": 10,
}


@dataclass
class Trial:
    """One run folder and everything that was ever seen in it."""

    folder: Path
    seed: int
    known: dict[int, tuple[int, int]] = field(default_factory=dict, repr=False)  # by number: unit and checksum
    kills: int = 0

    def start(self, **more: object) -> subprocess.Popen[bytes]:
        """A new process: resumed where there is something to resume."""
        is_old = (self.folder / "config.toml").exists()
        words = ["--resume", str(self.folder)] if is_old else [str(SMOKE), "--run", str(self.folder)]
        flags = [
            word
            for key, value in {**QUICK, "train.seed": self.seed, "pool.workers": 1 + self.seed, **more}.items()
            for word in (f"--{key}", value)
        ]
        log = (self.folder.parent / f"{self.folder.name}.err").open("ab")
        with log:
            return subprocess.Popen([*COMMAND, "train", *words, *map(str, flags)], stderr=log, stdout=log)

    def kill_once(self, generator: random.Random) -> None:
        phase, victim = generator.choice(PHASES), generator.choice(VICTIMS)
        process = self.start()
        try:
            watch = Watch(self, process)
            phase(watch, generator)
            assert process.poll() is None, f"{self}: it ended by itself; see {watch.errors}"
            victim(watch, generator)
        finally:
            process.kill()
            process.wait(timeout=PATIENCE_S)
        self.kills += 1
        self.examine()

    def examine(self) -> None:
        """Nothing that was called stored is missing or changed, nothing is there twice, all of it is sound."""
        mark = read_watermark(self.folder)
        if mark is None and not self.known:
            return  # killed before there was anything
        assert mark is not None
        with reading(self.folder) as connection:
            assert integrity(connection) == []
            kept = read_kept(connection)
            rows = connection.execute("SELECT number, unit, crc FROM games").fetchall()
        games = {number: (unit, crc) for number, unit, crc in rows}
        assert (kept.number >= mark.number, kept.games >= mark.games) == (True, True), "acknowledged games are lost"
        assert self.known.items() <= games.items(), "a stored game has changed or is gone"
        assert len({unit for unit, _ in games.values()}) == kept.games == kept.number, "a game is there twice"
        self.known = games
        found, complaints = checkpoint.newest(self.folder / "checkpoints")
        assert complaints == []
        if found is not None:
            assert found.snapshot.state["store"]["games"] <= kept.games


@dataclass
class Watch:
    """What one process has done since it was started."""

    trial: Trial
    process: subprocess.Popen[bytes]
    mark: int = field(init=False)
    logged: int = field(init=False)
    said: int = field(init=False)

    def __post_init__(self) -> None:
        self.mark = self.last_number()
        self.logged, self.said = self.log.stat().st_size if self.log.exists() else 0, self.errors.stat().st_size

    @property
    def log(self) -> Path:
        return self.trial.folder / "run.log"

    @property
    def errors(self) -> Path:
        return self.trial.folder.with_suffix(".err")

    def last_number(self) -> int:
        mark = read_watermark(self.trial.folder)
        return 0 if mark is None else mark.number

    def until(self, has_come: Callable[[], bool]) -> None:
        """Look again and again, as the moment is short; give up when the process ends or patience does."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not has_come() and self.process.poll() is None and time.monotonic() < deadline_s:
            time.sleep(0.0005)

    def until_stored(self) -> None:
        """Until another game is called stored."""
        number = self.last_number()
        self.until(lambda: self.last_number() > max(number, self.mark))

    def has_logged(self, word: bytes) -> bool:
        return self.log.exists() and word in tail(self.log, self.logged)

    def has_said(self, word: bytes) -> bool:
        return word in tail(self.errors, self.said)


def tail(path: Path, start: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read()


def start(watch: Watch, generator: random.Random) -> None:
    time.sleep(generator.uniform(0.0, 3.0))


def play(watch: Watch, generator: random.Random) -> None:
    watch.until_stored()
    time.sleep(generator.uniform(0.0, 0.3))


def commit(watch: Watch, generator: random.Random) -> None:
    for _ in range(generator.randint(1, 5)):
        watch.until_stored()


def save(watch: Watch, generator: random.Random) -> None:
    watch.until((watch.trial.folder / "checkpoints" / "draft").exists)


def publish(watch: Watch, generator: random.Random) -> None:
    watch.until(lambda: watch.has_logged(b": version "))


def resume(watch: Watch, generator: random.Random) -> None:
    watch.until(lambda: watch.has_said(b"going on from") or watch.has_logged(b": version "))
    time.sleep(generator.uniform(0.0, 1.5))


PHASES = (start, play, commit, save, publish, resume)


def kill_coordinator(watch: Watch, generator: random.Random) -> None:
    watch.process.kill()


def kill_all(watch: Watch, generator: random.Random) -> None:
    workers = psutil.Process(watch.process.pid).children(recursive=True)
    watch.process.kill()
    for worker in workers:
        with contextlib.suppress(psutil.NoSuchProcess):
            worker.kill()


def kill_worker(watch: Watch, generator: random.Random) -> None:
    """The run replaces it and goes on; then it is stopped, as by Ctrl-C, and saves."""
    watch.until_stored()
    children = psutil.Process(watch.process.pid).children()
    workers = [child for child in children if "pools.birth" in " ".join(child.cmdline())]
    generator.choice(workers).kill()
    watch.until_stored()
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(timeout=PATIENCE_S) == 130


VICTIMS = (kill_coordinator, kill_coordinator, kill_all, kill_worker)


def run_trial(folder: Path, seed: int) -> Trial:
    trial, generator = Trial(folder, seed), random.Random(seed)
    for _ in range(KILLS):
        trial.kill_once(generator)
    return trial


def finish(trial: Trial) -> None:
    """Play on in peace to a certain number of games: all units are there, each once, and the run's books say so."""
    n_units = max((unit for unit, _ in trial.known.values()), default=0) + 1 + LAST_GAMES
    process = trial.start(**{"train.units": n_units})
    assert process.wait(timeout=5 * PATIENCE_S) == 0
    trial.examine()
    assert sorted(unit for unit, _ in trial.known.values()) == list(range(n_units))
    errors = trial.folder.with_suffix(".err").read_text()
    assert f"done {n_units:,} in" in errors.rpartition("going on from")[2]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(900)
def test_fifty_kills_at_random_moments_lose_no_stored_game_and_store_none_twice(tmp_path):
    """Two runs side by side are killed 25 times each: the coordinator, a worker or all, while they start, play, commit,
    save, publish or resume. After each kill the store is sound and has all that it had, and the run goes on."""
    with ThreadPoolExecutor(RUNS) as pool:
        trials = list(pool.map(run_trial, [tmp_path / f"run{seed}" for seed in range(RUNS)], range(RUNS)))
        list(pool.map(finish, trials))
    assert sum(trial.kills for trial in trials) == RUNS * KILLS == 50
