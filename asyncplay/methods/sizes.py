"""The sizes of a run that follow from its configuration: its network, and the memory it needs before it begins.

Reckoned is what is surely filled: trees, caches and batches as they are laid out, copies of the weights, the replay
window up to ``replay.start_rows``, beyond which it grows for days, none of them beyond its limit in bytes. Nothing is
allocated, and torch is not loaded.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from asyncplay.config.sections import Config, changed
from asyncplay.data.replay import BLOCKS, ENTRY_BYTES, fixed_row_bytes
from asyncplay.errors import ConfigError
from asyncplay.games.spec import GameSpec
from asyncplay.methods.limits import MB, byte_limits, told
from asyncplay.model.shape import NetShape
from asyncplay.search.cache import cache_shape
from asyncplay.search.group import kernel_settings, make_sizes
from asyncplay.search.groups import group_bytes
from asyncplay.search.layout import KernelSettings, Sizes

MOST_SEATS = 8
SEEING_WIDTH, SEEING_BLOCKS = 256, 3  # of the value's own trunk beside a blobnet
COORDINATOR_BYTES, WORKER_BYTES = 256 * MB, 64 * MB  # processes that have loaded their libraries and nothing else
RUNTIME_BYTES, SESSION_COPIES = 32 << 20, 3  # of onnxruntime in a worker: its own, and weights that a session holds
WEIGHT_COPIES = 12  # network, gradients, two moments, mean; published, served, two of the arena; a checkpoint's
MICRO_ROWS = 256  # rows of a training step whose activations are there at a time
MOST_NUMBERS = 2**31 - 1  # trees count their nodes and edges by 32 bits


class Need(NamedTuple):
    """Bytes for one thing, and the keys of the configuration that it grows with."""

    keys: tuple[str, ...]
    n_bytes: int


class Machine(NamedTuple):
    """What there is."""

    cores: int
    free_bytes: int


class Blame(NamedTuple):
    """Why a configuration is refused, and which keys may have caused it."""

    keys: tuple[str, ...]
    excess: str


class SizeLimit(NamedTuple):
    """Something of which a run may have only so much."""

    most: int
    amount: Callable[[Config], int]
    blame: Callable[[Config], Blame]


NO_NAMES: Mapping[str, str] = {}


def net_shape(config: Config, game: GameSpec) -> NetShape:
    net = config.net
    planes = game.planes if net.kind == "resnet" else None
    seats = MOST_SEATS if net.kind == "blobnet" else game.players
    board = planes is not None
    shape = NetShape(
        net.kind,
        game.features,
        game.actions,
        seats,
        net.width,
        net.blocks,
        planes=planes,
        action_planes=game.action_planes if board else 0,
        global_features=game.global_features if board else 0,
        feature_scale=game.feature_scale,
        squeeze=net.squeeze,
        mask_plane=game.mask_plane if board else -1,
    )
    if not net.hidden_features:
        return shape
    width, blocks = (SEEING_WIDTH, SEEING_BLOCKS) if net.kind == "blobnet" else (net.width, net.blocks)
    return replace(
        shape,
        hidden_features=game.hidden_features,
        value_width=net.value_width or width,
        value_blocks=net.value_blocks or blocks,
    )


def require_selfplay(config: Config, game: GameSpec, machine: Machine) -> None:
    """ConfigError names the key that asks for too much, and a value that would fit."""
    keys, config = ("search.games", "search.worlds", "search.leaves", "search.simulations"), _settled(config, machine)
    message_bytes = byte_limits(config, machine.free_bytes).message
    limits = [
        _memory_limit(partial(selfplay_needs, game=game, free_bytes=machine.free_bytes), machine.free_bytes),
        *_group_limits(game, keys, _own_sizes, message_bytes),
        *_group_limits(game, ("arena.games", "arena.simulations"), _match_sizes, message_bytes),
    ]
    _check(config, limits)
    _require_window(config, game, machine.free_bytes)


def require_match(config: Config, game: GameSpec, machine: Machine, names: Mapping[str, str]) -> None:
    """The same of a match as ``[arena]`` describes it; ``names``: what its keys are called where they were typed."""
    config = _settled(config, machine)
    limits = [
        _memory_limit(partial(_match_needs, game=game), machine.free_bytes),
        *_group_limits(
            game, ("arena.games", "arena.simulations"), _match_sizes, byte_limits(config, machine.free_bytes).message
        ),
    ]
    _check(config, limits, names)


def require_load(config: Config, machine: Machine) -> None:
    """The same of a synthetic load."""

    def block(changed: Config) -> int:
        load = changed.load
        return min(load.slots, load.message_rows) * (load.row_bytes + 4 * load.actions + 4)

    keys = ("load.message_rows", "load.row_bytes", "load.actions")
    config = _settled(config, machine)
    message_bytes = byte_limits(config, machine.free_bytes).message
    _check(config, [_memory_limit(load_needs, machine.free_bytes), _message_limit(keys, block, message_bytes)])


def selfplay_needs(config: Config, game: GameSpec, free_bytes: int) -> list[Need]:
    """What a run that trains a network fills; its configuration says how many workers there are."""
    search, shape, workers = config.search, net_shape(config, game), config.pool.workers
    limits, n_caches = byte_limits(config, free_bytes), 0 if config.pool.kind == "inline" else workers
    row_bytes = _row_bytes(config, game)
    window, batch_rows = limits.window, config.batch.max_rows
    replay, units = config.replay, config.train.units or math.inf
    window_rows = int(min(replay.start_rows, replay.capacity_rows, units * game.max_decisions))
    trees = 2 * workers * _group_bytes(game, _own_sizes(config, game), kernel_settings(game, config.search))
    answers_there = config.pool.kind != "inline" and config.device.placement == "workers"
    return [
        *_match_needs(config, game),
        Need(("pool.workers",), answers_there * workers * session_bytes(shape)),
        Need(("search.games", "search.simulations", "search.worlds", "search.leaves"), trees),
        Need(("search.cache_positions",), n_caches * cache_shape(game, search.cache_positions, limits.cache).n_bytes),
        Need(("net.width", "net.blocks"), 4 * (WEIGHT_COPIES * shape.n_weights + MICRO_ROWS * shape.n_activations)),
        Need(("learn.batch_rows",), 2 * config.learn.batch_rows * row_bytes),
        Need(
            ("batch.max_rows",), 2 * batch_rows * (_feature_bytes(game) + 4 * game.row_features)
        ),  # as they come, as floats
        Need(("replay.start_rows", "replay.capacity_rows"), min(window_rows * row_bytes, window)),
        Need(("store.queue_games",), min(config.store.queue_games * game.max_decisions * row_bytes, limits.store)),
    ]


def session_bytes(shape: NetShape) -> int:
    """What a network of its own takes in a worker."""
    return RUNTIME_BYTES + 4 * SESSION_COPIES * shape.n_weights


def load_needs(config: Config) -> list[Need]:
    """What a synthetic load fills: rows that are thought of, asked and answered."""
    load = config.load
    n_bytes = 3 * load.slots * (load.row_bytes + 8 * load.actions + 48)
    return [_process_need(config), Need(("load.slots", "load.row_bytes", "load.actions"), n_bytes)]


def worker_bytes(config: Config, game: GameSpec, machine: Machine) -> int:
    """What one more worker of a run that trains a network takes."""
    config = _settled(config, machine)
    shared = ("net.width", "learn.batch_rows", "batch.max_rows", "replay.start_rows", "store.queue_games")
    needs = [need for need in selfplay_needs(config, game, machine.free_bytes) if need.keys[0] not in shared]
    return (sum(need.n_bytes for need in needs) - COORDINATOR_BYTES) // config.pool.workers


def _settled(config: Config, machine: Machine) -> Config:
    """With the number of workers that 0 stands for."""
    return config if config.pool.workers else changed(config, "pool.workers", machine.cores)


def _require_window(config: Config, game: GameSpec, free_bytes: int) -> None:
    """A window that cannot hold a few of the largest rows would lose those that come."""
    needed, window = BLOCKS * _row_bytes(config, game), byte_limits(config, free_bytes).window
    if window < needed:
        words = f"replay.capacity_mb is {config.replay.capacity_mb}: the window would hold {told(window)}"
        row = f"a row of {game.name} has up to {told(_row_bytes(config, game))}"
        raise ConfigError(f"{words}, and {row}; {math.ceil(needed / MB)} would do")


def _row_bytes(config: Config, game: GameSpec) -> int:
    """Of a training row with as many legal actions as there may be."""
    players = net_shape(config, game).players
    fixed = fixed_row_bytes(game.row_features, game.feature_dtype, players, game.example_words)
    return fixed + ENTRY_BYTES * game.max_legal


def _process_need(config: Config) -> Need:
    processes = 0 if config.pool.kind == "inline" else config.pool.workers
    return Need(("pool.workers",), COORDINATOR_BYTES + processes * WORKER_BYTES)


def _match_needs(config: Config, game: GameSpec) -> list[Need]:
    """Processes, and the trees of both sides of a match."""
    settings, sizes = kernel_settings(game, config.search), _match_sizes(config, game)
    trees = 2 * config.pool.workers * _group_bytes(game, sizes, settings)
    return [_process_need(config), Need(("arena.games", "arena.simulations"), trees)]


def _own_sizes(config: Config, game: GameSpec) -> Sizes:
    """Of one of the two groups that a worker with many games has."""
    n_games = max(math.ceil(config.search.games / config.pool.workers / 2), 1)
    return make_sizes(game, kernel_settings(game, config.search), n_games)


def _match_sizes(config: Config, game: GameSpec) -> Sizes:
    """Of one side."""
    arena = config.arena
    n_games = math.ceil(arena.games / config.pool.workers) if arena.every_s else 0
    return make_sizes(game, kernel_settings(game, config.search)._replace(simulations=arena.simulations), n_games)


def _group_bytes(game: GameSpec, sizes: Sizes, settings: KernelSettings) -> int:
    return group_bytes(game, sizes, settings) + sizes.rows * _feature_bytes(game)


def _feature_bytes(game: GameSpec) -> int:
    return game.row_features * np.dtype(game.feature_dtype).itemsize


def _memory_limit(needs: Callable[[Config], list[Need]], free_bytes: int) -> SizeLimit:
    def amount(config: Config) -> int:
        return sum(need.n_bytes for need in needs(config))

    def blame(config: Config) -> Blame:
        worst = max(needs(config), key=lambda need: need.n_bytes)
        words = f"it would need {told(worst.n_bytes)} of memory for this, {told(amount(config))} in all"
        return Blame(worst.keys, f"{words}, and {told(free_bytes)} are free")

    return SizeLimit(free_bytes, amount, blame)


def _group_limits(
    game: GameSpec, keys: tuple[str, ...], sizes_of: Callable[[Config, GameSpec], Sizes], message_bytes: int
) -> Iterator[SizeLimit]:
    """Games that think together count their trees by 32 bits and ask in one message; the simulations' key is last."""

    def numbers(config: Config) -> int:
        sizes = sizes_of(config, game)
        return sizes.games * sizes.worlds * max(sizes.nodes_per_tree, sizes.edges_per_tree)

    def block(config: Config) -> int:
        sizes = sizes_of(config, game)
        rows = min(sizes.rows, max(sizes.games * sizes.worlds, config.search.fill_rows))
        return rows * (_feature_bytes(game) + 4 * game.max_legal + 4)

    def blame(config: Config) -> Blame:
        words = f"trees that think together would have {numbers(config):,} edges"
        return Blame(keys, f"{words}, at most {MOST_NUMBERS:,} can be told apart")

    yield SizeLimit(MOST_NUMBERS, numbers, blame)
    yield _message_limit(keys[:-1], block, message_bytes)


def _message_limit(keys: tuple[str, ...], block: Callable[[Config], int], message_bytes: int) -> SizeLimit:
    def blame(config: Config) -> Blame:
        words = f"a worker would ask for {told(block(config))} at a time"
        return Blame(keys, f"{words}, a message has at most {told(message_bytes)}")

    return SizeLimit(message_bytes, block, blame)


def _check(config: Config, limits: Sequence[SizeLimit], names: Mapping[str, str] = NO_NAMES) -> None:
    """Blame that key of a limit which is furthest above its default, and say what value of it would fit all limits."""

    def fits(other: Config) -> bool:
        return all(limit.amount(other) <= limit.most for limit in limits)

    for limit in limits:
        if limit.amount(config) > limit.most:
            keys, excess = limit.blame(config)
            key = max(keys, key=lambda name: _value(config, name) / max(_value(Config(), name), 1))
            low, high = 0, _value(config, key)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if fits(changed(config, key, middle)) else (low, middle)
            round_down = 10 ** max(len(str(low)) - 2, 0)
            cure = f"{low // round_down * round_down} would fit" if low else "no other value would fit either"
            raise ConfigError(f"{names.get(key, key)} is {_value(config, key)}: {excess}; {cure}")


def _value(config: Config, name: str) -> int:
    section, _, key = name.partition(".")
    return int(getattr(getattr(config, section), key))
