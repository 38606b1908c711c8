"""A run without a console: one line each interval, for people or for programs, and nothing but text in it."""

import json
import sys
import time
from collections.abc import Mapping
from operator import itemgetter

from asyncplay.monitor.metrics import metrics
from asyncplay.monitor.snapshot import RESULTS_RANK, Snapshot


def wants_console(environment: Mapping[str, str], *, headless: bool, json_lines: bool) -> bool:
    """Only on a terminal that can show it, where a person sees it."""
    is_told_off = headless or json_lines or environment.get("CI", "") not in ("", "0", "false")
    is_dumb = environment.get("TERM", "") in ("", "dumb")
    return not (is_told_off or is_dumb) and sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def line(shot: Snapshot) -> str:
    """What happened in the last seconds, then what holds the run back."""
    flow = shot.throughput
    words = [f"{flow.unit} {flow.units:,}"]
    if flow.unit != flow.name:
        words.append(f"{flow.unit}/min {flow.units_per_min:,.0f}")
    words.append(f"{flow.name}/s {flow.per_s:,.0f}")
    if flow.limit_per_s:
        words.append(f"of {'simulated ' if flow.is_simulated else ''}limit {flow.per_s / flow.limit_per_s:.2f}")
    ranked = [
        (part.RANK, figure.line.format(value, **part.values()))
        for part in shot.parts.values()
        for figure, value in part.shown()
        if figure.line
    ]
    ranked += [
        (RESULTS_RANK, f"{result.name} {result.value:{'+.2f' if result.by_seat else '.3g'}}") for result in shot.results
    ]
    words += [text for _, text in sorted(ranked, key=itemgetter(0))]
    return "  ".join([*words, str(shot.verdict)])


def json_line(shot: Snapshot) -> str:
    """The metrics, with the time, the state and the verdict."""
    head = {"time_s": time.time(), "elapsed_s": shot.elapsed_s, "state": shot.state, "verdict": str(shot.verdict)}
    return json.dumps(head | metrics(shot))
