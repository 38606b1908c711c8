"""Tuning a run from another terminal."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from asyncplay.errors import printable
from asyncplay.monitor.remote import Remote
from asyncplay.monitor.snapshot import Tuned
from asyncplay.monitor.steering import VERBS, parse_changes


def tune(folder: Path, words: list[str], *, as_json: bool) -> int:
    """Do what the words say and wait for its trial; with none, list what can be changed."""
    told = asyncio.run(_tune(folder, words, as_json))
    sys.stdout.write("".join(f"{printable(line)}\n" for line in told.split("\n")))
    return 0


async def _tune(folder: Path, words: list[str], as_json: bool) -> str:
    verb = words[0] if len(words) == 1 and words[0] in VERBS else "set"
    if verb == "set" and words:
        parse_changes(words)  # complains before anybody is asked
    remote = await Remote.open(folder)
    try:
        return await (_change(remote, verb, words, as_json) if words else _list(remote, as_json))
    finally:
        remote.close()


async def _list(remote: Remote, as_json: bool) -> str:
    tunables = (await remote.look()).tunables
    if as_json:
        return json.dumps([asdict(tunable) for tunable in tunables])
    rows = [("key", "value", "range", "meaning"), *(_row(tunable) for tunable in tunables)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join([*map(str.ljust, row, widths), row[3]]) for row in rows)


def _row(tunable: Tuned) -> tuple[str, str, str, str]:
    numbers = f"{tunable.lowest:g} to {tunable.highest:,.0f}"
    return tunable.key, tunable.value, " or ".join([numbers, *tunable.words]), tunable.meaning


async def _change(remote: Remote, verb: str, words: list[str], as_json: bool) -> str:
    outcome = await remote.act(verb, " ".join(words) if verb == "set" else "")
    if outcome.trial is None:
        return json.dumps({"text": outcome.text}) if as_json else outcome.text
    sys.stderr.write(f"{printable(outcome.text)}: measuring\n")
    trial = await remote.trial(outcome.trial)
    result: dict[str, Any] = {"text": str(trial), **asdict(trial)}
    return json.dumps(result) if as_json else str(trial)
