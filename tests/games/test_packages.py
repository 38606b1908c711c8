"""Games of other packages: found by name, and what is wrong with one costs that game alone."""

import json
import os
import subprocess
import sys
from importlib import import_module, invalidate_caches
from pathlib import Path

import numpy as np
import pytest
from games.packages import TINY, install

from asyncplay import cli, games
from asyncplay.errors import AsyncplayError
from asyncplay.games import packages, sources
from asyncplay.games.kernels import body, ready
from asyncplay.search import entries


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder on Python's path; what was imported from it is forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def line_about(words: list[str], capsys) -> str:
    """What a command says that ends with exit status 2: one line, and nothing else."""
    capsys.readouterr()
    assert cli.main(words) == 2
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert said.out == ""
    return line.removeprefix("asyncplay: ")


def listed(capsys) -> tuple[list[str], list[str]]:
    """The games that are listed, and the lines of complaint."""
    capsys.readouterr()
    assert cli.main(["games", "--json"]) == 0
    said = capsys.readouterr()
    return [entry["game"] for entry in json.loads(said.out)], said.err.splitlines()


def test_a_game_of_another_package_is_listed_with_it_and_loaded_by_name(place, capsys):
    install(place, "oxo-games", "oxo = oxo_rules\n", {"oxo_rules.py": TINY.format(name="oxo")})
    assert games.load("oxo").name == "oxo"
    assert entries.declared(games.load("oxo")).select is not None
    assert listed(capsys) == ([*games.NAMES, "oxo"], [])
    assert cli.main(["games"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["oxo", "2", "9", "18", "9", "no", "oxo-games", "1.0"]


def test_an_unknown_name_is_compared_with_those_of_other_packages_too(place):
    install(place, "oxo-games", "oxo = oxo_rules", {"oxo_rules.py": TINY.format(name="oxo")})
    with pytest.raises(
        AsyncplayError, match=r"'oxoo' is no game, did you mean 'oxo'\? known are blob, .*, oxo, openspiel:"
    ):
        games.load("oxoo")


WHO = "game odd of package bad-games 1.0"
BROKEN = {
    "no module": ("", f"{WHO} cannot be imported: ModuleNotFoundError: No module named 'odd_rules'; python -c "),
    "import": ("import no_such_thing", f"{WHO} cannot be imported: ModuleNotFoundError: No module named 'no_such"),
    "syntax": ("def spec(:", f"{WHO} cannot be imported: SyntaxError: invalid syntax"),
    "raises": ("raise RuntimeError('two\\nlines')", f"{WHO} cannot be imported: RuntimeError: two\\nlines"),
    "no options": ("def spec(): ...", f"{WHO}: odd_rules has no OPTIONS, a tuple of GameOption"),
    "odd options": ("OPTIONS = ('size',)", f"{WHO}: odd_rules has no OPTIONS, a tuple of GameOption"),
    "no spec": ("OPTIONS = ()", f"{WHO}: odd_rules has no function spec"),
    "spec raises": ("OPTIONS = ()\ndef spec(): 1 / 0", f"{WHO}: its spec fails: ZeroDivisionError: division by zero"),
    "spec of options": ("OPTIONS = ()\ndef spec(size): ...", f"{WHO}: its spec fails: TypeError: spec() missing"),
    "type": ("OPTIONS = ()\ndef spec(): return {}", f"{WHO}: its spec returns dict, wanted is GameSpec"),
    "name": (TINY.format(name="even"), f"{WHO}: its spec is called even, must be odd as in the entry point"),
    "kernel": (
        TINY.format(name="odd").replace('name="odd"', 'name="odd", advise=len'),
        f"{WHO}: advise is no kernel, wanted is (Array(int64, 1, 'C'",
    ),
    "signature": (
        TINY.format(name="odd").replace('name="odd"', 'name="odd", why=tictactoe.reset'),
        f"{WHO}: why has the signature (Array(int64, 1, 'C', False, aligned=True), Array(int64, 1, 'C', False, "
        "aligned=True)) -> none, wanted is",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_game_gets_one_line_with_its_package_and_breaks_no_other(name, place, capsys):
    text, line = BROKEN[name]
    install(place, "bad-games", "odd = odd_rules", {"odd_rules.py": text} if text else {})
    assert line_about(["games", "odd"], capsys).startswith(line)
    assert line_about(["train", "--game.name", "odd", "--headless"], capsys).startswith(line)
    names, (warning,) = listed(capsys)
    assert names == list(games.NAMES)
    assert warning.startswith(f"asyncplay: warning: {line}")


def test_a_search_that_cannot_be_imported_gets_one_line_with_its_package(place, capsys):
    text = TINY.format(name="odd").replace('name="odd"', 'name="odd", entry_module="odd_search"')
    install(place, "bad-games", "odd = odd_rules", {"odd_rules.py": text})
    words = ["train", "--game.name", "odd", "--headless"]
    assert line_about(words, capsys).startswith(f"{WHO} cannot be imported: ModuleNotFoundError")
    (place / "odd_search.py").write_text("select = None")
    invalidate_caches()
    assert line_about(words, capsys) == f"{WHO}: odd_search has no kernel advance"


@pytest.mark.parametrize("value", ["odd rules", "odd_rules:spec", ""])
def test_an_entry_point_that_names_no_module_is_refused(value, place, capsys):
    install(place, "bad-games", f"odd = {value}", {"odd_rules.py": TINY.format(name="odd")})
    assert line_about(["games", "odd"], capsys) == f"{WHO}: {value} is no module's name"


def test_our_own_games_keep_their_names(place, capsys):
    install(place, "bad-games", "tictactoe = odd_rules\nforest = odd_rules", {"odd_rules.py": "1 / 0"})
    install(place, "worse-games", "tictactoe = odd_rules")
    assert games.load("tictactoe").entry_module == "asyncplay.search.entries.tictactoe"
    assert entries.declared(games.load("tictactoe")).select is not None
    names, warnings = listed(capsys)
    assert names == list(games.NAMES)
    assert sorted(warnings) == [
        "asyncplay: warning: game forest of package bad-games 1.0: the name is taken by asyncplay",
        "asyncplay: warning: game tictactoe of package bad-games 1.0: the name is taken by asyncplay",
        "asyncplay: warning: game tictactoe of package worse-games 1.0: the name is taken by asyncplay",
    ]


def test_a_name_in_two_packages_is_nobodys(place, capsys):
    for package in ("one-games", "two-games"):
        install(place, package, "oxo = oxo_rules", {"oxo_rules.py": TINY.format(name="oxo")})
    line = line_about(["train", "--game.name", "oxo"], capsys)
    assert line == "game oxo is in the packages one-games 1.0 and two-games 1.0; uninstall all but one"
    assert listed(capsys) == (list(games.NAMES), [f"asyncplay: warning: {line}"])


@pytest.mark.parametrize("name", ["Oxo", "oxo-2", "class", "../oxo", "o" * 41])
def test_a_game_with_a_name_that_cannot_be_is_not_loaded(name, place, capsys):
    install(place, "bad-games", f"{name} = oxo_rules", {"oxo_rules.py": TINY.format(name=name)})
    names, (warning,) = listed(capsys)
    assert names == list(games.NAMES)
    assert f"game {name} of package bad-games 1.0: the name must be a lower-case Python identifier" in warning
    with pytest.raises(AsyncplayError, match="is no game"):
        games.load(name)


def test_metadata_that_cannot_be_read_breaks_no_other_game(place, capsys):
    install(place, "bad-games", "this is no entry point")
    install(place, "oxo-games", "oxo = oxo_rules", {"oxo_rules.py": TINY.format(name="oxo")})
    (place / "bad-games-1.0.dist-info" / "entry_points.txt").write_text("[asyncplay.games]\nnothing here\n")
    names, (warning,) = listed(capsys)
    assert names == [*games.NAMES, "oxo"]
    assert warning.startswith("asyncplay: warning: package bad-games 1.0: its entry points cannot be read: ")


def test_the_first_package_of_a_name_on_the_path_counts(place, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    install(other, "oxo-games", "oxo = oxo_rules")
    install(place, "oxo-games", "oxo = oxo_rules", {"oxo_rules.py": TINY.format(name="oxo")})
    monkeypatch.setattr(sys, "path", [*sys.path, str(other)])
    assert packages.package_of("oxo") == "oxo-games 1.0"


def test_what_is_reserved_is_what_means_something_else():
    from asyncplay.cli.games import games as command
    from asyncplay.methods import game_options

    known = {game_options.SYNTHETIC_LOAD, game_options.SYNTHETIC_TREE} | {name for name in command if name[0] != "-"}
    assert set(games.RESERVED) == known


@body
def ask_mover(game, rules, state):
    return game.to_move(rules, state)


SAME = """
from asyncplay.games import spec as contract
from asyncplay.games import tictactoe
from asyncplay.games.kernels import kernel
from dataclasses import replace
from games.test_packages import ask_mover

@kernel(contract.TO_MOVE)
def to_move(rules, state):
    return {mover}

KERNELS = replace(tictactoe.KERNELS, name="same", to_move=to_move)

@kernel(contract.TO_MOVE)
def ask(rules, state):
    return ask_mover(KERNELS, rules, state)
"""


def test_two_packages_may_have_the_same_names_of_files_kernels_and_games(place):
    modules = {f"{name}_game/rules.py": SAME.format(mover=mover) for mover, name in enumerate(("left", "right"))}
    install(place, "same-games", "", modules)
    asked = [ready(import_module(f"{name}_game.rules").ask) for name in ("left", "right")]
    words = np.zeros(4, np.int64)
    assert [ask(words, words) for ask in asked] == [0, 1]


MODULES = {
    "meadow_game/__init__.py": "HEIGHT = 1",
    "meadow_game/rules.py": "from . import tables\nfrom .parts.deep import DEPTH\nimport besides\n",
    "meadow_game/tables.py": "import numpy as np\nfrom meadow_game import HEIGHT\nWIDTH = 1",
    "meadow_game/parts/__init__.py": "",
    "meadow_game/parts/deep.py": "def late():\n    from ..late import LATE\nDEPTH = 1",
    "meadow_game/late.py": "LATE = 1",
    "meadow_game/unused.py": "NOTHING = 1",
    "besides.py": "import beyond_game.parts\nBESIDES = 1",
    "beyond_game/__init__.py": "",
    "beyond_game/parts.py": "BEYOND = 1",
    "never.py": "NEVER = 1",
}


@pytest.mark.parametrize("path", MODULES)
def test_the_hash_of_a_kernel_follows_its_imports(path, place):
    """In its package, also those inside functions, to files next to it, and to other packages by size and time."""

    def hash_now() -> str:
        for cached in (sources.hash_of, sources._find, sources._stamps):
            cached.cache_clear()
        return sources.hash_of("meadow_game.rules", str(place / "meadow_game" / "rules.py"))

    install(place, "meadow", "", MODULES)
    before = hash_now()
    assert hash_now() == before
    with (place / path).open("a") as file:
        file.write("\nMORE = 2\n")
    assert (hash_now() == before) == (path in ("meadow_game/unused.py", "never.py"))


RULES = {
    "hill_game/__init__.py": "",
    "hill_game/steps.py": "from asyncplay.games.kernels import helper\n@helper\ndef step(x):\n    return x + 1\n",
    "hill_game/rules.py": """
from numba import int64
from asyncplay.games.kernels import kernel, ready
from hill_game.steps import step

@kernel(int64(int64))
def climb(x):
    return step(x)

print(ready(climb)(41), sum(climb.stats.cache_hits.values()))
""",
}


@pytest.mark.process
def test_a_changed_helper_of_another_package_changes_the_rules_of_the_next_process(tmp_path):
    """numba itself sees a change of the kernel's own file alone."""
    install(tmp_path / "place", "hill", "", RULES)
    ours = Path(packages.__file__).parents[2]
    path = os.pathsep.join([str(tmp_path / "place"), str(ours)])
    environment = os.environ | {"PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def climb() -> str:
        words = [sys.executable, "-B", "-c", "import hill_game.rules"]  # -B: Python itself sees whole seconds and sizes
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout

    assert climb() == "42 0\n"
    helper = tmp_path / "place" / "hill_game" / "steps.py"
    helper.write_text(helper.read_text().replace("x + 1", "x - 1"))
    assert [climb(), climb()] == ["40 0\n", "40 1\n"]
