"""Backends: which this machine can run, how fast each is, and opening one."""

import math
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from asyncplay.config.sections import DeviceSettings
from asyncplay.errors import AsyncplayError
from asyncplay.machine import usable_cores
from asyncplay.model.backend import Backend, Prepared
from asyncplay.model.backends.sim import SimBackend
from asyncplay.model.shape import NetShape
from asyncplay.payloads import Array, Positions

__all__ = [
    "BACKENDS",
    "BackendChoice",
    "BackendSpeed",
    "Candidate",
    "available",
    "candidates",
    "choose",
    "description",
    "forward_limit",
    "open_backend",
    "resize",
    "rows_per_s",
    "served",
    "training_device",
    "usable_cores",
]

REAL = ("cuda", "mps", "torch-cpu", "onnx-fp32")  # "auto" chooses from these: all that compute exactly
BACKENDS = (*REAL, "onnx-int8", "sim")
IN_WORKERS = ("onnx-fp32", "onnx-int8")  # that workers can compute with too
ON_CPU = ("torch-cpu", "onnx-fp32", "onnx-int8")
_WANTING = {"cuda": "CUDA device", "mps": "Apple GPU that torch can use"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend and the threads it would use; an accelerator uses none."""

    backend: str
    threads: int

    def __str__(self) -> str:
        return f"{self.backend} x{self.threads}" if self.backend in ON_CPU else self.backend


@dataclass(frozen=True, slots=True)
class BackendSpeed:
    """What was measured of a candidate."""

    candidate: Candidate
    rows: int  # in a batch
    rows_per_s: float


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """The fastest candidate, and the figures it was chosen by, fastest first."""

    figures: tuple[BackendSpeed, ...]

    @property
    def best(self) -> Candidate:
        return self.figures[0].candidate

    @property
    def rows_per_s(self) -> float:
        return self.figures[0].rows_per_s

    def with_figures(self, more: Iterable[BackendSpeed]) -> "BackendChoice":
        return BackendChoice(tuple(sorted([*self.figures, *more], key=lambda figure: -figure.rows_per_s)))

    def report(self) -> list[str]:
        """A line for each figure."""
        return [f"{figure.candidate}: {figure.rows_per_s:,.0f} rows/s at {figure.rows}" for figure in self.figures]


def available(name: str) -> bool:
    """Whether this machine can run the backend."""
    if name not in _WANTING:
        return True
    import torch

    return torch.cuda.is_available() if name == "cuda" else torch.backends.mps.is_available()


def description(name: str) -> str:
    """What a device calls itself: "cpu", "cuda", "mps" or "sim"."""
    import torch

    if name == "cuda":
        return f"{torch.cuda.get_device_name()} (CUDA {torch.version.cuda})"
    if name == "sim":
        return "simulated accelerator"
    if name == "mps":
        return f"Apple {platform.machine()}"
    return f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}, {usable_cores()} cores"


def training_device(name: str) -> str:
    """Where torch trains beside a backend: "cuda", "mps" or "cpu"."""
    return name if name in _WANTING else "cpu"


def candidates(name: str, thread_options: Sequence[int]) -> list[Candidate]:
    """The candidates behind a configured name: "auto" is every exact backend that this machine can run; "torch" is
    torch on its best device."""
    if name == "auto":
        names = [backend for backend in REAL if available(backend)]
    elif name == "torch":
        names = [backend for backend in ("cuda", "mps", "torch-cpu") if available(backend)][:1]
    else:
        _check(name)
        names = [name]
    return [
        Candidate(backend, threads)
        for backend in names
        for threads in (thread_options if backend in ON_CPU else thread_options[:1])
    ]


def open_backend(
    name: str,
    shape: NetShape,
    weights: Mapping[str, Array],
    version: int,
    threads: int,
    *,
    max_rows: int = 1024,  # the largest batch that an accelerator is tuned for
    sim: DeviceSettings | None = None,  # needed by "sim" only
    sample: Positions | None = None,  # needed by "onnx-int8" only: rows as they will come
) -> Backend:
    """Raises AsyncplayError for a name that is unknown or that this machine cannot run."""
    _check(name)
    if name == "sim":
        assert sim is not None, "the simulated accelerator needs its speed"
        return SimBackend(sim, shape.players, version)
    if name == "onnx-fp32":
        from asyncplay.model.backends.onnx_backend import OnnxBackend

        return OnnxBackend(shape, weights, version, threads=threads)
    if name == "onnx-int8":
        from asyncplay.model.backends.int8_backend import Int8Backend

        assert sample is not None, "integers need rows to be measured on"
        return Int8Backend(shape, weights, version, threads=threads, sample=sample)
    from asyncplay.model.backends.torch_backend import TorchBackend

    device = "cpu" if name == "torch-cpu" else name
    backend = TorchBackend(shape, weights, version, device=device, threads=threads)
    if device != "cpu":
        backend.warm_up(max_rows)
    return backend


def served(backend: Backend) -> Prepared:
    """The network that a backend of IN_WORKERS answers with."""
    from asyncplay.model.backends.onnx_backend import OnnxBackend

    assert isinstance(backend, OnnxBackend), f"{backend.name} has no network that workers could compute with"
    return backend.served


def choose(
    options: Iterable[Candidate],
    open_candidate: Callable[[Candidate], Backend],
    sample: Positions,
    *,
    budget_s: float,
    clock: Callable[[], float] = time.perf_counter,
) -> BackendChoice:
    """Measure every candidate on ``sample`` and sort by speed. They take turns until the budget is spent, so that a
    machine which slows down for a second slows all of them."""
    backends = {option: open_candidate(option) for option in options}
    best, end_s = dict.fromkeys(backends, 0.0), clock() + budget_s
    while not all(best.values()) or clock() < end_s:
        for option, backend in backends.items():
            best[option] = max(best[option], rows_per_s(backend, sample, backend.depth, budget_s=0, clock=clock))
    return BackendChoice(()).with_figures(
        BackendSpeed(option, len(sample.features), speed) for option, speed in best.items()
    )


def forward_limit(
    open_candidate: Callable[[Candidate], Backend],
    options: Iterable[Candidate],
    sample: Positions,
    batch_rows: Iterable[int],
    *,
    each_s: float = 0.3,
    clock: Callable[[], float] = time.perf_counter,
) -> BackendChoice:
    """The most rows/s this machine's model can answer: every candidate at every batch size."""
    figures: list[BackendSpeed] = []
    sizes = list(batch_rows)
    for option in options:
        backend = open_candidate(option)
        figures += [_measure(option, backend, resize(sample, rows), each_s, clock) for rows in sizes]
    return BackendChoice(()).with_figures(figures)


def rows_per_s(
    backend: Backend,
    sample: Positions,
    in_flight: int,
    *,
    budget_s: float = 0.3,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """The speed with ``in_flight`` batches at a time. The best run counts: other processes slow the others down."""
    batches = 2 * in_flight
    best_s, end_s = math.inf, clock() + budget_s
    _run(backend, sample, 1, in_flight)
    while best_s == math.inf or clock() < end_s:
        started_s = clock()
        _run(backend, sample, batches, in_flight)
        best_s = min(best_s, (clock() - started_s) / batches)
    return len(sample.features) / best_s


def resize(positions: Positions, rows: int) -> Positions:
    """The same rows over and over, ``rows`` of them."""
    old_counts = np.diff(positions.offsets)
    chosen = np.arange(rows) % len(old_counts)
    counts = old_counts[chosen]
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    legal = positions.legal[np.repeat(positions.offsets[chosen], counts) + within]
    return Positions(positions.features[chosen], legal, offsets)


def _measure(
    option: Candidate, backend: Backend, sample: Positions, budget_s: float, clock: Callable[[], float]
) -> BackendSpeed:
    speed = rows_per_s(backend, sample, backend.depth, budget_s=budget_s, clock=clock)
    return BackendSpeed(option, len(sample.features), speed)


def _run(backend: Backend, sample: Positions, batches: int, in_flight: int) -> None:
    """Batches one after another, ``in_flight`` of them at a time."""
    flying = []
    for _ in range(batches):
        flying.append(backend.launch(sample))
        if len(flying) == in_flight:
            flying.pop(0)()
    for finish in flying:
        finish()


def _check(name: str) -> None:
    if name not in BACKENDS:
        known = ", ".join(("auto", *BACKENDS))
        raise AsyncplayError(f"device.backend is {name!r}, must be one of {known}")
    if not available(name):
        raise AsyncplayError(f"device.backend is {name!r}, but this machine has no {_WANTING[name]}; use 'auto'")
