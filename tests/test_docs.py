"""Every command of README.md, CONTRIBUTING.md and docs/ is one that works."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from console.desk import Desk

from asyncplay.cli import data, train
from asyncplay.cli.entry import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"(?<!\*\(planned\)\* )`(asyncplay [^`]+)`")
SHORT = {  # what commands are here so that they take seconds
    "asyncplay train": "asyncplay train --time-budget 12s",
    "asyncplay eval": "asyncplay eval --games 8 --simulations 4",
    "just": "just --dry-run",
}
BIN = Path(sys.executable).parent


def pasted(page: Path) -> list[str]:
    """The lines of a page that are meant to be pasted, in order."""
    return [line for block in BLOCK.findall(page.read_text()) for line in block.splitlines()]


def named(page: Path) -> list[str]:
    """The commands of a page that stand in its text and in its tables, but for patterns such as ``[--games N]``."""
    return [command for command in INLINE.findall(page.read_text()) if not re.search(r"[\[\]|…]|\.\.\.", command)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_have_options_and_arguments_that_exist(page):
    for command in [*named(page), *(line for line in pasted(page) if line.startswith("asyncplay"))]:
        words = [{"RUN": "runs/x", "FILE": "x.npz"}.get(word, word) for word in shlex.split(command)[1:]]
        if words != ["--version"]:
            app.parse_args(train.spell_out(data.in_order(words)), print_error=False, exit_on_error=False)


def test_there_are_commands_to_check():
    assert sum(len(named(page)) for page in PAGES) > 40
    assert sum(len(pasted(page)) for page in PAGES) > 10


def test_the_readme_says_what_why_and_how_before_its_first_table():
    text = (ROOT / "README.md").read_text()
    before = text[: text.index("| --- |")]
    order = [
        "asyncplay trains agents",
        "Why another one?",
        "scripts/dev\n",
        "<!-- console -->",
        "What next?",
        "Blob in five",
    ]
    places = [before.index(words) for words in order]
    assert places == sorted(places)
    prose = re.sub(r"```.*?```", "", before, flags=re.DOTALL)
    assert len(prose.split()) < 450  # two screens


def test_figures_have_a_zero_before_their_point():
    for page in (ROOT / "README.md", ROOT / "docs" / "measured.md"):
        bare = re.findall(r"(?<![\w./-])[-+]?\.\d+", page.read_text())
        assert bare == []


def test_links_to_files_of_the_project_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def shortened(line: str) -> str:
    """With a short budget; a run that goes on by itself is stopped by a later line."""
    for command, short in SHORT.items():
        if line.startswith(command) and "--detach" not in line:
            return line.replace(command, short, 1)
    return line


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(900)
def test_every_command_works_as_it_stands_pasted_in_order(tmp_path, monkeypatch):
    """In a folder of its own, inside the environment that the tests have; in the project's the first two lines too."""
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    for line in pasted(ROOT / "README.md") + pasted(ROOT / "CONTRIBUTING.md"):
        if line.startswith("asyncplay watch"):
            desk = Desk([str(BIN / "asyncplay"), *shlex.split(line)[1:]])
            try:
                desk.until("? help q leave")
                desk.press("q")
                assert desk.report() == "ended 0", line
            finally:
                desk.close()
            continue
        if not line.startswith(("asyncplay", "just")) and not (ROOT / ".venv").exists():
            continue
        place = tmp_path if line.startswith("asyncplay") else ROOT
        done = subprocess.run(["bash", "-c", shortened(line)], cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
