"""Worlds chosen by what a network believes of the hidden cards."""

import zlib
from math import comb, exp, sqrt

import numpy as np
import pytest
from games.test_blob_worlds import SAMPLES_A_WORLD, Deal, all_deals, assert_evenly_drawn, check_position
from search.drive import order, play_all, policies
from search.test_worlds import decide, replant
from search.twin import network

from asyncplay import games, rng
from asyncplay.games.blob import layout as words
from asyncplay.payloads import HOLDER, SEEN
from asyncplay.records import Record, sparse
from asyncplay.search import beliefs, entries, layout
from asyncplay.search.group import Group, make_settings
from asyncplay.search.rebuilt import notes_of, rebuild_rows

pytestmark = pytest.mark.slow  # half a minute of compiling for what is off by default

BLOB = games.load("blob", {"players": 3, "cards": 3})
VIEWER = 2
TREES = 64


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    """Compiled before any clock runs."""
    entries.warm(BLOB, believes=True)


def believing(features, legal, n_players):
    """The twin's network, which also believes something that depends on what it sees."""
    priors, values = network(features, legal, n_players)
    opinions = np.random.default_rng(zlib.crc32(features.tobytes())).normal(size=n_players * words.CARDS)
    return priors, np.concatenate([values, opinions])


def imagined(belief: np.ndarray, candidates: int, count: int) -> list[Deal]:
    """At least ``count`` worlds of the check position, chosen by ``belief`` float32[C, P]."""
    spec, state, _ = check_position()
    group = Group(spec, make_settings(spec, simulations=1, worlds=TREES), 1)
    memory, imagine = group.memory, entries.load(spec).imagine
    memory.games.states[0], memory.games.streams[0, layout.THOUGHT_STREAM] = state, rng.stream(5)
    roots = np.arange(TREES) * group.sizes.nodes_per_tree
    memory.forest.nodes["mover"][roots] = VIEWER
    rows = memory.leaves.rows[:TREES]
    rows["slot"], rows["tree"], rows["node"], rows["seat"] = 0, np.arange(TREES), roots, VIEWER
    values = np.tile(np.concatenate([np.zeros(3), belief.ravel()]).astype(np.float32), (TREES, 1))
    room, found = beliefs.make_candidates(spec, candidates), []
    while len(found) < count:
        imagine(layout.pack(memory), values, room)
        hands = memory.forest.states[roots, words.HANDS : words.HANDS + VIEWER]
        found += [tuple(deal) for deal in hands.tolist()]
    return found


def test_a_flat_belief_leaves_all_1133_worlds_equally_likely():
    """So does one that adds something for a holder or a card as such: it is the same in all worlds."""
    _, _, here = check_position()
    deals = all_deals(here, VIEWER)
    belief = np.array([0.3, -1.0, 2.0]) + np.linspace(-1, 1, words.CARDS)[:, None]

    assert_evenly_drawn(imagined(belief, 4, SAMPLES_A_WORLD * len(deals)), deals)


@pytest.mark.parametrize(("strength", "candidates"), [(2.0, 4), (40.0, 16), (-40.0, 16)])
def test_a_belief_about_one_card_counts_as_the_formula_says(strength, candidates):
    """The share of worlds in which the left neighbour of the viewer holds the king of spades, within 4 deviations.

    Of M candidates k have it there with binomial odds; those weigh exp(strength) each, the others 1; a tenth of the
    choices is even. All worlds drawn are possible ones.
    """
    _, _, here = check_position()
    deals, card = all_deals(here, VIEWER), 11
    odds = sum(deal[0] >> card & 1 for deal in deals) / len(deals)
    belief = np.zeros((words.CARDS, 3))
    belief[card, 1] = strength

    found = imagined(belief, candidates, 20_000)

    weights = [(k * exp(strength), candidates - k) for k in range(candidates + 1)]
    chance = [comb(candidates, k) * odds**k * (1 - odds) ** (candidates - k) for k in range(candidates + 1)]
    chosen = sum(share * a / (a + b) for share, (a, b) in zip(chance, weights, strict=True))
    wanted = (1 - beliefs.EVEN_SHARE) * chosen + beliefs.EVEN_SHARE * odds
    assert set(found) <= deals
    share = np.mean([deal[0] >> card & 1 for deal in found])
    assert 0 < odds < 1
    assert abs(share - wanted) <= 4 * sqrt(wanted * (1 - wanted) / len(found))


def test_hidden_cards_do_not_change_a_decision_by_belief():
    swapped, found = 0, np.empty((1, BLOB.state_words), np.int64)
    for seed in range(8):
        settings = make_settings(BLOB, simulations=12, worlds=3)
        groups = [Group(BLOB, settings, 1, candidates=8) for _ in range(2)]
        for group in groups:
            order(group, np.zeros(1, np.int32), [seed])
            group.advance()
        for _ in range(seed % 4):
            for group in groups:
                decide(group, believing)
        if groups[0].memory.games.slots["status"][0] != layout.THINKING:
            continue
        state = groups[1].state(0)
        mover = BLOB.kernels.to_move(BLOB.rules, state)
        BLOB.kernels.determinize(BLOB.rules, state, mover, rng.stream(seed, 9), found)
        swapped += (state != found[0]).any()
        state[:] = found[0]
        replant(groups)
        assert decide(groups[0], believing) == decide(groups[1], believing)
    assert swapped > 5


def test_belief_changes_what_is_searched_but_not_how_much():
    settings = make_settings(BLOB, simulations=12, worlds=3)
    by_belief, _ = play_all(Group(BLOB, settings, 2, candidates=8), [1, 2, 3], believing)
    evenly, _ = play_all(Group(BLOB, settings, 2), [1, 2, 3], believing)

    searched = [visits for record in by_belief for visits in policies(record) if visits]
    assert {sum(visits.values()) for visits in searched} == {3 * 11}
    assert any(policies(one) != policies(other) for one, other in zip(by_belief, evenly, strict=True))


def test_without_beliefs_in_the_answers_nothing_is_chosen():
    """Candidates or not, a game is the same to the last visit."""
    settings = make_settings(BLOB, simulations=12, worlds=3)
    with_candidates, _ = play_all(Group(BLOB, settings, 2, candidates=8), [1, 2])
    without, _ = play_all(Group(BLOB, settings, 2), [1, 2])

    for one, other in zip(with_candidates, without, strict=True):
        assert policies(one) == policies(other)
        np.testing.assert_array_equal(one.actions, other.actions)


def test_rows_tell_who_has_which_card_as_the_player_may_learn_it():
    """The same as playing the record by hand; and the same again from what a store keeps of the game."""
    spec, entry = games.load("blob", {"players": 3, "cards": 2, "whole": True}), entries.load(BLOB)
    group = Group(spec, make_settings(spec, simulations=4), 1, tells_holders=True)
    (record,), _ = play_all(group, [7])

    rows = group.examples(record)

    state, chance, wanted = spec.new_state(), rng.stream(7, layout.CHANCE_STREAM), {}
    for decision, action in enumerate(record.actions.tolist()):
        while (mover := spec.kernels.to_move(spec.rules, state)) < 0:
            spec.kernels.chance(spec.rules, state, chance)
        wanted[decision] = np.empty(words.CARDS, np.int16)
        spec.kernels.holders(spec.rules, state, mover, wanted[decision])
        spec.kernels.play(spec.rules, state, action)
    np.testing.assert_array_equal(rows.holders, [wanted[decision] for decision in rows.decisions.tolist()])
    assert len(rows.holders) > 8
    assert set((rows.holders[rows.holders != SEEN] & HOLDER).tolist()) == {0, 1, 2}
    versions = record.versions[rows.decisions]
    kept = Record(
        record.actions,
        rows.decisions,
        rows.players.astype(np.int8),
        versions,
        *sparse(rows.legal, rows.offsets, rows.policy),
    )
    again = rebuild_rows(spec, entry.rebuild, notes_of(spec, 7, kept, record.returns), kept, entry.reveal)
    np.testing.assert_array_equal(again.holders, rows.holders)


def test_rows_say_nothing_of_holders_unless_asked():
    group = Group(BLOB, make_settings(BLOB, simulations=4), 1)
    (record,), _ = play_all(group, [7])
    rows = group.examples(record)
    assert rows.holders.shape == (len(rows.features), 0)
