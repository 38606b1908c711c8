"""The messages between coordinator and workers that the engine knows; a method registers its own (codec.register).

A message's KIND is never reused; a change of its fields is a change of PROTOCOL. A message's size may grow with
the work done since the last one, never with the age of the run.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

PROTOCOL = 9
"""Raised whenever an old and a new process could misunderstand each other."""

MOST_MESSAGE_BYTES = 2**32 - 1
"""Of a body, whatever the settings say; msgpack counts to there."""


MOST_SECONDS = 1e6
"""That one report of a worker may speak of."""


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
LongRows = Annotated[NDArray[np.int64], Layout(("int64",), 2)]
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
    """Both ways, before all others: an end with another protocol is refused."""

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
    is_kept: bool = False  # the worker keeps each UnitResult until its Ack


@dataclass(frozen=True, slots=True, eq=False)
class Ask(Message):
    """Worker → coordinator: estimate these positions."""

    KIND: ClassVar[int] = 3

    ticket: Count  # counts up per worker; the Answer carries it back
    model: int  # the number of the model that answers
    slots: Small  # how many of the worker's slots wait for this answer, each with a row or more of it
    thinking: Small  # slots that will ask again without another answer
    features: FeatureRows  # [n, F]
    legal: Ints  # [L], the legal actions of all rows, one after another; the model knows their range
    offsets: Ints  # [n + 1], row i owns legal[offsets[i]:offsets[i + 1]]
    spared: Small = 0  # cache hits since the last ask: rows seen before, or equal to one of these
    extra: Small = 0  # of these rows, those that are not the first of their tree
    uncached: Small = 0  # answers since the last ask for which the evaluation cache had no room

    def flaw(self) -> str | None:
        if not (1 <= self.slots <= len(self.features) and self.extra <= len(self.features)):
            return f"{self.slots} slots ask for {len(self.features)} rows, of which {self.extra} are extra"
        return rows_flaw(len(self.features), self.legal, self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Message):
    """Coordinator → worker: the network's estimates of the rows of one Ask."""

    KIND: ClassVar[int] = 4

    ticket: int
    version: int
    priors: Floats  # [L], in the order of the Ask's legal actions
    values: FloatRows  # [n, P], entry k for the seat k places to the left of the player to move


@dataclass(frozen=True, slots=True, eq=False)
class JobResult(Message):
    """Worker → coordinator: something that came of a job."""

    job: Count

    @property
    def ends_thinking(self) -> bool:
        """Whether the slot that the job set thinking stops with this message, so that no Idle has to say so."""
        return False


@dataclass(frozen=True, slots=True, eq=False)
class UnitResult(JobResult):
    """Worker → coordinator: what came of one unit; kept in the worker until its Ack if the job says so."""

    unit: Count


@dataclass(frozen=True, slots=True, eq=False)
class ToRole(Message):
    """Coordinator → worker: something for the player of a role, sent before a job."""

    role: str


@dataclass(frozen=True, slots=True, eq=False)
class PlaceModel(ToRole):
    """Coordinator → worker: answer asks for this model yourself, with the network in a file; or ask again."""

    KIND: ClassVar[int] = 16

    model: int
    version: Count
    path: str  # of a whole ONNX network; empty: the coordinator answers
    digest: str  # SHA-256 of the file, in hexadecimal digits
    max_rows: Small  # of one call of the network
    gathers: bool  # rows of all groups go into one call

    def flaw(self) -> str | None:
        return None if self.max_rows else "a network that may not be asked for a row"


@dataclass(frozen=True, slots=True, eq=False)
class Hold(Message):
    """Coordinator → worker: stand still, or go on; a worker that is held owes nothing."""

    KIND: ClassVar[int] = 17

    is_held: bool


@dataclass(frozen=True, slots=True, eq=False)
class Computed(Message):
    """Worker → coordinator: what its own network has answered since the last report."""

    KIND: ClassVar[int] = 18

    sizes: Ints  # rows of each call of the network
    seconds: float  # in those calls
    spared: Small = 0  # as in Ask
    extra: Small = 0
    uncached: Small = 0

    def flaw(self) -> str | None:
        if len(self.sizes) and int(self.sizes.min()) < 1:
            return "a call of the network without rows"
        return None if 0 <= self.seconds <= MOST_SECONDS else f"calls that took {self.seconds} s"


@dataclass(frozen=True, slots=True, eq=False)
class Done(JobResult):
    """Worker → coordinator: these units of a job are finished, and nothing else comes of them."""

    KIND: ClassVar[int] = 5

    units: Longs


@dataclass(frozen=True, slots=True, eq=False)
class Ack(Message):
    """Coordinator → worker: these units' results are stored; drop them."""

    KIND: ClassVar[int] = 7

    jobs: Longs  # of each result
    units: Longs

    def flaw(self) -> str | None:
        return None if len(self.jobs) == len(self.units) else "jobs and units differ in length"


@dataclass(frozen=True, slots=True, eq=False)
class Ping(Message):
    """Coordinator → worker, on the control pipe: report where each thread is."""

    KIND: ClassVar[int] = 9

    ticket: int


@dataclass(frozen=True, slots=True, eq=False)
class Pong(Message):
    """Worker → coordinator, on the control pipe, even while the main thread works."""

    KIND: ClassVar[int] = 10

    ticket: int
    stacks: str  # of every thread but the one that answers


@dataclass(frozen=True, slots=True, eq=False)
class Crash(Message):
    """Worker → coordinator: an exception ended this worker."""

    KIND: ClassVar[int] = 11

    reason: str
    trace: str


@dataclass(frozen=True, slots=True, eq=False)
class Stop(Message):
    """Coordinator → worker: end."""

    KIND: ClassVar[int] = 12


@dataclass(frozen=True, slots=True, eq=False)
class Bye(Message):
    """Worker → coordinator: this worker ends because of a Stop; the end of file that follows is no failure."""

    KIND: ClassVar[int] = 13


@dataclass(frozen=True, slots=True, eq=False)
class Idle(Message):
    """Worker → coordinator: no slot thinks any more, although the coordinator still counts some as thinking."""

    KIND: ClassVar[int] = 14

    heard: Count  # jobs and answers received so far; those on their way will set slots thinking again


@dataclass(frozen=True, slots=True, eq=False)
class MessagePart(Message):
    """Both ways: some bytes of the body of a message that is longer than one frame shall be.

    The parts of a message follow each other, and nothing comes between them.
    """

    KIND: ClassVar[int] = 15

    first: Annotated[int, Within(0, MOST_MESSAGE_BYTES)]  # how many bytes came before
    total: Annotated[int, Within(1, MOST_MESSAGE_BYTES)]  # of the body
    data: bytes


def rows_flaw(n_rows: int, legal: NDArray[np.int32], offsets: NDArray[np.int32]) -> str | None:
    """Say why these offsets do not give every row at least one legal action, and each action to one row."""
    if len(offsets) != n_rows + 1:
        return f"{n_rows} rows, but {len(offsets)} offsets"
    if offsets[0] != 0 or offsets[-1] != len(legal) or np.count_nonzero(offsets[1:] > offsets[:-1]) != n_rows:
        return "offsets that do not divide the legal actions among the rows"
    return None
