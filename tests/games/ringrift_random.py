"""Random games of RingRift: which tables are laid, and how a decision is drawn."""

import random
from itertools import product

from games.ringrift_twin import Decision, Options

SMALL, LARGE = ["square8", "hex8"], ["square19", "hexagonal"]
FEW_RINGS = [Options(board=board, rings=3) for board in LARGE]  # short games on large boards
KINDS = {"place", "move", "capture", "slide", "strike", "line", "pay_ring", "pay_cap", "extract", "claim", "eliminate"}
KINDS |= {"swap_sides", "skip_placement", "skip_capture", "skip_recovery", "skip_territory"}


def tables(boards: list[str]) -> list[Options]:
    """Each board with 2, 3 and 4 players."""
    return [Options(board=board, players=players) for board, players in product(boards, (2, 3, 4))]


def with_variants(options: Options, seed: int) -> Options:
    """Every second game has the stack-strike, two of three with two players the swap."""
    return Options(**vars(options) | {"strike": seed % 2 == 1, "swap": options.players == 2 and seed % 3 > 0})


def source_of(options: Options, seed: int) -> random.Random:
    """Another stream for each table and game."""
    return random.Random(f"{name_of(options)} {seed}")


def drawn(legal: list[Decision], source: random.Random, seed: int) -> Decision:
    """Uniform over the decisions or, in every second pair of games, over their kinds first: rare ones come up then."""
    if seed % 4 < 2:
        return source.choice(legal)
    kind = source.choice(sorted({decision[0] for decision in legal}))
    return source.choice([decision for decision in legal if decision[0] == kind])


def name_of(options: Options) -> str:
    return f"{options.board}-{options.players}"
