"""Whether a run's store is sound: by SQLite's own check, by checksums, by playing every game again."""

from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from asyncplay import games
from asyncplay.archive.replaying import Referee
from asyncplay.config import Config, load
from asyncplay.data import lock, salvage
from asyncplay.data.mark import Mark, loss, read_mark
from asyncplay.data.reader import count_games, integrity, read_games, reading
from asyncplay.data.store import FILE, StoreError, open_read_only, read_kept, run_meta
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec

MOST_FLAWS = 1000

Progress = Callable[[int, int], None]
"""(done, total)"""


class Verified(NamedTuple):
    """What an examination found. ``sound`` games were played again with the stored result."""

    sound: int
    flaws: list[str]  # of each thing that is wrong, MOST_FLAWS at most


def verify(folder: Path, progress: Progress) -> Verified:
    """Examine everything; nothing but a run without a store is an error here, damage is what is told."""
    if not (folder / FILE).is_file():
        raise AsyncplayError(f"{folder / FILE}: there is no store; is {folder} the folder of a run?")
    referee, flaws, sound = Referee(_game(read_config(folder))), [], 0
    mark = read_mark(folder)  # first: while the run goes on, the store is never behind an earlier mark
    try:
        with reading(folder) as connection:
            flaws += [f"SQLite: {line}" for line in integrity(connection)]
            total, numbers = count_games(connection), []
            for done, game in enumerate(read_games(connection)):
                progress(done, total)
                numbers.append(game.number)
                if (flaw := referee.flaw(game)) is None:
                    sound += 1
                else:
                    flaws.append(f"game {game.number}: {flaw}")
            progress(total, total)
            flaws += [*_missing(numbers), *filter(None, [loss(read_kept(connection), mark)])]
    except StoreError as error:
        flaws.append(str(error))
    return Verified(sound, flaws[:MOST_FLAWS])


def repair(folder: Path) -> salvage.Saved:
    """Save what can be saved and let the mark say so; the run must not be going on."""
    config, mark = read_config(folder), read_mark(folder)
    meta = run_meta(config, _game(config).players)
    with lock.hold(folder):
        saved = salvage.repair(folder, last_number=mark.number if mark else 0, meta=meta)
        with closing(open_read_only(folder)) as connection, closing(Mark(folder)) as new_mark:
            new_mark.write(read_kept(connection))
    return saved


def repair_lines(saved: salvage.Saved) -> list[str]:
    lines = [f"saved {saved.games:,} games", f"the old file is kept: {saved.old}"]
    if saved.lost:
        count = f"{len(saved.lost):,} games" if len(saved.lost) > 1 else "1 game"
        lines.append(f"lost {count}: number {as_ranges(saved.lost)}; a resumed run plays them again")
    lines += [f"lost the later rows of {table}: {saved.notes[table]:,} saved" for table in saved.cut_short]
    return lines


def as_ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers, briefly: 3, 5-9, 12."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def read_config(folder: Path) -> Config:
    path = folder / "config.toml"
    if not path.is_file():
        raise AsyncplayError(f"{folder} is no folder of a run: it has no config.toml")
    return load(path)


def _game(config: Config) -> GameSpec:
    return games.load(config.game.name, config.game.options)


def _missing(numbers: list[int]) -> list[str]:
    """Gaps in what should be 1, 2, 3 and so on."""
    gaps = [range(before + 1, after) for before, after in pairwise([0, *numbers]) if after > before + 1]
    if not gaps:
        return []
    return [f"missing: number {as_ranges(number for gap in gaps for number in gap)}"]
