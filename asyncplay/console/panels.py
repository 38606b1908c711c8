"""One panel for each thing one wants to know of a run, drawn from a snapshot of it."""

from collections.abc import Sequence

from asyncplay.console.ink import (
    BAD,
    BOLD,
    DIM,
    GOOD,
    HOT,
    PLAIN,
    Line,
    chart,
    curve,
    duration,
    fit,
    line,
    short,
    wrap,
)
from asyncplay.console.layout import GAP, Chart, Panel, beside
from asyncplay.monitor.part import Part, count
from asyncplay.monitor.snapshot import RESULTS_RANK, Curve, Result, Snapshot, WorkerFigures

SIZES_TALL, SIZES_MORE = 3, 5  # lines of a histogram's columns, and how many more they may be
CELL, RARE = 4, 0.005  # cells across, and the share that is left out
HISTOGRAM_RANK = 8
CURVE_WIDE, CURVE_TALL = 28, 2  # cells and lines that a curve needs, without its caption
WORDS = {"score": "1 is won, 0 lost", "points": "above the mean of the others'"}
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

    def draw(height: int) -> list[Line]:
        return [line((bars, GOOD)) for bars in chart(speed.history, width, height)]

    lines = [line((f"{count(speed.per_s)} {speed.name}/s", BOLD), of_limit), *draw(1), *pairs(width, cells)]
    return Panel("throughput", 1, 2, lines, Chart(draw, first=1, tall=1))


def figures(part: Part, curves: Sequence[Curve], width: int) -> list[Panel]:
    """The panel of a part, as its figures are declared: alarms, cells, notes, curves; and one for each histogram."""
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
    lines = [*alarms, *pairs(width, cells), *notes]
    own = [each for each in curves if each.part == part.NAME]
    return [Panel(part.TITLE, part.RANK, part.LEAST, lines, drawn(own, width, len(lines))), *histograms]


def drawn(curves: Sequence[Curve], width: int, first: int) -> Chart | None:
    """As many curves as fit side by side, each under a caption; ``first``: the line of its panel where they begin."""
    shown = [each for each in curves if len(each.values) > 1][: max((width + GAP) // (CURVE_WIDE + GAP), 1)]
    if not shown:
        return None
    wide = (width + GAP) // len(shown) - GAP

    def draw(height: int) -> list[Line]:
        columns = []
        for name, values in ((each.name, each.values) for each in shown):
            caption = short(f"{name} {values[0]:.3g} to {values[-1]:.3g}", wide)
            bars = [line((text, GOOD)) for text in curve(values, wide, height - 1)]
            columns.append([fit(content, wide) for content in [line((caption, DIM)), *bars]])
        return beside(*columns)

    return Chart(draw, first, least=1 + CURVE_TALL)


def histogram(label: str, shares: Sequence[tuple[int, float]], width: int) -> Panel:
    """A column for each octave from the first that is not rare to the last; the highest ones where they do not fit."""
    edge, share = max(shares, key=lambda column: column[1])
    title = f"{label}: {share:.0%} in {edge // 2 + 1:,}-{edge:,}"
    common = [edge.bit_length() for edge, share in shares if share >= RARE]
    edges = [1 << (length - 1) for length in range(min(common), max(common) + 1)][-(width // CELL) :]
    values = [dict(shares).get(edge, 0.0) for edge in edges]

    def draw(height: int) -> list[Line]:
        texts = chart(values, len(edges), height)
        return [line(("".join(f"{cell * (CELL - 1)} " for cell in cells), GOOD)) for cells in texts]

    names = [str(edge) if edge < 1024 else f"{edge // 1024}k" for edge in edges]
    lines = [*draw(SIZES_TALL), line(("".join(f"{name:^{CELL - 1}} " for name in names), DIM))]
    return Panel(title, HISTOGRAM_RANK, SIZES_TALL + 1, lines, Chart(draw, first=0, tall=SIZES_TALL, most=SIZES_MORE))


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
    """The latest first, with the change since the last measurement; another version than the title's is named. Points
    above the others' have a sign, and a line for the seats."""
    curves = [each for each in shot.curves if each.part == "strength"]
    courses, newest, lines = {each.name: each.values for each in curves}, shot.results[-1], list[Line]()
    for result in reversed(shot.results):
        between = "" if result.low is None else f" ({_figure(result, result.low)} to {_figure(result, result.high)})"
        values = courses.get(result.name, ())
        rise = values[-1] - values[-2] if len(values) > 1 else 0.0
        trend = f" {'▲' if rise > 0 else '▼'}{_figure(result, abs(rise)).removeprefix('+')}" if rise else ""
        other = f" {result.of}" if result.of != newest.of else ""
        value = (_figure(result, result.value), BOLD)
        lines.append(line((short(result.name, width - 24) + " ", DIM), value, between, trend + other))
        if result.by_seat:
            seats = " ".join(f"{points:.1f}" for points in result.by_seat)
            lines.append(line((short(f"  by seat {seats}", width), DIM)))
    title = ", ".join(filter(None, ("strength", newest.of, newest.unit)))
    return Panel(title, RESULTS_RANK, 1, lines, drawn(curves, width, len(lines)))


def _figure(result: Result, value: float | None) -> str:
    """A match of two has a score with three digits, one of more has points with a sign; others fall towards 0."""
    form = "+.2f" if result.by_seat else ".3g" if result.low is None else ".3f"
    return f"{value:{form}}"


def explained(shot: Snapshot, width: int) -> Panel:
    """What the words on the screen mean."""
    words = {
        figure.label: figure.words for part in shot.parts.values() for figure in part.FIGURES.values() if figure.words
    }
    words |= {result.unit: WORDS[result.unit] for result in shot.results if result.by_seat or result.low is not None}
    texts = [wrap(f"{label}: {meaning}", width - 2, 2) for label, meaning in words.items()]
    lines = [line(f"{'  ' if number else ''}{text}") for wrapped in texts for number, text in enumerate(wrapped)]
    return Panel("words", 2, 1, lines)


def trials(shot: Snapshot, width: int, most: int) -> Panel:
    """The latest ``most`` changes of settings, the last one first."""
    return Panel("changes", 2, 1, [line(short(trial, width)) for trial in shot.trials[: -most - 1 : -1]])


def logged(shot: Snapshot, width: int, most: int) -> Panel:
    lines = [line(short(text, width)) for text in shot.log[-most:]]
    return Panel("log", 1, 1, lines or [line(("nothing yet", DIM))])
