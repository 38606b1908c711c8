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

NOBODY: set[str] = set()
LOWEST = {"errors", "payloads", "rng", "stats", "checksum", "output"}
ROOMS = {
    **dict.fromkeys(LOWEST, NOBODY),
    "records": {"errors", "payloads"},
    "settings": {"errors"},
    "config": {"errors"},
    "games": {"rng", "errors", "payloads"},
    "search": {"games", "rng", "errors", "payloads", "records"},
    "wire": {"errors", "payloads"},
    "model": {"payloads", "errors", "checksum", "config"},
    "data": {"payloads", "errors", "checksum", "config", "records"},
    "worker": {"games", "search", "wire", "errors", "checksum", "rng", "payloads", "records"},
    "pools": {"wire", "errors"},
    "coordinator": {"wire", "model", "data", "pools", "settings", "stats", "payloads", "errors", "config", "records"},
    "spine": {"coordinator", "pools", "settings", "stats", "wire", "payloads", "errors", "config"},
    "live": {"stats", "settings", "errors"},
    "console": {"live", "stats", "settings", "errors"},
    "archive": {"data", "records", "games", "search", "rng", "payloads", "errors", "config"},
    "report": {"archive", "data", "errors"},
    "cli_kinds": {"errors"},
    "cli_data": {"cli_kinds", "archive", "report", "data", "console", "errors"},
    "detach": {"errors"},
    "shortcuts": {"errors"},
    "memory": {"model"},
    "sizes": {"games", "search", "model", "wire", "config", "errors"},
    "playable": {"games", "search", "memory", "sizes", "model", "config", "errors"},
    "tune": {"live", "errors"},
    "watch": {"console", "live", "errors"},
    "__main__": {"cli"},
    "cli": {
        "cli_data",
        "cli_kinds",
        "output",
        "shortcuts",
        "app",
        "tune",
        "watch",
        "evaluate",
        "config",
        "errors",
        "bench",
        "doctor",
    },
}
"""Each room and what of ours it may import besides itself. Who is not listed builds runs."""

KNOW_EVERYBODY = {
    "neural_memory",
    "neural_parts",
    "resume",
    "app",
    "build",
    "neural",
    "sampling",
    "synthetic",
    "tabular",
    "solved",
    "evaluate",
    "bench",
    "doctor",
}
HOMES = {
    "torch": ("model",),
    "onnx": ("model",),
    "onnxruntime": ("model",),
    "safetensors": ("model", "data"),
    "numba": ("games", "search", "rng"),
    "msgpack": ("wire.codec",),
    "rich": ("console",),
    "cyclopts": ("cli", "cli_data", "cli_kinds"),
    "sqlite3": ("data",),
    "ray": ("pools.ray",),
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
    """Dotted names as written; ``from asyncplay import app`` is asyncplay.app."""
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
    assert rooms - ROOMS.keys() - KNOW_EVERYBODY == set()
    assert len(modules()) > 50


@pytest.mark.parametrize("module", [name for name in modules() if name.partition(".")[0] in ROOMS])
def test_a_module_imports_only_what_its_room_may_know(module):
    room = module.partition(".")[0]
    assert rooms_of(source(module)) - {room} - ROOMS[room] == set()


@pytest.mark.parametrize("module", [name for name in modules() if name not in ("cli", "__main__")])
def test_nobody_imports_the_command_line(module):
    assert "cli" not in rooms_of(source(module))


def test_worker_and_coordinator_reach_each_other_by_no_chain_of_imports():
    """The rules are checked module by module; this follows them through all rooms between."""
    assert "coordinator" not in reachable("worker")
    assert "worker" not in reachable("coordinator")
    assert "model" not in reachable("worker")


def reachable(room: str) -> set[str]:
    seen, todo = set(), [room]
    while todo:
        seen.add(todo.pop())
        members = [name for name in modules() if name.partition(".")[0] in seen]
        todo = list(set().union(*(rooms_of(source(name)) for name in members)) - seen)
    return seen


@pytest.mark.parametrize("library", HOMES)
def test_a_library_is_imported_only_at_its_home(library):
    users = [module for module in modules() if library in libraries_of(source(module))]
    assert [user for user in users if not any(is_in(user, home) for home in HOMES[library])] == []


def test_every_library_is_one_that_the_project_says_it_needs():
    """By name alone; the wheel's test runs without those of the extras."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *extras["openspiel"], *extras["parquet"]]
    parts = {"pyspiel", "pydantic_core"}  # of open_spiel and of pydantic
    declared = {re.match(r"\w+", line).group() for line in lines} | parts
    libraries = set().union(*(libraries_of(source(module)) for module in modules())) - sys.stdlib_module_names
    assert libraries - declared == set()


def test_every_extra_that_a_message_names_can_be_installed():
    extras = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set().union(*(re.findall(r"asyncplay\[(\w+)\]", source(module)) for module in modules()))
    assert named == {"openspiel", "parquet"}
    assert named <= extras.keys()


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after ``code``."""
    code += "\nimport sys\nprint('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


@pytest.mark.process
def test_a_worker_loads_neither_torch_nor_rich_nor_onnxruntime():
    loaded = loaded_by("import asyncplay.worker.main, asyncplay.worker.roles, asyncplay.worker.synthetic")
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
    workers = [name for name in modules() if is_in(name, "worker")]
    code = APART.format(modules=workers)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    loaded = {words[0]: set(words[1:]) for words in map(str.split, done.stdout.splitlines())}
    assert loaded.keys() == set(workers)
    strangers = {"torch", "rich", "onnx", "onnxruntime", "pydantic", "cyclopts", "sqlite3"}
    assert [module for module, names in loaded.items() if names & strangers] == []


@pytest.mark.process
@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["bench", "--help"], ["trian"]])
def test_help_and_mistakes_load_neither_torch_nor_numba_nor_onnxruntime(words):
    loaded = loaded_by(f"from asyncplay.cli import main\nmain({words!r})")
    assert "cyclopts" in loaded
    assert loaded & {"torch", "numba", "onnx", "onnxruntime"} == set()
