"""A run without a console: one line each interval, for people or for programs, and nothing but text in it."""

import json
import sys
import time
from collections.abc import Mapping

from asyncplay.monitor.metrics import metrics
from asyncplay.monitor.snapshot import LearnFigures, Snapshot


def wants_console(environment: Mapping[str, str], *, headless: bool, json_lines: bool) -> bool:
    """Only where a person looks at a terminal that can do it."""
    is_told_off = headless or json_lines or environment.get("CI", "") not in ("", "0", "false")
    is_dumb = environment.get("TERM", "") in ("", "dumb")
    return not (is_told_off or is_dumb) and sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def line(shot: Snapshot) -> str:
    """What happened lately, then what holds the run back."""
    flow, batch = shot.throughput, shot.batch
    words = [f"{flow.unit} {flow.units:,}"]
    if flow.unit != flow.name:
        words.append(f"{flow.unit}/min {flow.units_per_min:,.0f}")
    words.append(f"{flow.name}/s {flow.per_s:,.0f}")
    if flow.limit_per_s:
        words.append(f"of {'simulated ' if flow.is_simulated else ''}limit {flow.per_s / flow.limit_per_s:.2f}")
    if batch is not None:
        words += [f"mean batch {batch.mean_rows:.0f}", f"wait p50 {batch.wait_p50_ms:.2f} ms", f"linger {batch.linger}"]
        words += [f"extra leaves {batch.extra_share:.1%}"] if batch.extra_share else []
        words += [f"remembered {batch.spared_share:.1%}"] if batch.spared_share else []
    words += _learned(shot.learn) if shot.learn is not None else []
    words += [f"infosets {shot.rounds.infosets:,}"] if shot.rounds is not None else []
    words += [f"{result.name} {result.value:{'+.2f' if result.by_seat else '.3g'}}" for result in shot.results]
    words += [f"store: {shot.store.trouble}"] if shot.store is not None and shot.store.trouble else []
    return "  ".join([*words, str(shot.verdict)])


def json_line(shot: Snapshot) -> str:
    """The metrics, with the time, the state and the verdict."""
    head = {"time_s": time.time(), "elapsed_s": shot.elapsed_s, "state": shot.state, "verdict": str(shot.verdict)}
    return json.dumps(head | metrics(shot))


def _learned(learn: LearnFigures) -> list[str]:
    return [
        f"version {learn.version}",
        f"loss {learn.policy_loss:.3f}+{learn.value_loss:.3f}",
        f"replay {learn.window_rows:,} x{learn.samples_per_insert:.1f}",
        learn.balance,
    ]
