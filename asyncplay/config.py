"""The configuration: frozen sections, read from TOML and from flags, checked as a whole, told in our words."""

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from asyncplay.errors import ConfigError

Overrides = Mapping[str, Mapping[str, str]]
"""Section, key, text: what the flags say."""


class Section(BaseModel):
    """One TOML section."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class TrainSection(Section):
    """What ends a run and how it speaks. TOML section ``[train]``."""

    seed: int = Field(0, ge=0, lt=2**62)
    """Every random number of the run derives from it."""

    units: int = Field(0, ge=0)
    """Stop after this many units of work (games, rows of a synthetic load); 0 means no end."""

    time_budget_s: float = Field(0.0, ge=0)
    """Stop after this many seconds; 0 means no end."""

    interval_s: float = Field(5.0, gt=0)
    """Seconds between two lines of a run without a terminal."""


class GameSection(Section):
    """What is played. TOML section ``[game]``."""

    name: Literal["synthetic"] = "synthetic"
    """Which game; "synthetic" is a load made to measure, see [load]."""


class PoolSection(Section):
    """Where the workers live. TOML section ``[pool]``."""

    kind: Literal["local", "inline"] = "local"
    """"local": a process each; "inline": inside the coordinator, for debugging and exact repetition."""

    workers: int = Field(0, ge=0, le=1024)
    """How many; 0 means one for each usable core."""


class BatchSection(Section):
    """How queries are gathered into one network call. TOML section ``[batch]``."""

    max_rows: int = Field(1024, ge=1, le=1 << 20)
    """Cut the batch once it holds this many rows."""

    timeout_ms: float | Literal["auto"] = "auto"
    """Longest a batch waits for company while the device is idle; "auto" learns it from the run."""

    hard_cap_ms: float = Field(50.0, gt=0)
    """With "auto", no request waits longer than this for company while the device is idle."""

    max_queued_rows: int = Field(65_536, ge=1)
    """With more rows than this inside, workers are not read from until half of them are gone."""


class DeviceSection(Section):
    """What computes. TOML section ``[device]``."""

    backend: Literal["auto", "torch", "onnx-fp32", "sim"] = "auto"
    """"auto" measures at the start and takes the fastest; "sim" is the simulated accelerator."""

    threads: int = Field(0, ge=0)
    """Threads of the model on a CPU; 0 measures and chooses."""

    sim_device_ms: float = Field(0.6, ge=0)
    """Simulated accelerator: fixed time of a batch."""

    sim_host_ms: float = Field(0.0, ge=0)
    """Simulated accelerator: time from launch until the device can begin."""

    sim_rows_per_s: float = Field(300_000.0, gt=0)
    """Simulated accelerator: rows/s once it runs."""


class SuperviseSection(Section):
    """When a worker is given up. TOML section ``[supervise]``."""

    start_s: float = Field(120.0, gt=0)
    """Longest from a worker's start to its first word."""

    silence_floor_s: float = Field(5.0, gt=0)
    """A worker that owes something may always be silent for this long."""

    silence_ceiling_s: float = Field(120.0, gt=0)
    """And never longer than this, whatever its record says."""

    window_s: float = Field(30.0, gt=0)
    """The run ends with a diagnosis when too many workers die within this time:"""

    deaths: int = Field(8, ge=1)
    """more than this,"""

    deaths_per_worker: int = Field(4, ge=1)
    """and more than this times the number of workers."""


class LoadSection(Section):
    """The synthetic load: slots that think, ask for a row each and check the answer. TOML section ``[load]``."""

    slots: int = Field(512, ge=1)
    """Slots of all workers together."""

    row_bytes: int = Field(256, ge=8)
    """Size of a row."""

    actions: int = Field(8, ge=1)
    """Legal actions of a row."""

    law: Literal["constant", "exponential", "lognormal"] = "exponential"
    """Of the think time."""

    think_ms: float = Field(1.0, ge=0)
    """Its mean."""

    straggler_share: float = Field(0.0, ge=0, le=1)
    """Part of the thinks that last ``straggler_ms`` instead."""

    straggler_ms: float = Field(50.0, ge=0)
    """How long a straggler thinks."""

    grain_ms: float = Field(0.1, ge=0)
    """Rows of a worker that get ready within this time share a message."""

    message_rows: int = Field(256, ge=1)
    """Most rows of a message."""


class Config(Section):
    """Everything a run is told."""

    train: TrainSection = TrainSection()
    game: GameSection = GameSection()
    pool: PoolSection = PoolSection()
    batch: BatchSection = BatchSection()
    device: DeviceSection = DeviceSection()
    supervise: SuperviseSection = SuperviseSection()
    load: LoadSection = LoadSection()


def load(path: Path | None, overrides: Overrides | None = None) -> Config:
    """Read a TOML file, lay the flags over it, check all of it; ConfigError has a line for each mistake."""
    values = _read(path) if path is not None else {}
    flags = {section: _underscored(keys) for section, keys in (overrides or {}).items()}
    merged = {name: _merged(values.get(name), flags.get(name)) for name in [*values, *flags]}
    try:
        return Config.model_validate(merged)
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(error, path, flags))) from None


def dump(config: Config) -> str:
    """Return the resolved configuration as TOML, with the meaning of each key."""
    blocks = []
    for name, section in config:
        fields = type(section).model_fields
        lines = [f"{key} = {json.dumps(value)}  # {fields[key].description}" for key, value in section]
        blocks.append("\n".join([f"[{name}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def keys() -> Iterator[tuple[str, Any, str]]:
    """Every key as (dotted name, default, meaning)."""
    for name, section in Config():
        for key, field in type(section).model_fields.items():
            yield f"{name}.{key}", field.default, field.description or ""


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [other.name for other in path.parent.glob("*.toml")], n=1)
        raise ConfigError(f"{path}: no such file{_hint([str(path.parent / name) for name in near])}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from None


def _underscored(section: Mapping[str, str]) -> dict[str, str]:
    return {key.replace("-", "_"): text for key, text in section.items()}


def _merged(section: Any, flags: Mapping[str, str] | None) -> Any:
    if flags is None:
        return section
    return {**section, **flags} if isinstance(section, dict) else flags


def _complaints(error: ValidationError, path: Path | None, flags: Mapping[str, Mapping[str, str]]) -> list[str]:
    """One line for each mistake. A union complains once for each of its members; they become one line."""
    lines: dict[tuple[str, ...], str] = {}
    wanted: dict[tuple[str, ...], list[str]] = {}
    for item in error.errors(include_url=False):
        place = tuple(str(part) for part in item["loc"][:2])
        is_flag = place[0] in flags and (len(place) == 1 or place[1] in flags[place[0]])
        source = f"--{'.'.join(place)}".replace("_", "-") if is_flag else f"{path}: {'.'.join(place)}"
        wanted.setdefault(place, []).append(_wanted(item))
        lines[place] = _complaint(source, place, item, " or ".join(dict.fromkeys(wanted[place])))
    return list(lines.values())


def _complaint(source: str, place: tuple[str, ...], item: Any, wanted: str) -> str:
    if item["type"] == "extra_forbidden":
        return f"{source} is no known key{_hint(_near(place))}"
    if item["type"] == "model_type":
        return f"{source} is {item['input']!r}, must be a section"
    return f"{source} is {item['input']}, must be {wanted}"


def _wanted(item: Any) -> str:
    """What pydantic wanted, in our words."""
    context = item.get("ctx", {})
    bounds = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    for name, words in bounds.items():
        if name in context:
            return f"{words} {context[name]:g}"
    if "expected" in context:
        return str(context["expected"])
    nouns = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text"}
    return nouns.get(item["type"].partition("_")[0], str(item["msg"]))


def _near(place: tuple[str, ...]) -> list[str]:
    """The known name that looks most like this one: the same section first, then anywhere."""
    if len(place) == 1:
        return difflib.get_close_matches(place[0], Config.model_fields, n=1)
    known = [name for name, _, _ in keys()]
    same = [name for name in known if name.startswith(f"{place[0]}.")]
    dotted = ".".join(place)
    return difflib.get_close_matches(dotted, same, n=1) or difflib.get_close_matches(dotted, known, n=1)


def _hint(names: list[str]) -> str:
    return f"; did you mean {names[0]}?" if names else ""
