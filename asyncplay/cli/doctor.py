"""``asyncplay doctor``."""

from pathlib import Path

EXIT_UNWELL = 3


def doctor(*, run: Path = Path("runs"), json: bool = False) -> int:
    """Say what this machine has and what would slow or break a run here, each with its cure.

    Parameters
    ----------
    run
        Where runs go.
    """
    from asyncplay.cli.training import DEFAULT_CONFIG
    from asyncplay.config.loading import load
    from asyncplay.doctor import finding
    from asyncplay.doctor.examine import examine
    from asyncplay.engine.loop import run_loop

    found = run_loop(examine(load(DEFAULT_CONFIG), run))
    print(finding.as_json(found) if json else finding.as_text(found))
    return EXIT_UNWELL if finding.is_broken(found) else 0
