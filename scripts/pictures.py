"""Pictures of the live console from real runs: docs/console-*.svg, and the text in the README.

``scripts/dev python scripts/pictures.py [SECONDS]`` trains Blob and solves Leduc poker for a while, changes a setting
so that there is a trial to see, looks at the runs through their sockets as `asyncplay watch` does, and stops them. A
picture that loses a column in a terminal, leaves a fifth of its lines empty or lacks a curve ends it with status 1.
"""

import argparse
import asyncio
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyte
from rich.color import ColorSystem
from rich.console import Console

import asyncplay.methods.figures  # noqa: F401  # a snapshot knows the parts of every method
from asyncplay.console.picture import Opened, draw
from asyncplay.console.terminal import ENTER, difference
from asyncplay.console.view import TALL
from asyncplay.errors import AsyncplayError
from asyncplay.monitor.remote import Remote
from asyncplay.monitor.snapshot import Snapshot

HERE = Path(__file__).parent.parent
SIZES = ((80, 24), (100, 30), (140, 45), (200, 60))
MOST_EMPTY = 0.2  # of the lines
CURVES_FROM = 140  # columns
WAIT_S = 0.5
TEXT = re.compile(r"(<!-- console -->\n```\n).*?(\n```\n<!-- /console -->)", re.DOTALL)


class Subject(NamedTuple):
    """A run to look at."""

    config: str
    change: str  # that is tried
    curves: tuple[str, ...]  # that must be seen
    suffix: str  # of the names of its pictures


SUBJECTS = (
    Subject("default", "batch.max_rows=256", ("policy loss", "value loss", "vs random"), ""),
    Subject("leduc", "pool.workers=1", ("utility", "NashConv"), "-tabular"),
)


def main(seconds: float) -> int:
    complaints = []
    for subject in SUBJECTS:
        shot = picture_of(subject, seconds)
        for columns, rows in SIZES:
            complaints += [f"{subject.config} {columns}x{rows}: {why}" for why in flaws(shot, subject, columns, rows)]
            save_svg(shot, columns, rows, subject.suffix)
        if not subject.suffix:
            save_text(shot)
    for complaint in complaints:
        sys.stderr.write(f"pictures: {complaint}\n")
    return 1 if complaints else 0


def picture_of(subject: Subject, seconds: float) -> Snapshot:
    """What a run of its own shows after ``seconds``, when the trial of a change is in."""
    with tempfile.TemporaryDirectory() as place:
        folder = f"runs/{subject.config}"
        words = ["asyncplay", "train", subject.config, "--run", folder, "--headless"]
        run = subprocess.Popen(words, cwd=place, stderr=subprocess.DEVNULL)
        try:
            return asyncio.run(look(Path(place) / folder, subject.change, seconds))
        finally:
            run.terminate()
            run.wait()


async def look(folder: Path, change: str, seconds: float) -> Snapshot:
    (await attach(folder)).close()
    await asyncio.sleep(seconds)  # a run hangs up on somebody who says nothing
    remote = await attach(folder)
    try:
        outcome = await remote.act("set", change)
        assert outcome.trial is not None, "a change opens a trial"
        await remote.trial(outcome.trial)
        return await remote.look()
    finally:
        remote.close()


async def attach(folder: Path) -> Remote:
    """It takes a while until a run listens."""
    while True:
        try:
            return await Remote.open(folder)
        except AsyncplayError:
            await asyncio.sleep(WAIT_S)


def flaws(shot: Snapshot, subject: Subject, columns: int, rows: int) -> list[str]:
    """What a person at a terminal of this size would miss."""
    frame, screen = draw(shot, Opened(log=rows >= TALL), columns, rows), pyte.Screen(columns, rows)
    pyte.ByteStream(screen).feed(ENTER + difference([], frame.encode(ColorSystem.EIGHT_BIT)).encode())
    texts, found = frame.texts(), []
    if screen.display != texts:
        found.append("the terminal does not show what was drawn")
    if (empty := sum(not text.strip() for text in texts)) >= MOST_EMPTY * rows:
        found.append(f"{empty} of {rows} lines are empty")
    if columns >= CURVES_FROM:
        missing = [name for name in subject.curves if not re.search(rf"{name} \S+ to \S+", "\n".join(texts))]
        found += [f"no curve of {name}" for name in missing]
    return found


def save_svg(shot: Snapshot, columns: int, rows: int, suffix: str) -> None:
    console = Console(file=io.StringIO(), record=True, width=columns, height=rows, force_terminal=True)
    console.print(draw(shot, Opened(log=rows >= TALL), columns, rows), end="")
    path = HERE / "docs" / f"console{suffix}-{columns}x{rows}.svg"
    path.write_text(console.export_svg(title="asyncplay"), encoding="utf-8")


def save_text(shot: Snapshot) -> None:
    """Between the marks in the README."""
    text = "\n".join(line.rstrip() for line in draw(shot, Opened(), *SIZES[0]).texts())
    path = HERE / "README.md"
    path.write_text(TEXT.sub(lambda found: found[1] + text + found[2], path.read_text(encoding="utf-8")), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=120.0)
    sys.exit(main(parser.parse_args().seconds))
