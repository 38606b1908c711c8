"""What coordinator and workers say to each other.

A message's KIND is never reused; a change of its fields is a change of PROTOCOL. A message's size may grow with
the work done since the last one, never with the age of the run.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

PROTOCOL = 5
"""Raised whenever an old and a new process could misunderstand each other."""


class Within(NamedTuple):
    """The whole numbers a field may hold, both ends included; the codec refuses all others. Without one: 64 bits."""

    low: int = -(2**63)
    high: int = 2**63 - 1


Count = Annotated[int, Within(low=0)]
Small = Annotated[int, Within(0, 2**31 - 1)]  # of things that one worker has, or an operating system's number


class Layout(NamedTuple):
    """The dtypes a field may have, and its number of dimensions; the codec refuses all others."""

    dtypes: tuple[str, ...]
    ndim: int


FeatureRows = Annotated[NDArray[Any], Layout(("float32", "uint8"), 2)]
Floats = Annotated[NDArray[np.float32], Layout(("float32",), 1)]
FloatRows = Annotated[NDArray[np.float32], Layout(("float32",), 2)]
Doubles = Annotated[NDArray[np.float64], Layout(("float64",), 1)]
Ints = Annotated[NDArray[np.int32], Layout(("int32",), 1)]
Longs = Annotated[NDArray[np.int64], Layout(("int64",), 1)]
ShortRows = Annotated[NDArray[np.int16], Layout(("int16",), 2)]
Bytes = Annotated[NDArray[np.int8], Layout(("int8",), 1)]


class Message:
    """Everything that crosses a pipe: a frozen dataclass with a KIND."""

    __slots__ = ()
    KIND: ClassVar[int]

    def flaw(self) -> str | None:
        """Say what contradicts itself between the fields, each of which has the right type already."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Hello(Message):
    """Both ways, first of all: a stranger or an old version is refused."""

    KIND: ClassVar[int] = 1

    protocol: int
    worker: Small
    pid: Small


@dataclass(frozen=True, slots=True, eq=False)
class Job(Message):
    """Coordinator → worker: do the units first .. first + count - 1."""

    KIND: ClassVar[int] = 2

    number: int  # counts up over the whole run; an old number never comes back
    role: str  # which of the worker's players takes it
    first: int
    count: int
    seed: int  # of the run; a unit's own stream is derived from (seed, unit)
    spec: bytes  # the role's own settings, itself an encoded message
    is_kept: bool = False  # each of its games is kept until its Ack


@dataclass(frozen=True, slots=True, eq=False)
class Ask(Message):
    """Worker → coordinator: estimate these positions."""

    KIND: ClassVar[int] = 3

    ticket: Count  # counts up per worker; the Answer carries it back
    model: int  # which of the coordinator's models shall answer
    slots: Small  # how many of the worker's slots wait for this answer, each with a row or more of it
    thinking: Small  # how many others will still ask with no answer in between
    features: FeatureRows  # [n, F]
    legal: Ints  # [L], the legal actions of all rows, one after another; the model knows their range
    offsets: Ints  # [n + 1], row i owns legal[offsets[i]:offsets[i + 1]]
    spared: Small = 0  # rows that needed no asking since the last ask: seen before, or equal to one of these
    extra: Small = 0  # of these rows, those that a tree asks for beside its first one

    def flaw(self) -> str | None:
        if not (1 <= self.slots <= len(self.features) and self.extra <= len(self.features)):
            return f"{self.slots} slots ask for {len(self.features)} rows, of which {self.extra} are extra"
        return _rows_flaw(len(self.features), self.legal, self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Message):
    """Coordinator → worker: what the network thinks of the rows of one Ask."""

    KIND: ClassVar[int] = 4

    ticket: int
    version: int
    priors: Floats  # [L], in the order of the Ask's legal actions
    values: FloatRows  # [n, P], entry k for the seat k places to the left of the player to move; then beliefs, if any


@dataclass(frozen=True, slots=True, eq=False)
class Done(Message):
    """Worker → coordinator: these units of a job are finished and need no further word."""

    KIND: ClassVar[int] = 5

    job: Count
    units: Longs


@dataclass(frozen=True, slots=True, eq=False)
class Game(Message):
    """Worker → coordinator: a finished game, its record and its training rows."""

    KIND: ClassVar[int] = 6

    job: Count
    unit: Count
    seed: Count
    reason: str  # why it ended
    returns: Doubles  # [P], by seat, in the game's own units
    outcome: Floats  # [P], by seat, -1 to 1: on the network's scale, or who won a game of several stages
    actions: Ints  # [all decisions]
    decisions: Ints  # [n], which decision each row is
    seats: Bytes  # [n], who decided
    versions: Ints  # [n], of the weights that were asked
    features: FeatureRows  # [n, F]
    legal: Ints  # [L]
    offsets: Ints  # [n + 1]
    targets: Floats  # [L], the search's policy
    values: FloatRows  # [n, P], entry k for the seat k places to the left of who decided; -1 to 1
    holders: ShortRows = field(
        default_factory=lambda: np.zeros((0, 0), np.int16)
    )  # [n, C], who has which card, if asked

    def flaw(self) -> str | None:
        n_rows = len(self.features)
        if not len(self.decisions) == len(self.seats) == len(self.versions) == n_rows:
            return f"{n_rows} rows, but {len(self.decisions)} decisions, {len(self.seats)} seats"
        if len(self.targets) != len(self.legal) or len(self.outcome) != len(self.returns):
            return "targets or outcome of another length than what they belong to"
        if self.values.shape != (n_rows, len(self.outcome)):
            return f"values of shape {self.values.shape} for {n_rows} rows of {len(self.outcome)} seats"
        if self.holders.size and len(self.holders) != n_rows:
            return f"holders of shape {self.holders.shape} for {n_rows} rows"
        if n_rows and int(self.legal.min()) < 0:
            return "a negative action"
        return _rows_flaw(n_rows, self.legal, self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Ack(Message):
    """Coordinator → worker: these games are stored; forget them."""

    KIND: ClassVar[int] = 7

    jobs: Longs  # of each game
    units: Longs

    def flaw(self) -> str | None:
        return None if len(self.jobs) == len(self.units) else "jobs and units differ in length"


@dataclass(frozen=True, slots=True, eq=False)
class Delta(Message):
    """Worker → coordinator: what a job changed in the rows of a table, or a part of it."""

    KIND: ClassVar[int] = 8

    job: Count
    is_last: bool  # the job is finished with this part; before it, nothing of the job counts
    iterations: Count  # that were done for the job; 0 in all parts but the last
    nodes: Count  # visited for them; likewise
    utility: float  # of the first player, over the job's iterations; likewise
    rows: Ints  # [m], the touched rows
    regrets: Doubles  # [sum of the touched rows' actions], differences
    sums: Doubles  # likewise, of the strategy sums

    def flaw(self) -> str | None:
        if len(self.regrets) != len(self.sums):
            return "regrets and sums differ in length"
        if not self.is_last and (self.iterations or self.nodes or self.utility or len(self.rows) == 0):
            return "a part before the last that has no rows or says what the whole job did"
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Ping(Message):
    """Coordinator → worker, on the control pipe: are you there, and where?"""

    KIND: ClassVar[int] = 9

    ticket: int


@dataclass(frozen=True, slots=True, eq=False)
class Pong(Message):
    """Worker → coordinator, on the control pipe, even while the main thread works."""

    KIND: ClassVar[int] = 10

    ticket: int
    stacks: str  # where each thread is


@dataclass(frozen=True, slots=True, eq=False)
class Crash(Message):
    """Worker → coordinator: an exception ended me."""

    KIND: ClassVar[int] = 11

    reason: str
    trace: str


@dataclass(frozen=True, slots=True, eq=False)
class Stop(Message):
    """Coordinator → worker: leave when you read this."""

    KIND: ClassVar[int] = 12


@dataclass(frozen=True, slots=True, eq=False)
class Bye(Message):
    """Worker → coordinator: I leave because I was told to; the end of file that follows is no death."""

    KIND: ClassVar[int] = 13


@dataclass(frozen=True, slots=True, eq=False)
class Idle(Message):
    """Worker → coordinator: nobody here thinks any more, contrary to what my last ask let you expect."""

    KIND: ClassVar[int] = 14

    heard: Count  # jobs and answers it had got by then; what is on its way to it will make it think again


@dataclass(frozen=True, slots=True, eq=False)
class Merged(Message):
    """Coordinator → worker, before a job: the regrets of rows that changed since the last word about them."""

    KIND: ClassVar[int] = 20

    role: str  # whose table it is
    period: int  # discounts of the whole table so far, these rows included
    rows: Ints  # [m]
    regrets: Doubles  # [sum of the rows' actions], as they are now


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticSpec(Message):
    """The spec of role "synthetic": slots that think, ask for a row and check the answer."""

    KIND: ClassVar[int] = 32

    slots: int
    features: int  # bytes of a row
    actions: int  # legal actions of a row
    players: int
    law: str  # of the think time: "constant", "exponential" or "lognormal"
    think_s: float  # its mean
    straggler_share: float
    straggler_s: float
    grain_s: float  # rows that get ready within this time share a message
    message_rows: int  # of this many at most
    checked: bool  # compare each answer with the simulated device's checksum


@dataclass(frozen=True, slots=True, eq=False)
class SearchSpec(Message):
    """How a search thinks; travels inside other specs."""

    KIND: ClassVar[int] = 33

    simulations: int
    leaves: int  # rows a tree may ask for at a time; those after the first while a block has less than ``fill_rows``
    c_puct: float
    first_play_reduction: float
    noise_alpha: float
    noise_weight: float
    temperatures: Doubles  # by decision of the game or round, the last one for the rest
    worlds: int = 1  # imagined for each decision where something is hidden, each with all the simulations
    candidates: int = 1  # worlds drawn for each imagined one, for a network with beliefs to choose from
    quick_simulations: int = 0  # of a decision that is not searched in full; 0: all are
    full_share: float = 1.0  # of the decisions that are, otherwise
    root: str = "puct"  # or "gumbel"
    gumbel_actions: int = 16
    gumbel_visits: float = 50.0
    gumbel_scale: float = 1.0
    fill_rows: int = 64
    exact_decisions: int = 0  # positions with at most so many left are worked out


@dataclass(frozen=True, slots=True, eq=False)
class SelfplaySpec(Message):
    """The spec of role "selfplay": games against oneself, recorded with their training rows."""

    KIND: ClassVar[int] = 34

    game: str
    options: str  # of the game, as JSON
    games: int  # under way at a time, in two groups if they are many
    search: bytes  # an encoded SearchSpec
    cache: int = 0  # positions whose answers are remembered
    believes: bool = False  # the network has beliefs: training rows say who holds which card


@dataclass(frozen=True, slots=True, eq=False)
class MatchSpec(Message):
    """The spec of role "match": unit u is game u of a match, its opening shared with the game beside it."""

    KIND: ClassVar[int] = 35

    game: str
    options: str
    games: int  # under way at a time
    search: bytes
    hero: str  # "model:NUMBER"
    rival: str  # "model:NUMBER" or one of worker/opponents.py
    opening: int  # random decisions before the two begin
    rival_search: bytes = b""  # an encoded SearchSpec, where the rival does not think as the hero does


@dataclass(frozen=True, slots=True, eq=False)
class TraverseSpec(Message):
    """The spec of role "traverse": iterations of a sampling solver over a game's table."""

    KIND: ClassVar[int] = 40

    game: str
    options: str  # of the game, as JSON
    solver: str  # how to sample, as JSON
    alpha: float  # how fast the past is discounted, see search/regret.py; used only when a Merged says so
    beta: float
    gamma: float


@dataclass(frozen=True, slots=True, eq=False)
class RebuildSpec(Message):
    """The spec of role "rebuild": stored games whose training rows shall come back, in the order of the job's units."""

    KIND: ClassVar[int] = 48

    game: str
    options: str
    seeds: Longs  # [n], of the games
    returns: Doubles  # by seat, in the game's own units, all games' one after another
    return_ends: Longs  # [n], where each game's returns end
    records: bytes  # packed, one after another
    record_ends: Longs  # [n]
    believes: bool = False  # rows say who holds which card

    def flaw(self) -> str | None:
        if not len(self.seeds) == len(self.return_ends) == len(self.record_ends):
            return f"{len(self.seeds)} seeds, {len(self.return_ends)} returns, {len(self.record_ends)} records"
        return None


MESSAGES: tuple[type[Message], ...] = (
    Hello, Job, Ask, Answer, Done, Game, Ack, Delta, Ping, Pong, Crash, Stop, Bye, Idle, Merged, TraverseSpec,
    SyntheticSpec, SearchSpec, SelfplaySpec, MatchSpec, RebuildSpec,
)  # fmt: skip


def _rows_flaw(n_rows: int, legal: NDArray[np.int32], offsets: NDArray[np.int32]) -> str | None:
    """Every row owns at least one legal action and all of them are owned."""
    if len(offsets) != n_rows + 1:
        return f"{n_rows} rows, but {len(offsets)} offsets"
    if offsets[0] != 0 or offsets[-1] != len(legal) or np.count_nonzero(offsets[1:] > offsets[:-1]) != n_rows:
        return "offsets that do not divide the legal actions among the rows"
    return None
