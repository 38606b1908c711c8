"""What is installed is whole: the wheel runs in an empty folder, in an environment that cannot see the checkout.

The environment is new. Of the libraries around the tests it is lent those that the wheel says it needs, and no others,
as links; so nothing is fetched, and an import that the wheel does not declare fails.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from test_docs import pasted

import asyncplay
from asyncplay.games.contract import CHECKS

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = Path(__file__).parent.parent
SOURCES = ("asyncplay", "configs", "pyproject.toml", "README.md", "LICENSE")
LIBRARIES = Path(sysconfig.get_path("purelib"))
WHERE = "import sysconfig; print(sysconfig.get_path('purelib'))"


def run(*words: str | Path, folder: Path) -> str:
    """Run a command in ``folder``, without a terminal and with no way to the checkout; return what it said.

    Kernels are kept below the folder: those of a place that is gone would stay in the user's cache.
    """
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["XDG_CACHE_HOME"] = str(folder / ".cache")
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def pip(*words: str | Path, folder: Path) -> str:
    return run(sys.executable, "-m", "pip", *words, folder=folder)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy, so that what is left by an earlier build is not packed, and no build leaves anything here."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def build_wheel(source: Path, out: Path) -> Path:
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", out, source, folder=out)
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    return build_wheel(checkout, tmp_path_factory.mktemp("wheel"))


def needed(lines: list[str]) -> set[str]:
    """The distributions that requirements name, and what these need without extras, down to the last."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        if wanted.name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found.add(wanted.name)
            waiting += [Requirement(line) for line in metadata.requires(wanted.name) or ()]
    return found


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The folder of a virtual environment that holds the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    pip("--python", folder / "bin" / "python", "install", "--no-deps", "--no-index", wheel, folder=folder)
    place = Path(run(folder / "bin" / "python", "-c", WHERE, folder=folder).strip())
    (installed,) = metadata.distributions(path=[str(place)])
    lend(place, installed.requires or [])
    return folder


def lend(place: Path, lines: list[str]) -> None:
    """Link what the requirements name, and all that they need, into a folder of libraries."""
    for name in needed(lines):
        tops = {path.parts[0] for path in metadata.files(name) or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (place / top).exists():
                (place / top).symlink_to(LIBRARIES / top)


def test_a_wheel_has_the_configurations_as_people_edit_them(wheel):
    """And everything else that is no module; no file of the tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        configs = {name.removeprefix("asyncplay/configs/"): archive.read(name) for name in names if "/configs/" in name}
    assert configs == {path.name: path.read_bytes() for path in (ROOT / "configs").iterdir()}

    package = [path for path in (ROOT / "asyncplay").rglob("*") if path.suffix in (".py", ".cc", ".in", ".typed")]
    here = {str(path.relative_to(ROOT)) for path in package} | {f"asyncplay/configs/{name}" for name in configs}
    assert names == here
    assert {"asyncplay/py.typed", "asyncplay/agents/ismcts.cc"} <= names


def test_a_wheel_made_from_the_source_archive_is_the_same(checkout, wheel, tmp_path):
    """As a release is made, and as pip does where it finds no wheel."""
    code = f"import setuptools.build_meta as backend; backend.build_sdist({str(tmp_path)!r})"
    run(sys.executable, "-c", code, folder=checkout)
    (archive,) = tmp_path.glob("*.tar.gz")
    again = build_wheel(archive, tmp_path)

    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(again) as theirs:
        assert {file.filename: file.CRC for file in theirs.infolist()} == {
            file.filename: file.CRC for file in ours.infolist()
        }


def test_an_installed_wheel_says_who_it_is_and_needs_no_extra(environment, tmp_path):
    python = environment / "bin" / "python"
    for command in ([environment / "bin" / "asyncplay"], [python, "-m", "asyncplay"]):
        assert run(*command, "--version", folder=tmp_path) == f"{asyncplay.__version__}\n"
    file = run(python, "-c", "import asyncplay; print(asyncplay.__file__)", folder=tmp_path)
    assert Path(file.strip()).is_relative_to(environment)
    code = (
        "from importlib.util import find_spec as f; print([n for n in ('pyspiel', 'pyarrow', 'tensorboard') if f(n)])"
    )
    assert run(python, "-c", code, folder=tmp_path) == "[]\n"
    assert "No broken requirements" in pip("--python", python, "check", folder=tmp_path)


def test_an_installed_wheel_finds_its_configurations_in_an_empty_folder(environment, tmp_path):
    """With a load that needs no kernels: they belong to the place of their source, so these would be compiled anew."""
    command = environment / "bin" / "asyncplay"
    assert "blob" in run(command, "games", folder=tmp_path)
    for name in ("synthetic", "configs/synthetic.toml"):
        said = run(
            command, "train", name, "--headless", "--games", "100", "--run", tmp_path / Path(name).name, folder=tmp_path
        )
        assert "done 100 in" in said


@pytest.mark.timeout(900)
def test_an_installed_wheel_runs_its_first_commands_in_an_empty_folder(environment, tmp_path):
    """TensorBoard's files are written without TensorBoard, and nothing is said about it."""
    command = environment / "bin" / "asyncplay"
    said = run(command, "train", "--headless", "--games", "20", folder=tmp_path)
    assert "run folder: runs/blob-" in said
    assert "tensorboard" not in said.lower()
    assert len(list(tmp_path.glob("runs/blob-*/tensorboard/events.*"))) == 1
    assert "kernels" in run(command, "doctor", folder=tmp_path)


@pytest.mark.timeout(900)
def test_a_package_made_by_games_new_passes_its_tests_and_trains(environment, tmp_path):
    """The commands of docs/add-a-game.md in order; of pip and pytest, those around the tests. It is the last test here,
    as it lends the environment more than the wheel needs."""
    python = environment / "bin" / "python"
    lend(Path(run(python, "-c", WHERE, folder=tmp_path).strip()), ["pytest", "setuptools"])
    offline = ("--no-deps", "--no-index", "--no-build-isolation")
    said = {}
    for line in pasted(ROOT / "docs" / "add-a-game.md"):
        program, *words = shlex.split(line)
        if program == "pip":
            said[line] = pip("--python", python, *words, *offline, folder=tmp_path)
        elif program == "pytest":
            said[line] = run(python, "-m", "pytest", *words, folder=tmp_path)
        else:
            short = {"train": ["--headless", "--games", "40"], "eval": ["--games", "8", "--simulations", "4"]}
            said[line] = run(environment / "bin" / program, *words, *short.get(words[0], []), folder=tmp_path)
    assert f" {3 * len(CHECKS) + 3} passed" in said["pytest my_game"]
    assert re.search(r"package +my_game 0\.1\.0", said["asyncplay games my_game"])
    assert "done 40 in" in said["asyncplay train my_game/my_game.toml"]
    assert "against random" in said["asyncplay eval"]
