"""The load each game is measured under: one configuration a game, the same for every bench."""

from collections.abc import Sequence

from asyncplay import games
from asyncplay.config.loading import load
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError
from asyncplay.games.options import unknown
from asyncplay.games.spec import no_ending
from asyncplay.methods.game_options import lay_over

LOADS: dict[str, dict[str, dict[str, str]]] = {
    "blob": {
        "net": {"kind": "blobnet", "width": "256", "blocks": "6"},
        "search": {
            "simulations": "30",
            "worlds": "3",
            "exact_decisions": "14",
            "games": "1024",
            "cache_positions": "100000",
            "noise_alpha": "0.3",
            "warm_decisions": "10",
            "mild_decisions": "10",
            "late_temperature": "0.1",
        },
    },
    "connect4": {"net": {"kind": "resnet", "width": "64", "blocks": "6"}, "search": {"simulations": "32"}},
    "ringrift": {
        "net": {"kind": "resnet", "width": "32", "blocks": "4", "squeeze": "8"},
        "search": {"simulations": "32", "noise_alpha": "0.1", "games": "256"},
    },
    "tictactoe": {"net": {"kind": "mlp"}},
}
SOON_ROWS, NEVER_ROWS = "256", str(2**40)  # before these have come, nothing is trained


def bench_config(
    game: str,
    backend: str,
    *,
    option: Sequence[str] | None = None,
    workers: int = 0,
    learns: bool = False,
    **more: dict[str, str],
) -> Config:
    """Play is never held back, whatever the learner does, and no arena takes a part of the device. ``option``: of the
    game, KEY=VALUE; ``more``: further keys by section."""
    if game not in LOADS:
        raise AsyncplayError(f"--game: {unknown('game with a load to measure', game, tuple(LOADS))}")
    sections = LOADS[game] | {
        "game": {"name": game} | LOADS[game].get("game", {}),
        "device": {"backend": backend},
        "pool": {"workers": str(workers)},
        "learn": {"band_steps": "1e9", "minimum_rows": SOON_ROWS if learns else NEVER_ROWS},
        "arena": {"every_s": "0"},
    }
    config = load(None, {name: sections.get(name, {}) | more.get(name, {}) for name in sections | more})
    if (most := config.search.exact_decisions) and games.load(game).kernels.ending is no_ending:
        raise AsyncplayError(f"--exact-decisions {most}: {game} works no endings out; leave it away")
    return lay_over(config, option or ())
