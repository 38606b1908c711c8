"""The 13 x 13 chart of a spot before the flop: suited hands above the diagonal, others below; as text and as SVG."""

from html import escape

from asyncplay.games.cards import RANK_LETTERS
from asyncplay.rating.spots import Spot

GROUPS = {"fold": ("f", "#9aa5b1"), "call": ("c", "#54a24b"), "raise": ("r", "#f58518"), "all-in": ("a", "#b2182b")}
"""Of actions: a letter and a colour."""
CELL = 46  # pixels


def grouped(spot: Spot, odds: list[float]) -> dict[str, float]:
    """The odds of folding, calling, raising and going all-in."""
    totals, last = dict.fromkeys(GROUPS, 0.0), len(odds) - 1
    for place, (action, share) in enumerate(zip(spot.actions, odds, strict=True)):
        group = action if action in GROUPS else "all-in" if spot.is_all_in and place == last else "raise"
        totals[group] += share
    return totals


def cells(spot: Spot) -> list[list[tuple[str, dict[str, float] | None]]]:
    """Names and odds of the 169 classes, aces first; None where the deck has no such hand."""
    known = {row.name: grouped(spot, row.odds) for row in spot.rows}
    ranks, lines = RANK_LETTERS[::-1], []
    for i, row in enumerate(ranks):
        names = [f"{row}{column}" + ("s" if i < j else "o" if i > j else "") for j, column in enumerate(ranks)]
        names = [name if i <= j else f"{name[1]}{name[0]}o" for j, name in enumerate(names)]
        lines.append([(name, known.get(name)) for name in names])
    return lines


def as_text(spot: Spot) -> list[str]:
    """Of each hand what it does most often, as a letter, and how often in percent."""
    lines = []
    for line in cells(spot):
        words = []
        for name, odds in line:
            if odds is None:
                words.append(f"{name:4}  . ")
                continue
            best = max(odds, key=lambda group: odds[group])
            words.append(f"{name:4}{GROUPS[best][0]}{min(round(100 * odds[best]), 99):02d}")
        lines.append(" ".join(words))
    return [*lines, ", ".join(f"{letter} {group}" for group, (letter, _) in GROUPS.items())]


def as_svg(spot: Spot, title: str) -> str:
    """A square for each hand, filled from the left by what it does."""
    parts, side = [], 13 * CELL
    for y, line in enumerate(cells(spot)):
        for x, (name, odds) in enumerate(line):
            left = float(x * CELL)
            for group, share in (odds or {}).items():
                width, colour = share * CELL, GROUPS[group][1]
                if width >= 0.05:
                    place = f'x="{left:.1f}" y="{y * CELL}" width="{width:.1f}" height="{CELL}"'
                    parts.append(f'<rect {place} fill="{colour}"/>')
                left += width
            middle = f'x="{(x + 0.5) * CELL}" y="{(y + 0.6) * CELL}"'
            parts.append(f'<text {middle} text-anchor="middle">{name}</text>')
    for k, (group, (_, colour)) in enumerate(GROUPS.items()):
        parts.append(f'<rect x="{k * 100}" y="{side + 8}" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{k * 100 + 20}" y="{side + 20}">{group}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side + 30}" font-family="sans-serif"'
    return "\n".join([f'{head} font-size="13">', f"<title>{escape(title)}</title>", *parts, "</svg>", ""])
