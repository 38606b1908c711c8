"""The loads that benches measure: one configuration a name, the same for every bench; a game's own has its name."""

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
    "blob-default": {
        "game": {"name": "blob"},
        "net": {"kind": "mlp", "width": "256", "blocks": "3"},
        "search": {
            "simulations": "16",
            "worlds": "3",
            "exact_decisions": "12",
            "root": "gumbel",
            "games": "256",
            "noise_alpha": "0.3",
            "warm_decisions": "10",
            "mild_decisions": "10",
            "late_temperature": "0.1",
        },
    },
    "connect4-mlp": {
        "game": {"name": "connect4"},
        "net": {"kind": "mlp", "width": "256", "blocks": "2"},
        "search": {"simulations": "32", "games": "1024"},
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
    load_name: str,
    backend: str,
    *,
    flag: str = "--game",
    placement: str = "coordinator",
    option: Sequence[str] | None = None,
    workers: int = 0,
    learns: bool = False,
    **more: dict[str, str],
) -> Config:
    """Play is never held back, whatever the learner does, and no arena takes a part of the device. ``flag``: by which
    the load was named; ``option``: of the game, KEY=VALUE; ``more``: further keys by section."""
    if load_name not in LOADS:
        raise AsyncplayError(f"{flag}: {unknown('game with a load to measure', load_name, tuple(LOADS))}")
    game = LOADS[load_name].get("game", {}).get("name", load_name)
    sections = LOADS[load_name] | {
        "game": {"name": game},
        "device": {"backend": backend, "placement": placement},
        "pool": {"workers": str(workers)},
        "learn": {"band_steps": "1e9", "minimum_rows": SOON_ROWS if learns else NEVER_ROWS},
        "arena": {"every_s": "0"},
    }
    config = load(None, {name: sections.get(name, {}) | more.get(name, {}) for name in sections | more})
    if (most := config.search.exact_decisions) and games.load(game).kernels.ending is no_ending:
        raise AsyncplayError(f"--exact-decisions {most}: {game} works no endings out; leave it away")
    return lay_over(config, option or ())
