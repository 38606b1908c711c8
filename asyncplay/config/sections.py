"""All settings of a run, each declared once: its key, type, bounds, default and meaning.

A section is a plain frozen dataclass, so that the coordinator, a job and a worker can all hold it without pydantic.
``loading`` checks files and flags against the bounds; the docstring below a field is its help. A field marked
``Live`` can also be changed while a run goes on, see ``live``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, get_args

from annotated_types import Ge, Gt, Le, Lt

from asyncplay.config.limits import MOST_MB, MOST_ROWS, MOST_S, MOST_STEPS, MOST_UNITS
from asyncplay.config.tables import AbstractionSettings, SolveSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class Live:
    """Marks a setting that can be changed while a run goes on."""

    label: str  # short, as trials call it,
    meaning: str  # and as the list of live settings explains it
    unit: str = ""  # of its numbers
    lowest: float = -math.inf  # where a run takes less than the bounds of the field say
    highest: float = math.inf


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainSettings:
    """What ends a run and how it speaks. TOML section ``[train]``."""

    seed: Annotated[int, Ge(0), Lt(2**62)] = 0
    """Every random number of the run derives from it."""

    units: Annotated[int, Ge(0), Le(MOST_UNITS)] = 0
    """Stop after this many units of work (games, iterations, rows of a synthetic load); 0 means no end."""

    time_budget_s: Annotated[float, Ge(0), Le(MOST_S)] = 0.0
    """Stop after this many seconds; 0 means no end."""

    interval_s: Annotated[float, Gt(0), Le(MOST_S)] = 5.0
    """Seconds between two lines of a run without a terminal, and between two times that its figures are kept."""

    tensorboard: bool = True
    """Whether the figures are also kept as event files in the run's folder: tensorboard --logdir RUN."""

    log_level: Literal["debug", "info", "warning"] = "info"
    """What run.log is told; "debug" has a line for each piece of work that is given out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GameSettings:
    """What is played. TOML section ``[game]``."""

    name: str = "connect4"
    """Which game, or "synthetic": a load made to measure, see [load]."""

    options: dict[str, int | float | str | bool] = field(default_factory=dict)
    """The game's own options, as a TOML table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """How a decision is thought over. TOML section ``[search]``."""

    simulations: Annotated[int, Ge(1), Le(10_000_000)] = 64
    """For each decision, in each world."""

    quick_simulations: Annotated[int, Ge(0), Le(10_000_000)] = 0
    """Playout cap of self-play: decisions with only so many, no noise, nothing learned from them; 0 for none."""

    full_share: Annotated[float, Gt(0), Le(1)] = 0.25
    """Part of the decisions that are searched in full and learned from, where the others are quick."""

    worlds: Annotated[int, Ge(1), Le(64)] = 1
    """Worlds imagined for each decision where cards are hidden; their visit counts are added."""

    exact_decisions: Annotated[int, Ge(0), Le(16)] = 0
    """Positions with at most so many decisions left are worked out and not asked about, in Blob; 0 for none."""

    leaves: Annotated[int, Ge(1), Le(4_096)] = 1
    """Most rows a world may ask for at a time; more than one needs virtual losses and may cost a little strength,"""

    fill_rows: Annotated[int, Ge(1), Le(1 << 30)] = 64
    """so they come only until a worker's block has this many rows: where there are too few games."""

    max_priors: Annotated[int, Ge(2), Le(1 << 20)] = 128
    """Actions of a position below the root that are searched, the best by prior; all where there are fewer."""

    c_puct: Annotated[float, Gt(0), Le(1_000_000)] = 1.5
    """How much the prior and rarely tried actions count."""

    first_play_reduction: Annotated[float, Ge(0), Le(1_000_000)] = 0.2
    """What an action never tried is worth less than its position."""

    noise_alpha: Annotated[float, Gt(0), Le(1_000_000)] = 0.6
    """Of the Dirichlet noise on a root's priors, in self-play."""

    noise_weight: Annotated[float, Ge(0), Le(1)] = 0.25
    """Of that noise; 0 for none, also of Gumbel's."""

    root: Literal["puct", "gumbel"] = "puct"
    """How simulations are spent on a decision's actions; "gumbel": sequential halving, and its policy is learned."""

    gumbel_actions: Annotated[int, Ge(2), Le(1 << 16)] = 16
    """Considered by sequential halving, the best by prior and Gumbel noise."""

    gumbel_visits: Annotated[float, Ge(0), Le(1_000_000)] = 50.0
    """With the most visits of an action, how much values count against priors; c_visit of the paper."""

    gumbel_scale: Annotated[float, Gt(0), Le(1_000_000)] = 1.0
    """The same as a factor; c_scale of the paper, for values between 0 and 1."""

    warm_decisions: Annotated[int, Ge(0), Le(10_000)] = 12
    """So many decisions of a game or round are drawn by visit counts, the later ones nearly always the best."""

    mild_decisions: Annotated[int, Ge(0), Le(10_000)] = 0
    """So many after them are drawn at temperature 0.5."""

    late_temperature: Annotated[float, Ge(0), Le(1_000)] = 0.2
    """Of those later ones."""

    games: Annotated[int, Ge(2), Le(10_000_000)] = 512
    """Under way at a time, all workers together."""

    cache_positions: Annotated[int, Ge(0), Le(MOST_ROWS)] = 0
    """Answers each worker remembers, so that nothing is asked twice of the same weights; inline pools keep none."""

    cache_mb: Annotated[int, Ge(0), Le(MOST_MB)] = 0
    """Most megabytes of them in each worker; what does not fit is not remembered; 0 reckons it from the free memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetSettings:
    """The network. TOML section ``[net]``."""

    kind: Literal["mlp", "resnet", "blobnet"] = "resnet"
    """A resnet needs a game with a board."""

    width: Annotated[int, Ge(1), Le(1 << 16)] = 64
    """Units of a layer, channels of a convolution."""

    blocks: Annotated[int, Ge(1), Le(1_024)] = 6
    """Hidden layers or residual blocks."""

    squeeze: Annotated[int, Ge(0), Le(1 << 16)] = 0
    """Units of squeeze-and-excitation in each block of a resnet; 0: none."""

    hidden_features: bool = False
    """Whether the value also sees what is hidden from the player (in a search what it imagines); the policy never."""

    value_width: Annotated[int, Ge(0), Le(1 << 16)] = 0
    """Units of the layers of the value's own trunk, where it sees hidden features; 0: ``width``, of a blobnet 256."""

    value_blocks: Annotated[int, Ge(0), Le(1_024)] = 0
    """Layers of that trunk; 0: ``blocks``, of a blobnet 3."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnSettings:
    """How the network learns. TOML section ``[learn]``."""

    batch_rows: Annotated[int, Ge(1), Le(MOST_ROWS)] = 512
    """Rows of a training step."""

    samples_per_insert: Annotated[
        float,
        Gt(0),
        Le(1_000_000),
        Live(
            label="samples per insert",
            meaning="how often a row that comes from now on is trained on",
            lowest=0.01,
            highest=1000,
        ),
    ] = 4.0
    """How often a row is trained on, on average."""

    band_steps: Annotated[float, Ge(1), Le(MOST_STEPS)] = 16.0
    """Training may be this many steps ahead of or behind that pace."""

    minimum_rows: Annotated[int, Ge(1), Le(MOST_ROWS)] = 4_096
    """Rows before the first step."""

    symmetries: bool = True
    """Whether each drawn row is turned by one of the game's symmetries: a mirrored board, exchanged suits."""

    learning_rate: Annotated[float, Gt(0), Le(1_000)] = 2e-3
    """At its peak."""

    warmup_steps: Annotated[int, Ge(0), Le(MOST_STEPS)] = 100
    """Steps until the peak."""

    decay_steps: Annotated[int, Ge(0), Le(MOST_STEPS)] = 0
    """The step at which half a cosine from the peak has come down to ``final_rate``; 0 stays at the peak."""

    final_rate: Annotated[float, Gt(0), Le(1_000)] = 1e-4
    """The learning rate then, and from there on."""

    weight_decay: Annotated[float, Ge(0), Le(1_000)] = 1e-2
    """Of matrices."""

    value_weight: Annotated[float, Ge(0), Le(1_000_000)] = 1.0
    """Of the value's loss beside the policy's."""

    average_steps: Annotated[int, Ge(1), Le(MOST_STEPS)] = 64
    """What plays is the mean of about this many latest steps; 1 for the last step alone."""

    publish_steps: Annotated[int, Ge(1), Le(MOST_STEPS)] = 25
    """Least steps between two versions of the weights,"""

    publish_distance: Annotated[float, Ge(0), Le(1_000_000)] = 0.002
    """which come when the weights have moved by this share of their length,"""

    publish_age_s: Annotated[float, Gt(0), Le(MOST_S)] = 30.0
    """or after this time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaySettings:
    """What is trained on. TOML section ``[replay]``."""

    start_rows: Annotated[int, Ge(1), Le(MOST_ROWS)] = 250_000
    """Up to here all rows count; beyond, the window grows by a power law."""

    exponent: Annotated[float, Ge(0), Le(1)] = 0.65
    """Of that law."""

    capacity_rows: Annotated[int, Ge(1), Le(MOST_ROWS)] = 10_000_000
    """Most rows of the window."""

    capacity_mb: Annotated[int, Ge(0), Le(MOST_MB)] = 0
    """Most megabytes of the window, whatever its rows; 0 reckons it from the free memory."""

    half_life_rows: Annotated[float, Ge(0), Le(MOST_ROWS)] = 0.0
    """A row this much older is drawn half as often; 0 draws all alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointSettings:
    """When everything is saved. TOML section ``[checkpoint]``; a run's end, a signal and a failure always save."""

    every_s: Annotated[float, Ge(0), Le(MOST_S)] = 300.0
    """Time between two checkpoints, the first after 30 s at most; 0 for none by time."""

    every_steps: Annotated[int, Ge(0), Le(MOST_STEPS)] = 0
    """Training steps between two checkpoints; 0 for none by steps."""

    keep_last: Annotated[int, Ge(1), Le(1_000_000)] = 3
    """So many of the newest are kept,"""

    keep_every: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """and every one whose number is a multiple of this; 0 for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreSettings:
    """How games are stored. TOML section ``[store]``."""

    durability: Literal["power", "process"] = "power"
    """What stored games survive: "power": a power cut; "process": dying processes, a power cut takes the latest."""

    commit_games: Annotated[int, Ge(1), Le(1_000_000)] = 256
    """A transaction ends with so many games waiting,"""

    commit_ms: Annotated[float, Ge(0), Le(60_000)] = 50.0
    """or when the oldest has waited this long."""

    queue_games: Annotated[int, Ge(1), Le(1_000_000)] = 4096
    """With so many games waiting no new ones are begun until half of them are stored."""

    queue_mb: Annotated[int, Ge(0), Le(MOST_MB)] = 0
    """With so many megabytes of games waiting workers are not read from; 0 reckons it from the free memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArenaSettings:
    """Matches while the run goes on. TOML section ``[arena]``."""

    every_s: Annotated[float, Ge(0), Le(MOST_S)] = 120.0
    """Time between two arenas, the first after 20 s at most; 0 for none."""

    games: Annotated[int, Ge(2), Le(1_000_000)] = 40
    """Of each match: against random play, the rule-based player if there is one, the version of the last arena."""

    simulations: Annotated[int, Ge(1), Le(10_000_000)] = 32
    """For each decision of both sides."""

    opening: Annotated[int, Ge(0), Le(10_000)] = 2
    """Random decisions that the two games of a pair begin with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PopulationSettings:
    """Agents that learn from rewards on the way, a network each. TOML section ``[population]``.

    Their networks have ``net.width`` units a layer; [learn] says how they learn, [replay] does not count.
    """

    method: Literal["off", "quantile"] = "off"
    """"quantile": implicit quantile networks learn what actions are worth; "off": self-play or a table."""

    environments: Annotated[int, Ge(2), Le(1_000_000)] = 64
    """Episodes under way at a time, all workers together."""

    quantiles: Annotated[int, Ge(1), Le(1_024)] = 12
    """Of the returns that follow an action, estimated at a time."""

    cosines: Annotated[int, Ge(1), Le(4_096)] = 64
    """That a quantile is embedded by."""

    discount: Annotated[float, Ge(0), Le(1)] = 0.99
    """What a reward is worth a decision earlier."""

    n_step: Annotated[int, Ge(1), Le(1_000)] = 3
    """Rewards that are summed up before the rest is estimated."""

    target_rate: Annotated[float, Gt(0), Le(1)] = 0.001
    """How far the target network follows its network in a step."""

    epsilon: Annotated[float, Ge(0), Le(1)] = 1.0
    """Part of the decisions that are random, in the first episode;"""

    epsilon_factor: Annotated[float, Gt(0), Le(1)] = 0.999
    """it falls by this factor each episode"""

    epsilon_least: Annotated[float, Ge(0), Le(1)] = 0.0
    """down to this."""

    replay_rows: Annotated[int, Ge(1), Le(MOST_ROWS)] = 50_000
    """Latest transitions that are kept of each agent."""

    priority: Annotated[float, Ge(0), Le(1)] = 0.0
    """Exponent of the error by which transitions are drawn; 0 draws all alike."""

    priority_weight: Annotated[float, Ge(0), Le(1)] = 0.4
    """How far rows that are drawn often count less in return; 1 makes up for it."""

    share: str = ""
    """Agents with one network, such as "0 1, 2 3"; each other agent has its own."""

    frozen: str = ""
    """Agents whose networks do not learn, such as "3 4"."""

    older: str = ""
    """Agents that act as they were so many versions ago, such as "4:10"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolSettings:
    """Where the workers live. TOML section ``[pool]``."""

    kind: Literal["local", "inline"] = "local"
    """"local": a process each; "inline": inside the coordinator, for debugging and exact repetition."""

    workers: Annotated[
        int,
        Ge(0),
        Le(1024),
        Live(
            label="workers",
            meaning="worker processes; what one that leaves had under way is redone",
            lowest=1,
        ),
    ] = 0
    """How many; 0 means one for each usable core."""

    message_mb: Annotated[int, Ge(0), Le(4_095)] = 0
    """Most megabytes of one message from a worker, a finished game for example; 0 reckons it from the free memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSettings:
    """How queries are gathered into one network call. TOML section ``[batch]``."""

    max_rows: Annotated[int, Ge(1), Le(1 << 20), Live(label="max rows", meaning="most rows of one network call")] = 1024
    """Cut the batch once it holds this many rows."""

    timeout_ms: Annotated[
        Annotated[float, Ge(0), Le(10_000)] | Literal["auto"],
        Live(label="timeout", unit="ms", meaning="longest wait of a batch for company; auto learns it"),
    ] = "auto"
    """Longest a batch waits for company while the device is idle; "auto" learns it from the run."""

    hard_cap_ms: Annotated[float, Gt(0), Le(10_000)] = 50.0
    """With "auto", no request waits longer than this for company while the device is idle."""

    max_queued_rows: Annotated[int, Ge(1), Le(MOST_ROWS)] = 65_536
    """With more rows than this inside, workers are not read from until half of them are gone."""

    max_queued_mb: Annotated[int, Ge(0), Le(MOST_MB)] = 0
    """The same in megabytes; 0 reckons it from the free memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceSettings:
    """What computes. TOML section ``[device]``."""

    backend: Literal["auto", "torch", "onnx-fp32", "onnx-int8", "sim"] = "auto"
    """"auto" measures at the start and takes the fastest; "onnx-int8" rounds; "sim" is the simulated accelerator."""

    threads: Annotated[int, Ge(0), Le(1_024)] = 0
    """Threads of the model on a CPU; 0 measures and chooses."""

    placement: Annotated[
        Literal["auto", "coordinator", "workers"],
        Live(label="placement", meaning="where the network answers; auto is what was faster at the start"),
    ] = "auto"
    """Where the network answers: "coordinator", or each of the "workers" by itself (CPUs); "auto" measures both."""

    sim_device_ms: Annotated[float, Ge(0), Le(60_000)] = 0.6
    """Simulated accelerator: fixed time of a batch."""

    sim_host_ms: Annotated[float, Ge(0), Le(60_000)] = 0.0
    """Simulated accelerator: time from launch until the device can begin."""

    sim_rows_per_s: Annotated[float, Gt(0), Le(1_000_000_000_000)] = 300_000.0
    """Simulated accelerator: rows/s once it runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SuperviseSettings:
    """When a worker is given up. TOML section ``[supervise]``."""

    start_s: Annotated[float, Gt(0), Le(MOST_S)] = 120.0
    """Longest from a worker's start to its first word."""

    silence_floor_s: Annotated[float, Gt(0), Le(MOST_S)] = 5.0
    """A worker that owes something may always be silent for this long."""

    silence_ceiling_s: Annotated[float, Gt(0), Le(MOST_S)] = 120.0
    """And never longer than this, whatever its record says."""

    window_s: Annotated[float, Gt(0), Le(MOST_S)] = 30.0
    """The run ends with a diagnosis when too many workers die within this time:"""

    deaths: Annotated[int, Ge(1), Le(1_000_000)] = 8
    """more than this,"""

    deaths_per_worker: Annotated[int, Ge(1), Le(1_000_000)] = 4
    """and more than this times the number of workers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadSettings:
    """The synthetic load: slots that think, ask for a row each and check the answer. TOML section ``[load]``."""

    slots: Annotated[int, Ge(1), Le(10_000_000)] = 512
    """Slots of all workers together."""

    row_bytes: Annotated[int, Ge(8), Le(1 << 20)] = 256
    """Size of a row."""

    actions: Annotated[int, Ge(1), Le(1 << 16)] = 8
    """Legal actions of a row."""

    law: Literal["constant", "exponential", "lognormal"] = "exponential"
    """Of the think time."""

    think_ms: Annotated[float, Ge(0), Le(3_600_000)] = 1.0
    """Its mean."""

    straggler_share: Annotated[float, Ge(0), Le(1)] = 0.0
    """Part of the thinks that last ``straggler_ms`` instead."""

    straggler_ms: Annotated[float, Ge(0), Le(3_600_000)] = 50.0
    """How long a straggler thinks."""

    grain_ms: Annotated[float, Ge(0), Le(60_000)] = 0.1
    """Rows of a worker that get ready within this time share a message."""

    message_rows: Annotated[int, Ge(1), Le(1 << 20)] = 256
    """Most rows of a message."""

    checked: bool = True
    """Whether workers compare each answer with what the simulated device must say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """Everything a run is told."""

    train: TrainSettings = TrainSettings()
    game: GameSettings = GameSettings()
    search: SearchSettings = SearchSettings()
    net: NetSettings = NetSettings()
    learn: LearnSettings = LearnSettings()
    replay: ReplaySettings = ReplaySettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    store: StoreSettings = StoreSettings()
    arena: ArenaSettings = ArenaSettings()
    solve: SolveSettings = SolveSettings()  # noqa: RUF009  # frozen
    population: PopulationSettings = PopulationSettings()
    abstraction: AbstractionSettings = AbstractionSettings()  # noqa: RUF009  # frozen
    pool: PoolSettings = PoolSettings()
    batch: BatchSettings = BatchSettings()
    device: DeviceSettings = DeviceSettings()
    supervise: SuperviseSettings = SuperviseSettings()
    load: LoadSettings = LoadSettings()


SECTIONS: dict[str, Any] = {section.name: section.type for section in fields(Config)}
"""The dataclass of each section, by its name in a file."""


def changed(config: Config, name: str, value: Any) -> Config:
    """``config`` with another value for the key of the dotted ``name``."""
    section, _, key = name.partition(".")
    return replace(config, **{section: replace(getattr(config, section), **{key: value})})


def type_parts(kind: Any) -> Iterator[Any]:
    """Everything that an annotation is made of: types, bounds and marks, and the words of a Literal."""
    yield kind
    for part in get_args(kind):
        yield from type_parts(part)
