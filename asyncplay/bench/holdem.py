"""The load of hold'em that benches share: fold, call, pot or all-in with 100 big blinds, buckets 169/200/200/200."""

from collections.abc import Mapping
from dataclasses import replace

from asyncplay.config.loading import SHIPPED, load
from asyncplay.config.sections import Config
from asyncplay.console.progress import bar
from asyncplay.games.options import Value
from asyncplay.methods.buckets import first_use


def holdem_config(options: Mapping[str, Value] | None = None) -> Config:
    """The shipped configuration with other options of the game; its buckets are built if they are not there yet."""
    config = load(SHIPPED / "holdem-fcpa.toml")
    return with_buckets(replace(config, game=replace(config.game, options=config.game.options | dict(options or {}))))


def with_buckets(config: Config) -> Config:
    """The same configuration, when its bucket file is there."""
    if first_use.is_missing(config):
        with bar("building buckets") as progress:
            first_use.build_missing(config, progress)
    return config
