"""Whether hold'em can be solved as it is configured, and the bucket file that its first run builds."""

from asyncplay import games
from asyncplay.config.menus import parse_buckets
from asyncplay.config.sections import Config
from asyncplay.errors import AsyncplayError, ConfigError
from asyncplay.games.holdem.layout import CARDS_IN_PLAY
from asyncplay.methods.buckets.build import Progress, build, plan
from asyncplay.solve.abstraction.blueprint import file_of
from asyncplay.solve.abstraction.sizing import is_shared, require_fit

SEED = 0  # of files that are built on first use: runs of all seeds share them


def require(config: Config, free_bytes: int) -> None:
    """ConfigError if the method is another, or the table is too large."""
    if config.solve.method != "external":
        raise ConfigError(f"solve.method is {config.solve.method}: holdem is solved by external sampling; use external")
    spec = games.load(config.game.name, config.game.options)
    sizes = require_fit(spec, config.abstraction, free_bytes, config.solve.table)
    if config.solve.weighting == "discounted" and is_shared(config.solve.table, sizes):
        raise ConfigError("solve.weighting is discounted, which a shared table cannot be; use linear or uniform")
    path = file_of(spec, config.abstraction)
    if config.abstraction.file and not path.exists():
        cure = f"`asyncplay buckets build {config.abstraction.buckets} --out {path}` makes it"
        raise AsyncplayError(f"abstraction.file is {path}, which is not there; {cure}")


def is_missing(config: Config) -> bool:
    """Whether the run's bucket file is still to be built."""
    return not file_of(games.load(config.game.name, config.game.options), config.abstraction).exists()


def build_missing(config: Config, progress: Progress) -> None:
    """Build it; what an ended build has done is used."""
    spec = games.load(config.game.name, config.game.options)
    cards = int(spec.rules[CARDS_IN_PLAY]).bit_count()
    parameters = plan(cards, parse_buckets(config.abstraction.buckets), SEED)
    build(file_of(spec, config.abstraction), parameters, config, progress)
