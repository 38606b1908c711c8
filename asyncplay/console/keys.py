"""What each key requests, given a snapshot of the run: pure functions, for a run in this process or another."""

from typing import NamedTuple

from asyncplay.monitor.snapshot import Snapshot

TIMEOUT, MAX_ROWS, WORKERS = "batch.timeout_ms", "batch.max_rows", "pool.workers"
PLACEMENT = "device.placement"
AUTO = "auto"
FIRST_TIMEOUT_MS = 2.0  # where a learned timeout is pinned first
LEAST_TIMEOUT_MS = 0.25  # below it comes 0


class Key(NamedTuple):
    """What a person may type."""

    keys: str
    hint: str  # on the last line of the screen, which has 80 columns; none where another key's says it
    meaning: str  # on the page of help
    setting: str = ""  # that a run must have; otherwise the keys do nothing and are not shown


KEYS = (
    Key("[ ]", "[]a timeout", "batch timeout down, up", TIMEOUT),
    Key("- +", "-+ rows", "max rows of a batch down, up", MAX_ROWS),
    Key("d", "d net", "network in the coordinator, in the workers", PLACEMENT),
    Key("w W", "wW workers", "workers fewer, more", WORKERS),
    Key("a", "", "batch timeout back to auto", TIMEOUT),
    Key("u", "u undo", "undo the last change"),
    Key("p", "p pause", "pause, go on"),
    Key("c", "c save", "checkpoint now"),
    Key("l", "l log", "log panel"),
    Key("?", "? help", "this help"),
)


def known(shot: Snapshot) -> list[Key]:
    """The keys that do something in this run."""
    settings = {"", *(tunable.key for tunable in shot.tunables)}
    return [key for key in KEYS if key.setting in settings]


class Request(NamedTuple):
    """A verb of ``Steering`` and its argument."""

    verb: str
    argument: str = ""


VERBS = {"u": Request("undo"), "c": Request("checkpoint"), "p": Request("pause")}


def request(key: str, shot: Snapshot) -> Request | None:
    """The request of a key; None for a key that has none in this run."""
    if key in VERBS:
        return VERBS[key]
    values = {tunable.key: tunable.value for tunable in shot.tunables}
    if key == "d" and PLACEMENT in values:
        here = getattr(shot.parts.get("batch"), "placement", "")  # drawing knows figures by name alone
        return Request("set", f"{PLACEMENT}={'coordinator' if here == 'workers' else 'workers'}")
    change = _change(key, values)
    return None if change is None else Request("set", change)


def _change(key: str, values: dict[str, str]) -> str | None:
    """``KEY=VALUE``; None where the run has no such setting."""
    match key:
        case "[" | "]" if TIMEOUT in values:
            if values[TIMEOUT] == AUTO:
                return f"{TIMEOUT}={FIRST_TIMEOUT_MS:g}"
            timeout_ms = float(values[TIMEOUT])
            half_ms = timeout_ms / 2 if timeout_ms > LEAST_TIMEOUT_MS else 0
            return f"{TIMEOUT}={max(2 * timeout_ms, LEAST_TIMEOUT_MS) if key == ']' else half_ms:g}"
        case "a" if TIMEOUT in values:
            return f"{TIMEOUT}={AUTO}"
        case "-" | "_" | "+" | "=" if MAX_ROWS in values:
            return f"{MAX_ROWS}={_max_rows(int(values[MAX_ROWS]), key in '+=')}"
        case "w" | "W" if WORKERS in values:
            return f"{WORKERS}={max(int(values[WORKERS]) + (1 if key == 'W' else -1), 1)}"
    return None


def _max_rows(value: int, is_up: bool) -> int:
    """The next power of two."""
    return 1 << value.bit_length() if is_up else 1 << max((value - 1).bit_length() - 1, 0)
