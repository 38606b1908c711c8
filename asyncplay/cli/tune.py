"""``asyncplay tune``: change a run from another terminal."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from asyncplay.cli.kinds import run_or_latest
from asyncplay.cli.output import print_lines, say

if TYPE_CHECKING:
    from asyncplay.monitor.snapshot import Tuned


def tune(*words: str, json: bool = False) -> int:
    """Change a live setting of a run and see what that did; without changes, list what can be changed.

    Parameters
    ----------
    words
        The folder of the run, or nothing for the latest in runs/ that goes on; then KEY=VALUE, one or several, or one
        of undo, pause, checkpoint, stop.
    """
    from asyncplay.monitor.steering import VERBS, parse_changes

    is_named = bool(words) and (Path(words[0]).is_dir() or not ("=" in words[0] or words[0] in VERBS))
    run = run_or_latest(Path(words[0]) if is_named else None, is_running=True)
    changes = words[1:] if is_named else words
    verb = changes[0] if len(changes) == 1 and changes[0] in VERBS else "set"
    if verb == "set" and changes:
        parse_changes(list(changes))  # a mistake is found before the run is asked
    print_lines(asyncio.run(_ask(run, verb, changes, as_json=json)).split("\n"))
    return 0


async def _ask(folder: Path, verb: str, words: Sequence[str], *, as_json: bool) -> str:
    """Do what the words say and wait for its trial; without words, list what can be changed."""
    from asyncplay.monitor.remote import Remote

    remote = await Remote.open(folder)
    try:
        if not words:
            tunables = (await remote.look()).tunables
            return dumps([asdict(tunable) for tunable in tunables]) if as_json else _table(tunables)
        outcome = await remote.act(verb, " ".join(words) if verb == "set" else "")
        if outcome.trial is None:
            return dumps({"text": outcome.text}) if as_json else outcome.text
        say(f"{outcome.text}: measuring, back and forth, for a minute at most")
        clock = asyncio.create_task(_tell_time())
        try:
            trial = await remote.trial(outcome.trial)
        finally:
            clock.cancel()
        return dumps({"text": str(trial), **asdict(trial)}) if as_json else str(trial)
    finally:
        remote.close()


async def _tell_time() -> None:
    from asyncplay.monitor.countdown import EVERY_S, time_left
    from asyncplay.monitor.trial import MOST_S

    began_s = asyncio.get_running_loop().time()
    while (left_s := began_s + MOST_S - asyncio.get_running_loop().time()) > EVERY_S:
        await asyncio.sleep(2 * EVERY_S)
        say(f"measuring: {time_left(max(left_s - 2 * EVERY_S, 0.0))} at most")


def _table(tunables: "Sequence[Tuned]") -> str:
    """The last column is as long as it likes."""
    lines = [("key", "value", "range", "meaning")]
    for tunable in tunables:
        numbers = f"{tunable.lowest:g} to {tunable.highest:,.0f}"
        lines.append((tunable.key, tunable.value, " or ".join([numbers, *tunable.words]), tunable.meaning))
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    return "\n".join("  ".join([*map(str.ljust, line, widths), line[3]]) for line in lines)
