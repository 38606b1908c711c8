"""What ``asyncplay train`` does, from the run folder to the summary."""

import asyncio
import logging
import os
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import asyncplay.methods.figures  # noqa: F401  # a snapshot knows the parts of every method
from asyncplay.cli.display import Display, Showing
from asyncplay.cli.interrupts import EXIT_INTERRUPTED, Interrupts, held_back
from asyncplay.cli.output import say
from asyncplay.config.loading import SHIPPED, Overrides
from asyncplay.config.sections import Config
from asyncplay.data import checkpoint, large_arrays, lock
from asyncplay.data.files import open_file
from asyncplay.data.tensorboard import EventFile
from asyncplay.engine.figures import BatchFigures
from asyncplay.engine.loop import run_loop
from asyncplay.engine.method import Method
from asyncplay.errors import AsyncplayError, RunFailed, leaves
from asyncplay.methods import game_options, preflight
from asyncplay.methods.choice import make_run
from asyncplay.methods.game_options import ABSTRACTED
from asyncplay.monitor import address
from asyncplay.monitor.log_tail import LogTail
from asyncplay.monitor.metrics import metrics
from asyncplay.monitor.monitor import Monitor
from asyncplay.monitor.observer import Subject
from asyncplay.rundir import detach, resume
from asyncplay.rundir.folder import RunFolder
from asyncplay.rundir.layout import CHECKPOINTS, CONFIG, LOG, check_places, read_config
from asyncplay.rundir.log import LogFile
from asyncplay.rundir.resume import Resumed
from asyncplay.rundir.weights import versions

log = logging.getLogger(__name__)

DEFAULT_CONFIG = SHIPPED / "default.toml"
"""What a command without a configuration uses, wherever it is run from."""
PLACE_S = 1.0  # between two looks whether the run's folder is where it was


def train(config: Config, *, run_dir: Path | None, showing: Showing, counted: str | None = None) -> int:
    """Make the run folder, work until the budget is spent or the user stops it, and sum up.

    ``counted``: what a flag called the units of the run, if one did.
    """
    preflight.require(config, counted)
    if not prepare_cards(config):
        return EXIT_INTERRUPTED
    plain_name = re.sub(r"[^\w.-]+", "-", config.game.name).strip("-")  # openspiel:hex(board_size=5) in any shell
    folder = run_dir or Path("runs") / f"{plain_name}-{time.strftime('%Y%m%d-%H%M%S')}"
    with _opened(folder, "--run") as log_file:
        log_file.obey(config.train.log_level)
        resume.refuse_old(folder)
        resume.write_config(config, folder)
        say(f"run folder: {folder}")
        if not showing.detach:
            return _see_through(config, folder, showing, None)
    return _detach(folder, ["train", str(folder / CONFIG), "--run", str(folder)], showing)


def go_on(
    folder: Path, flags: Overrides, options: Sequence[str], *, showing: Showing, counted: str | None = None
) -> int:
    """Go on with the run in ``folder``, flags laid over its configuration; ``options`` may say only what it has."""
    resume.require(folder)
    if options:
        game_options.require_same(read_config(folder, flags), options, str(folder))
    with _opened(folder, "--resume") as log_file:
        if any((folder / CHECKPOINTS).glob(f"*/{large_arrays.FILES}*")):
            from asyncplay.methods.mccfr import hashing

            hashing.prepare()
        past = resume.read(folder, flags)
        preflight.require(past.config, counted)
        if not prepare_cards(past.config):
            return EXIT_INTERRUPTED
        log_file.obey(past.config.train.log_level)
        resume.write_config(past.config, folder)
        for line in (f"run folder: {folder}", *past.news):
            say(line)
        if not showing.detach:
            return _see_through(past.config, folder, showing, past)
    return _detach(folder, ["train", "--resume", str(folder)], showing)


def prepare_cards(config: Config) -> bool:
    """Build the bucket file that a run of hold'em needs, if it is not there yet; False if that was interrupted."""
    if config.game.name != ABSTRACTED:
        return True
    from asyncplay.console.progress import bar
    from asyncplay.methods.buckets import first_use

    if first_use.is_missing(config):
        say(f"building card buckets {config.abstraction.buckets}, once for all runs; some minutes")
        try:
            with bar("building buckets") as progress:
                first_use.build_missing(config, progress)
        except KeyboardInterrupt:
            say("ended before the buckets were whole; the same command goes on")
            return False
    return True


@contextmanager
def _opened(folder: Path, option: str) -> Iterator[LogFile]:
    """Lock the folder; what cannot be written there is reported before anything begins."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_places(folder)
        with lock.hold(folder):
            os.close(open_file(folder / LOG, os.O_WRONLY | os.O_CREAT))
            with closing(LogFile(folder / LOG)) as log_file:
                yield log_file
    except OSError as error:
        raise AsyncplayError(f"{option} {folder}: cannot be written: {error.strerror}") from None


def _detach(folder: Path, words: list[str], showing: Showing) -> int:
    """Start the same run again, by the configuration that was just written down."""
    words = [*words, "--headless"]
    pid = detach.start(folder, [*words, "--json-lines"] if showing.json_lines else words)
    say(f"detached as process {pid}; asyncplay watch {folder} shows it, asyncplay tune {folder} stop ends it")
    return 0


def _see_through(config: Config, folder: Path, showing: Showing, past: Resumed | None) -> int:
    """Run to the end; a failure that is no AsyncplayError is logged, and named in one line."""
    log_tail = LogTail()
    logging.getLogger("asyncplay").addHandler(log_tail)
    try:
        return run_loop(_train(config, folder, past, log_tail, Display(showing, log_tail)))
    except AsyncplayError:
        raise
    except Exception as error:
        ours = [leaf for leaf in leaves(error) if isinstance(leaf, AsyncplayError)]
        if len(ours) == len(leaves(error)):
            raise ours[0] from None
        log.exception("the run failed")
        cause = (ours or leaves(error))[0]
        reason = f"{type(cause).__name__}: {cause}"
        raise RunFailed(f"the run failed: {reason}; {folder / 'run.log'} has more") from error
    finally:
        logging.getLogger("asyncplay").removeHandler(log_tail)


async def _train(config: Config, folder: Path, past: Resumed | None, log_tail: LogTail, display: Display) -> int:
    """Build the run, let it work beside the services that show and record it, sum up; return the exit status."""
    with held_back(display.say):
        run = make_run(config, folder, display.say, past)
        subject = Subject(
            title=config.game.name,
            folder=str(folder),
            figures=run.figures,
            settings=run.engine.settings,
            units_wanted=config.train.units,
            budget_s=config.train.time_budget_s,
        )
        monitor = Monitor(
            subject, log_tail, clock=time.perf_counter, stop=run.drain, checkpoint=run.checkpoint, note=run.note
        )
    end_soon, end_now = partial(_end_soon, run, monitor, display.say), partial(_end_now, run)
    with Interrupts(end_soon, end_now, display.say, display.restore) as interrupts:
        started_s = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            services = [
                group.create_task(monitor.observer.run()),
                group.create_task(monitor.control.run(detach.report_ready)),
                group.create_task(_record(run, monitor, config)),
                group.create_task(_watch_folder(run, monitor, display.say)),
                group.create_task(display.run(monitor, config.train.interval_s, interrupts.hang_up)),
            ]
            if config.train.time_budget_s:
                asyncio.get_running_loop().call_later(config.train.time_budget_s, monitor.stop)
            await run.run()
            for service in services:
                service.cancel()
    _sum_up(run, time.perf_counter() - started_s)
    _check_saved(run.folder)
    for line in what_next(run.folder.path):
        say(line)
    return EXIT_INTERRUPTED if interrupts.count else 0


async def _record(run: Method, monitor: Monitor, config: Config) -> None:
    """The run's figures, kept each interval: in its store and for TensorBoard, over the units that are done."""
    with closing(EventFile(run.folder.place)) if config.train.tensorboard else nullcontext() as board:
        while True:
            await asyncio.sleep(config.train.interval_s)
            shot = await monitor.look()
            values = metrics(shot)
            run.measure(values)
            if board is not None:
                board.write(time.time(), shot.throughput.units, values)


async def _watch_folder(run: Method, monitor: Monitor, say: Callable[[str], None]) -> None:
    """End a run whose folder is taken away: files written by name and files held open would be in two places."""
    while run.folder.is_in_place:  # noqa: ASYNC110  # no event tells of it
        await asyncio.sleep(PLACE_S)
    if run.folder.now is None:
        say(f"{run.folder.path} was deleted: the run ends")
        _end_now(run)
    else:
        say(f"{run.folder.path} was renamed to {run.folder.now}: the run ends and saves everything there")
        monitor.stop()


def _end_soon(run: Method, monitor: Monitor, say: Callable[[str], None]) -> None:
    monitor.stop()
    if why := run.folder.trouble:
        say(f"{run.folder.path} cannot be written: {why}; the end waits until it can, Ctrl-C again leaves without it")


def _end_now(run: Method) -> None:
    run.folder.give_up()
    run.engine.halt()


def _sum_up(run: Method, seconds: float) -> None:
    """What was done, lost and asked, in the end."""
    books = run.engine.ledger.books
    stats = run.engine.evaluator.stats().since(BatchFigures(), seconds, run.engine.settings)
    for line in run.summary(seconds):
        say(line)
    cut_short = f" + cut short {books.cut_short:,}" if books.cut_short else ""
    say(
        f"done {books.done:,} in {seconds:.1f} s: issued {books.issued:,} = done {books.done:,}{cut_short}"
        f" + lost {books.lost:,} + outstanding {books.outstanding:,}; issued again {books.reissued:,}, "
        f"set aside {books.set_aside:,}"
    )
    if stats.rows:
        say(
            f"rows {stats.rows:,}, {stats.rows / seconds:,.0f} rows/s, mean batch {stats.mean_rows:.0f}, "
            f"{stats.rows / stats.device_s if stats.device_s else 0.0:,.0f} rows per device-second"
        )
    if stats.extra_rows or stats.spared_rows:
        say(
            f"rows asked {stats.asked_rows:,}: {stats.extra_share:.1%} extra leaves of a tree; "
            f"{stats.spared_rows:,} more were remembered, {stats.spared_share:.1%} of all wanted"
        )


def what_next(folder: Path) -> list[str]:
    """Commands to paste; a run that has saved nothing can only be reported on."""
    place = shlex.quote(str(folder))
    is_saved = bool(versions(folder) or checkpoint.numbers(folder / CHECKPOINTS))
    commands = [f"eval {place}", f"report {place}", f"train --resume {place}"] if is_saved else [f"report {place}"]
    return ["next:", *(f"  asyncplay {command}" for command in commands)]


def _check_saved(folder: RunFolder) -> None:
    """AsyncplayError if the folder was taken away; RunFailed if something in it could not be saved."""
    if not folder.is_in_place:
        if folder.now is None:
            raise AsyncplayError(f"{folder.path} was deleted while the run went on; what it had stored is gone")
        (folder.place / address.NAME).unlink(missing_ok=True)
        saved = f"without {', '.join(folder.unsaved)}" if folder.unsaved else "with everything saved"
        raise AsyncplayError(
            f"{folder.path} was renamed to {folder.now} while the run went on, which has ended {saved}; "
            f"`asyncplay train --resume {folder.now}` goes on"
        )
    if folder.unsaved:
        reasons = ", ".join(sorted({why for why in folder.unsaved.values() if why}))
        raise RunFailed(
            f"not saved in {folder.path}: {', '.join(folder.unsaved)} ({reasons}); "
            f"`asyncplay train --resume {folder.path}` goes on from what was saved before"
        )
