"""A short headless run, checked from outside: a game, a publish, exact books, exit 0, no process left behind."""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

SECONDS = 20


def main() -> int:
    """Return 0 when all is as it should be, else say what is not."""
    with tempfile.TemporaryDirectory() as place:
        command = ["asyncplay", "train", "configs/smoke.toml", "--headless", "--time-budget", str(SECONDS)]
        command += ["--run", f"{place}/run"]
        run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        family = _family(run.pid)
        _, output = run.communicate(timeout=10 * SECONDS)
        sys.stderr.write(output)
        complaints = [*_books(output), *_learning(output), *_left_over(family), *_folder(Path(place) / "run")]
    if run.returncode != 0:
        complaints.append(f"exit status {run.returncode}")
    for complaint in complaints:
        sys.stderr.write(f"smoke: {complaint}\n")
    return 1 if complaints else 0


def _family(pid: int) -> list[psutil.Process]:
    """The run's processes once it is under way."""
    time.sleep(SECONDS / 2)
    return psutil.Process(pid).children(recursive=True)


def _books(output: str) -> list[str]:
    found = re.search(
        r"issued ([\d,]+) = done ([\d,]+)(?: \+ cut short ([\d,]+))? \+ lost ([\d,]+) \+ outstanding ([\d,]+)", output
    )
    if found is None:
        return ["no books in the summary"]
    issued, done, *rest = (int((number or "0").replace(",", "")) for number in found.groups())
    complaints = [] if issued == done + sum(rest) else ["the books do not add up"]
    return complaints if done > 0 else [*complaints, "nothing was done"]


def _learning(output: str) -> list[str]:
    found = re.search(r"version (\d+) after", output)
    return [] if found and int(found.group(1)) > 0 else ["no weights were published"]


def _left_over(family: list[psutil.Process]) -> list[str]:
    """Processes of the run that are still there a moment after it."""
    _, alive = psutil.wait_procs(family, timeout=3)
    return [f"process {process.pid} was left behind" for process in alive]


def _folder(folder: Path) -> list[str]:
    return [f"{name} is missing" for name in ("config.toml", "run.log", "weights") if not (folder / name).exists()]


if __name__ == "__main__":
    sys.exit(main())
