"""OpenSpiel's C++ ISMCTS as an opponent in games with hidden cards: both play by our rules.

The adapter, ismcts.cc, is compiled once for the installed open_spiel, which brings its headers.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from asyncplay.agents.library import PREFIX as LIBRARY
from asyncplay.agents.openspiel import is_count
from asyncplay.errors import AsyncplayError
from asyncplay.games.kernel_cache import cache_folder
from asyncplay.games.spec import GameSpec

PREFIX = "openspiel:ismcts-"
EXPLORATION = 2.0  # OpenSpiel's usual constant, for returns within -1 .. 1 as the adapter gives them
SOURCE = Path(__file__).with_suffix(".cc")
OPTIONS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-w")


def name_for_workers(name: str, game: GameSpec) -> str:
    """The name by which workers make the agent openspiel:ismcts-SIMULATIONS."""
    simulations = name.removeprefix(PREFIX)
    if not is_count(simulations):
        raise AsyncplayError(f"{name!r} is no opponent; wanted is {PREFIX}SIMULATIONS")
    if game.slow is not None:
        raise AsyncplayError(f"{name}: {game.name} has no kernels for it; use random, mcts-{simulations} or a version")
    if not game.is_hidden:
        raise AsyncplayError(f"{name}: {game.name} hides nothing; use openspiel:mcts-{simulations}")
    return f"{LIBRARY}{int(simulations)}:{EXPLORATION}:{library()}"


def library() -> Path:
    """The compiled adapter; compiled now if it is not there yet."""
    found = find_spec("pyspiel")
    if found is None or found.origin is None:
        raise AsyncplayError("open_spiel is not installed; pip install 'asyncplay[openspiel]'")
    pyspiel = Path(found.origin)
    digest = hashlib.sha256(SOURCE.read_bytes() + f"{pyspiel}{pyspiel.stat().st_mtime_ns}".encode())
    folder = cache_folder()
    if folder is None:
        raise AsyncplayError(f"{PREFIX}N has no safe place for its adapter; set XDG_CACHE_HOME to a folder of your own")
    path = folder.parent / f"ismcts-{digest.hexdigest()[:16]}.so"
    if path.exists():
        return path
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        raise AsyncplayError(f"{PREFIX}N needs a C++ compiler; install g++, or name another one in CXX")
    sys.stderr.write("compiling the adapter for OpenSpiel's ISMCTS\n")
    home = pyspiel.parent
    headers = [f"-I{home / place}" for place in ("", "open_spiel/abseil-cpp", "open_spiel/json/include")]
    draft = path.with_suffix(f".{os.getpid()}")
    command = [compiler, *OPTIONS, *headers, str(SOURCE), str(pyspiel), "-o", str(draft)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        complaint = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-200:])
        raise AsyncplayError(f"{compiler} cannot compile {SOURCE.name} for {home / 'open_spiel'}: {complaint}")
    draft.rename(path)
    return path
