"""One device tried out for a report: versions, whether it computes what a CPU does, its speed, and a minute of play.

For accelerators that nobody here has run: what is printed is made to be pasted into a bug report.
"""

import asyncio
import platform
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np

from asyncplay.config.sections import Config
from asyncplay.doctor.devices import look_at_accelerator
from asyncplay.doctor.finding import Figure, Finding
from asyncplay.errors import AsyncplayError
from asyncplay.games.sampling import random_rows
from asyncplay.methods.selfplay import network
from asyncplay.methods.selfplay.run import SelfplayRun
from asyncplay.methods.sizes import net_shape
from asyncplay.model import device
from asyncplay.model.backend import Backend
from asyncplay.model.device import Candidate
from asyncplay.model.nets import build as build_net
from asyncplay.model.nets import snapshot
from asyncplay.payloads import Positions
from asyncplay.wire.checksum import sim_answers

DEVICES: dict[str, Literal["auto", "torch", "sim"]] = {"cpu": "auto", "cuda": "torch", "mps": "torch", "sim": "sim"}
"""Each with what device.backend says for it."""
PACKAGES = ("asyncplay", "numba", "numpy", "onnxruntime", "torch")
MOST_DIFFERENCE = 1e-3  # of priors and values: accelerators may round products to fewer bits
ROWS, NOISE = 256, 0.05


async def try_device(config: Config, name: str, seconds: float) -> list[Finding]:
    """``seconds``: of play. AsyncplayError if this machine has no such device."""
    wanted = replace(config, device=replace(config.device, backend=DEVICES[name]))
    game = network.load_game(wanted)
    shape = net_shape(wanted, game)
    options = device.candidates(wanted.device.backend, [device.usable_cores()])
    if name in {"cuda", "mps"} and options[0].backend != name:
        raise AsyncplayError(f"--device {name}: torch finds no such device here; this machine has {options[0].backend}")
    generator = np.random.default_rng(config.train.seed)
    weights = {  # a fresh network has heads of zeros, which any device multiplies correctly
        key: (value + NOISE * generator.standard_normal(value.shape)).astype(value.dtype)
        for key, value in snapshot(build_net(shape, config.train.seed)).items()
    }
    found, sample = [look_at_software(name)], random_rows(game, ROWS)
    reference = network.open_model(wanted, shape, weights, 0, Candidate("torch-cpu", 1))
    for option in options:
        backend = network.open_model(wanted, shape, weights, 0, option)
        found.append(compare(backend, reference, sample))
        found += look_at_accelerator(str(option), backend, sample)
    return [*found, await play(replace(wanted, arena=replace(config.arena, every_s=0)), seconds)]


def look_at_software(name: str) -> Finding:
    """What is installed, and what the device calls itself."""
    packages = {package: version(package) for package in PACKAGES}
    facts = {"python": platform.python_version(), **packages, "device": device.description(name)}
    words = ", ".join(f"{key} {value}" for key, value in facts.items())
    return Finding("software", "fine", f"{platform.platform()}; {words}", figures=facts)


def compare(backend: Backend, reference: Backend, rows: Positions) -> Finding:
    """Whether a backend answers as torch on the CPU does; the simulated one as its own rule says."""
    answers = backend.launch(rows)()
    wanted = reference.launch(rows)()
    if backend.name == "sim":
        priors, values = sim_answers(rows.features, rows.offsets, answers.values.shape[1])
        wanted = wanted._replace(priors=priors, values=values)
    apart = [np.abs(one - other).max() for one, other in zip(answers[:2], wanted[:2], strict=True)]
    figures: dict[str, Figure] = {"priors": float(apart[0]), "values": float(apart[1])}
    words = f"{len(rows.features)} rows: priors differ from torch on the CPU by {apart[0]:.1e} at most"
    words += f", values by {apart[1]:.1e}"
    if not np.all(np.array(apart) <= MOST_DIFFERENCE):  # a NaN is too far too
        cure = f"device.backend=onnx-fp32, and a bug report with this text: {MOST_DIFFERENCE:g} is allowed"
        return Finding(f"{backend.name} answers", "broken", words, cure, figures)
    return Finding(f"{backend.name} answers", "fine", words, figures=figures)


async def play(config: Config, seconds: float) -> Finding:
    """A run of its own in a folder of its own, with learning, for so long after its first rows."""
    said: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        run = SelfplayRun(config, Path(place), said.append)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(run.run())
            await asyncio.sleep(seconds)
            stats, books = run.engine.stats(), run.engine.ledger.books
            run.engine.halt()
            await running
    rows_per_s = stats.rows / seconds
    figures: dict[str, Figure] = {
        "backend": str(run.choice.best),
        "placement": run.placement,
        "seconds": seconds,
        "rows_per_s": round(rows_per_s),
        "of_limit": round(rows_per_s / run.choice.rows_per_s, 3),
        "mean_batch": round(stats.rows / max(stats.batches, 1), 1),
        "games": books.done,
        "version": run.trainer.version,
        "lost": books.lost,
    }
    chosen = [*run.choice.report(), *(line for line in said if line.startswith("placement "))]
    words = "; ".join([*chosen, ", ".join(f"{key} {value}" for key, value in figures.items())])
    if not stats.rows:
        return Finding("play", "broken", words, "a run with --train.log-level debug says more in its run.log", figures)
    return Finding("play", "fine", words, figures=figures)
