"""Self-play and matches through the whole engine, inside this process."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import count

import numpy as np
import pytest
from rig import inline_pool

from asyncplay import games
from asyncplay.agents.catalogue import make_agent
from asyncplay.config.live import LiveSettings
from asyncplay.config.sections import SearchSettings
from asyncplay.engine.engine import Engine
from asyncplay.engine.evaluator import Endpoint
from asyncplay.engine.ledger import Ledger
from asyncplay.engine.work import Assignment, UnitWork, Work
from asyncplay.errors import AsyncplayError
from asyncplay.games.spec import GameSpec
from asyncplay.methods.selfplay import worker
from asyncplay.methods.selfplay.arena import Match
from asyncplay.methods.selfplay.messages import Game, MatchSpec, SelfplaySpec
from asyncplay.methods.selfplay.score import Score, compare, score
from asyncplay.methods.selfplay.worker import PlayingGroup, SelfPlayer
from asyncplay.payloads import Estimates, Positions
from asyncplay.search import entries
from asyncplay.search.group import kernel_settings
from asyncplay.wire.codec import encode
from asyncplay.wire.messages import Job, Message

GAME = games.load("tictactoe")
SEED = 5


def uniform(positions: Positions) -> Callable[[], Estimates]:
    """A network that knows nothing."""
    widths = np.diff(positions.offsets)
    priors = np.repeat(1 / widths, widths).astype(np.float32)
    return lambda: Estimates(priors, np.zeros((len(widths), 3), np.float32), 3)


def written(search: SearchSettings) -> str:
    """As a job carries it."""
    return json.dumps(asdict(search))


def search(simulations: int) -> str:
    return written(SearchSettings(simulations=simulations, warm_decisions=4, late_temperature=0.0))


async def run(work: Work, workers: int = 2, game: GameSpec = GAME, others: Sequence[Work] = ()) -> Engine:
    settings = LiveSettings(timeout_ms=None, max_rows=256)
    engine = Engine(inline_pool(), work, workers=workers, settings=settings, is_lockstep=True, others=others)
    for model in (0, 1, 2):
        engine.serve(model, Endpoint(game.features, game.actions, uniform, dtype=game.feature_dtype))
    async with asyncio.timeout(60):
        await engine.run()
    return engine


async def selfplay(n_games: int, *, workers: int = 2, thought: str | None = None) -> tuple[list[Game], Engine]:
    taken: list[Game] = []
    spec = encode(SelfplaySpec("tictactoe", "{}", 16, thought or search(20)))
    work = UnitWork(Assignment("selfplay", spec, SEED, chunk=8, low_water=16), Ledger(n_games), finished=taken.append)
    return taken, await run(work, workers)


def replayed(game: Game) -> np.ndarray:
    """Play a record by the rules alone and return what each seat got."""
    state, returns = GAME.new_state(), np.zeros(2)
    for action in game.actions:
        GAME.kernels.play(GAME.rules, state, int(action), GAME.new_room())
    GAME.kernels.returns(GAME.rules, state, returns)
    return returns


async def test_every_unit_becomes_one_game_that_the_rules_agree_with():
    taken, engine = await selfplay(50)

    assert sorted(game.unit for game in taken) == list(range(50))
    assert engine.ledger.books.issued == engine.ledger.books.done == 50
    for game in taken:
        np.testing.assert_array_equal(replayed(game), game.returns)
        assert game.returns.sum() == 0
        assert set(game.versions) == {3}


async def test_a_game_follows_from_its_seed_however_many_workers_there_are():
    one, _ = await selfplay(40, workers=1)
    three, _ = await selfplay(40, workers=3)
    by_unit = {game.unit: game.actions.tolist() for game in one}

    assert by_unit == {game.unit: game.actions.tolist() for game in three}
    assert len({tuple(actions) for actions in by_unit.values()}) > 20


async def test_forced_decisions_have_no_row_and_all_others_have_one():
    """The ninth cell is the only one left: no search, no row, no query."""
    taken, _ = await selfplay(50)
    for game in taken:
        searched = [decision for decision in range(len(game.actions)) if decision < 8]
        assert game.decisions.tolist() == searched
        assert np.allclose(np.add.reduceat(game.targets, game.offsets[:-1]), 1)
        assert (game.seats == game.decisions % 2).all()


async def test_quick_decisions_are_played_and_leave_no_row():
    """A tenth of the decisions are full ones: there are games with none, and they are games like the others."""
    section = SearchSettings(simulations=20, quick_simulations=5, full_share=0.1)
    taken, engine = await selfplay(60, thought=written(section))
    n_decisions = sum(min(len(game.actions), 8) for game in taken)
    n_rows = [len(game.features) for game in taken]

    assert engine.ledger.books.done == 60
    assert min(n_rows) == 0
    assert abs(sum(n_rows) - 0.1 * n_decisions) < 4 * np.sqrt(0.1 * 0.9 * n_decisions)
    for game in taken:
        np.testing.assert_array_equal(replayed(game), game.returns)
        assert set(game.decisions) <= set(range(8))


@pytest.mark.parametrize(("is_match", "n_quick"), [(False, 5), (True, 0)])
def test_matches_are_thought_over_in_full(is_match, n_quick):
    section = SearchSettings(simulations=20, quick_simulations=5)
    settings = kernel_settings(GAME, section, is_match=is_match)

    assert (settings.simulations, settings.quick_simulations) == (20, n_quick)


async def test_gumbel_roots_teach_a_share_of_every_legal_action():
    """Three cells are considered, but the policy learned is over all of them."""
    section = SearchSettings(simulations=8, root="gumbel", gumbel_actions=3, gumbel_scale=0.02)
    taken, _ = await selfplay(20, thought=written(section))

    for game in taken:
        assert game.decisions.tolist() == list(range(min(len(game.actions), 8)))
        assert np.allclose(np.add.reduceat(game.targets, game.offsets[:-1]), 1)
        assert game.targets.min() > 0


async def play_match(rival: str, n_games: int, *, opening: int = 2, simulations: int = 60) -> tuple[Match, list[Game]]:
    spec = MatchSpec("tictactoe", "{}", 8, search(simulations), "model:1", rival, opening)
    match = Match(Assignment("match", encode(spec), SEED, chunk=8, low_water=8), n_games, 2)
    taken: list[Game] = []
    take = match.work.finished
    match.work.finished = lambda game: (taken.append(game), take(game))[1]
    await run(match.work)
    return match, taken


async def test_the_two_games_of_a_pair_begin_alike_and_the_hero_changes_sides():
    _, taken = await play_match("random", 20)
    actions = {game.unit: game.actions[:2].tolist() for game in taken}

    assert all(actions[unit] == actions[unit + 1] for unit in range(0, 20, 2))
    assert len({tuple(opening) for opening in actions.values()}) > 3


async def test_a_search_that_knows_only_the_rules_beats_random_play():
    match, taken = await play_match("random", 60)

    result = match.score()
    assert result.games == len(taken) == 60
    assert result.wins + result.draws + result.losses == 60
    assert result.score > 0.75


async def test_equal_networks_play_every_pair_to_the_same_score():
    """Both sides think alike and without chance, so each plays the other's game: exactly one half."""
    match, taken = await play_match("model:2", 40)

    assert match.score().score == 0.5
    assert {game.unit for game in taken} == set(range(40))


async def test_an_agent_that_does_not_search_meets_itself_at_exactly_one_half():
    """Nobody asks a network; both draw the same in both games of a pair."""
    spec = MatchSpec("tictactoe", "{}", 8, search(1), "random", "random", 2)
    match = Match(Assignment("match", encode(spec), SEED, chunk=8, low_water=8), 40, 2)
    engine = await run(match.work)

    assert match.score().score == 0.5
    assert match.score().wins > 5
    assert engine.evaluator.stats().rows == 0


async def test_matches_at_a_time_in_one_worker_have_the_games_that_they_have_alone():
    def make(rival: str) -> tuple[Match, dict[int, list[int]]]:
        spec = MatchSpec("tictactoe", "{}", 4, search(8), "model:1", rival, 2)
        match, taken = Match(Assignment("match", encode(spec), SEED, chunk=4, low_water=4), 12, 2), {}
        take = match.work.finished
        match.work.finished = lambda game: (taken.__setitem__(game.unit, game.actions.tolist()), take(game))[1]
        return match, taken

    rivals, alone = ("random", "model:2", "perfect"), []
    for rival in rivals:
        match, taken = make(rival)
        await run(match.work, workers=1)
        alone.append(taken)
    matches = [make(rival) for rival in rivals]
    works = [match.work for match, _ in matches]
    await run(works[0], workers=1, others=works[1:])
    together = [taken for _, taken in matches]
    assert [len(taken) for taken in together] == [12, 12, 12]
    assert together == alone


async def test_openspiel_sees_the_same_game():
    """1,000 rollouts do not lose to 60 simulations from the empty board."""
    match, _ = await play_match("openspiel:mcts-1000", 10, opening=0)

    assert match.score().wins == 0


def test_the_interval_is_over_pairs():
    """Pairs of 1 and 0: every pair means .5, so only the least doubt is left."""
    result = score({unit: 1.0 if unit % 2 else -1.0 for unit in range(100)}, 2)
    assert (result.score, result.wins, result.losses) == (0.5, 50, 50)
    assert result.high - result.low == pytest.approx(2 * 1.96 * 0.01 / 50**0.5)


@pytest.mark.parametrize(("n_games", "rows", "thinking"), [(16, 16, 0), (255, 255, 0), (256, 128, 1), (401, 200, 1)])
def test_games_are_parted_only_where_both_groups_fill_a_block(n_games, rows, thinking):
    player = SelfPlayer(count(1))
    spec = encode(SelfplaySpec("tictactoe", "{}", n_games, search(20)))
    player.take(Job(1, "selfplay", 0, n_games, SEED, spec))
    (ask,) = player.advance(0.0).messages
    assert (len(ask.features), ask.thinking) == (rows, thinking)


async def test_games_too_long_to_be_told_of_together_are_told_of_one_after_another(monkeypatch):
    """The same games in the same order, however many of them a step tells of."""
    together, _ = await selfplay(40, workers=1)
    told: list[int] = []
    settle = SelfPlayer._settle

    def counted(self: SelfPlayer, table: PlayingGroup) -> list[Message]:
        messages = settle(self, table)
        told.append(len(messages))
        return messages

    monkeypatch.setattr(worker, "STEP_BYTES", 1)
    monkeypatch.setattr(SelfPlayer, "_settle", counted)
    apart, _ = await selfplay(40, workers=1)
    assert max(told) == 1
    assert [game.unit for game in apart] == [game.unit for game in together]
    for left, right in zip(together, apart, strict=True):
        np.testing.assert_array_equal(left.targets, right.targets)


@pytest.mark.parametrize(("leaves", "fill_rows"), [(1, 64), (8, 1), (8, 64)])
async def test_an_ask_says_how_many_of_its_rows_only_fill_it(leaves, fill_rows):
    """16 games: a block of 64 rows needs more than the first leaf of each tree."""
    section = SearchSettings(simulations=20, leaves=leaves, fill_rows=fill_rows)
    _, engine = await selfplay(20, workers=1, thought=written(section))
    stats = engine.evaluator.stats()

    assert stats.asked_rows == stats.rows > 500
    assert (stats.extra_rows > 0.3 * stats.asked_rows) == (stats.extra_rows > 0) == (leaves > 1 and fill_rows > 1)
    assert stats.spared_rows == 0


async def test_a_worker_that_remembers_asks_less_and_says_how_much():
    """What was asked and what was spared together are the rows that a worker without a memory asks."""

    async def rows(cache: int) -> tuple[int, int, list[Game]]:
        taken: list[Game] = []
        spec = encode(SelfplaySpec("tictactoe", "{}", 16, search(20), cache))
        work = UnitWork(Assignment("selfplay", spec, SEED, chunk=8, low_water=16), Ledger(40), finished=taken.append)
        stats = (await run(work, 1)).evaluator.stats()
        return stats.rows, stats.spared_rows, sorted(taken, key=lambda game: game.unit)

    plain, none_spared, games_asked = await rows(0)
    asked, spared, games_recalled = await rows(100_000)
    assert none_spared == 0
    assert asked < 0.7 * plain
    for left, right in zip(games_asked, games_recalled, strict=True):
        np.testing.assert_array_equal(left.actions, right.actions)
        np.testing.assert_array_equal(left.targets, right.targets)
    assert 0 <= plain - asked - spared <= 16 * 20  # the last rows spared had no ask after them to tell of them


def test_points_of_more_than_two_seats_are_compared_with_the_others():
    """Two deals of three seats; the hero has 10 and the others 4 on average in the first, 1 and 1 in the second."""
    first = {0: [10, 0, 8], 1: [8, 10, 0], 2: [4, 4, 10]}
    second = {3: [1, 1, 1], 4: [1, 1, 1], 5: [1, 1, 1]}
    result = compare({unit: np.array(points, float) for unit, points in (first | second).items()}, 3)

    assert result.score == 3.0
    assert (result.wins, result.draws, result.losses) == (3, 3, 0)
    assert result.points == (5.5, 5.5, 5.5)
    assert result.others == 2.5
    assert result.high - result.low == pytest.approx(2 * 1.96 * np.std([6, 0], ddof=1) / 2**0.5)
    assert str(result).startswith("+3.00 points above the others' 2.50 (")
    assert str(result).endswith("6 games); by seat 5.50 5.50 5.50")


BLOB = games.load("blob", {"players": 3, "cards": 2})


async def play_blob(rival: str, n_games: int) -> Score:
    entries.warm(BLOB)  # compiling is not what the time limit is for
    spec = MatchSpec("blob", '{"players": 3, "cards": 2}', 8, search(100), "model:1", rival, 0)
    match = Match(Assignment("match", encode(spec), SEED, chunk=8, low_water=8), n_games, 3)
    await run(match.work, game=BLOB)
    return match.score()


async def test_a_match_of_three_seats_is_told_in_points():
    """Each deal from each seat; the search knows nothing but the rules, and beats random play all the same."""
    result = await play_blob("random", 88)

    assert result.games == 90
    assert result.wins + result.draws + result.losses == 90
    assert result.score == pytest.approx(np.mean(result.points) - result.others)
    assert result.score > 0


async def test_the_rule_based_player_makes_more_points_than_random_play():
    assert (await play_blob("rules", 90)).others > (await play_blob("random", 90)).others + 1


def test_a_game_without_a_rule_based_player_says_so():
    with pytest.raises(AsyncplayError, match="connect4 has no rule-based player"):
        make_agent("rules", games.load("connect4"))
