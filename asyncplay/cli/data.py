"""``asyncplay data RUN stats|verify|export|show``."""

import re
from datetime import datetime
from difflib import get_close_matches
from json import dumps
from pathlib import Path
from typing import Literal

from cyclopts import App

from asyncplay.cli.dialogue import is_terminal, step_through
from asyncplay.cli.interrupts import EXIT_INTERRUPTED
from asyncplay.cli.kinds import MaybeLimit, MaybeSeat, MaybeSeats, MaybeVersion, run_or_latest
from asyncplay.cli.output import print_lines, say
from asyncplay.errors import AsyncplayError

Format = Literal["npz", "parquet"]

EXIT_DAMAGED = 1
FORMATS: dict[str, Format] = {".npz": "npz", ".parquet": "parquet"}
ACTIONS = ("stats", "verify", "export", "show")
SHOWN_FLAWS = 20

data = App(
    name="data",
    help="Look into, check, export and draw the games of a run: asyncplay data [RUN] stats|verify|export|show.",
)


def in_order(words: list[str]) -> list[str]:
    """Put the command before its argument, where cyclopts wants it: users type ``data RUN stats``."""
    if words[:1] != ["data"] or len(words) < 2 or words[1] in ACTIONS or words[1].startswith("-"):
        return words
    run, *rest = words[1:]
    wanted = f"wanted is data RUN {'|'.join(ACTIONS)}"
    if not rest or rest[0].startswith("-"):
        raise AsyncplayError(f"data {run} does not say what to do; {wanted}")
    if rest[0] not in ACTIONS:
        culprit = run if get_close_matches(run, ACTIONS) else rest[0]
        near = get_close_matches(culprit, ACTIONS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise AsyncplayError(f"{culprit} cannot be done to the data of a run; {hint}{wanted}")
    return ["data", rest[0], run, *rest[1:]]


@data.command(usage="Usage: asyncplay data [RUN] stats [--json]")
def stats(run: Path | None = None, *, json: bool = False) -> int:
    """Games, lengths, ends, win rates by seat with 95 % intervals, versions, games/min over time."""
    from asyncplay.archive.summary import as_lines, summarize

    summary = summarize(run_or_latest(run))
    print_lines([dumps(summary.as_dict())] if json else as_lines(summary))
    if summary.warning:
        say(f"warning: {summary.warning}")
    return 0


@data.command(usage="Usage: asyncplay data [RUN] verify [--repair] [--json]")
def verify(run: Path | None = None, *, repair: bool = False, json: bool = False) -> int:
    """Play every game again and compare; exit status 1 where something is wrong and not repaired.

    Parameters
    ----------
    repair
        Save what can be saved of a damaged store into a sound one; the old file is kept beside it.
    """
    from asyncplay.archive.verify import repair as save
    from asyncplay.archive.verify import repair_lines
    from asyncplay.archive.verify import verify as replay
    from asyncplay.console.progress import bar

    run = run_or_latest(run)
    with bar("checking") as progress:
        found = replay(run, progress)
    lines = found.flaws[:SHOWN_FLAWS]
    if len(found.flaws) > SHOWN_FLAWS:
        lines.append(f"and {len(found.flaws) - SHOWN_FLAWS:,} things more")
    result: dict[str, object] = {"run": str(run), "sound": found.sound, "flaws": found.flaws}
    lines.append(f"{found.sound:,} games played again with the stored result")
    if found.flaws and not repair:
        lines.append(f"`asyncplay data {run} verify --repair` saves what can be saved")
    if found.flaws and repair:
        saved = save(run)
        lost = [[found.start, found.stop - 1] for found in saved.lost]
        result["repaired"] = {"games": saved.games, "lost": lost, "cut_short": saved.cut_short}
        result["set_aside"] = saved.quarantined
        result["old"] = str(saved.old)
        lines += repair_lines(saved)
    print_lines([dumps(result)] if json else lines)
    return EXIT_DAMAGED if found.flaws and not repair else 0


@data.command(usage="Usage: asyncplay data [RUN] export --out FILE [OPTIONS]")
def export(
    run: Path | None = None,
    *,
    out: Path,
    format: Format | None = None,  # noqa: A002  # the option's name
    versions: str | None = None,
    seats: MaybeSeats = None,
    reason: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: MaybeLimit = None,
) -> int:
    """Write games as arrays for other programs; docs/schema.md names them.

    Parameters
    ----------
    out
        The file to write.
    format
        Without it, what the file's name ends with says which.
    versions
        Only games that weights of these versions played: 7 or 3-9.
    seats
        Only games with so many players.
    reason
        Only games that ended so, as stats tells: rules, limit or a reason of the game.
    since
        Only games stored at this time or later, local time.
    until
        Only games stored before this time.
    limit
        The first so many of these.
    """
    from asyncplay.archive.export import export as write
    from asyncplay.console.progress import bar
    from asyncplay.data.reader import GameFilter

    first = last = None
    if versions is not None:
        found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", versions)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            raise AsyncplayError(f"--versions is {versions}, must be a number or a range like 3-9")
    since_s, until_s = _seconds("--since", since), _seconds("--until", until)
    if (chosen := format or FORMATS.get(out.suffix)) is None:
        raise AsyncplayError(f"--out is {out}, must end with .npz or .parquet, or say --format")
    with bar("exporting") as progress:
        count = write(
            run_or_latest(run), out, GameFilter(first, last, seats, reason, since_s, until_s, limit), progress, chosen
        )
    say(f"{count:,} games in {out}")
    return 0


@data.command(usage="Usage: asyncplay data [RUN] show [GAME] [--decision N] [--seat N] [--svg FILE]")
def show(
    run: Path | None = None,
    game: MaybeLimit = None,
    *,
    decision: MaybeVersion = None,
    seat: MaybeSeat = None,
    svg: Path | None = None,
) -> int:
    """Draw a stored game. In a terminal it is stepped through: Enter for the next position, q to leave.

    Parameters
    ----------
    game
        Its number in the store; without it, the latest.
    decision
        After so many decisions; without it, the end, or in an SVG of Treasurehunt the whole episode. In a terminal
        where to begin, without it the start.
    seat
        As this seat sees it; without it, with all that is hidden.
    svg
        The file to write instead.
    """
    from asyncplay.archive.showing import ShownGame

    shown = ShownGame(run_or_latest(run), game, seat)
    place = None if decision is None else shown.check(decision)
    if svg is not None:
        try:
            svg.write_text(shown.svg(place), encoding="utf-8")
        except OSError as error:
            raise AsyncplayError(f"--svg {svg}: {error.strerror}") from None
        say(f"game {shown.number} in {svg}")
    elif is_terminal():
        try:
            step_through(shown, place or 0)
        except KeyboardInterrupt:
            return EXIT_INTERRUPTED
    else:
        print_lines(shown.text(shown.n_decisions if place is None else place).splitlines())
    return 0


def _seconds(option: str, moment: datetime | None) -> float | None:
    """Seconds since 1970."""
    try:
        return None if moment is None else moment.timestamp()
    except (ValueError, OverflowError):
        raise AsyncplayError(f"{option} is {moment}, which is out of all bounds") from None
