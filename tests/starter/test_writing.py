"""``asyncplay games new``: a package that is whole, or nothing. tests/test_wheel.py installs, tests and trains one."""

import ast
import tomllib
from pathlib import Path

import pytest

from asyncplay import cli
from asyncplay.config.loading import load
from asyncplay.starter import writing

FILES = {
    "README.md",
    "oxo.toml",
    "oxo/__init__.py",
    "oxo/rules.py",
    "oxo/search.py",
    "pyproject.toml",
    "tests/test_oxo.py",
}


def files_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def refused(words: list[str], capsys) -> str:
    assert cli.main(["games", "new", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line.removeprefix("asyncplay: ")


def test_a_new_package_has_the_name_of_its_game_everywhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["games", "new", "oxo"]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == [
        "next:",
        "  pip install -e oxo",
        "  pytest oxo",
        "  asyncplay train oxo/oxo.toml",
    ]
    files = files_of(tmp_path / "oxo")
    assert files.keys() == FILES
    assert [path for path, text in files.items() if "starter" in text] == []
    project = tomllib.loads(files["pyproject.toml"])["project"]
    assert project["entry-points"]["asyncplay.games"] == {"oxo": "oxo.rules"}
    assert load(tmp_path / "oxo" / "oxo.toml").game.name == "oxo"
    for path in FILES:
        if path.endswith(".py"):
            ast.parse(files[path])
    assert "from oxo.rules import KERNELS" in files["oxo/search.py"]
    assert 'entry_module="oxo.search"' in files["oxo/rules.py"]


def test_a_package_goes_where_it_is_told_to(tmp_path, capsys):
    folder = tmp_path / "my games" / "three in a row"
    assert cli.main(["games", "new", "oxo", "--out", str(folder)]) == 0
    assert files_of(folder).keys() == FILES
    assert f"  pip install -e '{folder}'" in capsys.readouterr().err


BAD = {
    "Oxo": "must be a lower-case Python identifier",
    "three-men": "must be a lower-case Python identifier",
    "3men": "must be a lower-case Python identifier",
    "../oxo": "must be a lower-case Python identifier",
    "o" * 41: "must be a lower-case Python identifier of at most 40 letters",
    "lambda": "must be a lower-case Python identifier of at most 40 letters, and no keyword",
    "connect4": "is taken by asyncplay",
    "synthetic": "is taken by asyncplay",
    "new": "is taken by asyncplay",
    "random": "is another module that Python finds; choose a name of its own",
    "numpy": "is another module that Python finds; choose a name of its own",
}


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_cannot_be_gets_one_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert refused([name], capsys).startswith(f"NAME {name} {BAD[name]}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_nothing_is_overwritten(kind, tmp_path, capsys):
    place = tmp_path / "oxo"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.write_text("mine")
    else:
        place.symlink_to("elsewhere")
    assert refused(["oxo", "--out", str(place)], capsys) == (
        f"{place} is there already; --out DIR names another folder"
    )
    assert files_of(tmp_path) == ({"oxo": "mine"} if kind == "file" else {})
    assert not (tmp_path / "elsewhere").exists()


def test_a_disk_that_fills_up_leaves_no_half_package(tmp_path, monkeypatch, capsys):
    write_text, written = Path.write_text, []

    def fill(self, text, **rest):
        written.append(self)
        if len(written) == 3:
            raise OSError(28, "No space left on device", str(self))
        return write_text(self, text, **rest)

    monkeypatch.setattr(writing.Path, "write_text", fill)
    assert refused(["oxo", "--out", str(tmp_path / "oxo")], capsys).endswith("search.py: No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_a_name_below_a_file_gets_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert refused(["oxo", "--out", str(tmp_path / "file" / "oxo")], capsys).startswith(str(tmp_path / "file"))
