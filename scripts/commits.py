"""Commands of asyncplay as any commit of this repository has them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
COMMAND = """import sys
from asyncplay.cli import main
{}
sys.exit(main())"""


@contextmanager
def checked_out(commit: str, tree: Path) -> Iterator[Path]:
    """Have the files of ``commit`` in a folder ``tree``, which must not be there yet, for as long as this lasts."""
    worktree = ["git", "-C", str(REPOSITORY), "worktree"]
    subprocess.run([*worktree, "add", "--quiet", "--detach", str(tree), commit], check=True)
    try:
        yield tree
    finally:
        subprocess.run([*worktree, "remove", "--force", str(tree)], check=True)


def run(tree: Path, words: list[str], changes: str = "") -> str:
    """Run a command of the package in ``tree`` there; return what it prints, exit if it fails.

    ``changes``: statements that are carried out before.
    """
    done = subprocess.run(
        [sys.executable, "-c", COMMAND.format(changes), *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"asyncplay {' '.join(words)} exited {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
