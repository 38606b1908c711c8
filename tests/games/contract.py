"""What every game promises, checked on random games; see asyncplay/games/spec.py.

``random_game`` is the only player: it draws legal actions from one stream and lets chance draw from
another, as a search does. Every array it hands to a kernel lies between guards.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from games import blob_twin

from asyncplay import rng
from asyncplay.games.kernels import warm_up
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec, end_reason

GUARD, N_GUARDS = 77, 16
BOUND = 1.5  # of every feature that is a float


class Moment(NamedTuple):
    """A position somebody has to decide in."""

    state: np.ndarray
    player: int
    legal: np.ndarray
    features: np.ndarray
    action: int  # what was then played


class Played(NamedTuple):
    """A finished random game."""

    moments: list[Moment]
    final: np.ndarray
    returns: np.ndarray


class Guarded:
    """An array inside a larger one; ``check`` says whether the rest is untouched."""

    def __init__(self, size: int, dtype: type) -> None:
        self._all = np.full(size + 2 * N_GUARDS, GUARD, dtype)
        self.inside = self._all[N_GUARDS:-N_GUARDS]

    def check(self) -> None:
        assert (self._all[:N_GUARDS] == GUARD).all(), "a kernel wrote before its array"
        assert (self._all[-N_GUARDS:] == GUARD).all(), "a kernel wrote behind its array"


class Desk:
    """A game with guarded arrays to play it on."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self._arrays = [
            Guarded(spec.state_words, np.int64),
            Guarded(spec.max_legal, np.int32),
            Guarded(spec.row_features, spec.feature_dtype),
            Guarded(spec.players, np.float64),
            Guarded(rng.STREAM_WORDS, np.uint64),
            Guarded(len(spec.rules), np.int64),
            Guarded(len(spec.new_room()), np.int64),
        ]
        self.state, self._actions, self._features, self._returns, self.stream, self.rules, self.room = (
            array.inside for array in self._arrays
        )
        self.rules[:] = spec.rules
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

    def legal(self) -> np.ndarray:
        return self._actions[: self.spec.kernels.legal(self.rules, self.state, self._actions, self.room)].copy()

    def encode(self, viewer: int) -> np.ndarray:
        self._features[:] = GUARD
        self.spec.kernels.encode(self.rules, self.state, viewer, self._features, self.room)
        return self._features.copy()

    def returns(self) -> np.ndarray:
        self.spec.kernels.returns(self.rules, self.state, self._returns)
        return self._returns.copy()

    def play(self, action: int) -> None:
        self.spec.kernels.play(self.rules, self.state, action, self.room)

    def check_guards(self) -> None:
        for array in self._arrays:
            array.check()
        np.testing.assert_array_equal(self.rules, self.spec.rules, "a kernel changed the rules")


def random_game(spec: GameSpec, seed: int) -> Played:
    """Play uniformly random legal actions."""
    desk, choices, moments = Desk(spec), rng.stream(seed, 1), []
    desk.reset(seed)
    while (player := desk.settle()) != GAME_OVER:
        before = desk.state.copy()
        legal, features = desk.legal(), desk.encode(player)
        np.testing.assert_array_equal(desk.state, before, "looking at a position changed it")
        assert len(legal) > 0, "a player to move without a legal action"
        action = int(legal[rng.below(choices, len(legal))])
        moments.append(Moment(before, player, legal, features, action))
        desk.play(action)
    assert len(desk.legal()) == 0
    desk.check_guards()
    return Played(moments, desk.state.copy(), desk.returns())


def games_of(spec: GameSpec, count: int = 30) -> Iterator[Played]:
    return (random_game(spec, seed) for seed in range(count))


def check_sizes(spec: GameSpec) -> None:
    assert 2 <= spec.players <= 8
    assert spec.feature_dtype in (np.uint8, np.float32)
    if spec.planes is not None:
        assert np.prod(spec.planes) + spec.global_features == spec.features
    if spec.action_planes:
        assert spec.action_planes * np.prod(spec.planes[1:]) + spec.global_actions == spec.actions
    assert sum(count for count, _ in spec.feature_scale) <= spec.features
    assert spec.rules.dtype == np.int64
    assert spec.rules.flags.c_contiguous


def check_actions_are_in_range_and_ascend(spec: GameSpec) -> None:
    for game in games_of(spec):
        for moment in game.moments:
            assert moment.legal[0] >= 0
            assert moment.legal[-1] < spec.actions
            assert (np.diff(moment.legal) > 0).all()
            assert len(moment.legal) <= spec.max_legal
            assert 0 <= moment.player < spec.players


def check_games_end_in_time(spec: GameSpec) -> None:
    for game in games_of(spec):
        assert 0 < len(game.moments) <= spec.max_decisions


def check_features_are_bounded(spec: GameSpec) -> None:
    """Every entry is written (none is the guard's number) and small, once it is scaled."""
    factors = np.ones(spec.row_features)
    factors[: sum(count for count, _ in spec.feature_scale)] = [
        factor for count, factor in spec.feature_scale for _ in range(count)
    ]
    for game in games_of(spec):
        for moment in game.moments:
            assert np.abs(moment.features * factors).max() <= BOUND


def check_every_end_has_one_of_the_reasons(spec: GameSpec) -> None:
    for game in games_of(spec):
        assert end_reason(spec, game.final) in spec.reasons


def check_seed_and_actions_replay_a_game(spec: GameSpec) -> None:
    for seed in range(10):
        game, desk = random_game(spec, seed), Desk(spec)
        desk.reset(seed)
        for moment in game.moments:
            assert desk.settle() == moment.player
            np.testing.assert_array_equal(desk.state, moment.state)
            desk.play(moment.action)
        assert desk.settle() == GAME_OVER
        np.testing.assert_array_equal(desk.state, game.final)


def check_returns(spec: GameSpec) -> None:
    """They add up to 0 where they should, and their scaled form stays within -1 .. 1."""
    for game in games_of(spec, 3 if spec.is_staged else 30):
        if spec.is_staged:
            check_stages(spec, game)
        else:
            assert np.abs(game.returns * spec.value_scale + spec.value_offset).max() <= 1.0 + 1e-9
        if spec.zero_sum:
            assert game.returns.sum() == 0.0


def check_stages(spec: GameSpec, game: Played) -> None:
    """What each stage brought, scaled, stays within -1 .. 1; a stage ends where chance has its turn."""
    desk, before = Desk(spec), np.zeros(spec.players)
    for moment in game.moments:
        desk.state[:] = moment.state
        desk.play(moment.action)
        if spec.kernels.to_move(spec.rules, desk.state) < 0:
            scaled = (desk.returns() - before) * spec.value_scale + spec.value_offset
            assert np.abs(scaled).max() <= 1.0 + 1e-9
            before = desk.returns()
    np.testing.assert_array_equal(before, game.returns)


def check_nothing_is_paid_before_the_start(spec: GameSpec) -> None:
    desk = Desk(spec)
    desk.reset(0)

    assert not desk.returns().any()


def check_keys_tell_positions_apart(spec: GameSpec) -> None:
    """Equal key, equal look; different look, different key; and a key belongs to its viewer."""
    looks: dict[tuple[int, bytes], int] = {}
    for game in games_of(spec):
        for moment in game.moments:
            key = spec.kernels.key(spec.rules, moment.state, moment.player)
            other = spec.kernels.key(spec.rules, moment.state, (moment.player + 1) % spec.players)
            look = (moment.player, moment.features.tobytes())
            assert looks.setdefault(look, key) == key
            assert other != key
    assert len(set(looks.values())) == len(looks)


def check_worlds_look_the_same(spec: GameSpec) -> None:
    """What is drawn for the hidden part does not change what the viewer sees, may do or remembers."""
    kernels, worlds = spec.kernels, np.full((5, spec.state_words), GUARD, np.int64)
    for moment in random_game(spec, 0).moments:
        kernels.determinize(spec.rules, moment.state, moment.player, rng.stream(1), worlds)
        for world in worlds:
            assert kernels.to_move(spec.rules, world) == moment.player
            assert kernels.key(spec.rules, world, moment.player) == kernels.key(spec.rules, moment.state, moment.player)
            assert spec.is_hidden or (world == moment.state).all()


def check_endings_bring_what_can_be_got(spec: GameSpec) -> None:
    """A position is within reach if no more decisions are left than that, counted back from the end of the game or
    stage, and then all it brings lies within the range of values; only for games that are searched."""
    if spec.kernels.ending is None:
        return
    room, values = np.zeros((8, spec.state_words), np.int64), np.zeros((8, spec.players))
    for game in games_of(spec):
        n_left = 0
        for moment in reversed(game.moments):
            after = moment.state.copy()
            spec.kernels.play(spec.rules, after, moment.action, spec.new_room())
            is_last = spec.is_staged and spec.kernels.to_move(spec.rules, after) < 0
            n_left = 1 if is_last else n_left + 1
            known = spec.kernels.ending(spec.rules, moment.state, 6, room, values)
            assert not (known and n_left > 6)
            if known:
                spec.kernels.returns(spec.rules, moment.state, before := np.zeros(spec.players))
                scaled = (values[0] - before) * spec.value_scale + spec.value_offset
                assert np.abs(scaled).max() <= 1.0 + 1e-9


def check_chance_does_what_it_lists(spec: GameSpec) -> None:
    """Odds add up to 1, and whatever is drawn is on the list; only for games that have one."""
    if spec.max_outcomes == 0:
        return
    desk, kernels = Desk(spec), spec.kernels
    for seed in range(10):
        desk.reset(seed)
        while kernels.to_move(spec.rules, desk.state) == CHANCE_TURN:
            listed = listed_outcomes(spec, desk.state)
            assert sum(odds for odds, _ in listed) == pytest.approx(1.0)
            kernels.chance(spec.rules, desk.state, desk.stream)
            assert any((after == desk.state).all() for _, after in listed)


def listed_outcomes(spec: GameSpec, state: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Odds and state after each outcome of a chance turn."""
    numbers, odds = Guarded(spec.max_outcomes, np.int32), Guarded(spec.max_outcomes, np.float64)
    count = spec.kernels.outcomes(spec.rules, state, numbers.inside, odds.inside)
    numbers.check()
    odds.check()
    assert (np.diff(numbers.inside[:count]) > 0).all()
    after = np.repeat(state[None], count, axis=0)
    for number, changed in zip(numbers.inside, after, strict=False):
        spec.kernels.happen(spec.rules, changed, number)
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


def turn_action(spec: GameSpec, state: np.ndarray, action: int, y: int) -> int:
    """What an action becomes, by kernel or by table."""
    if spec.kernels.turn is not None:
        return spec.kernels.turn(spec.rules, state, action, y, spec.new_room())
    return int(spec.symmetries().actions[y, action])


STATE_TURNS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {"blob": blob_twin.turned}
"""Twins that turn a position, of games whose deals would have to be turned too; others are played from the start."""


def check_symmetries_commute_with_play_and_encode(spec: GameSpec) -> None:
    """Playing turned actions leads to turned positions: same features turned, same legal ones turned."""
    twin, features = STATE_TURNS.get(spec.name), spec.symmetries().features[:, : spec.row_features]
    for y in range(spec.n_symmetries):
        game, desk = random_game(spec, y), Desk(spec)
        desk.reset(y)
        for moment in game.moments:
            if twin is not None:
                desk.state[:] = twin(moment.state, y)
            assert desk.settle() == moment.player
            np.testing.assert_array_equal(desk.encode(moment.player), moment.features[features[y]])
            turned = [turn_action(spec, moment.state, int(action), y) for action in moment.legal]
            np.testing.assert_array_equal(desk.legal(), np.sort(turned))
            desk.play(turn_action(spec, moment.state, moment.action, y))
            if twin is not None:
                after = moment.state.copy()
                spec.kernels.play(spec.rules, after, moment.action, desk.room)
                np.testing.assert_array_equal(desk.state, twin(after, y))
        assert desk.settle() == GAME_OVER
        np.testing.assert_array_equal(desk.returns(), game.returns)
        desk.check_guards()


def check_hidden_features_are_all_that_worlds_differ_in(spec: GameSpec) -> None:
    """Of rows that show them the first F are those of rows that do not; in other worlds only the rest differs, and it
    does differ where something is hidden. Only for games that encode it."""
    if spec.hidden_features == 0:
        return
    blind, seeing = Desk(spec.showing(hidden=False)), Desk(spec.showing(hidden=True))
    worlds, n_different = np.empty((5, spec.state_words), np.int64), 0
    for moment in random_game(spec, 0).moments:
        spec.kernels.determinize(spec.rules, moment.state, moment.player, rng.stream(1), worlds)
        for world in worlds:
            blind.state[:] = moment.state
            seeing.state[:] = world
            row = seeing.encode(moment.player)
            np.testing.assert_array_equal(row[: spec.features], blind.encode(moment.player))
            assert (row[spec.features :] != GUARD).all()
            seeing.state[:] = moment.state
            n_different += (row != seeing.encode(moment.player)).any()
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
