"""``asyncplay runs``."""

from pathlib import Path


def runs(folder: Path = Path("runs"), *, json: bool = False) -> int:
    """List the runs in a folder: running, stopped, killed or damaged, with game, games, last version and age."""
    import time
    from dataclasses import asdict
    from json import dumps

    from asyncplay.archive.runs import as_lines, list_runs
    from asyncplay.cli.output import print_lines

    found = list_runs(folder, time.time())
    print_lines([dumps([asdict(run) for run in found])] if json else as_lines(found))
    return 0
