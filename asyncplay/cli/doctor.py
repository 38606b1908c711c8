"""``asyncplay doctor``."""

from pathlib import Path
from typing import Literal

from asyncplay.cli.kinds import Seconds

EXIT_UNWELL = 3


def doctor(
    *,
    run: Path = Path("runs"),
    device: Literal["cpu", "cuda", "mps", "sim"] | None = None,
    seconds: Seconds = 60.0,
    json: bool = False,
) -> int:
    """Say what this machine has and what would slow or break a run here, each with its cure.

    Parameters
    ----------
    run
        Where runs go.
    device
        Try one device out instead: its answers against a CPU's, its speed, and some play; for a bug report.
    seconds
        Of play, with --device.
    """
    from asyncplay.cli.training import DEFAULT_CONFIG
    from asyncplay.config.loading import load
    from asyncplay.doctor import finding
    from asyncplay.doctor.examine import examine
    from asyncplay.engine.loop import run_loop

    if device is None:
        found = run_loop(examine(load(DEFAULT_CONFIG), run))
    else:
        from asyncplay.doctor.accelerator import try_device

        found = run_loop(try_device(load(DEFAULT_CONFIG), device, seconds))
    print(finding.as_json(found) if json else finding.as_text(found))
    return EXIT_UNWELL if finding.is_broken(found) else 0
