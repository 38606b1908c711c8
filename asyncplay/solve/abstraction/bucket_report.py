"""What the buckets of a file are like, for people."""

from typing import Any

from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import card_names, parse_cards
from asyncplay.games.holdem.canonical import BOARD_SIZES
from asyncplay.solve.abstraction.bucket_file import DEVIATION, MEAN, WEIGHT, BucketFile
from asyncplay.solve.abstraction.menus import STREET_NAMES

WIDE = 0.12  # a deviation of equity within a bucket, from which on it is called wide
BLOCKS = "▁▂▃▄▅▆▇█"


def describe(file: BucketFile) -> dict[str, Any]:
    """Parameters, and of each street the mean equity of its buckets and those that look wrong."""
    streets = []
    for name, stats in zip(STREET_NAMES, file.stats, strict=True):
        is_used = stats[:, WEIGHT] > 0
        streets.append(
            {
                "street": name,
                "buckets": len(stats),
                "means": [round(float(mean), 4) for mean in stats[:, MEAN]],
                "deviation": round(float(_mean_deviation(stats)), 4),
                "empty": [k for k in range(len(stats)) if not is_used[k]],
                "wide": [k for k in range(len(stats)) if stats[k, DEVIATION] > WIDE],
            }
        )
    return {"file": str(file.path), **file.parameters._asdict(), "sha256": file.digest, "streets": streets}


def _mean_deviation(stats: Any) -> float:
    """Of the equity of a hand from the mean of its bucket."""
    weights = stats[:, WEIGHT]
    return float(((weights * stats[:, DEVIATION] ** 2).sum() / weights.sum()) ** 0.5)


def explain(file: BucketFile, hand: str, board: str) -> list[dict[str, Any]]:
    """The bucket of a hand on each street that its board has; AsyncplayError for cards that cannot be."""
    hole, turned = parse_cards(hand), parse_cards(board)
    if len(hole) != 2:
        raise AsyncplayError(f"--hand is {hand}, must be two cards, like AsKd")
    if len(turned) not in BOARD_SIZES:
        raise AsyncplayError(f"--board is {board}, must be three to five cards, like 7h8h2c")
    if set(hole) & set(turned):
        twice = card_names(sum(1 << card for card in set(hole) & set(turned)))
        raise AsyncplayError(f"{twice} is in the hand and on the board")
    views = []
    for street, size in enumerate(BOARD_SIZES):
        if size <= len(turned):
            bucket = file.bucket(_set(hole), _set(turned[:size]))
            mean, deviation = file.stats[street][bucket, [MEAN, DEVIATION]].tolist()
            shown = "".join(card_names(1 << card) for card in turned[:size])
            name = STREET_NAMES[street]
            view = {"street": name, "board": shown, "bucket": bucket, "mean": mean, "deviation": deviation}
            share = file.stats[street][bucket, WEIGHT] / file.stats[street][:, WEIGHT].sum()
            views.append(view | {"share": float(share)})
    return views


def _set(cards: list[int]) -> int:
    return sum(1 << card for card in cards)


def as_lines(found: dict[str, Any], views: list[dict[str, Any]]) -> list[str]:
    """A line for the file, a line and a drawing for each street, warnings, then the hand."""
    sizes = "/".join(map(str, found["buckets"]))
    lines = [f"{found['file']}: {sizes} of {found['deck']} cards, {found['method']}, seed {found['seed']}"]
    lines.append(f"SHA-256 {found['sha256']}")
    for street in found["streets"]:
        drawn = "".join(BLOCKS[min(int(8 * mean), 7)] for mean in street["means"])
        spread = f"{street['means'][0]:.2f} to {street['means'][-1]:.2f}, within a bucket +-{street['deviation']:.3f}"
        lines += [f"{street['street']}: {street['buckets']} buckets, mean equity {spread}", f"  {drawn}"]
        for flaw in ("empty", "wide"):
            if street[flaw]:
                lines.append(f"  warning: {len(street[flaw])} {flaw}: {_listed(street[flaw])}")
    for view in views:
        where = f"{view['street']} {view['board']}".rstrip()
        equity = f"equity {view['mean']:.3f} +-{view['deviation']:.3f}, {view['share']:.1%} of all hands"
        lines.append(f"{where}: bucket {view['bucket']}, {equity}")
    return lines


def _listed(buckets: list[int], most: int = 12) -> str:
    words = ", ".join(map(str, buckets[:most]))
    return words if len(buckets) <= most else f"{words} and {len(buckets) - most} more"
