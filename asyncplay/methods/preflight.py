"""Whether a run of this configuration can begin: asked before there is a folder for it.

Whether a game can be solved by table is known only when its tree is laid out; of hold'em its betting tree is counted.
"""

from asyncplay import games
from asyncplay import machine as memory
from asyncplay.config.sections import Config
from asyncplay.errors import ConfigError
from asyncplay.machine import usable_cores
from asyncplay.methods import game_options
from asyncplay.methods.game_options import ABSTRACTED, SYNTHETIC_LOAD, SYNTHETIC_TREE


def require(config: Config, counted: str | None = None) -> None:
    """AsyncplayError names what does not fit; nothing is compiled, and torch is not loaded.

    ``counted``: "games" or "iters", if a flag of that name says how many units the run has.
    """
    unit = "games" if config.solve.method == "off" else "iters"
    if counted not in (None, unit):
        raise ConfigError(f"--{counted} counts nothing in this run of {config.game.name}; use --{unit}")
    from asyncplay.methods import sizes  # numba loads here, not on --help

    machine = sizes.Machine(usable_cores(), memory.at_hand())
    if config.population.method != "off":
        from asyncplay.methods.population import preflight as population

        population.require(config, machine.free_bytes)
        return
    if config.game.name == SYNTHETIC_LOAD:
        sizes.require_load(config, machine)
    if config.game.name == SYNTHETIC_LOAD or config.solve.method != "off":
        game_options.settled(config)
        if config.solve.table == "shared" and config.game.name != ABSTRACTED:
            raise ConfigError(f"solve.table is shared, which only {ABSTRACTED}'s can be; use auto")
        if config.game.name == ABSTRACTED:
            from asyncplay.methods.buckets import first_use

            first_use.require(config, machine.free_bytes)
        return
    if config.game.name == ABSTRACTED:
        cure = "use a configuration such as holdem-quick, or --solve.method external"
        raise ConfigError(f"game.name is {ABSTRACTED}, which is solved by table and not searched; {cure}")
    if config.game.name == SYNTHETIC_TREE:
        raise ConfigError(f"game.name is {SYNTHETIC_TREE}, which has a table and no search; set solve.method")
    game = games.load(config.game.name, config.game.options)
    from asyncplay.search import entries

    entries.require(game)
    if config.net.kind == "resnet" and game.planes is None:
        raise ConfigError(f"net.kind is resnet, but {game.name} has no board; use mlp")
    if config.net.hidden_features and config.net.kind == "resnet":
        raise ConfigError("net.hidden_features is true, but a resnet has no value trunk of its own; use mlp")
    if config.net.hidden_features and not game.hidden_features:
        raise ConfigError(f"net.hidden_features is true, but {game.name} encodes nothing hidden; leave it out")
    sizes.require_selfplay(config, game.showing(hidden=config.net.hidden_features), machine)
