"""Builds a run out of its parts and sees it through to its end. Only this module knows everybody."""

import asyncio
import logging
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from asyncplay.config.loading import SHIPPED, Overrides
from asyncplay.config.sections import Config
from asyncplay.data import lock
from asyncplay.data.files import open_file
from asyncplay.data.tensorboard import EventFile
from asyncplay.engine.engine import Engine
from asyncplay.engine.loop import run_loop
from asyncplay.errors import AsyncplayError, RunFailed, printable
from asyncplay.methods import preflight as playable
from asyncplay.monitor import address, plain
from asyncplay.monitor.figures import Figures
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.metrics import metrics
from asyncplay.monitor.monitor import Monitor
from asyncplay.monitor.observer import Subject
from asyncplay.rundir import detach, resume
from asyncplay.rundir.folder import RunFolder
from asyncplay.rundir.layout import CONFIG, LOG, check_places
from asyncplay.rundir.resume import Resumed

log = logging.getLogger(__name__)

EXIT_INTERRUPTED = 130
PLACE_S = 1.0  # between two looks whether the run's folder is where it was


def default_config() -> Path:
    """What a command without a configuration uses, wherever it is run from."""
    return SHIPPED / "default.toml"


@dataclass(frozen=True, slots=True)
class Showing:
    """How a run is shown to whoever started it."""

    headless: bool = False  # plain lines even on a terminal
    json_lines: bool = False  # for programs, on stdout
    detach: bool = False  # not at all: it goes on by itself


def train(
    config: Config,
    *,
    run_dir: Path | None,
    showing: Showing = Showing(),  # frozen
    counted: str | None = None,
) -> int:
    """Make the run folder, work until the budget is spent or somebody stops it, and sum up.

    ``counted``: what a flag called the units of the run, if one did.
    """
    playable.require(config, counted)
    folder = run_dir or Path("runs") / f"{config.game.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    with _opened(folder, "--run") as log_file:
        log_file.obey(config.train.log_level)
        resume.refuse_old(folder)
        resume.write_config(config, folder)
        _say(f"run folder: {folder}")
        if not showing.detach:
            return _see_through(config, folder, showing, None)
    return _detach(folder, ["train", str(folder / CONFIG), "--run", str(folder)], showing)


def go_on(
    folder: Path,
    flags: Overrides,
    *,
    showing: Showing = Showing(),  # frozen
    counted: str | None = None,
) -> int:
    """Go on with the run in ``folder``, flags laid over its configuration."""
    resume.require(folder)
    with _opened(folder, "--resume") as log_file:
        past = resume.read(folder, flags)
        playable.require(past.config, counted)
        log_file.obey(past.config.train.log_level)
        resume.write_config(past.config, folder)
        for line in (f"run folder: {folder}", *past.news):
            _say(line)
        if not showing.detach:
            return _see_through(past.config, folder, showing, past)
    return _detach(folder, ["train", "--resume", str(folder)], showing)


@contextmanager
def _opened(folder: Path, option: str) -> "Iterator[LogFile]":
    """Have the folder for oneself; what cannot be written there is said before anything begins."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_places(folder)
        with lock.hold(folder):
            os.close(open_file(folder / LOG, os.O_WRONLY | os.O_CREAT))
            with closing(LogFile(folder / LOG)) as log_file:
                yield log_file
    except OSError as error:
        raise AsyncplayError(f"{option} {folder}: cannot be written: {error.strerror}") from None


def _see_through(config: Config, folder: Path, showing: Showing, past: Resumed | None) -> int:
    try:
        return run_loop(_train(config, folder, showing, past))
    except AsyncplayError:
        raise
    except Exception as error:
        log.exception("the run failed")
        cause = _first(error) if isinstance(error, BaseExceptionGroup) else error
        reason = f"{type(cause).__name__}: {cause}"
        raise RunFailed(f"the run failed: {reason}; {folder / LOG} has more") from error


@dataclass(slots=True)
class Interrupts:
    """Ctrl-C: once drains, twice ends at once, three times leaves without a word. SIGTERM counts as two.

    A closed terminal (SIGHUP) is a first Ctrl-C, unless it is ignored already, as under nohup.
    """

    drain: Callable[[], None]
    halt: Callable[[], None]
    say: Callable[[str], None]
    farewell: Callable[[], None] = lambda: None  # before it leaves without a word
    count: int = 0

    def install(self) -> None:
        for number, handler in self._handlers().items():
            asyncio.get_running_loop().add_signal_handler(number, handler)

    def remove(self) -> None:
        for number in self._handlers():
            asyncio.get_running_loop().remove_signal_handler(number)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """While a run is built on the loop: a Ctrl-C is heeded as soon as it is, and a second one leaves, as there is
        nothing to save yet. Python's own way, an exception wherever it just is, may be swallowed by an import."""
        strikes: list[int] = []

        def strike(number: int, frame: object) -> None:
            strikes.append(number)
            if len(strikes) > 1:
                os._exit(EXIT_INTERRUPTED)
            self.say("stopping as soon as the run is built; Ctrl-C again leaves at once")

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self.interrupt)
        quiet = signal.signal(signal.SIGINT, strike)  # the loop is told of signals in its own way
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, quiet)
            signal.siginterrupt(signal.SIGINT, False)

    def _handlers(self) -> dict[signal.Signals, Callable[[], None]]:
        handlers = {signal.SIGINT: self.interrupt, signal.SIGTERM: self.terminate}
        is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        return handlers if is_ignored else {**handlers, signal.SIGHUP: self.hang_up}

    def interrupt(self) -> None:
        self.count += 1
        if self.count == 1:
            self.say("stopping: finishing what is under way; Ctrl-C again stops at once")
            self.drain()
        elif self.count == 2:
            self.say("stopping now; Ctrl-C again leaves without saving")
            self.halt()
        else:
            self.farewell()
            os._exit(EXIT_INTERRUPTED)

    def hang_up(self) -> None:
        """The terminal is gone: what would be said there goes nowhere, and the run ends with everything saved."""
        _forget_terminal()
        if self.count == 0:
            self.interrupt()

    def terminate(self) -> None:
        self.count = max(self.count, 1)
        self.interrupt()


@dataclass(slots=True)
class Voice:
    """Says something to whoever started the run, and pins it for everybody who looks at it."""

    journal: LogTail
    is_muted: bool = False  # while a picture is where the words would go

    def __call__(self, line: str) -> None:
        self.journal.note(line)
        if not self.is_muted:
            _say(line)


class Run(Protocol):
    """What can be trained."""

    engine: Engine
    folder: RunFolder

    async def run(self) -> None: ...

    def drain(self) -> None:
        """The first Ctrl-C: end soon, with everything saved."""

    def checkpoint(self) -> None:
        """Save soon."""

    def figures(self) -> Figures:
        """What has been counted so far."""

    def note(self, kind: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        """Keep an event of the run."""

    def measure(self, values: Mapping[str, float]) -> None:
        """Keep the figures of this moment."""

    def summary(self, seconds: float) -> list[str]: ...


def make_run(config: Config, folder: Path, say: Callable[[str], None], past: Resumed | None = None) -> Run:
    """``past``: where a run that goes on had come to."""
    found = None if past is None else past.snapshot
    if config.game.name == "synthetic":
        from asyncplay.methods.synthetic.run import SyntheticRun

        return SyntheticRun(config, folder, say)
    if config.solve.method != "off":
        from asyncplay.methods.mccfr.run import MccfrRun

        return MccfrRun(config, folder, say, found)
    from asyncplay.methods.selfplay.run import SelfplayRun

    return SelfplayRun(config, folder, say, found, is_resumed=past is not None)


async def _train(config: Config, folder: Path, showing: Showing, past: Resumed | None) -> int:
    journal = LogTail()
    logging.getLogger("asyncplay").addHandler(journal)
    voice = Voice(journal)
    interrupts = Interrupts(lambda: _end_soon(run, monitor, voice), lambda: _end_now(run), voice)
    try:
        with interrupts.held_back():
            run = make_run(config, folder, voice, past)
            monitor = _make_station(run, config, folder, journal)
        interrupts.install()
        started_s = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            services = [
                group.create_task(monitor.observer.run()),
                group.create_task(monitor.control.run(detach.report_ready)),
                group.create_task(_record(run, monitor, config)),
                group.create_task(_stay(run, monitor, voice)),
                group.create_task(_show(monitor, config.train.interval_s, showing, interrupts, voice)),
                group.create_task(_spend(monitor, config.train.time_budget_s)),
            ]
            await run.run()
            for service in services:
                service.cancel()
    except* AsyncplayError as errors:
        raise _first(errors) from None
    finally:
        interrupts.remove()
        logging.getLogger("asyncplay").removeHandler(journal)
    _sum_up(run, time.perf_counter() - started_s)
    if not run.folder.is_in_place:
        raise AsyncplayError(_whereabouts(run.folder))
    if run.folder.unsaved:
        raise RunFailed(_losses(run.folder))
    return EXIT_INTERRUPTED if interrupts.count else 0


def _end_soon(run: Run, monitor: Monitor, say: Callable[[str], None]) -> None:
    monitor.stop()
    if why := run.folder.trouble:
        say(f"{run.folder.path} cannot be written: {why}; the end waits until it can, Ctrl-C again leaves without it")


def _end_now(run: Run) -> None:
    run.folder.give_up()
    run.engine.halt()


async def _stay(run: Run, monitor: Monitor, say: Callable[[str], None]) -> None:
    """End a run whose folder is taken away: what it writes by name would be parted from what it has open."""
    while run.folder.is_in_place:  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(PLACE_S)
    if run.folder.now is None:
        say(f"{run.folder.path} was deleted: the run ends")
        _end_now(run)
    else:
        say(f"{run.folder.path} was renamed to {run.folder.now}: the run ends and saves everything there")
        monitor.stop()


def _whereabouts(folder: RunFolder) -> str:
    if folder.now is None:
        return f"{folder.path} was deleted while the run went on; what it had stored is gone"
    (folder.place / address.NAME).unlink(missing_ok=True)
    saved = f"without {', '.join(folder.unsaved)}" if folder.unsaved else "with everything saved"
    return (
        f"{folder.path} was renamed to {folder.now} while the run went on, which has ended {saved}; "
        f"`asyncplay train --resume {folder.now}` goes on"
    )


def _losses(folder: RunFolder) -> str:
    reasons = ", ".join(sorted({why for why in folder.unsaved.values() if why}))
    return (
        f"not saved in {folder.path}: {', '.join(folder.unsaved)} ({reasons}); "
        f"`asyncplay train --resume {folder.path}` goes on from what was saved before"
    )


def _make_station(run: Run, config: Config, folder: Path, journal: LogTail) -> Monitor:
    subject = Subject(
        title=config.game.name,
        folder=str(folder),
        figures=run.figures,
        settings=run.engine.settings,
        units_wanted=config.train.units,
        budget_s=config.train.time_budget_s,
    )
    return Monitor(subject, journal, clock=time.perf_counter, stop=run.drain, checkpoint=run.checkpoint, note=run.note)


async def _show(monitor: Monitor, interval_s: float, showing: Showing, interrupts: Interrupts, voice: Voice) -> None:
    """The live console where there is a person to see it, else one line each interval."""
    if plain.wants_console(os.environ, headless=showing.headless, json_lines=showing.json_lines):
        await _show_console(monitor, interrupts, voice)
    while True:
        await asyncio.sleep(interval_s)
        shot = await monitor.look()
        if showing.json_lines:
            sys.stdout.write(plain.json_line(shot) + "\n")
            sys.stdout.flush()
        else:
            _say(plain.line(shot))


async def _show_console(monitor: Monitor, interrupts: Interrupts, voice: Voice) -> None:
    """Until cancelled; the terminal is given back whatever ends the run."""
    from asyncplay.console.view import View

    view = View(monitor, keyboard=0, screen=2, is_owner=True, on_hangup=interrupts.hang_up)
    interrupts.farewell = view.restore
    voice.is_muted = True
    try:
        await view.run()
    finally:
        voice.is_muted = False


async def _record(run: Run, monitor: Monitor, config: Config) -> None:
    """The run's figures, kept each interval: in its store and for TensorBoard, over the units that are done."""
    with closing(EventFile(run.folder.place)) if config.train.tensorboard else nullcontext() as board:
        while True:
            await asyncio.sleep(config.train.interval_s)
            shot = await monitor.look()
            values = metrics(shot)
            run.measure(values)
            if board is not None:
                board.write(time.time(), shot.throughput.units, values)


async def _spend(monitor: Monitor, budget_s: float) -> None:
    if budget_s:
        await asyncio.sleep(budget_s)
        monitor.stop()


def _detach(folder: Path, words: list[str], showing: Showing) -> int:
    """Start the same run again, by the configuration that was just written down."""
    words = [*words, "--headless"]
    pid = detach.start(folder, [*words, "--json-lines"] if showing.json_lines else words)
    _say(f"detached as process {pid}; asyncplay watch {folder} shows it, asyncplay tune {folder} stop ends it")
    return 0


def _sum_up(run: Run, seconds: float) -> None:
    books, stats = run.engine.ledger.books, run.engine.evaluator.stats()
    for line in run.summary(seconds):
        _say(line)
    _say(
        f"done {books.done:,} in {seconds:.1f} s: issued {books.issued:,} = done {books.done:,} + lost {books.lost:,}"
        f" + outstanding {books.outstanding:,}; issued again {books.reissued:,}, set aside {books.set_aside:,}"
    )
    if stats.rows:
        _say(
            f"rows {stats.rows:,}, {stats.rows / seconds:,.0f} rows/s, mean batch {stats.mean_batch:.0f}, "
            f"{stats.rows_per_device_s:,.0f} rows per device-second"
        )
    if stats.extra_rows or stats.spared_rows:
        _say(
            f"rows asked {stats.asked_rows:,}: {stats.extra_share:.1%} extra leaves of a tree; "
            f"{stats.spared_rows:,} more were remembered, {stats.spared_share:.1%} of all wanted"
        )


class LogFile(logging.FileHandler):
    """On a full disk it loses lines, and prints no traceback for each of them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logging.getLogger("asyncplay").addHandler(self)

    def close(self) -> None:
        logging.getLogger("asyncplay").removeHandler(self)
        with suppress(OSError):
            super().close()

    def obey(self, level: str) -> None:
        """Write nothing below ``level``; others who listen are still told what is worth knowing."""
        self.setLevel(level.upper())
        logging.getLogger("asyncplay").setLevel(min(self.level, logging.INFO))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def _forget_terminal() -> None:
    """Who writes to a terminal that is gone fails; files and pipes stay what they are."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _say(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
    sys.stderr.flush()


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """The one error that a person needs to see."""
    error: BaseException = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
