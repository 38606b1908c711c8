"""What the report needs of a run, read from its store in one transaction."""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from asyncplay.archive.report.plots import Bar, Line, Mark, Point, thinned
from asyncplay.archive.summary import N_PERIODS, Summary, from_tallies
from asyncplay.data.reader import StoredEvent, is_figure, read_events, read_metrics, read_tallies, reading
from asyncplay.data.store import read_meta


class Material(NamedTuple):
    """One run. Times of metrics are seconds from ``began_s``, the time of its first entry."""

    run: str
    began_s: float
    summary: Summary
    metrics: dict[str, list[Point]]
    events: list[StoredEvent]


def gather(run: Path) -> Material:
    with reading(run) as connection:
        summary = from_tallies(read_tallies(connection, N_PERIODS), read_meta(connection).get("game", "unknown"))
        metrics, events = read_metrics(connection), read_events(connection)
    first = [points[0][0] for points in metrics.values()] + [event.time_s for event in events]
    began_s = min(first + [period.start_s for period in summary.periods[:1]], default=0.0)
    moved = {name: [(time_s - began_s, value) for time_s, value in points] for name, points in metrics.items()}
    return Material(str(run), began_s, summary, moved, events)


def lines_of(material: Material, *names: str) -> list[Line]:
    """These metrics, by the last part of their names."""
    return [Line(name.rpartition("/")[2].replace("_", " "), material.metrics.get(name, [])) for name in names]


def flow_of(material: Material, ending: str) -> list[Line]:
    """All throughput metrics with this ending: rows_per_s, games_per_min and the like."""
    names = [name for name in material.metrics if name.startswith("throughput/") and name.endswith(ending)]
    return lines_of(material, *names)


def strengths_of(material: Material) -> list[Mark]:
    """Results of matches with their intervals; without matches the measured strength, such as exploitability.

    An opponent that is an earlier version differs each time: all of them share a name.
    """
    marks = []
    for event in material.events:
        if event.kind == "arena" and _has(event, "score"):
            against, score = str(event.data.get("against", "")), float(event.data["score"])
            name = "an earlier version" if against.startswith("version") else against
            low, high = (float(event.data[bound]) if _has(event, bound) else score for bound in ("low", "high"))
            marks.append(Mark(name, event.time_s - material.began_s, score, low, high))
    return marks or [
        Mark(name.removeprefix("strength/"), time_s, value, value, value)
        for name, points in material.metrics.items()
        if name.startswith("strength/")
        for time_s, value in thinned(changes(points))
    ]


def changes(points: list[Point]) -> list[Point]:
    """Without points that repeat the one before: what is measured now and then is recorded each interval."""
    return points[:1] + [point for before, point in pairwise(points) if point[1] != before[1]]


def seats_of(material: Material) -> list[Bar]:
    several = len({rate.seats for rate in material.summary.seats}) > 1
    return [
        Bar(f"{rate.seat} of {rate.seats}" if several else f"seat {rate.seat}", rate.rate, rate.low, rate.high)
        for rate in material.summary.seats
    ]


def ends_of(material: Material) -> list[Bar]:
    return [Bar(reason, float(count)) for reason, count in sorted(material.summary.reasons.items())]


def trials_of(material: Material) -> list[Bar]:
    """What each change of a setting did to the throughput, in percent."""
    return [
        Bar(f"{number + 1}", 100 * data["gain"], *(100 * (data["gain"] + sign * data["doubt"]) for sign in (-1, 1)))
        for number, data in enumerate(event.data for event in _ended_trials(material))
    ]


def trial_texts(material: Material) -> list[str]:
    return [event.text for event in _ended_trials(material)]


def _ended_trials(material: Material) -> list[StoredEvent]:
    trials = [event for event in material.events if event.kind == "trial" and event.data.get("state") == "done"]
    return [event for event in trials if _has(event, "gain") and _has(event, "doubt")]


def _has(event: StoredEvent, name: str) -> bool:
    return is_figure(event.data.get(name))
