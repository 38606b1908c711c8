"""Checks a run's store: by SQLite's own check, by checksums, by playing every game again; and repairs it."""

from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from asyncplay import games
from asyncplay.archive.progress import Progress, counted
from asyncplay.archive.replaying import EnvironmentReferee, Referee
from asyncplay.config.sections import Config
from asyncplay.data import lock, salvage
from asyncplay.data.reader import count_games, integrity, malformed_notes, read_games, reading
from asyncplay.data.store import FILE, StoreError, open_read_only, read_kept, run_meta
from asyncplay.data.watermark import Watermark, loss, read_watermark
from asyncplay.errors import AsyncplayError
from asyncplay.games import environments
from asyncplay.rundir.layout import read_config

MOST_FLAWS = 1000
MOST_RANGES = 200  # printed of one kind


class Verified(NamedTuple):
    """What an examination found. ``sound`` games were played again with the stored result."""

    sound: int
    flaws: list[str]  # of each thing that is wrong, MOST_FLAWS at most


def verify(folder: Path, progress: Progress) -> Verified:
    """Examine everything; only a run without a store is an error, any damage is a flaw in the result."""
    if not (folder / FILE).exists():
        raise AsyncplayError(f"{folder / FILE}: there is no store; is {folder} the folder of a run?")
    referee = _referee(read_config(folder))
    flaws, numbers, spans = list[str](), list[int](), list[salvage.Span]()
    watermark = read_watermark(folder)  # first: while a run writes, its store is never behind an earlier watermark
    try:
        with reading(folder) as connection:
            flaws += [f"SQLite: {line}" for line in integrity(connection)]
            for game in counted(read_games(connection), count_games(connection), progress):
                numbers.append(game.number)
                if (flaw := referee.flaw(game)) is None:
                    spans.append((game.number, game.first_row, game.end_row))
                else:
                    flaws.append(f"game {game.number}: {flaw}")
            placed = set(salvage.in_place(spans))
            misplaced = [span[0] for span in spans if span not in placed]
            flaws += [f"game {number}: its rows are not behind those of the games before" for number in misplaced]
            if missing := salvage.gaps(numbers, max(numbers, default=0)):
                flaws.append(f"missing: number {as_ranges(missing)}")
            flaws += islice(malformed_notes(connection), MOST_FLAWS)
            flaws += filter(None, [loss(read_kept(connection), watermark)])
    except StoreError as error:
        flaws.append(str(error))
    return Verified(len(spans), flaws[:MOST_FLAWS])


def repair(folder: Path) -> salvage.Salvaged:
    """Save what can be saved and set the watermark to it; no process may be working on the run."""
    config, watermark = read_config(folder), read_watermark(folder)
    referee = _referee(config)
    meta = run_meta(config, referee.players)
    try:
        with lock.hold(folder):
            saved = salvage.repair(
                folder,
                last_number=watermark.number if watermark else 0,
                meta=meta,
                is_sound=lambda stored: referee.flaw(stored) is None,
            )
            with closing(open_read_only(folder)) as connection, closing(Watermark(folder)) as new:
                new.write(read_kept(connection))
    except OSError as error:
        raise AsyncplayError(f"{folder} cannot be repaired: {error.strerror}") from None
    return saved


def repair_lines(saved: salvage.Salvaged) -> list[str]:
    lines = [f"saved {saved.games:,} games", f"the old file is kept: {saved.old}"]
    if saved.quarantined:
        numbers = ", ".join(map(str, saved.quarantined[:MOST_RANGES]))
        lines.append(f"set aside what cannot be played again: number {numbers}; only the old file has it")
    if saved.lost:
        total = sum(found.stop - found.start for found in saved.lost)
        count = f"{total:,} games" if total > 1 else "1 game"
        lines.append(f"lost {count}: number {as_ranges(saved.lost)}; a resumed run plays them again")
    lines += [f"lost the later rows of {table}: {saved.notes[table]:,} saved" for table in saved.cut_short]
    return lines


def as_ranges(ranges: Iterable[range]) -> str:
    """Ascending numbers, briefly: 3, 5-9, 12; at most MOST_RANGES of them."""
    texts = [
        f"{found.start}-{found.stop - 1}" if found.stop > found.start + 1 else f"{found.start}" for found in ranges
    ]
    return ", ".join([*texts[:MOST_RANGES], *(["..."] if texts[MOST_RANGES:] else [])])


def _referee(config: Config) -> Referee | EnvironmentReferee:
    name, options = config.game.name, config.game.options
    if config.population.method != "off":
        return EnvironmentReferee(environments.load(name, options))
    return Referee(games.load(name, options))
