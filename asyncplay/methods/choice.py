"""Which method a configuration asks for."""

from collections.abc import Callable
from pathlib import Path

from asyncplay.config.sections import Config
from asyncplay.engine.method import Method
from asyncplay.rundir.resume import Resumed


def make_run(config: Config, folder: Path, say: Callable[[str], None], resumed: Resumed | None = None) -> Method:
    """``resumed``: where a run that goes on had come to."""
    found = None if resumed is None else resumed.snapshot
    if config.game.name == "synthetic":
        from asyncplay.methods.synthetic.run import SyntheticRun

        return SyntheticRun(config, folder, say)
    if config.population.method != "off":
        from asyncplay.methods.population.run import PopulationRun

        return PopulationRun(config, folder, say, found, is_resumed=resumed is not None)
    if config.solve.method != "off":
        from asyncplay.methods.mccfr.run import MccfrRun

        return MccfrRun(config, folder, say, found)
    from asyncplay.methods.selfplay.run import SelfplayRun

    return SelfplayRun(config, folder, say, found, is_resumed=resumed is not None)
