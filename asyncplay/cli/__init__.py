"""The command line. A command reads, builds and runs; what is heavy loads inside it, not on --help."""

import difflib
import sys
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, Parameter

import asyncplay
from asyncplay.cli import data as cli_data
from asyncplay.cli import output
from asyncplay.cli.kinds import Count, MaybeCount, MaybeKey, MaybeSeed, MaybeVersion, Milliseconds, Seconds, Seed
from asyncplay.errors import AsyncplayError, ConfigError, printable

EXIT_UNTOLD, EXIT_MISTAKE, EXIT_UNWELL = 1, 2, 3

app = App(name="asyncplay", help="Self-play training on the machine you have.", version=asyncplay.__version__)
bench = App(name="bench", help="Measure one published table here.")
app.command(bench)
app.command(cli_data.data)
app.command(cli_data.runs)
app.command(cli_data.games)
app.command(cli_data.report)

Settings = Annotated[dict[str, str], Parameter(help="Any key of the configuration, as --SECTION.KEY VALUE.")]


@app.command
def train(
    config: Path | None = None,
    *,
    run: Path | None = None,
    resume: Path | None = None,
    headless: bool = False,
    json_lines: bool = False,
    detach: bool = False,
    time_budget: str | None = None,
    games: MaybeKey = None,
    iters: MaybeKey = None,
    workers: MaybeKey = None,
    seed: MaybeKey = None,
    tensorboard: bool | None = None,
    **settings: Settings,
) -> int:
    """Play and learn until the budget is spent or you stop it.

    Parameters
    ----------
    config
        A TOML file, or the name of a configuration that comes with asyncplay, such as blob; without one, default.
    run
        The folder of the run; by default runs/GAME-TIME.
    resume
        Go on with the run in this folder, by its own configuration and what flags change of it.
    headless
        Plain lines instead of the live console.
    json_lines
        Machine-readable lines on stdout, one each interval.
    detach
        Start a run that goes on without this terminal; print its folder and process.
    time_budget
        Stop after this time: seconds, or 90s, 20m, 1h30m.
    games
        Stop after this many games.
    iters
        Stop after this many iterations of a run that solves by table.
    workers
        Worker processes; 0 means one for each usable core.
    seed
        Of every random number of the run.
    tensorboard
        Whether to write event files for TensorBoard into the run's folder; they are, unless you say no.
    """
    from asyncplay.cli import training as build
    from asyncplay.cli.shortcuts import as_typed, lay_over, seconds
    from asyncplay.config.loading import find, load

    shortcuts = {
        "time-budget": None if time_budget is None else seconds("--time-budget", time_budget),
        "iters": iters,
        "games": games,
        "workers": workers,
        "seed": seed,
        "tensorboard": tensorboard,
    }
    with as_typed(lay_over(settings, shortcuts)):
        showing = build.Showing(headless=headless, json_lines=json_lines, detach=detach)
        counted = "iters" if iters is not None else "games" if games is not None else None
        if resume is None:
            chosen = load(build.default_config() if config is None else find(config), settings)
            return build.train(chosen, run_dir=run, showing=showing, counted=counted)
        if config is not None or run is not None:
            raise AsyncplayError(f"--resume {resume} has its own configuration and folder; leave CONFIG and --run out")
        return build.go_on(resume, settings, showing=showing, counted=counted)


@app.command
def tune(run: Path, *changes: str, json: bool = False) -> int:
    """Change a live setting of a run and see what that did; without changes, list what can be changed.

    Parameters
    ----------
    run
        The folder of the run.
    changes
        KEY=VALUE, one or several; or one of undo, pause, checkpoint, stop.
    """
    from asyncplay.cli.tune import tune as change

    return change(run, list(changes), as_json=json)


@app.command
def watch(run: Path) -> int:
    """The live console of a run that goes on in another terminal; leaving it does not stop the run.

    Parameters
    ----------
    run
        The folder of the run.
    """
    from asyncplay.cli.watch import watch as attach
    from asyncplay.engine.loop import run_loop

    return run_loop(attach(run))


@app.command(name="eval")
def evaluate(
    run: Path,
    *,
    against: str | None = None,
    games: MaybeCount = None,
    simulations: MaybeCount = None,
    version: MaybeVersion = None,
    seed: MaybeSeed = None,
    json: bool = False,
) -> int:
    """Let what a run has learned play a match; of a run that solves by table, say how far it is from equilibrium.

    Parameters
    ----------
    run
        The folder of the run.
    against
        random (unless you say otherwise), rules (Blob), perfect (tic-tac-toe), the number of a version,
        openspiel:mcts-1000 (boards) or openspiel:ismcts-500 (Blob).
    games
        How many; 200 unless you say otherwise.
    simulations
        For each decision of ours; 64 unless you say otherwise.
    version
        Which weights play; without it, the latest.
    """
    from asyncplay.cli import tables as report
    from asyncplay.engine.loop import run_loop
    from asyncplay.rating.evaluate import Question
    from asyncplay.rating.evaluate import evaluate as play

    words = {"against": against, "games": games, "simulations": simulations, "version": version, "seed": seed}
    question, result = Question.of(run, words), dict[str, object]()

    async def match() -> int:
        result.update(await play(question))
        return 0

    run_loop(match())
    return report.show(result, as_json=json)


@app.command
def doctor(*, run: Path = Path("runs"), json: bool = False) -> int:
    """Say what this machine has and what would slow or break a run here, each with its cure.

    Parameters
    ----------
    run
        Where runs go.
    """
    from asyncplay.cli import training as build
    from asyncplay.config.loading import load
    from asyncplay.doctor import finding
    from asyncplay.doctor.examine import examine
    from asyncplay.engine.loop import run_loop

    found: list[finding.Finding] = []

    async def look() -> int:
        found.extend(await examine(load(build.default_config()), run))
        return EXIT_UNWELL if finding.is_broken(found) else 0

    status = run_loop(look())
    print(finding.as_json(found) if json else finding.as_text(found))
    return status


@bench.command(name="wire")
def bench_wire(*, json: bool = False) -> int:
    """What a row costs the coordinator: decoded, queued, batched and answered."""
    from asyncplay.bench import wire
    from asyncplay.cli import tables as report

    return report.show(wire.measure(), as_json=json)


@bench.command(name="batching")
def bench_batching(*, real: bool = False, json: bool = False) -> int:
    """The fire rule against fixed policies on a virtual clock, or through real processes.

    Parameters
    ----------
    real
        Real processes and pipes in real time instead of the virtual clock.
    """
    from asyncplay.bench import batching, batching_real
    from asyncplay.cli import tables as report

    return report.show(batching_real.measure() if real else batching.measure(), as_json=json)


@bench.command(name="search")
def bench_search(*, game: str = "connect4", json: bool = False) -> int:
    """Tree, rules and encoding alone: simulations/s of one core with a constant network."""
    from asyncplay.bench import search
    from asyncplay.cli import tables as report

    return report.show(search.measure(game), as_json=json)


@bench.command(name="workers")
def bench_workers(*, game: str = "connect4", backend: str = "auto", rounds: Count = 60, json: bool = False) -> int:
    """The same games in flight, split over 1, 2, 4, 8 and 16 workers.

    Parameters
    ----------
    rounds
        How often each number of workers gets its turn.
    """
    from asyncplay.bench import workers
    from asyncplay.cli import tables as report

    return report.show(workers.measure(game, backend, rounds=rounds), as_json=json)


@bench.command(name="store")
def bench_store(*, quick: bool = False, json: bool = False) -> int:
    """Games/s into the store and the loop's longest pause, at both levels of durability, also on a slow disk.

    Parameters
    ----------
    quick
        Shorter windows and fewer of them.
    """
    from asyncplay.bench import store
    from asyncplay.cli import tables as report

    return report.show(store.measure(is_quick=quick), as_json=json)


@bench.command(name="selfplay")
def bench_selfplay(
    *,
    game: str = "connect4",
    backend: str = "auto",
    exact_decisions: MaybeKey = None,
    host_ms: Milliseconds = 0.1,
    json: bool = False,
) -> int:
    """Self-play with real processes against the model's own forward limit, learner off and on.

    Parameters
    ----------
    backend
        auto, torch, onnx-fp32 or onnx-int8; or sim: an accelerator simulated after a GPU of the middle range.
    exact_decisions
        Endings that are worked out, other than the load's (Blob 14, the others 0).
    host_ms
        With sim: from a batch's launch until the device can begin with it.
    """
    from asyncplay.bench import selfplay, simulated
    from asyncplay.cli import tables as report

    search = {} if exact_decisions is None else {"exact_decisions": exact_decisions}
    if backend == "sim":
        return report.show(simulated.measure(game, search, host_ms=host_ms), as_json=json)
    return report.show(selfplay.measure(game, backend, search), as_json=json)


@bench.command(name="strategies")
def bench_strategies(*, backend: str = "auto", seconds: Seconds = 8.0, json: bool = False) -> int:
    """Blob by four strategies: sequential, processes, threads and ours, with 1 to 16 workers; some minutes.

    Parameters
    ----------
    backend
        That of ours; the others use torch.
    seconds
        Least time of each row of the table.
    """
    from asyncplay.bench import strategies
    from asyncplay.cli import tables as report

    return report.show(strategies.measure(backend, seconds=seconds), as_json=json)


@bench.command(name="cfr")
def bench_cfr(*, game: str = "leduc", json: bool = False) -> int:
    """Iterations/s of sampled solving beside open_spiel's, and seconds until NashConv is small; one core.

    Parameters
    ----------
    game
        kuhn, leduc or liarsdice.
    """
    from asyncplay.bench import cfr
    from asyncplay.cli import tables as report

    return report.show(cfr.measure(game), as_json=json)


@bench.command(name="console")
def bench_console(*, json: bool = False) -> int:
    """What the live console takes of rows/s: windows with and without it in turn, in one run of a fast game."""
    from asyncplay.bench import console
    from asyncplay.cli import tables as report

    return report.show(console.measure(), as_json=json)


@bench.command(name="deltas")
def bench_deltas(*, quick: bool = False, json: bool = False) -> int:
    """What a batch of a tabular run sends, and whether its rate stays the same while the table fills.

    Parameters
    ----------
    quick
        Thirty seconds instead of ten minutes.
    """
    from asyncplay.bench import deltas
    from asyncplay.cli import tables as report

    return report.show(deltas.measure(quick=quick), as_json=json)


@bench.command(name="split")
def bench_split(*, json: bool = False) -> int:
    """No iteration is lost in the split, by arithmetic and with real processes."""
    from asyncplay.bench import split
    from asyncplay.cli import tables as report

    return report.show(split.measure(), as_json=json)


@bench.command(name="scaling")
def bench_scaling(*, json: bool = False) -> int:
    """Two workers against one over a table of 30 MB, merging included."""
    from asyncplay.bench import scaling
    from asyncplay.cli import tables as report

    return report.show(scaling.measure(), as_json=json)


@bench.command(name="duel")
def bench_duel(
    run: Path,
    *,
    hero: list[str] | None = None,
    rival: list[str] | None = None,
    rounds: Count = 2000,
    version: MaybeVersion = None,
    seed: Seed = 0,
    json: bool = False,
) -> int:
    """Two ways to think with the same weights: points a round that one makes beyond the other, deals paired.

    Parameters
    ----------
    run
        The folder of the run.
    hero
        What one seat does in another way than the run did, such as device.backend=onnx-int8; repeatable.
    rival
        The same for all other seats.
    rounds
        How many, each deal or opening once from each seat.
    version
        Which weights play; without it, the latest.
    """
    from asyncplay.bench import duel
    from asyncplay.cli import tables as report

    return report.show(duel.measure(duel.Duel(run, hero or (), rival or (), rounds, version, seed)), as_json=json)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; a result that could not be written is a failure, except where the result is a trained run."""
    words = sys.argv[1:] if arguments is None else arguments
    with output.tolerant() as out:
        status = _run(words)
        sys.stdout.flush()
        if (why := output.complaint(out)) and status == 0 and words[:1] != ["train"]:
            print(f"asyncplay: {why}", file=sys.stderr)
            return EXIT_UNTOLD
        return status


def _run(words: list[str]) -> int:
    """A user's mistake is one line and exit status 2."""
    try:
        _refuse_empty(words)
        words = cli_data.in_order(words)
        _show_keys(words)
        return app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except (CycloptsError, AsyncplayError) as error:
        for line in _in_our_words(error).split("\n"):
            print(f"asyncplay: {printable(line)}", file=sys.stderr)
        return error.exit_code if isinstance(error, AsyncplayError) else EXIT_MISTAKE
    except OSError as error:
        if error.filename is None:
            raise
        print(f"asyncplay: {printable(error.filename)}: {error.strerror}", file=sys.stderr)
        return EXIT_MISTAKE


def _in_our_words(error: CycloptsError | AsyncplayError) -> str:
    """An unknown option of ``train`` is taken for a section of the configuration whose key or value is missing."""
    if isinstance(error, AsyncplayError):
        return str(error) if isinstance(error, ConfigError) else printable(error)
    if isinstance(error, MissingArgumentError):
        name = error.keyword
    elif isinstance(error, CoercionError) and error.target_type == dict[str, str]:
        dotted = [word for word in error.root_input_tokens or () if word.startswith("--") and word.count(".") > 1]
        name = error.token.keyword if error.token is not None else dotted[0].partition("=")[0]
    else:
        name = None
    if name is None or error.command_chain != ("train",):
        return str(error)
    from asyncplay.config.loading import keys

    options = [option for argument in app["train"].assemble_argument_collection() for option in argument.names]
    dashed = [f"--{key.replace('_', '-')}" for key, _, _ in keys()]
    if name.replace("_", "-") in (*options, *dashed):
        return str(error)
    known = {option.partition(".")[2]: option for option in reversed(dashed)}
    known |= {option.removeprefix("--"): option for option in (*dashed, *options)}
    near = [known[word] for word in difflib.get_close_matches(name.removeprefix("--"), known, n=1, cutoff=0.75)]
    hint = f"did you mean {near[0]}? A" if near else "a"
    return f"{name} is no known option; {hint} key of the configuration is --SECTION.KEY VALUE"


def _refuse_empty(words: list[str]) -> None:
    """Nothing here is ever empty: it is a variable of the shell that was not set."""
    for before, word in pairwise(["asyncplay", *words]):
        if word.startswith("--") and word.endswith("="):
            raise AsyncplayError(f"{word.removesuffix('=')} is empty")
        if not word.strip():
            raise AsyncplayError(f"{before} is empty" if before.startswith("--") else f"what follows {before} is empty")


def _show_keys(words: list[str]) -> None:
    """The help of ``train`` ends with every key of the configuration."""
    if words[:1] == ["train"] and ("--help" in words or "-h" in words):
        from asyncplay.cli.training import default_config
        from asyncplay.config.loading import load, options

        app["train"].help_epilogue = "\n\n".join(options(load(default_config())))
