"""``asyncplay tree``."""

from pathlib import Path

from asyncplay.cli.train import Settings
from asyncplay.errors import AsyncplayError


def tree(config: Path | None = None, *, json: bool = False, **settings: Settings) -> int:
    """Count the betting tree of an abstraction of hold'em and what solving it takes, before anything is trained.

    Parameters
    ----------
    config
        A TOML file, or the name of a configuration that comes with asyncplay; without one, the default menus.
    """
    from asyncplay import games, machine
    from asyncplay.cli.tables import show
    from asyncplay.config.loading import find, load
    from asyncplay.solve.abstraction.sizing import count_rows, require_fit

    if config is None:
        settings.setdefault("game", {}).setdefault("name", "holdem")
    chosen = load(None if config is None else find(config), settings)
    if chosen.game.name != "holdem":
        raise AsyncplayError(f"game.name is {chosen.game.name}: only holdem has an abstraction with a betting tree")
    spec = games.load(chosen.game.name, chosen.game.options)
    table = chosen.solve.table
    sizes = require_fit(spec, chosen.abstraction, machine.at_hand(), table)
    rows = count_rows(sizes, spec.players, table)
    return show({"buckets": chosen.abstraction.buckets, "rows": rows}, as_json=json)
