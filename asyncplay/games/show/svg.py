"""Parts of SVG files: documents, lines of text, discs and cards."""

from collections.abc import Iterable, Sequence
from html import escape

WIDTH, LINE, MARGIN = 640, 18, 10  # pixels
CARD_WIDTH, CARD_HEIGHT, CARD_STEP = 34, 44, 38
HIDDEN = "??"
"""The name of a card that the viewer does not see."""
PLAYER_COLOURS = ("#c53030", "#2b6cb0", "#2f855a", "#b7791f", "#6b46c1", "#0987a0", "#97266d", "#4a5568")
_SIGNS = {"s": "♠", "h": "♥", "c": "♣", "d": "♦"}


def document(width: float, height: float, parts: Iterable[str]) -> str:
    """A whole file."""
    size = f'width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.0f} {height:.0f}"'
    return "\n".join([f'{head} font-family="sans-serif">', f'<rect {size} fill="white"/>', *parts, "</svg>", ""])


def written(lines: Sequence[str], top: float = 0) -> list[str]:
    """Lines of text from a height on, one below the other."""
    return [label(MARGIN, top + LINE * (number + 0.8), line) for number, line in enumerate(lines)]


def label(x: float, y: float, text: str, style: str = 'font-size="13"') -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style} xml:space="preserve">{escape(text)}</text>'


def card(x: float, y: float, name: str) -> str:
    """A card, or a die, that shows its name; one that is hidden shows its back."""
    if name == HIDDEN:
        return _rectangle(x, y, "#5a6f8f") + label(x + 12, y + 28, "?", 'font-size="16" fill="white"')
    sign = _SIGNS.get(name[1:], name[1:]) if len(name) == 2 and not name.isdecimal() else name[1:]
    colour = "#c53030" if sign in "♥♦" and sign else "#1a202c"
    style = f'font-size="15" text-anchor="middle" fill="{colour}"'
    return _rectangle(x, y, "white") + label(x + CARD_WIDTH / 2, y + 28, name[:1] + sign, style)


def _rectangle(x: float, y: float, fill: str) -> str:
    size = f'width="{CARD_WIDTH}" height="{CARD_HEIGHT}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} rx="5" fill="{fill}" stroke="#4a5568"/>'
