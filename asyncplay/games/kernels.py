"""How kernels are declared, compiled and kept.

``kernel(signature)`` marks what Python calls: compiled for that signature alone, and kept on disk.
``helper`` marks what only kernels call: compiled into its callers, for whatever types they pass.
``body`` is a helper with one caller, put into it before anything is compiled. It saves compiling the
same code again at every level of the way down; with several callers it costs more than it saves
(measured for connect four: 13 s with no bodies, 11 s with seven, 19 s with nothing but bodies).

None compiles when a module is imported. ``ready`` does, or fetches the result from the disk, and
``warm_up`` does so for a list of kernels, once, before any worker starts.

``Kernels`` is how a search is written once for all games: an object whose attributes are kernels. A
body takes it as its first argument and calls ``game.play(...)``; numba knows each object by a type of
its own, so the calls are bound while compiling and cost nothing. Functions cannot be passed directly:
numba then writes their address into the code and refuses to cache it.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.core import config as numba_config
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof
from numba.extending import models, register_model, typeof_impl

from asyncplay.errors import AsyncplayError

Kernel = Any  # a numba dispatcher
config: Any = numba_config  # its names are made while it is imported, so no checker knows them
KEPT_FOLDERS = 16
Progress = Callable[[int, int, str], None]

# No kernel allocates: without _nrt numba leaves out the counting of references to arrays, which for
# tuples of arrays took half of the time, in compiling and in running.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

helper: Any = njit(**_OPTIONS | {"forceinline": True, "no_cpython_wrapper": True})
body: Any = njit(**_OPTIONS | {"inline": "always", "no_cpython_wrapper": True})


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare a kernel of exactly this signature; the decorated function is the dispatcher."""

    def declare(function: Callable[..., Any]) -> Kernel:
        before, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
        try:  # numba looks the folder up here, and remembers it
            dispatcher = njit(**_OPTIONS | {"cache": True})(function)
        finally:
            config.CACHE_DIR = before
        dispatcher.contract = signature
        return dispatcher

    return declare


def ready(dispatcher: Kernel) -> Kernel:
    """Compile or load a kernel for its signature; from then on it accepts nothing else."""
    if dispatcher._can_compile:
        dispatcher.compile(dispatcher.contract)
        dispatcher.disable_compile()
    return dispatcher


def warm_up(kernels: Iterable[Kernel], progress: Progress | None = None) -> None:
    """Make kernels ready in order; ``progress(done, total, name)`` is called before each and at the end."""
    waiting = list(kernels)
    for done, dispatcher in enumerate(waiting):
        if progress is not None:
            progress(done, len(waiting), _title(dispatcher))
        ready(dispatcher)
    if progress is not None:
        progress(len(waiting), len(waiting), "")


def _title(dispatcher: Kernel) -> str:
    """Where a kernel lives and its name, without the package: games.connect4.play."""
    module = dispatcher.py_func.__module__.removeprefix("asyncplay.")
    return f"{module}.{dispatcher.py_func.__name__}"


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels: in the user's cache directory, named by what was compiled.

    numba notices a changed file, but not a changed helper in another file: hence the hash.
    """
    for place in (_user_cache(), Path(tempfile.gettempdir()) / f"asyncplay-{os.getuid()}"):
        folder = place / f"kernels-{source_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _drop_old(place)
            return folder
    raise AsyncplayError(f"no writable folder for compiled kernels: {_user_cache()}; set XDG_CACHE_HOME")


def _drop_old(place: Path) -> None:
    """Remove the folders of older sources, all but the latest few."""
    with suppress(FileNotFoundError):  # another process may be doing the same
        folders = sorted(place.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime)
        for folder in folders[:-KEPT_FOLDERS]:
            shutil.rmtree(folder, ignore_errors=True)


def source_hash() -> str:
    """A hash over the sources of games/, search/ and what they take constants and helpers from, names included."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(
        [*root.glob("games/**/*.py"), *root.glob("search/**/*.py"), root / "rng.py", root / "payloads.py"]
    ):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "asyncplay"
    home = Path.home()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "asyncplay"


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernels:
    """The rules of a game as kernels; signatures in spec.py. ``name`` tells two games apart."""

    name: str
    reset: Kernel
    legal: Kernel
    play: Kernel
    chance: Kernel
    to_move: Kernel
    returns: Kernel
    encode: Kernel
    key: Kernel
    determinize: Kernel
    outcomes: Kernel | None = None
    happen: Kernel | None = None
    ending: Kernel | None = None
    holders: Kernel | None = None

    def all(self) -> list[Kernel]:
        """Every kernel, in the order of the fields."""
        return [value for field, value in vars(self).items() if field != "name" and value is not None]


class KernelsType(types.Dummy):
    """What numba knows of a ``Kernels`` object: everything, so that a call needs no pointer."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels = kernels
        super().__init__(f"Kernels({kernels.name})")


@typeof_impl.register(Kernels)
def _type_of_kernels(kernels, _context):
    return KernelsType(kernels)


register_model(KernelsType)(models.OpaqueModel)


@infer_getattr
class _KernelsAttributes(AttributeTemplate):
    key = KernelsType

    def generic_resolve(self, kernels_type, attribute):
        return typeof(ready(getattr(kernels_type.kernels, attribute)))


@lower_getattr_generic(KernelsType)
def _lower_attribute(context, _builder, _kernels_type, _value, _attribute):
    return context.get_dummy_value()
