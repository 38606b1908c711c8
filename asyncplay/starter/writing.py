"""Writing a new package."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games import packages

HERE = Path(__file__).parent
MODULES = ("__init__.py", "rules.py", "search.py")


def write(name: str, folder: Path) -> list[Path]:
    """Make the folder with a package that has the game ``name``; return its files.

    AsyncplayError, and nothing is written, if the name cannot be or the folder is there.
    """
    if flaw := games.name_flaw(name):
        raise AsyncplayError(f"NAME {name} {flaw}")
    if name in packages.installed().games:
        raise AsyncplayError(f"NAME {name} is a game of package {packages.installed().games[name][0].package}")
    if find_spec(name) is not None:
        raise AsyncplayError(f"NAME {name} is another module that Python finds; choose a name of its own")
    parts = {folder / name / module: HERE / "package" / module for module in MODULES}
    parts |= {folder / part: HERE / f"{part}.in" for part in ("pyproject.toml", "README.md")}
    parts |= {folder / f"{name}.toml": HERE / "config.toml.in"}
    parts |= {folder / "tests" / f"test_{name}.py": HERE / "test_game.py.in"}
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        raise AsyncplayError(f"{folder} is there already; --out DIR names another folder") from None
    try:
        for path, source in parts.items():
            text = source.read_text(encoding="utf-8").replace("asyncplay.starter.package", name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("starter", name), encoding="utf-8")
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)  # it is ours: mkdir made it
        raise
    return list(parts)
