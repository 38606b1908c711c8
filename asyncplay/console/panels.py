"""One panel for each thing one wants to know of a run, drawn from a snapshot of it."""

from collections.abc import Sequence

from asyncplay.console.ink import BAD, BOLD, DIM, GOOD, HOT, PLAIN, Line, chart, duration, line, short
from asyncplay.console.layout import Panel
from asyncplay.monitor.part import Part, count
from asyncplay.monitor.snapshot import RESULTS_RANK, Snapshot, WorkerFigures

SIZES_TALL, CELL, RARE = 3, 4, 0.005  # of a histogram's columns: lines, cells across, share that is left out
HISTOGRAM_RANK = 8
WIDE, TALL = 60, 5  # from this width on, the chart is this many lines tall
STATES = {"ready": GOOD, "suspect": BAD, "starting": HOT, "waiting": HOT}


def pairs(width: int, cells: Sequence[tuple[str, str]]) -> list[Line]:
    """Names and figures, two to a line where they fit."""
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
    speed, of_limit = shot.throughput, ""
    if speed.limit_per_s:
        whose = "simulated" if speed.is_simulated else "the device's"
        of_limit = f"  {speed.per_s / speed.limit_per_s:.0%} of {whose} {count(speed.limit_per_s)}"
    cells = [(speed.name, count(speed.total))]
    if speed.unit != speed.name:
        cells += [(speed.unit, count(speed.units)), (f"{speed.unit}/min", count(speed.units_per_min))]
    if shot.budget is not None:
        cells.append(("left", "?" if shot.budget.eta_s is None else duration(shot.budget.eta_s)))
    lines = [
        line((f"{count(speed.per_s)} {speed.name}/s", BOLD), of_limit),
        *(line((bars, GOOD)) for bars in chart(speed.history, width, TALL if width >= WIDE else 1)),
        *pairs(width, cells),
    ]
    return Panel("throughput", 1, 2, lines)


def figures(part: Part, width: int) -> list[Panel]:
    """The panel of a part, as its figures are declared: alarms, cells, notes; and a panel for each histogram."""
    alarms: list[Line] = []
    cells: list[tuple[str, str]] = []
    notes: list[Line] = []
    histograms: list[Panel] = []
    for figure, value in part.shown(*part.FIRST):
        if figure.kind == "alarm":
            alarms.append(line((short(value, width), BAD)))
        elif figure.kind == "note":
            label, text = cells.pop()
            room = width - len(label) - len(text) - 2
            notes.append(line((f"{label} ", DIM), (text, BOLD), " " + short(value, room)))
        elif figure.kind == "histogram" and value:
            histograms.append(histogram(figure.label, value, width))
        elif figure.form is not None and figure.label:
            cells.append((figure.label, figure.form(value)))
        elif figure.form is not None:
            label, text = cells.pop()
            cells.append((label, text + figure.form(value)))
    return [Panel(part.TITLE, part.RANK, part.LEAST, [*alarms, *pairs(width, cells), *notes]), *histograms]


def histogram(label: str, shares: Sequence[tuple[int, float]], width: int) -> Panel:
    """A column for each octave from the first that is not rare to the last; the highest ones where they do not fit."""
    edge, share = max(shares, key=lambda column: column[1])
    title = f"{label}: {share:.0%} in {edge // 2 + 1:,}-{edge:,}"
    common = [edge.bit_length() for edge, share in shares if share >= RARE]
    edges = [1 << (length - 1) for length in range(min(common), max(common) + 1)][-(width // CELL) :]
    drawn = chart([dict(shares).get(edge, 0.0) for edge in edges], len(edges), SIZES_TALL)
    bars = [line(("".join(f"{cell * (CELL - 1)} " for cell in cells), GOOD)) for cells in drawn]
    names = [str(edge) if edge < 1024 else f"{edge // 1024}k" for edge in edges]
    return Panel(
        title,
        HISTOGRAM_RANK,
        SIZES_TALL + 1,
        [*bars, line(("".join(f"{name:^{CELL - 1}} " for name in names), DIM))],
    )


def workers(shot: Snapshot) -> Panel:
    """Those in trouble first: the healthy ones are folded away before them."""
    lines = []
    for worker in sorted(shot.workers, key=lambda worker: (worker.state == "ready", worker.number)):
        parts = line(
            f"{worker.number:>2} ",
            (f"{worker.state:<8}", STATES.get(worker.state, PLAIN)),
            f"{count(worker.games):>6} {shot.throughput.unit}{count(worker.rows_per_s):>7}/s",
        )
        if worker.restarts:
            parts += line((f" {worker.restarts} died", HOT), f": {worker.reason}")
        lines.append(parts)
    ready = sum(worker.state == "ready" for worker in shot.workers)
    return Panel(f"workers {ready} of {len(lines)} ready", WorkerFigures.RANK, min(1, len(lines)), lines)


def results(shot: Snapshot, width: int) -> Panel:
    """The latest first. Points above the others' have a sign, and a line for the seats."""
    lines = []
    for result in reversed(shot.results):
        form = "+.2f" if result.by_seat else ".3f"
        between = "" if result.low is None else f" ({result.low:{form}} to {result.high:{form}})"
        lines.append(line((short(result.name, width - 24) + " ", DIM), (f"{result.value:{form}}", BOLD), between))
        if result.by_seat:
            seats = " ".join(f"{points:.1f}" for points in result.by_seat)
            lines.append(line((short(f"  by seat {seats}", width), DIM)))
    return Panel("strength", RESULTS_RANK, 1, lines)


def trials(shot: Snapshot, width: int, most: int) -> Panel:
    """The latest ``most`` changes of settings, the last one first."""
    return Panel("changes", 2, 1, [line(short(trial, width)) for trial in shot.trials[: -most - 1 : -1]])


def logged(shot: Snapshot, width: int, most: int) -> Panel:
    lines = [line(short(text, width)) for text in shot.log[-most:]]
    return Panel("log", 1, 1, lines or [line(("nothing yet", DIM))])
