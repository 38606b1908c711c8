"""What every game promises, checked on random games; see asyncplay/games/spec.py.

``random_game`` is the only player: it draws legal actions from one stream and lets chance draw from
another, as a search does. Every array it hands to a kernel lies between guards.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from asyncplay import rng
from asyncplay.games.spec import CHANCE_TURN, GAME_OVER, GameSpec

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
            Guarded(spec.features, spec.feature_dtype),
            Guarded(spec.players, np.float64),
            Guarded(rng.STREAM_WORDS, np.uint64),
            Guarded(len(spec.rules), np.int64),
            Guarded(len(spec.new_room()), np.int64),
        ]
        self.state, self._actions, self._features, self._returns, self.stream, self.rules, self.room = (
            array.inside for array in self._arrays
        )
        self.rules[:] = spec.rules

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
    assert spec.planes is None or np.prod(spec.planes) <= spec.features
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
    """Every entry is written (none is the guard's number) and small."""
    for game in games_of(spec):
        for moment in game.moments:
            assert np.abs(moment.features.astype(np.float64)).max() <= BOUND


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
    symmetries = spec.symmetries()

    assert symmetries.features.shape == (spec.n_symmetries, spec.features)
    assert symmetries.actions.shape == (spec.n_symmetries, spec.actions)
    for table in symmetries:
        np.testing.assert_array_equal(table[0], np.arange(table.shape[1]))
        assert (np.sort(table, axis=1) == np.arange(table.shape[1])).all()
    assert len({table.tobytes() for table in symmetries.features}) == spec.n_symmetries


def check_symmetries_commute_with_play_and_encode(spec: GameSpec) -> None:
    """Playing turned actions leads to turned positions: same features turned, same legal ones turned."""
    symmetries = spec.symmetries()
    for turn in range(spec.n_symmetries):
        game, desk = random_game(spec, turn), Desk(spec)
        desk.reset(turn)
        for moment in game.moments:
            assert desk.settle() == moment.player
            turned = moment.features[symmetries.features[turn]]
            np.testing.assert_array_equal(desk.encode(moment.player), turned)
            np.testing.assert_array_equal(desk.legal(), np.sort(symmetries.actions[turn, moment.legal]))
            desk.play(int(symmetries.actions[turn, moment.action]))
        assert desk.settle() == GAME_OVER
        np.testing.assert_array_equal(desk.returns(), game.returns)


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_") and check is not check_stages]
