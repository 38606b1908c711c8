"""``asyncplay buckets build|show``."""

from json import dumps
from pathlib import Path
from typing import Literal

from cyclopts import App

from asyncplay.cli.interrupts import EXIT_INTERRUPTED
from asyncplay.cli.kinds import MaybeKey, Seed
from asyncplay.cli.output import print_lines, say
from asyncplay.errors import AsyncplayError

buckets = App(name="buckets", help="Card buckets of hold'em: build a file of them, or look into one.")


@buckets.command
def build(
    sizes: str = "24/80/80/64",
    *,
    deck: Literal[24, 36, 52] = 52,
    seed: Seed = 0,
    out: Path | None = None,
    workers: MaybeKey = None,
) -> int:
    """Put all hands of every street into buckets by the distribution of their equity; goes on where a build was ended.

    Parameters
    ----------
    sizes
        Buckets before the flop, on the flop, the turn and the river; 169 before the flop is lossless.
    deck
        Cards: from twos, sixes or nines on.
    seed
        The same seed gives the same file.
    out
        The file to write; by default buckets/DECK-SIZES-SEED.buckets.
    workers
        Worker processes; without it, one for each usable core.
    """
    from asyncplay.config.loading import load
    from asyncplay.config.menus import parse_buckets
    from asyncplay.console.progress import bar
    from asyncplay.methods.buckets import build as building
    from asyncplay.solve.abstraction.bucket_file import bucket_path

    try:
        counts = parse_buckets(sizes)
    except ValueError as error:
        raise AsyncplayError(f"SIZES is {sizes}, must be {error}") from None
    config = load(None, {"pool": {"workers": str(workers)}} if workers is not None else {})
    path = out or bucket_path(deck, sizes, seed)
    try:
        with bar("building buckets") as progress:
            digest = building.build(path, building.plan(deck, counts, seed), config, progress)
    except KeyboardInterrupt:
        say(f"ended before {path} was whole; the same command goes on")
        return EXIT_INTERRUPTED
    say(f"{path}: SHA-256 {digest}")
    return 0


@buckets.command
def show(file: Path, *, hand: str | None = None, board: str = "", verify: bool = False, json: bool = False) -> int:
    """Say what a file's buckets are like, and which of them a hand is in.

    Parameters
    ----------
    file
        As ``buckets build`` made it.
    hand
        Two cards, like AsKd: their bucket on each street that the board has.
    board
        Three to five cards, like 7h8h2c.
    verify
        Read all of the file and compare its SHA-256.
    """
    from asyncplay.solve.abstraction.bucket_file import BucketFile
    from asyncplay.solve.abstraction.bucket_report import as_lines, describe, explain

    opened = BucketFile(file)
    if verify:
        opened.verify()
    if board and hand is None:
        raise AsyncplayError(f"--board {board} without --hand: a board alone is in no bucket")
    found = describe(opened)
    views = [] if hand is None else explain(opened, hand, board)
    print_lines([dumps(found | {"hand": views})] if json else as_lines(found, views))
    return 0
