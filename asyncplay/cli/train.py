"""``asyncplay train``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from asyncplay.cli.kinds import MaybeKey, MaybeOptions
from asyncplay.errors import AsyncplayError

Settings = Annotated[dict[str, str], Parameter(help="Any key of the configuration, as --SECTION.KEY VALUE.")]


def train(
    config: Path | None = None,
    *,
    run: Path | None = None,
    resume: Path | None = None,
    option: MaybeOptions = None,
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
    """Play and learn until the budget is spent or you stop it. --game NAME stands for --game.name NAME.

    Parameters
    ----------
    config
        A TOML file, or the name of a configuration that comes with asyncplay, such as blob; without one, default.
    run
        The folder of the run; by default runs/GAME-TIME.
    resume
        Go on with the run in this folder, by its own configuration and what flags change of it.
    option
        An option of the game, such as players=3, over those of the configuration; repeatable. asyncplay games NAME
        lists what a game has.
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
    from asyncplay.cli import training
    from asyncplay.cli.display import Showing
    from asyncplay.cli.shortcuts import as_typed, lay_over, seconds
    from asyncplay.config.loading import find, load
    from asyncplay.methods import game_options

    shortcuts = {
        "time-budget": None if time_budget is None else seconds("--time-budget", time_budget),
        "iters": iters,
        "games": games,
        "workers": workers,
        "seed": seed,
        "tensorboard": tensorboard,
    }
    with as_typed(lay_over(settings, shortcuts)):
        showing = Showing(headless=headless, json_lines=json_lines, detach=detach)
        counted = "iters" if iters is not None else "games" if games is not None else None
        if resume is None:
            chosen = load(training.DEFAULT_CONFIG if config is None else find(config), settings)
            chosen = game_options.lay_over(chosen, option or ())
            return training.train(chosen, run_dir=run, showing=showing, counted=counted)
        if config is not None or run is not None:
            raise AsyncplayError(f"--resume {resume} has its own configuration and folder; leave CONFIG and --run out")
        return training.go_on(resume, settings, option or (), showing=showing, counted=counted)


def spell_out(words: list[str]) -> list[str]:
    """``--game NAME`` is ``--game.name NAME``: the section of that name leaves no room for an option."""
    if words[:1] != ["train"]:
        return words
    return [word.replace("--game", "--game.name", 1) if word.partition("=")[0] == "--game" else word for word in words]


def list_keys() -> str:
    """Every key of the configuration with its default, for the end of the help."""
    from asyncplay.cli.training import DEFAULT_CONFIG
    from asyncplay.config.loading import load, options

    return "\n\n".join(options(load(DEFAULT_CONFIG)))
