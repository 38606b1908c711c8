"""Pictures of the live console from a real run: docs/console-80x24.svg and -140x45.svg, and the text in the README.

``scripts/dev python scripts/pictures.py [CONFIG] [SECONDS]`` runs CONFIG for a while, changes a setting so that there
is a trial to see, looks at the run through its socket as `asyncplay watch` does, and stops it.
"""

import argparse
import asyncio
import io
import re
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console

from asyncplay.console.picture import Opened, draw
from asyncplay.errors import AsyncplayError
from asyncplay.monitor.remote import Remote
from asyncplay.monitor.snapshot import Snapshot

HERE = Path(__file__).parent.parent
SIZES = ((80, 24), (140, 45))
CHANGE = "batch.max_rows=256"
WAIT_S = 0.5
TEXT = re.compile(r"(<!-- console -->\n```\n).*?(\n```\n<!-- /console -->)", re.DOTALL)


def main(config: Path, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = f"runs/{config.stem}"
        run = subprocess.Popen(["asyncplay", "train", config.resolve(), "--run", folder, "--headless"], cwd=place)
        try:
            shot = asyncio.run(look(Path(place) / folder, seconds))
        finally:
            run.terminate()
            run.wait()
    for columns, rows in SIZES:
        save_svg(shot, columns, rows)
    save_text(shot)


async def look(folder: Path, seconds: float) -> Snapshot:
    """What the run shows after ``seconds``, when the trial of a change is in."""
    (await attach(folder)).close()
    await asyncio.sleep(seconds)  # a run hangs up on somebody who says nothing
    remote = await attach(folder)
    try:
        outcome = await remote.act("set", CHANGE)
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


def save_svg(shot: Snapshot, columns: int, rows: int) -> None:
    console = Console(file=io.StringIO(), record=True, width=columns, height=rows, force_terminal=True)
    console.print(draw(shot, Opened(log=rows > 36), columns, rows), end="")
    path = HERE / "docs" / f"console-{columns}x{rows}.svg"
    path.write_text(console.export_svg(title="asyncplay"), encoding="utf-8")


def save_text(shot: Snapshot) -> None:
    """Between the marks in the README."""
    text = "\n".join(line.rstrip() for line in draw(shot, Opened(), *SIZES[0]).texts())
    path = HERE / "README.md"
    path.write_text(TEXT.sub(lambda found: found[1] + text + found[2], path.read_text(encoding="utf-8")), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", nargs="?", type=Path, default=HERE / "configs" / "default.toml")
    parser.add_argument("seconds", nargs="?", type=float, default=60.0)
    main(**vars(parser.parse_args()))
