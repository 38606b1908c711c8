"""What every game promises, checked on random games; see spec.py.

``CHECKS`` are for the tests of a game, ours or another package's: each takes a GameSpec and fails by an AssertionError.
``random_game`` is the only player: it draws legal actions from one stream and lets chance draw from another, as a
search does. Every array it hands to a kernel lies between guards.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from asyncplay import rng
from asyncplay.games.kernels import warm_up
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec, end_reason, signature_flaw
from asyncplay.payloads import Array

GUARD, N_GUARDS = 77, 16
BOUND = 1.5  # of every feature that is a float


class PlayedDecision(NamedTuple):
    """A position somebody has to decide in."""

    state: Array
    player: int
    legal: Array
    features: Array
    action: int  # what was then played


class RandomGame(NamedTuple):
    """A finished random game."""

    decisions: list[PlayedDecision]
    final: Array
    returns: Array


class GuardedArray:
    """An array inside a larger one; ``check`` says whether the rest is untouched."""

    def __init__(self, size: int, dtype: type) -> None:
        self._all: Array = np.full(size + 2 * N_GUARDS, GUARD, dtype)
        self.inside = self._all[N_GUARDS:-N_GUARDS]

    def check(self) -> None:
        assert (self._all[:N_GUARDS] == GUARD).all(), "a kernel wrote before its array"
        assert (self._all[-N_GUARDS:] == GUARD).all(), "a kernel wrote behind its array"


class GuardedGame:
    """A game with guarded arrays to play it on."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self._arrays = [
            GuardedArray(spec.state_words, np.int64),
            GuardedArray(spec.max_legal, np.int32),
            GuardedArray(spec.row_features, spec.feature_dtype),
            GuardedArray(spec.players, np.float64),
            GuardedArray(rng.STREAM_WORDS, np.uint64),
            GuardedArray(len(spec.rules), np.int64),
            GuardedArray(len(spec.new_room()), np.int64),
        ]
        self.state, self._actions, self._features, self._returns, self.stream, self.rules, self.room = (
            array.inside for array in self._arrays
        )
        self.rules[:] = spec.rules
        check_signatures(spec)
        kernels = spec.kernels  # for their own signatures, so that what a search compiles is found on the disk
        warm_up([kernels.reset, kernels.legal, kernels.play, kernels.to_move, kernels.returns, kernels.encode])

    def reset(self, seed: int) -> None:
        self.stream[:] = rng.stream(seed, 0)
        self.spec.kernels.reset(self.rules, self.state)

    def settle(self) -> int:
        """Let chance happen; return the seat to move or GAME_OVER."""
        kernels = self.spec.kernels
        while (mover := kernels.to_move(self.rules, self.state)) == CHANCE_TURN:
            assert kernels.legal(self.rules, self.state, self._actions, self.room) == 0
            kernels.chance(self.rules, self.state, self.stream)
        return mover

    def legal(self) -> Array:
        return self._actions[: self.spec.kernels.legal(self.rules, self.state, self._actions, self.room)].copy()

    def encode(self, viewer: int) -> Array:
        self._features[:] = GUARD
        self.spec.kernels.encode(self.rules, self.state, viewer, self._features, self.room)
        return self._features.copy()

    def returns(self) -> Array:
        self.spec.kernels.returns(self.rules, self.state, self._returns)
        return self._returns.copy()

    def play(self, action: int) -> None:
        self.spec.kernels.play(self.rules, self.state, action, self.room)

    def check_guards(self) -> None:
        for array in self._arrays:
            array.check()
        np.testing.assert_array_equal(self.rules, self.spec.rules, "a kernel changed the rules")


def random_game(spec: GameSpec, seed: int) -> RandomGame:
    """Play uniformly random legal actions."""
    desk, choices = GuardedGame(spec), rng.stream(seed, 1)
    decisions: list[PlayedDecision] = []
    desk.reset(seed)
    while (player := desk.settle()) != GAME_OVER:
        before = desk.state.copy()
        legal, features = desk.legal(), desk.encode(player)
        np.testing.assert_array_equal(desk.state, before, "looking at a position changed it")
        assert len(legal) > 0, "a player to move without a legal action"
        assert len(decisions) < spec.max_decisions, "a game of more decisions than max_decisions"
        action = int(legal[rng.below(choices, len(legal))])
        decisions.append(PlayedDecision(before, player, legal, features, action))
        desk.play(action)
    assert len(desk.legal()) == 0
    desk.check_guards()
    return RandomGame(decisions, desk.state.copy(), desk.returns())


def games_of(spec: GameSpec, count: int = 30) -> Iterator[RandomGame]:
    return (random_game(spec, seed) for seed in range(count))


def check_signatures(spec: GameSpec) -> None:
    assert signature_flaw(spec) is None, signature_flaw(spec)


def check_sizes(spec: GameSpec) -> None:
    assert 2 <= spec.players <= 8, "players must be 2 to 8"
    assert spec.feature_dtype in (np.uint8, np.float32), "feature_dtype must be np.uint8 or np.float32"
    if spec.planes is not None:
        assert np.prod(spec.planes) + spec.global_features == spec.features, "planes and features do not agree"
    if spec.action_planes:
        assert spec.planes is not None, "action_planes without planes"
        n_actions = spec.action_planes * np.prod(spec.planes[1:]) + spec.global_actions
        assert n_actions == spec.actions, "action_planes, global_actions and actions do not agree"
    assert sum(count for count, _ in spec.feature_scale) <= spec.features, "feature_scale of more than the features"
    assert spec.rules.dtype == np.int64, "rules must be int64"
    assert spec.rules.flags.c_contiguous, "rules must be contiguous"


def check_actions_are_in_range_and_ascend(spec: GameSpec) -> None:
    for game in games_of(spec):
        for decision in game.decisions:
            assert decision.legal[0] >= 0, "a legal action below 0"
            assert decision.legal[-1] < spec.actions, "a legal action that is not below actions"
            assert (np.diff(decision.legal) > 0).all(), "legal actions that do not ascend"
            assert len(decision.legal) <= spec.max_legal, "more legal actions than max_legal"
            assert 0 <= decision.player < spec.players, "no such seat"


def check_games_end_in_time(spec: GameSpec) -> None:
    for game in games_of(spec):
        assert 0 < len(game.decisions) <= spec.max_decisions


def check_features_are_bounded(spec: GameSpec) -> None:
    """Every entry is written (none is the guard's number) and small, once it is scaled."""
    factors = np.ones(spec.row_features)
    factors[: sum(count for count, _ in spec.feature_scale)] = [
        factor for count, factor in spec.feature_scale for _ in range(count)
    ]
    for game in games_of(spec):
        for decision in game.decisions:
            assert np.abs(decision.features * factors).max() <= BOUND, f"a feature beyond {BOUND}, or not written"


def check_every_end_has_one_of_the_reasons(spec: GameSpec) -> None:
    for game in games_of(spec):
        assert end_reason(spec, game.final) in spec.reasons


def check_seed_and_actions_replay_a_game(spec: GameSpec) -> None:
    for seed in range(10):
        game, desk = random_game(spec, seed), GuardedGame(spec)
        desk.reset(seed)
        for decision in game.decisions:
            assert desk.settle() == decision.player
            np.testing.assert_array_equal(desk.state, decision.state)
            desk.play(decision.action)
        assert desk.settle() == GAME_OVER
        np.testing.assert_array_equal(desk.state, game.final)


def check_returns(spec: GameSpec) -> None:
    """They add up to 0 where they should, and their scaled form stays within -1 .. 1."""
    for game in games_of(spec, 3 if spec.is_staged else 30):
        if spec.is_staged:
            check_stages(spec, game)
        else:
            scaled = game.returns * spec.value_scale + spec.value_offset
            assert np.abs(scaled).max() <= 1.0 + 1e-9, "scaled returns beyond -1 .. 1"
        if spec.zero_sum:
            assert game.returns.sum() == 0.0, "returns that do not add up to 0, of a game with zero_sum"


def check_stages(spec: GameSpec, game: RandomGame) -> None:
    """What each stage brought, scaled, stays within -1 .. 1; a stage ends where chance has its turn."""
    desk, before = GuardedGame(spec), np.zeros(spec.players)
    for decision in game.decisions:
        desk.state[:] = decision.state
        desk.play(decision.action)
        if spec.kernels.to_move(spec.rules, desk.state) < 0:
            scaled = (desk.returns() - before) * spec.value_scale + spec.value_offset
            assert np.abs(scaled).max() <= 1.0 + 1e-9
            before = desk.returns()
    np.testing.assert_array_equal(before, game.returns)


def check_nothing_is_paid_before_the_start(spec: GameSpec) -> None:
    desk = GuardedGame(spec)
    desk.reset(0)

    assert not desk.returns().any(), "returns before the start"


def check_keys_tell_positions_apart(spec: GameSpec) -> None:
    """Equal key, equal look; different look, different key; and a key belongs to its viewer."""
    looks: dict[tuple[int, bytes], int] = {}
    for game in games_of(spec):
        for decision in game.decisions:
            key = spec.kernels.key(spec.rules, decision.state, decision.player)
            other = spec.kernels.key(spec.rules, decision.state, (decision.player + 1) % spec.players)
            look = (decision.player, decision.features.tobytes())
            assert looks.setdefault(look, key) == key, "two keys for what looks the same"
            assert other != key, "one key for two viewers"
    assert len(set(looks.values())) == len(looks), "one key for positions that look different"


def check_worlds_look_the_same(spec: GameSpec) -> None:
    """What is drawn for the hidden part does not change what the viewer sees, may do or remembers."""
    kernels, worlds = spec.kernels, np.full((5, spec.state_words), GUARD, np.int64)
    for decision in random_game(spec, 0).decisions:
        kernels.determinize(spec.rules, decision.state, decision.player, rng.stream(1), worlds)
        for world in worlds:
            assert kernels.to_move(spec.rules, world) == decision.player, "another seat to move in a world"
            keys = [kernels.key(spec.rules, state, decision.player) for state in (world, decision.state)]
            assert keys[0] == keys[1], "a world that looks different to its viewer"
            assert spec.is_hidden or (world == decision.state).all(), "a world that differs where nothing is hidden"


def check_endings_bring_what_can_be_got(spec: GameSpec) -> None:
    """A position is within reach if no more decisions are left than that, counted back from the end of the game or
    stage, and then all it brings lies within the range of values; only for games that are searched."""
    if spec.kernels.ending is None:
        return
    room, values = np.zeros((8, spec.state_words), np.int64), np.zeros((8, spec.players))
    for game in games_of(spec):
        n_left = 0
        for decision in reversed(game.decisions):
            after = decision.state.copy()
            spec.kernels.play(spec.rules, after, decision.action, spec.new_room())
            is_last = spec.is_staged and spec.kernels.to_move(spec.rules, after) < 0
            n_left = 1 if is_last else n_left + 1
            known = spec.kernels.ending(spec.rules, decision.state, 6, room, values)
            assert not (known and n_left > 6)
            if known:
                spec.kernels.returns(spec.rules, decision.state, before := np.zeros(spec.players))
                scaled = (values[0] - before) * spec.value_scale + spec.value_offset
                assert np.abs(scaled).max() <= 1.0 + 1e-9


def check_chance_does_what_it_lists(spec: GameSpec) -> None:
    """Odds add up to 1, and whatever is drawn is on the list; only for games that have one."""
    if spec.max_outcomes == 0:
        return
    desk, kernels = GuardedGame(spec), spec.kernels
    assert kernels.outcomes is not None, "max_outcomes without the kernel outcomes"
    assert kernels.happen is not None, "max_outcomes without the kernel happen"
    for seed in range(10):
        desk.reset(seed)
        while kernels.to_move(spec.rules, desk.state) == CHANCE_TURN:
            listed = listed_outcomes(spec, desk.state)
            assert abs(sum(odds for odds, _ in listed) - 1.0) < 1e-9, "odds that do not add up to 1"
            kernels.chance(spec.rules, desk.state, desk.stream)
            assert any((after == desk.state).all() for _, after in listed)


def listed_outcomes(spec: GameSpec, state: Array) -> list[tuple[float, Array]]:
    """Odds and state after each outcome of a chance turn."""
    numbers, odds = GuardedArray(spec.max_outcomes, np.int32), GuardedArray(spec.max_outcomes, np.float64)
    kernels: Any = spec.kernels
    count = kernels.outcomes(spec.rules, state, numbers.inside, odds.inside)
    numbers.check()
    odds.check()
    assert (np.diff(numbers.inside[:count]) > 0).all()
    after = np.repeat(state[None], count, axis=0)
    for number, changed in zip(numbers.inside, after, strict=False):
        kernels.happen(spec.rules, changed, number)
    return list(zip(odds.inside[:count].tolist(), after, strict=True))


def check_symmetries_are_permutations(spec: GameSpec) -> None:
    features, actions = spec.symmetries()

    assert features.shape == (spec.n_symmetries, spec.features + spec.hidden_features)
    assert (np.sort(features[:, : spec.features], axis=1) == np.arange(spec.features)).all(), (
        "hidden ones became visible"
    )
    assert (actions is None) == (spec.kernels.turn is not None)
    tables = [features] if actions is None else [features, actions]
    for table in tables:
        np.testing.assert_array_equal(table[0], np.arange(table.shape[1]))
        assert (np.sort(table, axis=1) == np.arange(table.shape[1])).all()
    assert actions is None or actions.shape == (spec.n_symmetries, spec.actions)
    assert len({table.tobytes() for table in features}) == spec.n_symmetries


def turn_action(spec: GameSpec, state: Array, action: int, y: int) -> int:
    """What an action becomes, by kernel or by table."""
    if spec.kernels.turn is not None:
        return spec.kernels.turn(spec.rules, state, action, y, spec.new_room())
    actions = spec.symmetries().actions
    assert actions is not None, "symmetries without a table of actions, and no kernel turn"
    return int(actions[y, action])


TurnState = Callable[[Array, int], Array]
"""Turns a position: (state, y) -> the turned state."""


def check_symmetries_commute_with_play_and_encode(spec: GameSpec, twin: TurnState | None = None) -> None:
    """Playing turned actions leads to turned positions: same features turned, same legal ones turned.

    ``twin`` is for games whose deals would have to be turned too; others are played from the start.
    """
    features = spec.symmetries().features[:, : spec.row_features]
    for y in range(spec.n_symmetries):
        game, desk = random_game(spec, y), GuardedGame(spec)
        desk.reset(y)
        for decision in game.decisions:
            if twin is not None:
                desk.state[:] = twin(decision.state, y)
            assert desk.settle() == decision.player
            np.testing.assert_array_equal(desk.encode(decision.player), decision.features[features[y]])
            turned = [turn_action(spec, decision.state, int(action), y) for action in decision.legal]
            np.testing.assert_array_equal(desk.legal(), np.sort(turned))
            desk.play(turn_action(spec, decision.state, decision.action, y))
            if twin is not None:
                after = decision.state.copy()
                spec.kernels.play(spec.rules, after, decision.action, desk.room)
                np.testing.assert_array_equal(desk.state, twin(after, y))
        assert desk.settle() == GAME_OVER
        np.testing.assert_array_equal(desk.returns(), game.returns)
        desk.check_guards()


def check_hidden_features_are_all_that_worlds_differ_in(spec: GameSpec) -> None:
    """Of rows that show them the first F are those of rows that do not; in other worlds only the rest differs, and it
    does differ where something is hidden. Only for games that encode it."""
    if spec.hidden_features == 0:
        return
    blind, seeing = GuardedGame(spec.showing(hidden=False)), GuardedGame(spec.showing(hidden=True))
    worlds, n_different = np.empty((5, spec.state_words), np.int64), 0
    for decision in random_game(spec, 0).decisions:
        spec.kernels.determinize(spec.rules, decision.state, decision.player, rng.stream(1), worlds)
        for world in worlds:
            blind.state[:] = decision.state
            seeing.state[:] = world
            row = seeing.encode(decision.player)
            np.testing.assert_array_equal(row[: spec.features], blind.encode(decision.player))
            assert (row[spec.features :] != GUARD).all()
            seeing.state[:] = decision.state
            n_different += (row != seeing.encode(decision.player)).any()
    blind.check_guards()
    seeing.check_guards()
    assert n_different > 0


def check_any_words_can_be_turned_as_a_state(spec: GameSpec) -> None:
    """States of examples come from workers; only for games that turn by a kernel."""
    if spec.kernels.turn is None:
        return
    random = np.random.default_rng(0)
    wild = [random.integers(-(2**63), 2**63, spec.state_words) for _ in range(50)]
    wild += [np.full(spec.state_words, word, np.int64) for word in (-1, 0, 1, 2, 3, 2**63 - 1, -(2**63))]
    for state in wild:
        before = state.copy()
        for action in range(0, spec.actions, 1 + spec.actions // 500):
            spec.kernels.turn(spec.rules, state, action, spec.n_symmetries - 1, spec.new_room())
        np.testing.assert_array_equal(state, before)


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_") and check is not check_stages]
