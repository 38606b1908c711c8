"""RingRift's kernels against their slow twin: random games in both, every legal list, position and outcome."""

import numpy as np
import pytest
from games.ringrift_actions import action_of
from games.ringrift_random import FEW_RINGS, LARGE, SMALL, drawn, name_of, source_of, tables, with_variants
from games.ringrift_sides import KernelTable, TwinTable, View
from games.ringrift_twin import Options


def compared_options(options: Options, seed: int) -> Options:
    """The variants and, in every eighth game, few rings, one round of standing alone and a limit it may reach."""
    chosen = with_variants(options, seed)
    return Options(**vars(chosen) | {"rings": 5, "rounds": 1, "max_moves": 40}) if seed % 8 == 7 else chosen


def compare_game(options: Options, seed: int) -> View:
    """Return how it ended. Decisions are the twin's; their actions are found without the package's words for them."""
    chosen, source = compared_options(options, seed), source_of(options, seed)
    twin, kernels = TwinTable(chosen), KernelTable(chosen)
    spec, state, room = kernels.table.spec, kernels.table.state, kernels.table.spec.new_room()
    listed = np.empty(spec.max_legal, np.int32)
    while True:
        assert kernels.view() == twin.view(), f"game {seed} of {chosen}"
        count = spec.kernels.legal(spec.rules, state, listed, room)
        actions = sorted(action_of(twin.game, decision) for decision in twin.legal())
        assert listed[:count].tolist() == actions, f"game {seed} of {chosen}, {twin.view()}"
        if twin.game.outcome is not None:
            return twin.view()
        decision = drawn(twin.legal(), source, seed)
        spec.kernels.play(spec.rules, state, action_of(twin.game, decision), room)
        twin.play(decision)


def compare_games(options: Options, n_games: int) -> None:
    for seed in range(n_games):
        compare_game(options, seed)


@pytest.mark.parametrize("options", tables(SMALL) + FEW_RINGS, ids=name_of)
def test_random_games_agree_with_the_twin(options):
    compare_games(options, 4 if options.board in SMALL else 1)


@pytest.mark.slow
@pytest.mark.parametrize("options", tables(SMALL) + tables(LARGE), ids=name_of)
def test_more_random_games_agree_with_the_twin(options):
    compare_games(options, 60 if options.board in SMALL else 1)


@pytest.mark.exhaustive
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("options", tables(SMALL) + tables(LARGE), ids=name_of)
def test_2000_games_of_each_small_table_and_100_of_each_large_one_agree_with_the_twin(options):
    compare_games(options, 2000 if options.board in SMALL else 100)


@pytest.mark.parametrize("options", tables(SMALL), ids=name_of)
def test_the_package_s_words_for_actions_are_the_twin_s(options):
    """Both ways: an action told as a decision, and the decision found again."""
    chosen, source = with_variants(options, 3), source_of(options, 3)
    twin, kernels = TwinTable(chosen), KernelTable(chosen)
    while twin.game.outcome is None:
        assert sorted(map(repr, kernels.legal())) == sorted(map(repr, twin.legal()))
        decision = drawn(twin.legal(), source, 3)
        twin.play(decision)
        kernels.play(decision)
    assert kernels.view() == twin.view()
