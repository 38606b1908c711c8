"""The walk of a finished game that docs/design.md describes is the one that a game takes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FUNCTION = re.compile(r"`([\w/]+\.py:[\w.]+)`")


def documented() -> list[str]:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    return FUNCTION.findall(text[text.index("## The walk of a game") : text.index("## The walk of a delta")])


@pytest.mark.process
def test_a_game_meets_the_documented_functions_in_the_documented_order():
    command = [sys.executable, str(ROOT / "scripts" / "walk.py"), "--all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=True)
    met = done.stdout.splitlines()
    names = documented()
    assert len(names) > 20
    assert [name for name in names if name not in met] == []
    places = [met.index(name) for name in names]
    assert places == sorted(places)


@pytest.mark.process
def test_at_most_twenty_files_carry_a_game_to_the_published_weights():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "walk.py")], capture_output=True, text=True, timeout=280, check=True
    )
    found = re.search(r"(\d+) files, \d+ functions carry it", done.stdout)
    assert found is not None
    assert int(found[1]) <= 20
