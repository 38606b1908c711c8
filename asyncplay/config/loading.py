"""The configuration: frozen sections, read from TOML and from flags, checked as a whole, told in our words."""

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from asyncplay.errors import ConfigError

Overrides = Mapping[str, Mapping[str, str]]
"""Section, key, text: what the flags say."""

SHIPPED = Path(__file__).parent.parent / "configs"
"""The configurations that come with the package; in a checkout a link to configs/ at its top."""

MOST_S = 1_000_000_000  # thirty years: loops add it to their clocks
MOST_UNITS = 1 << 40  # units beyond are those of benches
MOST_STEPS = 1_000_000_000
MOST_ROWS = 1 << 40  # how many fit is up to memory.py


class Section(BaseModel):
    """One TOML section."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_switch(cls, value: object, info: ValidationInfo) -> object:
        """Python takes true for 1; a file that says so means something else."""
        kind = cls.model_fields[info.field_name or ""].annotation
        kinds = [getattr(part, "__origin__", part) for part in (kind, *get_args(kind))]
        if isinstance(value, bool) and (int in kinds or float in kinds):
            raise PydanticCustomError("int_type" if int in kinds else "float_type", "a truth value")
        return value


class TrainSection(Section):
    """What ends a run and how it speaks. TOML section ``[train]``."""

    seed: int = Field(0, ge=0, lt=2**62)
    """Every random number of the run derives from it."""

    units: int = Field(0, ge=0, le=MOST_UNITS)
    """Stop after this many units of work (games, iterations, rows of a synthetic load); 0 means no end."""

    time_budget_s: float = Field(0.0, ge=0, le=MOST_S)
    """Stop after this many seconds; 0 means no end."""

    interval_s: float = Field(5.0, gt=0, le=MOST_S)
    """Seconds between two lines of a run without a terminal, and between two times that its figures are kept."""

    tensorboard: bool = True
    """Whether the figures are also kept as event files in the run's folder: tensorboard --logdir RUN."""

    log_level: Literal["debug", "info", "warning"] = "info"
    """What run.log is told; "debug" has a line for each piece of work that is given out."""


class GameSection(Section):
    """What is played. TOML section ``[game]``."""

    name: str = "connect4"
    """Which game, or "synthetic": a load made to measure, see [load]."""

    options: dict[str, int | float | str | bool] = {}
    """The game's own options, as a TOML table."""


class SearchSection(Section):
    """How a decision is thought over. TOML section ``[search]``."""

    simulations: int = Field(64, ge=1, le=10_000_000)
    """For each decision, in each world."""

    quick_simulations: int = Field(0, ge=0, le=10_000_000)
    """Playout cap of self-play: decisions with only so many, no noise, nothing learned from them; 0 for none."""

    full_share: float = Field(0.25, gt=0, le=1)
    """Part of the decisions that are searched in full and learned from, where the others are quick."""

    worlds: int = Field(1, ge=1, le=64)
    """Worlds imagined for each decision where cards are hidden; their visit counts are added."""

    candidates: int = Field(16, ge=1, le=1024)
    """Worlds drawn for each that is imagined, for a network with beliefs to choose from; 1: it has no choice."""

    exact_decisions: int = Field(0, ge=0, le=16)
    """Positions with at most so many decisions left are worked out and not asked about, in Blob; 0 for none."""

    leaves: int = Field(1, ge=1, le=4_096)
    """Most rows a world may ask for at a time; more than one needs virtual losses and may cost a little strength,"""

    fill_rows: int = Field(64, ge=1, le=1 << 30)
    """so they come only until a worker's block has this many rows: where there are too few games."""

    c_puct: float = Field(1.5, gt=0, le=1_000_000)
    """How much the prior and rarely tried actions count."""

    first_play_reduction: float = Field(0.2, ge=0, le=1_000_000)
    """What an action never tried is worth less than its position."""

    noise_alpha: float = Field(0.6, gt=0, le=1_000_000)
    """Of the Dirichlet noise on a root's priors, in self-play."""

    noise_weight: float = Field(0.25, ge=0, le=1)
    """Of that noise; 0 for none, also of Gumbel's."""

    root: Literal["puct", "gumbel"] = "puct"
    """How simulations are spent on a decision's actions; "gumbel": sequential halving, and its policy is learned."""

    gumbel_actions: int = Field(16, ge=2, le=1 << 16)
    """Considered by sequential halving, the best by prior and Gumbel noise."""

    gumbel_visits: float = Field(50.0, ge=0, le=1_000_000)
    """With the most visits of an action, how much values count against priors; c_visit of the paper."""

    gumbel_scale: float = Field(1.0, gt=0, le=1_000_000)
    """The same as a factor; c_scale of the paper, for values between 0 and 1."""

    warm_decisions: int = Field(12, ge=0, le=10_000)
    """So many decisions of a game or round are drawn by visit counts, the later ones nearly always the best."""

    mild_decisions: int = Field(0, ge=0, le=10_000)
    """So many after them are drawn at temperature 0.5."""

    late_temperature: float = Field(0.2, ge=0, le=1_000)
    """Of those later ones."""

    games: int = Field(512, ge=2, le=10_000_000)
    """Under way at a time, all workers together."""

    cache_positions: int = Field(0, ge=0, le=MOST_ROWS)
    """Answers each worker remembers, so that nothing is asked twice of the same weights; inline pools keep none."""

    @field_validator("quick_simulations")
    @classmethod
    def _is_quick(cls, value: int, info: ValidationInfo) -> int:
        most = info.data.get("simulations", value)
        if value <= most:
            return value
        raise PydanticCustomError("too_slow", "too slow", {"expected": f"at most search.simulations, {most}"})


class NetSection(Section):
    """The network. TOML section ``[net]``."""

    kind: Literal["mlp", "resnet", "blobnet"] = "resnet"
    """A resnet needs a game with a board."""

    width: int = Field(64, ge=1, le=1 << 16)
    """Units of a layer, channels of a convolution."""

    blocks: int = Field(6, ge=1, le=1_024)
    """Hidden layers or residual blocks."""

    belief: bool = False
    """Learn who holds which hidden card, and imagine likely worlds more often."""


class LearnSection(Section):
    """How the network learns. TOML section ``[learn]``."""

    batch_rows: int = Field(512, ge=1, le=MOST_ROWS)
    """Rows of a training step."""

    samples_per_insert: float = Field(4.0, gt=0, le=1_000_000)
    """How often a row is trained on, on average."""

    band_steps: float = Field(16.0, ge=1, le=MOST_STEPS)
    """Training may be this many steps ahead of or behind that pace."""

    minimum_rows: int = Field(4_096, ge=1, le=MOST_ROWS)
    """Rows before the first step."""

    learning_rate: float = Field(2e-3, gt=0, le=1_000)
    """At its peak."""

    warmup_steps: int = Field(100, ge=0, le=MOST_STEPS)
    """Steps until the peak."""

    weight_decay: float = Field(1e-2, ge=0, le=1_000)
    """Of matrices."""

    value_weight: float = Field(1.0, ge=0, le=1_000_000)
    """Of the value's loss beside the policy's."""

    average_steps: int = Field(64, ge=1, le=MOST_STEPS)
    """What plays is the mean of about this many latest steps; 1 for the last step alone."""

    publish_steps: int = Field(25, ge=1, le=MOST_STEPS)
    """Least steps between two versions of the weights,"""

    publish_distance: float = Field(0.002, ge=0, le=1_000_000)
    """which come when the weights have moved by this share of their length,"""

    publish_age_s: float = Field(30.0, gt=0, le=MOST_S)
    """or after this time."""


class ReplaySection(Section):
    """What is trained on. TOML section ``[replay]``."""

    start_rows: int = Field(250_000, ge=1, le=MOST_ROWS)
    """Up to here all rows count; beyond, the window grows by a power law."""

    exponent: float = Field(0.65, ge=0, le=1)
    """Of that law."""

    capacity_rows: int = Field(10_000_000, ge=1, le=MOST_ROWS)
    """Most rows of the window."""

    half_life_rows: float = Field(0.0, ge=0, le=MOST_ROWS)
    """A row this much older is drawn half as often; 0 draws all alike."""


class CheckpointSection(Section):
    """When everything is saved. TOML section ``[checkpoint]``; a run's end, a signal and a failure always save."""

    every_s: float = Field(300.0, ge=0, le=MOST_S)
    """Time between two checkpoints; 0 for none by time."""

    every_steps: int = Field(0, ge=0, le=MOST_STEPS)
    """Training steps between two checkpoints; 0 for none by steps."""

    keep_last: int = Field(3, ge=1, le=1_000_000)
    """So many of the newest are kept,"""

    keep_every: int = Field(0, ge=0, le=1_000_000)
    """and every one whose number is a multiple of this; 0 for none."""


class StoreSection(Section):
    """How games are stored. TOML section ``[store]``."""

    durability: Literal["power", "process"] = "power"
    """What stored games survive: "power": a power cut; "process": dying processes, a power cut takes the latest."""

    commit_games: int = Field(256, ge=1, le=1_000_000)
    """A transaction ends with so many games waiting,"""

    commit_ms: float = Field(50.0, ge=0, le=60_000)
    """or when the oldest has waited this long."""

    queue_games: int = Field(4096, ge=1, le=1_000_000)
    """With so many games waiting no new ones are begun until half of them are stored."""


class ArenaSection(Section):
    """Matches while the run goes on. TOML section ``[arena]``."""

    every_s: float = Field(120.0, ge=0, le=MOST_S)
    """Time between two arenas; 0 for none."""

    games: int = Field(40, ge=2, le=1_000_000)
    """Of each match: against random play, the rule-based player if there is one, the version of the last arena."""

    simulations: int = Field(32, ge=1, le=10_000_000)
    """For each decision of both sides."""

    opening: int = Field(2, ge=0, le=10_000)
    """Random decisions that the two games of a pair begin with."""


class SolveSection(Section):
    """How a small game is solved by a table instead of a network. TOML section ``[solve]``."""

    method: Literal["off", "external", "outcome"] = "off"
    """"external" or "outcome" sampling MCCFR solves the game; "off" trains a network."""

    weighting: Literal["uniform", "linear", "discounted"] = "linear"
    """What an early iteration counts; "discounted" shrinks the whole table after each round by alpha, beta, gamma."""

    alpha: float = Field(1.5, ge=0, le=100)
    """Discounting of regrets above 0, after k rounds by k^alpha / (k^alpha + 1),"""

    beta: float = Field(0.0, ge=-100, le=100)
    """of those below 0 likewise,"""

    gamma: float = Field(2.0, ge=0, le=100)
    """and of the strategy sums by (k / (k + 1))^gamma."""

    rounds: Literal["synchronous", "asynchronous"] = "synchronous"
    """"synchronous" gives the same bits every time; "asynchronous" waits for nobody."""

    batch: int = Field(0, ge=0, le=MOST_UNITS)
    """Iterations of a round, all workers together; 0 begins with 10 a worker and grows to a tenth of those done."""

    round_nodes: int = Field(10_000_000, ge=1, le=MOST_UNITS)
    """Most nodes that a worker visits in a round, as far as the round before tells."""

    round_mb: float = Field(64.0, gt=0, le=1_000_000)
    """Most megabytes that a worker sends after a round, likewise."""

    exploration: float = Field(0.6, gt=0, le=1)
    """Outcome sampling: part of the draws that falls on all actions alike, at first,"""

    exploration_last: float = Field(0.6, gt=0, le=1)
    """and in the end,"""

    exploration_iterations: int = Field(0, ge=0, le=MOST_UNITS)
    """after so many iterations, in a line between."""

    prune_below: float = Field(0.0, ge=0, le=MOST_UNITS)
    """External sampling: skip actions whose regret is below minus this, times the iteration's weight; 0 for never."""

    prune_after: int = Field(0, ge=0, le=MOST_UNITS)
    """First iteration that may skip."""

    snapshot_every_s: float = Field(60.0, ge=0, le=MOST_S)
    """Time between two files of the average policy; 0 for none but the last."""

    exact_every_s: float = Field(5.0, ge=0, le=MOST_S)
    """Time between two exact measurements of the average policy's NashConv; 0 for none but the last."""

    exact_nodes: int = Field(500_000, ge=0, le=MOST_UNITS)
    """A game with more nodes than this is never measured exactly."""


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

    timeout_ms: Annotated[float, Field(ge=0, le=10_000)] | Literal["auto"] = "auto"
    """Longest a batch waits for company while the device is idle; "auto" learns it from the run."""

    hard_cap_ms: float = Field(50.0, gt=0, le=10_000)
    """With "auto", no request waits longer than this for company while the device is idle."""

    max_queued_rows: int = Field(65_536, ge=1, le=MOST_ROWS)
    """With more rows than this inside, workers are not read from until half of them are gone."""


class DeviceSection(Section):
    """What computes. TOML section ``[device]``."""

    backend: Literal["auto", "torch", "onnx-fp32", "onnx-int8", "sim"] = "auto"
    """"auto" measures at the start and takes the fastest; "onnx-int8" rounds; "sim" is the simulated accelerator."""

    threads: int = Field(0, ge=0, le=1_024)
    """Threads of the model on a CPU; 0 measures and chooses."""

    sim_device_ms: float = Field(0.6, ge=0, le=60_000)
    """Simulated accelerator: fixed time of a batch."""

    sim_host_ms: float = Field(0.0, ge=0, le=60_000)
    """Simulated accelerator: time from launch until the device can begin."""

    sim_rows_per_s: float = Field(300_000.0, gt=0, le=1_000_000_000_000)
    """Simulated accelerator: rows/s once it runs."""


class SuperviseSection(Section):
    """When a worker is given up. TOML section ``[supervise]``."""

    start_s: float = Field(120.0, gt=0, le=MOST_S)
    """Longest from a worker's start to its first word."""

    silence_floor_s: float = Field(5.0, gt=0, le=MOST_S)
    """A worker that owes something may always be silent for this long."""

    silence_ceiling_s: float = Field(120.0, gt=0, le=MOST_S)
    """And never longer than this, whatever its record says."""

    window_s: float = Field(30.0, gt=0, le=MOST_S)
    """The run ends with a diagnosis when too many workers die within this time:"""

    deaths: int = Field(8, ge=1, le=1_000_000)
    """more than this,"""

    deaths_per_worker: int = Field(4, ge=1, le=1_000_000)
    """and more than this times the number of workers."""


class LoadSection(Section):
    """The synthetic load: slots that think, ask for a row each and check the answer. TOML section ``[load]``."""

    slots: int = Field(512, ge=1, le=10_000_000)
    """Slots of all workers together."""

    row_bytes: int = Field(256, ge=8, le=1 << 20)
    """Size of a row."""

    actions: int = Field(8, ge=1, le=1 << 16)
    """Legal actions of a row."""

    law: Literal["constant", "exponential", "lognormal"] = "exponential"
    """Of the think time."""

    think_ms: float = Field(1.0, ge=0, le=3_600_000)
    """Its mean."""

    straggler_share: float = Field(0.0, ge=0, le=1)
    """Part of the thinks that last ``straggler_ms`` instead."""

    straggler_ms: float = Field(50.0, ge=0, le=3_600_000)
    """How long a straggler thinks."""

    grain_ms: float = Field(0.1, ge=0, le=60_000)
    """Rows of a worker that get ready within this time share a message."""

    message_rows: int = Field(256, ge=1, le=1 << 20)
    """Most rows of a message."""

    checked: bool = True
    """Whether workers compare each answer with what the simulated device must say."""


class Config(Section):
    """Everything a run is told."""

    train: TrainSection = TrainSection()
    game: GameSection = GameSection()
    search: SearchSection = SearchSection()
    net: NetSection = NetSection()
    learn: LearnSection = LearnSection()
    replay: ReplaySection = ReplaySection()
    checkpoint: CheckpointSection = CheckpointSection()
    store: StoreSection = StoreSection()
    arena: ArenaSection = ArenaSection()
    solve: SolveSection = SolveSection()
    pool: PoolSection = PoolSection()
    batch: BatchSection = BatchSection()
    device: DeviceSection = DeviceSection()
    supervise: SuperviseSection = SuperviseSection()
    load: LoadSection = LoadSection()


def find(name: Path) -> Path:
    """The file of that name; where there is none, the configuration shipped as NAME or configs/NAME.toml."""
    shipped = {path.stem: path for path in SHIPPED.glob("*.toml")}
    for stem, path in shipped.items():
        if name in (Path(stem), Path("configs", path.name)) and not os.path.isfile(name):
            return path
    try:
        name.stat()
    except FileNotFoundError:
        others = _hint(_similar(name)) or f"; by name there are {', '.join(sorted(shipped))}"
        raise ConfigError(f"{name}: no such file{others}") from None
    except OSError:
        pass  # who reads it says why
    return name


def load(path: Path | None, overrides: Overrides | None = None) -> Config:
    """Read a TOML file, lay the flags over it, check all of it; ConfigError has a line for each mistake."""
    values = _read(path) if path is not None else {}
    flags = {section: _underscored(keys) for section, keys in (overrides or {}).items()}
    merged = {name: _merged(values.get(name), flags.get(name)) for name in [*values, *flags]}
    try:
        return Config.model_validate(merged)
    except ValidationError as error:
        own = {section: keys for section, keys in flags.items() if isinstance(merged[section], dict)}
        raise ConfigError("\n".join(_complaints(error, path, own))) from None


def dump(config: Config) -> str:
    """Return the resolved configuration as TOML, with the meaning of each key."""
    blocks = []
    for name, section in config:
        fields = type(section).model_fields
        lines = [f"{key} = {_toml(value)}  # {fields[key].description}" for key, value in section]
        blocks.append("\n".join([f"[{name}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(entry)}" for key, entry in value.items()) + "}"
    return json.dumps(value)


def keys() -> Iterator[tuple[str, Any, str]]:
    """Every key as (dotted name, default, meaning)."""
    for name, section in Config():
        for key, field in type(section).model_fields.items():
            yield f"{name}.{key}", field.default, field.description or ""


def options(plain: Config) -> Iterator[str]:
    """Every key as an option, with its default and its meaning; ``plain`` is what a run does without a file."""
    for name, default, meaning in keys():
        section, _, key = name.partition(".")
        value = getattr(getattr(plain, section), key)
        other = "" if value == default else f"; {default} in a CONFIG that leaves it out"
        yield f"--{name.replace('_', '-')} (default {value}{other}): {meaning}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin a file with a mark
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file{_hint(_similar(path))}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # of its bytes, its letters or its numbers
        raise ConfigError(f"{path}: is no TOML: {error}") from None


def _similar(path: Path) -> list[str]:
    """The TOML file of the same folder whose name looks most like this one's."""
    near = difflib.get_close_matches(path.name, [other.name for other in path.parent.glob("*.toml")], n=1)
    return [str(path.parent / name) for name in near]


def _underscored(section: Mapping[str, str]) -> dict[str, str]:
    return {key.replace("-", "_"): text for key, text in section.items()}


def _merged(section: Any, flags: Mapping[str, str] | None) -> Any:
    """What is no section stays as it is, to be complained about."""
    if flags is None or not isinstance(section, dict | None):
        return section
    return {**(section or {}), **flags}


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
        return f"{source} is {_brief(item['input'])}, must be a section"
    return f"{source} is {_brief(item['input'])}, must be {wanted}"


def _wanted(item: Any) -> str:
    """What pydantic wanted, in our words."""
    context = item.get("ctx", {})
    bounds = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    for name, words in bounds.items():
        if name in context:
            return f"{words} {_plain(context[name])}"
    if item["type"] == "finite_number":
        return "a finite number"
    if "expected" in context:
        return str(context["expected"])
    nouns = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text"}
    nouns |= {"dict": "a table, which only a file can hold"}
    return nouns.get(item["type"].partition("_")[0], str(item["msg"]))


def _plain(bound: float) -> str:
    """All of its digits, and no decimal point where nothing comes after it."""
    return str(int(bound)) if bound == int(bound) else str(bound)


def _brief(value: object) -> str:
    """On one line, whatever it is."""
    words = " ".join(str(value).split())
    return words if len(words) <= 80 else f"{words[:77]}..."


def _near(place: tuple[str, ...]) -> list[str]:
    """The known name that looks most like this one: the same section first, then anywhere."""
    if len(place) == 1:
        return difflib.get_close_matches(place[0], Config.model_fields, n=1)
    known = [name for name, _, _ in keys()]
    for names in ([name for name in known if name.startswith(f"{place[0]}.")], known):
        dotted = {name.partition(".")[2]: name for name in reversed(names)}
        if near := difflib.get_close_matches(place[1], dotted, n=1):
            return [dotted[near[0]]]
    return []


def _hint(names: list[str]) -> str:
    return f"; did you mean {names[0]}?" if names else ""
