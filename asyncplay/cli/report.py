"""``asyncplay report``."""

from pathlib import Path


def report(run: Path, *, out: Path | None = None) -> int:
    """Write one page about a run, with plots; it opens in any browser, without a network.

    Parameters
    ----------
    out
        The file to write; without it, report.html in the run's folder.
    """
    import asyncplay.methods.figures  # noqa: F401  # the page has the plots that every method declares
    from asyncplay.archive.report.page import write_report
    from asyncplay.cli.output import say

    target = out or run / "report.html"
    write_report(run, target)
    say(f"report: {target}")
    return 0
