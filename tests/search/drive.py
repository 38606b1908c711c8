"""Plays groups with the twin's network."""

import numpy as np
from search.twin import Network, Twin, network

from asyncplay.games.spec import GameSpec
from asyncplay.search.examples import PlayedGame
from asyncplay.search.group import Group, make_sizes
from asyncplay.search.layout import KernelSettings


def think(group: Group, version: int = 0, opinion: Network = network) -> int:
    """One select and its answers; return the number of rows."""
    rows = group.select()
    n, n_players = len(rows.slots), group.spec.players
    mine = [slice(rows.offsets[i], rows.offsets[i + 1]) for i in range(n)]
    answers = [opinion(rows.features[i], rows.legal[mine[i]], n_players) for i in range(n)]
    priors, values = np.zeros(len(rows.legal), np.float32), np.zeros((n, n_players), np.float32)
    for i, (shares, worth) in enumerate(answers):
        priors[mine[i]], values[i] = shares, worth
    group.backup(priors, values, version)
    return n


def play_all(group: Group, seeds: list[int], opinion: Network = network) -> tuple[list[PlayedGame], int]:
    """Play one game for each seed, as many at a time as there are slots; return records and rows.

    The records come in the order of the seeds.
    """
    waiting, records, n_rows = list(seeds), {}, 0
    order(group, np.arange(group.sizes.games, dtype=np.int32), waiting)
    while len(records) < len(seeds):
        finished = group.advance()
        for slot in finished:
            record = group.take(int(slot))
            records[record.seed] = record
        order(group, finished, waiting)
        n_rows += think(group, opinion=opinion)
    return [records[seed] for seed in seeds], n_rows


def order(group: Group, slots: np.ndarray, waiting: list[int]) -> None:
    """Start as many games as there are seeds left, and stop the other slots."""
    chosen, rest = slots[: len(waiting)], slots[len(waiting) :]
    seeds = [waiting.pop(0) for _ in chosen]
    group.start(chosen, np.array(seeds, np.uint64))
    group.stop(rest)


def roomy_group(spec: GameSpec, settings: KernelSettings, n_games: int) -> Group:
    """A group whose pools never fill."""
    sizes = make_sizes(spec, settings, n_games)
    nodes = 2 * spec.max_decisions * (settings.simulations + 8)
    sizes = sizes._replace(nodes_per_tree=nodes, edges_per_tree=nodes * spec.max_legal)
    return Group(spec, settings, n_games, sizes)


def shortened(group: Group) -> int:
    """How many searches of the games under way were cut short so far because a tree was full."""
    return int(group.memory.games.slots["shortened"].sum())


def policies(record: PlayedGame) -> list[dict[int, int]]:
    """Visits by action for each decision."""
    starts = [0, *record.policy_ends[:-1]]
    return [
        dict(zip(record.policy_actions[a:b].tolist(), record.policy_visits[a:b].tolist(), strict=True))
        for a, b in zip(starts, record.policy_ends, strict=True)
    ]


def check_twin(kind: type[Twin], spec: GameSpec, settings: KernelSettings, n_games: int, seeds: list[int]) -> None:
    """The compiled search and a twin play the same games, visit for visit, and ask for as many rows."""
    records, n_rows = play_all(roomy_group(spec, settings, n_games), seeds)
    n_twin_rows = 0
    for record in records:
        twin = kind(spec, settings, record.seed)
        returns = twin.play()
        n_twin_rows += twin.rows
        assert record.actions.tolist() == twin.actions
        assert policies(record) == twin.visits
        np.testing.assert_allclose(record.values, twin.values, rtol=1e-6, atol=1e-12)
        np.testing.assert_array_equal(record.returns, returns)
    assert n_rows == n_twin_rows
