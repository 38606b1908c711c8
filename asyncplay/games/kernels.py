"""How kernels are declared, compiled and kept.

``kernel(signature)`` marks a function that Python calls: compiled for that signature alone, and kept on disk.
``helper`` marks a function that only kernels call: compiled into its callers, for the types they pass.
``routine`` is one that is too long for that, with several callers: it stays a function of its own.
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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numba import njit, types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof
from numba.extending import models, register_model, typeof_impl

from asyncplay.games.kernel_cache import KernelCache, cache_folder

Kernel = Any  # a numba dispatcher
Progress = Callable[[int, int, str], None]

COSTS = {"select": 60, "advance": 100, "rebuild": 10}
"""What some kernels take to compile, in units of a board's rule (0.1 to 0.2 s); tic-tac-toe's: 8.8, 15.8 and 1.3 s."""

# No kernel allocates: without _nrt numba leaves out the counting of references to arrays, which for
# tuples of arrays took half of the time, in compiling and in running.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

helper: Any = njit(**_OPTIONS | {"forceinline": True, "no_cpython_wrapper": True})
routine: Any = njit(**_OPTIONS | {"forceinline": False, "no_cpython_wrapper": True})
body: Any = njit(**_OPTIONS | {"inline": "always", "no_cpython_wrapper": True})


def kernel(signature: Any, *, is_long: bool = False) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare a kernel of exactly this signature; the decorated function is the dispatcher.

    A long one says so, and other kernels call it as they call a routine. Where nothing is said numba takes
    ``forceinline`` from whatever is being compiled when a kernel is first met; for a search that is a helper.
    """

    def declare(function: Callable[..., Any]) -> Kernel:
        dispatcher = njit(**_OPTIONS | ({"forceinline": False} if is_long else {}))(function)
        if (folder := cache_folder()) is not None:
            dispatcher._cache = KernelCache(function, folder)
        dispatcher.contract = signature
        return dispatcher

    return declare


def ready(dispatcher: Kernel) -> Kernel:
    """Compile or load a kernel for its signature; from then on it accepts nothing else."""
    if dispatcher._can_compile:
        dispatcher.compile(dispatcher.contract)
        dispatcher.disable_compile()
    return dispatcher


class PlainKernel:
    """A kernel of the slow lane: a Python function that is called as it is, and never compiled."""

    _can_compile = False  # as ``ready`` asks a dispatcher

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def warm_up(kernels: Iterable[Kernel], progress: Progress | None = None) -> None:
    """Make kernels ready in order; ``progress(done, total, "games.connect4.play")``, in units of COSTS, before each and
    at the end."""
    waiting = list(kernels)
    costs = [COSTS.get(dispatcher.py_func.__name__, 1) for dispatcher in waiting]
    for place, dispatcher in enumerate(waiting):
        if progress is not None:
            module = dispatcher.py_func.__module__.removeprefix("asyncplay.")
            progress(sum(costs[:place]), sum(costs), f"{module}.{dispatcher.py_func.__name__}")
        ready(dispatcher)
    if progress is not None:
        progress(sum(costs), sum(costs), "")


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
    turn: Kernel | None = None

    def all(self) -> list[Kernel]:
        """Every kernel, in the order of the fields."""
        return [value for field, value in vars(self).items() if field != "name" and value is not None]


class KernelsType(types.Dummy):
    """The numba type of one ``Kernels`` object; it holds the object itself, so a call needs no pointer.

    numba takes types with the same name for one: the name has the modules of the kernels, as two packages may have
    games of the same name.
    """

    def __init__(self, kernels: Kernels) -> None:
        self.kernels = kernels
        modules = sorted({dispatcher.py_func.__module__ for dispatcher in kernels.all()})
        super().__init__(f"Kernels({kernels.name} of {', '.join(modules)})")


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
