"""Playout-cap randomisation: how many decisions are searched in full, what they cost and what they leave behind."""

import numpy as np
import pytest
from search.drive import play_all, policies, roomy_group

from asyncplay import games
from asyncplay.search.group import Group, make_settings

TICTACTOE, CONNECT4, BLOB = games.load("tictactoe"), games.load("connect4"), games.load("blob", {"cards": 3})
FULL, QUICK = 12, 4
NEVER = 1e-12  # a share of full decisions that never comes up


def searched(record) -> list[dict[int, int]]:
    """The policies of those decisions of tic-tac-toe that leave a choice."""
    return policies(record)[:8]


def test_the_share_of_full_decisions_is_the_one_asked_for():
    """Within 4 sigma of a binomial."""
    settings = make_settings(TICTACTOE, simulations=FULL, quick_simulations=QUICK, full_share=0.3)
    records, _ = play_all(Group(TICTACTOE, settings, 32), list(range(200)))
    is_full = np.array([bool(visits) for record in records for visits in searched(record)])

    assert len(is_full) > 1000
    assert abs(is_full.sum() - 0.3 * len(is_full)) < 4 * np.sqrt(0.3 * 0.7 * len(is_full))
    assert len({tuple(bool(visits) for visits in searched(record)) for record in records}) > 30


@pytest.mark.parametrize(("spec", "n_worlds"), [(TICTACTOE, 1), (BLOB, 3)], ids=["tictactoe", "blob"])
def test_full_and_quick_decisions_have_their_own_simulations_in_each_world(spec, n_worlds):
    """One simulation opens a root, the others go through an edge; the sum over all decisions is exact."""
    settings = make_settings(
        spec, simulations=FULL, quick_simulations=QUICK, full_share=0.4, worlds=n_worlds, keeps_tree=0
    )
    group = roomy_group(spec, settings, 4)
    records, _ = play_all(group, list(range(10)))
    full = [visits for record in records for visits in policies(record) if visits]
    n_quick = sum(int((record.values != 0).sum()) for record in records) - len(full)

    assert {sum(visits.values()) for visits in full} == {n_worlds * (FULL - 1)}
    assert n_quick > 10
    assert group.simulations() == n_worlds * (len(full) * FULL + n_quick * QUICK)


def test_only_full_decisions_become_rows():
    settings = make_settings(TICTACTOE, simulations=FULL, quick_simulations=QUICK, full_share=0.15)
    group = Group(TICTACTOE, settings, 8)
    records, _ = play_all(group, list(range(40)))
    n_rows = []
    for record in records:
        rows = group.examples(record)
        assert rows.decisions.tolist() == [i for i, visits in enumerate(searched(record)) if visits]
        assert len(rows.features) == len(rows.values) == len(rows.decisions)
        n_rows.append(len(rows.decisions))
    assert min(n_rows) == 0, "a game may leave nothing to learn from"
    assert max(n_rows) > 1


def test_quick_decisions_have_no_noise():
    """Were a single prior touched, or a number drawn for it, these games would part."""
    loud, quiet = (
        make_settings(CONNECT4, simulations=32, quick_simulations=12, full_share=NEVER, noise_weight=weight)
        for weight in (0.9, 0.0)
    )
    noised, _ = play_all(Group(CONNECT4, loud, 4), list(range(6)))
    plain, _ = play_all(Group(CONNECT4, quiet, 4), list(range(6)))

    for one, other in zip(noised, plain, strict=True):
        assert one.actions.tolist() == other.actions.tolist()
        assert one.values.tolist() == other.values.tolist()
        assert not one.policy_ends.any()


def test_full_decisions_beside_quick_ones_keep_their_noise():
    """The first decision is the same but for the one number that was drawn to decide that it is a full one."""
    settings = make_settings(CONNECT4, simulations=32, quick_simulations=12, full_share=1.0, noise_weight=0.9)
    capped, _ = play_all(Group(CONNECT4, settings, 4), list(range(6)))
    plain, _ = play_all(Group(CONNECT4, settings._replace(noise_weight=0.0), 4), list(range(6)))

    assert all(policies(one)[0] != policies(other)[0] for one, other in zip(capped, plain, strict=True))


def test_without_quick_simulations_no_share_changes_anything():
    share, other_share = (make_settings(CONNECT4, simulations=12, full_share=share) for share in (0.1, 1.0))
    one, _ = play_all(Group(CONNECT4, share, 4), list(range(6)))
    other, _ = play_all(Group(CONNECT4, other_share, 4), list(range(6)))

    assert [policies(record) for record in one] == [policies(record) for record in other]
    assert all(policies(record)[0] for record in one)
