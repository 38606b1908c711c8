"""Who may import whom, read from the source: also imports inside functions count."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "asyncplay"

GROUND = {"errors", "payloads", "priors", "rng", "stats", "machine"}
"""Single modules that everybody may use; they use no room."""

ROOMS: dict[str, set[str]] = {
    "config": set(),
    "wire": set(),
    "games": set(),
    "search": {"games", "config"},
    "solve": {"games", "config"},
    "agents": {"search", "solve", "games", "config"},
    "starter": {"search", "games"},
    "worker": {"wire"},
    "pools": {"wire"},
    "data": {"config"},
    "rundir": {"data", "config"},
    "model": {"wire", "config"},
    "monitor": {"config"},
    "engine": {"wire", "pools", "data", "rundir", "monitor", "config"},
    "methods": {"engine", "monitor", "model", "rundir", "data", "pools", "worker", "agents", "solve", "search"}
    | {"games", "wire", "config"},
    "rating": {"methods", "engine", "model", "rundir", "data", "agents", "solve", "search", "games", "config"},
    "trained": {"rating", "methods", "model", "rundir", "data", "agents", "solve", "search", "games", "config"},
    "play": {"agents", "games"},
    "archive": {"monitor", "rundir", "data", "search", "games", "config"},
    "console": {"monitor", "config"},
    "doctor": {"methods", "engine", "model", "rundir", "data", "pools", "worker", "games", "wire", "config"},
}
"""Each room and which other rooms it may import, from the ground up; a room comes after all that it uses."""

COMMANDS = {"cli", "bench", "__main__"}
"""Put everything together; nobody imports them."""

HOMES = {
    "torch": ("model",),
    "onnx": ("model",),
    "onnxruntime": ("model", "worker.session"),
    "safetensors": ("model", "data"),
    "numba": ("games", "search", "solve", "rng"),
    "msgpack": ("wire.codec",),
    "rich": ("console",),
    "cyclopts": ("cli",),
    "sqlite3": ("data",),
    "ray": ("pools.ray",),
    "pettingzoo": ("games.zoo", "games.zoo_env"),
    "gymnasium": ("games.zoo", "games.zoo_env"),
}
"""Each library that has a home, and the only rooms or modules where it is imported."""


def modules() -> list[str]:
    """Dotted names below the package; a package's own __init__ is its room's name."""
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py"))
    names = (".".join(path.parts).removesuffix("__init__").removesuffix(".") for path in paths)
    return sorted(name for name in names if name)


def source(module: str) -> str:
    path = PACKAGE.joinpath(*module.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


@cache
def imports(code: str) -> tuple[str, ...]:
    """Dotted names as written; ``from asyncplay import app`` is asyncplay.cli.training."""
    return tuple(_imports(code))


def _imports(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a name comes from"
            if node.module == "asyncplay":
                yield from (f"asyncplay.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


def rooms_of(code: str) -> set[str]:
    """The rooms of ours that some code imports from."""
    ours = (name.split(".") for name in imports(code))
    return {parts[1] for parts in ours if parts[0] == "asyncplay" and len(parts) > 1}


def libraries_of(code: str) -> set[str]:
    return {name.partition(".")[0] for name in imports(code)} - {"asyncplay"}


def is_in(module: str, home: str) -> bool:
    return module == home or module.startswith(f"{home}.")


def test_the_reader_sees_imports_of_every_form_and_depth():
    code = """
import asyncplay.wire.codec as codec
def late():
    from asyncplay import app as build, config
    if build:
        import torch.nn
    from asyncplay.model.nets import Net
"""
    assert rooms_of(code) == {"wire", "app", "config", "model"}
    assert libraries_of(code) == {"torch"}


def test_every_room_has_its_rule():
    rooms = {module.partition(".")[0] for module in modules()}
    assert rooms == GROUND | ROOMS.keys() | COMMANDS
    assert len(modules()) > 50


def test_rooms_are_listed_from_the_ground_up():
    """So no chain of rooms comes back to where it began."""
    seen = set()
    for room, others in ROOMS.items():
        assert others <= seen, f"{room} is listed before a room that it uses"
        seen.add(room)


@pytest.mark.parametrize("module", [name for name in modules() if name.partition(".")[0] not in COMMANDS])
def test_a_module_imports_only_what_its_room_may_know(module):
    room = module.partition(".")[0]
    assert rooms_of(source(module)) - {room} - GROUND - ROOMS.get(room, set()) == set()


def test_what_lies_on_the_ground_imports_nothing_but_its_like():
    assert [module for module in GROUND if not rooms_of(source(module)) <= GROUND] == []


@pytest.mark.parametrize("module", [name for name in modules() if name.partition(".")[0] != "cli"])
def test_nobody_imports_a_command(module):
    allowed = {"__main__": {"cli"}}.get(module, set())
    own = {"bench"} if is_in(module, "bench") else set()
    assert rooms_of(source(module)) & COMMANDS - allowed - own == set()


def test_no_module_imports_itself_by_way_of_others():
    """Imports inside functions count too: whoever needs one to break a circle has its parts in the wrong rooms."""
    graph = {name: needed_modules(name) for name in modules()}
    finished: set[str] = set()

    def visit(name: str, way: list[str]) -> None:
        assert name not in way, f"a circle: {' -> '.join([*way[way.index(name) :], name])}"
        if name not in finished:
            for other in sorted(graph[name]):
                visit(other, [*way, name])
            finished.add(name)

    for name in graph:
        visit(name, [])


def needed_modules(module: str) -> set[str]:
    """Modules of ours that one imports, those in whose names it imports from a package included."""
    known, found = set(modules()), set()
    for node in ast.walk(ast.parse(source(module))):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "asyncplay":
            base = str(node.module).removeprefix("asyncplay").removeprefix(".")
            inside = {f"{base}.{alias.name}".removeprefix(".") for alias in node.names}
            found |= inside & known or {base} & known
    return found - {module}


PLAYING = [name for name in modules() if re.fullmatch(r"worker\..+|methods\.\w+\.(worker\w*|messages)", name)]
"""Modules that run in a worker's process."""


def test_what_runs_in_a_worker_reaches_no_room_of_the_coordinator():
    """Followed module by module, as a folder of a method has files of both sides."""
    assert len(PLAYING) > 5
    for start in PLAYING:
        reached = reachable(start)
        rooms = {name.partition(".")[0] for name in reached}
        assert rooms & {"engine", "model", "data", "rundir", "monitor", "console", "pools"} == set(), start


def reachable(start: str) -> set[str]:
    seen, todo = set[str](), [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += needed_modules(name)
    return seen


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_imported_only_at_its_home(library):
    users = [module for module in modules() if library in libraries_of(source(module))]
    assert [user for user in users if not any(is_in(user, home) for home in HOMES[library])] == []


def test_every_library_is_one_that_the_project_says_it_needs():
    """By name alone; the wheel's test runs without those of the extras."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["openspiel"], *extras["parquet"], *extras["pettingzoo"]]
    parts = {"pyspiel", "pydantic_core"}  # of open_spiel and of pydantic
    declared = {re.match(r"[\w-]+", line).group().replace("-", "_") for line in lines} | parts
    libraries = set().union(*(libraries_of(source(module)) for module in modules())) - sys.stdlib_module_names
    assert libraries - declared == set()


def test_every_extra_that_a_message_names_can_be_installed():
    extras = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set().union(*(re.findall(r"asyncplay\[(\w+)\]", source(module)) for module in modules()))
    assert named == {"openspiel", "parquet", "pettingzoo"}
    assert named <= extras.keys()


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after ``code``."""
    code += "\nimport sys\nprint('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.process
def test_a_worker_loads_neither_torch_nor_rich_nor_onnxruntime():
    loaded = loaded_by("import asyncplay.methods.roles, asyncplay.methods.synthetic.worker")
    assert "msgpack" in loaded
    assert loaded & {"torch", "rich", "onnx", "onnxruntime", "pydantic", "cyclopts", "sqlite3"} == set()


APART = """
import importlib, os, sys
import msgpack, numba
for module in {modules!r}:
    if os.fork() == 0:
        importlib.import_module("asyncplay." + module)
        print(module, *{{name.partition('.')[0] for name in sys.modules}}, flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.process
def test_no_module_of_the_worker_loads_what_belongs_to_the_coordinator():
    """Each in an interpreter that has loaded none of the others; what all of them use is there already."""
    code = APART.format(modules=PLAYING)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    loaded = {words[0]: set(words[1:]) for words in map(str.split, done.stdout.splitlines())}
    assert loaded.keys() == set(PLAYING)
    strangers = {"torch", "rich", "onnx", "onnxruntime", "pydantic", "cyclopts", "sqlite3"}
    assert [module for module, names in loaded.items() if names & strangers] == []


@pytest.mark.process
@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["bench", "--help"], ["trian"]])
def test_help_and_mistakes_load_neither_torch_nor_numba_nor_onnxruntime(words):
    loaded = loaded_by(f"from asyncplay.cli import main\nmain({words!r})")
    assert "cyclopts" in loaded
    assert loaded & {"torch", "numba", "onnx", "onnxruntime"} == set()
