"""No decision depends on cards that are really hidden, also where the network's values see hands: imagined ones."""

from collections.abc import Iterator

import numpy as np
import pytest
from search.drive import order, play_all, think
from search.twin import network

from asyncplay import games, rng
from asyncplay.config.sections import SearchSettings
from asyncplay.games.blob import layout as cards
from asyncplay.games.spec import GameSpec
from asyncplay.search import layout
from asyncplay.search.group import Group, kernel_settings

BLOB = games.load("blob").showing(hidden=True)
PUCT = SearchSettings(simulations=12, worlds=3)
WAYS = {
    "self-play": (PUCT, False),
    "endings worked out": (SearchSettings(simulations=12, worlds=3, exact_decisions=12), False),
    "gumbel": (SearchSettings(simulations=12, worlds=3, root="gumbel", exact_decisions=12), False),
    "arena": (PUCT, True),
    "gumbel arena": (SearchSettings(simulations=12, worlds=3, root="gumbel"), True),
}


def seeing(features: np.ndarray, legal: np.ndarray, n_players: int) -> tuple[np.ndarray, np.ndarray]:
    """Priors by what the player sees, values by everything in the row: another hand, another opinion."""
    return network(features[: BLOB.features], legal, n_players)[0], network(features, legal, n_players)[1]


def arrays_of(memory: object) -> Iterator[np.ndarray]:
    if isinstance(memory, np.ndarray):
        yield memory
    elif isinstance(memory, tuple):
        for part in memory:
            yield from arrays_of(part)


def is_thinking(group: Group) -> bool:
    return bool(group.memory.games.slots["status"][0] == layout.THINKING)


def decide(group: Group) -> tuple[list[int], int]:
    """Think a decision over and take it; return its visits and its action."""
    n_decisions = int(group.memory.games.slots["decisions"][0])
    visits: list[int] = []
    while group.memory.games.slots["decisions"][0] == n_decisions:
        think(group, opinion=seeing)
        visits = group.visits(0).tolist()
        group.advance()
    return visits, int(group.memory.records.decisions["action"][0, n_decisions])


def imagine(group: Group, spec: GameSpec, seed: int) -> None:
    """Draw the worlds of the present decision once more, from the position as it is now."""
    thought = group.memory.games.streams[0, layout.THOUGHT_STREAM]
    thought[:] = rng.stream(seed)
    worlds = np.empty((group.sizes.worlds, spec.state_words), np.int64)
    mover = spec.kernels.to_move(spec.rules, group.state(0))
    spec.kernels.determinize(spec.rules, group.state(0), mover, thought, worlds)
    group.memory.forest.states[:: group.sizes.nodes_per_tree] = worlds


def look(group: Group) -> None:
    """What must never happen: search the real hands."""
    group.memory.forest.states[:: group.sizes.nodes_per_tree] = group.state(0)


def swapped_decisions(way: str, n_wanted: int, *, cheats: bool = False) -> Iterator[bool]:
    """Whether a decision is the same with the real hands and with others that its player cannot tell from them."""
    search, is_match = WAYS[way]
    group = Group(BLOB, kernel_settings(BLOB, search, is_match=is_match), 1)
    found, seed, n_swapped = np.empty((1, BLOB.state_words), np.int64), 0, 0
    while n_swapped < n_wanted:
        if not is_thinking(group):
            order(group, np.zeros(1, np.int32), [seed := seed + 1])
            group.advance()
            continue
        kept, decisions = [array.copy() for array in arrays_of(group.memory)], []
        mover = BLOB.kernels.to_move(BLOB.rules, group.state(0))
        BLOB.kernels.determinize(BLOB.rules, group.state(0), mover, rng.stream(seed, n_swapped), found)
        is_other = (group.state(0) != found[0]).any()
        for state in (group.state(0).copy(), found[0]):
            for array, before in zip(arrays_of(group.memory), kept, strict=True):
                array[...] = before
            group.state(0)[:] = state
            if cheats:
                look(group)
            else:
                imagine(group, BLOB, n_swapped)
            decisions.append(decide(group))
        for array, before in zip(arrays_of(group.memory), kept, strict=True):
            array[...] = before
        decide(group)
        if is_other:
            n_swapped += 1
            yield decisions[0] == decisions[1]


@pytest.mark.parametrize("way", WAYS)
def test_hidden_cards_do_not_change_a_decision(way):
    assert all(swapped_decisions(way, 20))


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", WAYS)
def test_hidden_cards_do_not_change_one_decision_of_a_thousand(way):
    assert all(swapped_decisions(way, 1000))


def test_a_search_that_looked_would_be_found_out():
    """The network's values depend on every hand, so visits in the real world tell it from another."""
    assert sum(swapped_decisions("self-play", 20, cheats=True)) < 5


def test_examples_show_the_real_hands_behind_what_the_player_saw():
    """In the order of the seats to the left; their first features are those of a game that shows nothing hidden."""
    records, _ = play_all(Group(BLOB, kernel_settings(BLOB, PUCT), 2), [1, 2], opinion=seeing)
    blind = BLOB.showing(hidden=False)
    for record in records:
        rows = Group(BLOB, kernel_settings(BLOB, PUCT), 1).examples(record)
        plain = Group(blind, kernel_settings(blind, PUCT), 1).examples(record)
        np.testing.assert_array_equal(rows.features[:, : BLOB.features], plain.features)
        for block, state, player in zip(rows.features[:, BLOB.features :], rows.states, rows.players, strict=True):
            for k in (1, 2, 3):
                hand = int(state[cards.HANDS + (player + k) % 4])
                shown = block[52 * (k - 1) : 52 * k]
                assert [card for card in range(52) if hand >> card & 1] == np.flatnonzero(shown).tolist()
