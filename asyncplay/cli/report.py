"""``asyncplay report``."""

from pathlib import Path

from asyncplay.cli.kinds import run_or_latest


def report(run: Path | None = None, *, out: Path | None = None) -> int:
    """Write one page about a run, with plots; it opens in any browser, without a network.

    Parameters
    ----------
    run
        The folder of the run; without it, the latest in runs/.
    out
        The file to write; without it, report.html in the run's folder.
    """
    import asyncplay.methods.figures  # noqa: F401  # the page has the plots that every method declares
    from asyncplay.archive.report.page import write_report
    from asyncplay.cli.output import say

    folder = run_or_latest(run)
    target = out or folder / "report.html"
    write_report(folder, target)
    say(f"report: {target}")
    return 0
