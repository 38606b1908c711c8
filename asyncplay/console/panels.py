"""One panel for each thing one wants to know of a run, drawn from a snapshot of it."""

from collections.abc import Sequence

from asyncplay.console.ink import BAD, BOLD, DIM, GOOD, HOT, PLAIN, Line, chart, count, duration, line, short
from asyncplay.console.layout import Panel
from asyncplay.monitor.snapshot import BatchFigures, LearnFigures, Result, Snapshot, Throughput, WorkerFigures

SIZES_TALL, CELL, RARE = 3, 4, 0.005  # of the columns of batch sizes: lines, cells across, share that is left out
WIDE, TALL = 60, 5  # where there is room across, the chart is this many lines tall
STATES = {"ready": GOOD, "suspect": BAD, "starting": HOT, "waiting": HOT}


def pairs(width: int, *cells: tuple[str, str]) -> list[Line]:
    """Names and figures, two to a line where there is room."""
    per_line = 2 if width >= 36 else 1
    room = width // per_line
    lines = []
    for first in range(0, len(cells), per_line):
        parts: Line = []
        for name, figure in cells[first : first + per_line]:
            parts += line((f"{name} ", DIM), (figure, BOLD), " " * max(room - len(name) - len(figure) - 1, 1))
        lines.append(parts)
    return lines


def throughput(shot: Snapshot, width: int) -> Panel:
    speed = shot.throughput
    lines = [
        line((f"{count(speed.per_s)} {speed.name}/s", BOLD), _of_limit(speed)),
        *(line((row, GOOD)) for row in chart(speed.history, width, TALL if width >= WIDE else 1)),
        *pairs(width, (speed.name, count(speed.total)), *_units(speed), *_eta(shot)),
    ]
    return Panel("throughput", 1, 2, lines)


def _of_limit(speed: Throughput) -> str:
    if not speed.limit_per_s:
        return ""
    whose = "simulated" if speed.is_simulated else "the device's"
    return f"  {speed.per_s / speed.limit_per_s:.0%} of {whose} {count(speed.limit_per_s)}"


def _units(speed: Throughput) -> list[tuple[str, str]]:
    if speed.unit == speed.name:
        return []
    return [(speed.unit, count(speed.units)), (f"{speed.unit}/min", count(speed.units_per_min))]


def _eta(shot: Snapshot) -> list[tuple[str, str]]:
    budget = shot.budget
    if budget is None:
        return []
    return [("left", "?" if budget.eta_s is None else duration(budget.eta_s))]


def batches(shot: Snapshot, width: int) -> Panel | None:
    batch = shot.batch
    if batch is None:
        return None
    lines = [
        *pairs(
            width,
            ("timeout", batch.timeout),
            ("max rows", f"{batch.max_rows:,}"),
            ("mean batch", count(batch.mean_rows)),
            ("queued", count(batch.queued_rows)),
            ("wait p50", f"{batch.wait_p50_ms:.2f} ms"),
            ("p95", f"{batch.wait_p95_ms:.2f} ms"),
            ("a", f"{batch.fixed_ms:.2f} ms"),
            ("b", f"{batch.per_row_us:.2f} us"),
        ),
        *pairs(width, ("device busy", f"{batch.device_share:.0%}"), *_sources(batch)),
        line(("linger ", DIM), (batch.linger, BOLD), " " + short(batch.why, width - len(batch.linger) - 8)),
    ]
    return Panel("batches", 3, 2, lines)


def _sources(batch: BatchFigures) -> list[tuple[str, str]]:
    """Where rows came from, if not all of them from a tree's first leaf."""
    shares = [("remembered", batch.spared_share), ("extra leaves", batch.extra_share)]
    return [(name, f"{share:.0%}") for name, share in shares if share]


def batch_sizes(shot: Snapshot, width: int) -> Panel | None:
    """A column for each octave; rare ones at either end are left out."""
    batch = shot.batch
    if batch is None or not batch.histogram:
        return None
    edge, share = max(batch.histogram, key=lambda column: column[1])
    title = f"rows a batch: {share:.0%} in {edge // 2 + 1:,}-{edge:,}"
    return Panel(title, 8, SIZES_TALL + 1, _columns(_common(batch)[-(width // CELL) :]))


def _common(batch: BatchFigures) -> list[tuple[int, float]]:
    """From the first octave that is not rare to the last, with those in between that did not occur."""
    shares = dict(batch.histogram)
    common = [edge.bit_length() for edge, share in batch.histogram if share >= RARE]
    edges = [1 << (length - 1) for length in range(min(common), max(common) + 1)]
    return [(edge, shares.get(edge, 0.0)) for edge in edges]


def _columns(octaves: Sequence[tuple[int, float]]) -> list[Line]:
    rows = chart([share for _, share in octaves], len(octaves), SIZES_TALL)
    bars = [line(("".join(f"{cell * (CELL - 1)} " for cell in row), GOOD)) for row in rows]
    return [*bars, line(("".join(f"{_edge(edge):^{CELL - 1}} " for edge, _ in octaves), DIM))]


def _edge(rows: int) -> str:
    return str(rows) if rows < 1024 else f"{rows // 1024}k"


def learning(shot: Snapshot, width: int) -> Panel | None:
    learn = shot.learn
    return None if learn is None else Panel("learning", 4, 2, pairs(width, *_learning(learn)))


def _learning(learn: LearnFigures) -> list[tuple[str, str]]:
    return [
        ("version", f"{learn.version:,}"),
        ("steps", f"{count(learn.steps)}, {count(learn.steps_per_s)}/s"),
        ("policy loss", f"{learn.policy_loss:.3f}"),
        ("value loss", f"{learn.value_loss:.3f}"),
        ("replay", count(learn.window_rows)),
        ("age", f"{count(learn.age_rows)} rows"),
        ("lag", f"{learn.version_lag:.1f} versions"),
        ("samples/insert", f"{learn.samples_per_insert:.1f}"),
        ("limiter", learn.balance),
        ("device trains", f"{learn.device_share:.0%}"),
    ]


def rounds(shot: Snapshot, width: int) -> Panel | None:
    state = shot.rounds
    if state is None:
        return None
    cells = [
        ("pieces", count(state.pieces)),
        ("iterations", count(state.iterations)),
        ("nodes", count(state.nodes)),
        ("infosets", count(state.infosets)),
        ("utility", f"{state.utility:+.4f}"),
    ]
    return Panel("rounds", 4, 2, pairs(width, *cells))


def workers(shot: Snapshot, width: int) -> Panel:
    """Those in trouble first: what is folded away are the healthy ones."""
    ordered = sorted(shot.workers, key=lambda worker: (worker.state == "ready", worker.number))
    ready = sum(worker.state == "ready" for worker in shot.workers)
    title = f"workers {ready} of {len(shot.workers)} ready"
    return Panel(title, 5, min(1, len(ordered)), [_worker(worker, shot.throughput.unit) for worker in ordered])


def _worker(worker: WorkerFigures, unit: str) -> Line:
    parts = line(
        f"{worker.number:>2} ",
        (f"{worker.state:<8}", STATES.get(worker.state, PLAIN)),
        f"{count(worker.games):>6} {unit}{count(worker.rows_per_s):>7}/s",
    )
    if worker.restarts:
        parts += line((f" {worker.restarts} died", HOT), f": {worker.reason}")
    return parts


def results(shot: Snapshot, width: int) -> Panel | None:
    if not shot.results:
        return None
    return Panel("strength", 6, 1, [each for result in reversed(shot.results) for each in _result(result, width)])


def _result(result: Result, width: int) -> list[Line]:
    """Points above the others' have a sign, and a line for the seats."""
    form = "+.2f" if result.by_seat else ".3f"
    between = "" if result.low is None else f" ({result.low:{form}} to {result.high:{form}})"
    lines = [line((short(result.name, width - 24) + " ", DIM), (f"{result.value:{form}}", BOLD), between)]
    seats = " ".join(f"{points:.1f}" for points in result.by_seat)
    return [*lines, line((short(f"  by seat {seats}", width), DIM))] if seats else lines


def store(shot: Snapshot, width: int) -> Panel | None:
    if shot.store is None:
        return None
    kept = shot.store
    lines = pairs(
        width,
        ("games", count(kept.games)),
        ("commit lag", f"{kept.commit_lag_ms:.1f} ms"),
        ("queued", count(kept.queued)),
    )
    if kept.trouble:
        lines.insert(0, line((short(kept.trouble, width), BAD)))
    return Panel("store", 7, 1, lines)


def trials(shot: Snapshot, width: int) -> Panel | None:
    if not shot.trials:
        return None
    return Panel("changes", 2, 1, [line(short(trial, width)) for trial in reversed(shot.trials)])


def logged(shot: Snapshot, width: int, room: int) -> Panel:
    last = shot.log[-max(room, 1) :]
    return Panel("log", 1, 1, [line(short(text, width)) for text in last] or [line(("nothing yet", DIM))])
