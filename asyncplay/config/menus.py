"""What the texts of ``[abstraction]`` mean: menus of raises, and buckets by street."""

import re
from itertools import pairwise

MOST_SIZES, MOST_RAISES = 16, 8
MOST_PERCENT, MOST_BUCKETS = 10_000, 65_535
CLASSES = 169  # of two cards: lossless before the flop
MENU_WORDS = 'ascending parts of the pot like "0.5 1 2", by raise number like "0.5 1 | 1 | -", where - is no raise'
BUCKET_WORDS = f'four numbers like "24/80/80/64", the first at most {CLASSES}, which is lossless'

Menu = tuple[int, ...]  # percent of the pot, ascending


def parse_menu(text: str) -> tuple[Menu | None, ...]:
    """The menu of the first raise of a street, of the second and so on, the last for all that follow; None: no raise.

    An empty menu leaves the all-in. ValueError says what a text must be.
    """
    menus = tuple(None if part.strip() == "-" else _parse_sizes(part) for part in text.split("|"))
    if len(menus) > MOST_RAISES:
        raise ValueError(f"menus for at most {MOST_RAISES} raises")
    if any(later is not None for before, later in pairwise(menus) if before is None):
        raise ValueError("without a menu after the -, as no raise follows none")
    return menus


def _parse_sizes(text: str) -> Menu:
    words = text.split()
    if not all(re.fullmatch(r"[0-9]{1,3}|[0-9]{0,3}\.[0-9]{1,2}", word) for word in words):
        raise ValueError(MENU_WORDS)
    sizes = tuple(round(100 * float(word)) for word in words)
    if list(sizes) != sorted({size for size in sizes if 0 < size <= MOST_PERCENT}) or len(sizes) > MOST_SIZES:
        raise ValueError(f"{MENU_WORDS}; at most {MOST_SIZES} of them, none above {MOST_PERCENT // 100} pots")
    return sizes


def parse_buckets(text: str) -> tuple[int, ...]:
    """Buckets of each street; ValueError says what a text must be."""
    words = text.split("/")
    if len(words) != 4 or not all(re.fullmatch(r"[0-9]{1,5}", word) for word in words):
        raise ValueError(BUCKET_WORDS)
    counts = tuple(int(word) for word in words)
    if not all(1 <= count <= MOST_BUCKETS for count in counts) or counts[0] > CLASSES:
        raise ValueError(BUCKET_WORDS)
    return counts
