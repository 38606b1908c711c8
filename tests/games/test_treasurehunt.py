"""Treasurehunt: the positions of its text, a twin in plain Python, and blocks of environments."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from games.environments import CHECKS, Case
from games.treasurehunt_twin import Hunt, play

from asyncplay import games, rng
from asyncplay.archive.showing import replay
from asyncplay.games.block import ASKS, EnvironmentBlock, best_actions, explore
from asyncplay.games.kernels import ready
from asyncplay.games.spec import GAME_OVER, GameSpec
from asyncplay.games.treasurehunt import rules, show
from asyncplay.games.treasurehunt.layout import CELLS, DOWN, GEM, LEFT, ORDER, RIGHT, UP

CASES = {
    "as published": {},
    "small and shuffled": {"players": 3, "size": 6, "turns": 7, "shuffled": True},
    "a frame of 9": {"players": 8, "size": 5, "window": 9, "frames": 1, "turns": 4, "gem_rate": 0.3},
    "8 frames of 3": {"players": 2, "size": 8, "window": 3, "frames": 8, "turns": 12},
}


class Told:
    """The kernels with chance as arrays."""

    def __init__(self, spec: GameSpec, starts: np.ndarray) -> None:
        self.spec, self.state, self.room = spec, spec.new_state(), spec.new_room()
        for kernel in spec.kernels.all():
            ready(kernel)
        ready(rules.place)(spec.rules, self.state, starts.astype(np.int64))

    def grow(self, draws: np.ndarray, rate: float) -> None:
        ready(rules.spawn)(self.spec.rules, self.state, draws, rate)

    def arrange(self, order: np.ndarray) -> None:
        ready(rules.arrange)(self.spec.rules, self.state, order.astype(np.int64))

    @property
    def mover(self) -> int:
        return self.spec.kernels.to_move(self.spec.rules, self.state)

    def observe(self, agent: int) -> np.ndarray:
        row = np.full(self.spec.features, 77, np.uint8)
        self.spec.kernels.encode(self.spec.rules, self.state, agent, row, self.room)
        return row

    def act(self, action: int) -> float:
        agent, before = self.mover, self.returns()
        self.spec.kernels.play(self.spec.rules, self.state, action, self.room)
        gained = self.returns() - before
        assert not np.delete(gained, agent).any(), "a step pays the agent that made it"
        return float(gained[agent])

    def returns(self) -> np.ndarray:
        self.spec.kernels.returns(self.spec.rules, self.state, paid := np.empty(self.spec.players))
        return paid


def test_the_check_of_the_rules_pays_10_0_then_minus_1_0_then_10_0():
    """Map 5 x 5, agent 0 at (1, 1), agent 1 at (2, 2); gems at (1, 2) in turn 0 and (1, 1) in turn 1: no gem grows
    under an agent."""
    told = Told(games.load("treasurehunt", {"players": 2, "size": 5, "turns": 3}), np.array([[1, 1], [2, 2]]))
    draws = np.ones((3, 5, 5))
    draws[0, 1, 2] = draws[0, 1, 1] = draws[1, 1, 1] = 0.01
    paid = []
    for turn, actions in enumerate([(RIGHT, UP), (UP, UP), (LEFT, LEFT)]):
        told.grow(draws[turn], 0.02)
        paid.append([told.act(action) for action in actions])

    assert paid == [[10, 0], [-1, 0], [10, 0]]
    assert told.mover == GAME_OVER


def test_an_agent_that_walks_into_another_stays_and_gets_nothing():
    told = Told(games.load("treasurehunt", {"players": 2, "size": 5}), np.array([[1, 1], [1, 2]]))
    told.grow(np.ones((5, 5)), 0.02)

    assert told.act(RIGHT) == 0
    assert show.draw(told.spec, told.state)[1] == "#01.#"


def test_later_agents_see_the_earlier_moves_of_a_turn():
    told = Told(games.load("treasurehunt", {"players": 2, "size": 7, "frames": 1}), np.array([[3, 3], [3, 5]]))
    told.grow(np.ones((7, 7)), 0.02)
    told.act(UP)
    planes = told.observe(1).reshape(5, 5, 5)

    assert np.argwhere(planes[3]).tolist() == [[1, 0]]
    assert np.argwhere(planes[4]).tolist() == [[2, 2]]


def test_a_frame_has_each_cell_in_one_plane_and_walls_beyond_the_map():
    told = Told(games.load("treasurehunt", {"players": 2, "frames": 1}), np.array([[1, 1], [8, 8]]))
    told.grow(np.ones((10, 10)), 0.02)
    planes = told.observe(0).reshape(5, 5, 5)

    assert (planes.sum(axis=0) == 1).all()
    assert planes[1].sum() == 25 - 9, "two rows and columns of the window are walls or beyond them"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_that_of_the_twin(name, seed):
    spec, random = games.load("treasurehunt", CASES[name]), np.random.default_rng(seed)
    options = {"size": 10, "gem_rate": 0.02, "window": 5, "frames": 5, "turns": 50, "shuffled": False} | CASES[name]
    size, turns, rate = options["size"], options["turns"], options["gem_rate"]
    cells = random.permutation((size - 2) ** 2)[: spec.players]
    starts = np.stack([cells // (size - 2), cells % (size - 2)], axis=1) + 1
    draws, actions = random.random((turns, size, size)), random.integers(0, 4, (turns, spec.players))
    order = random.permuted(np.tile(np.arange(spec.players), (turns, 1)), axis=1) if options["shuffled"] else None
    hunt = Hunt(size, starts, rate, options["window"], options["frames"])
    told, begun = Told(spec, starts), -1
    for turn, agent, seen, reward in play(hunt, draws, actions, order):
        if turn > begun:
            told.grow(draws[turn], rate)
            if order is not None:
                told.arrange(order[turn])
            begun = turn
        assert told.mover == agent
        np.testing.assert_array_equal(told.observe(agent), seen)
        assert told.act(int(actions[turn, agent])) == reward
    assert told.mover == GAME_OVER


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", CASES)
def test_blocks_keep_the_contract_of_environments(name, check):
    spec = games.load("treasurehunt", CASES[name])
    check(
        Case(
            lambda n_slots: EnvironmentBlock(spec, n_slots),
            spec.features,
            spec.actions,
            spec.frames,
            spec.max_decisions,
        )
    )


def test_random_play_makes_257_an_episode():
    """As published, with an interval of 2; the mean of 4,000 episodes has a deviation of about 0.5."""
    spec, n_slots = games.load("treasurehunt"), 4000
    block, slots, streams = (
        EnvironmentBlock(spec, n_slots),
        np.arange(n_slots),
        np.array([rng.stream(1, n) for n in range(n_slots)]),
    )
    block.begin(slots, [0] * n_slots, np.array([rng.stream(0, slot) for slot in range(n_slots)]))
    sights = block.look(slots)
    for _ in range(spec.max_decisions):
        block.step(slots, explore(streams, np.ones(n_slots), sights))

    assert (block.movers == GAME_OVER).all()
    assert abs(block.paid.sum(axis=1).mean() - 257) < 2 + 3 * 0.5


def test_an_empty_cell_becomes_a_gem_at_the_rate_of_the_rules():
    spec = games.load("treasurehunt", {"turns": 1, "gem_rate": 0.25})
    block, slots = EnvironmentBlock(spec, 2000), np.arange(2000)
    block.begin(slots, [0] * 2000, np.array([rng.stream(3, slot) for slot in range(2000)]))
    gems = [int((block.state(slot)[CELLS : CELLS + 100] == GEM).sum()) for slot in slots]

    assert np.mean(gems) == pytest.approx(59 * 0.25, abs=3 * (59 * 0.25 * 0.75 / 2000) ** 0.5)


def test_shuffled_orders_come_equally_often():
    spec = games.load("treasurehunt", {"turns": 1, "players": 3, "shuffled": True})
    block, slots = EnvironmentBlock(spec, 6000), np.arange(6000)
    block.begin(slots, [0] * 6000, np.array([rng.stream(3, slot) for slot in range(6000)]))
    orders = [tuple(block.state(slot)[ORDER : ORDER + 3].tolist()) for slot in slots]
    counts = [orders.count(order) for order in sorted(set(orders))]

    assert len(counts) == 6
    assert max(abs(count - 1000) for count in counts) < 4 * 29  # deviations of a count


def test_rows_that_do_not_explore_ask_and_take_the_first_action_that_is_worth_most():
    spec = games.load("treasurehunt", {"players": 2})
    block, slots = EnvironmentBlock(spec, 3), np.arange(3)
    block.begin(slots, [0] * 3, np.array([rng.stream(0, slot) for slot in range(3)]))
    sights = block.look(slots)
    chosen = explore(np.array([rng.stream(1, slot) for slot in range(3)]), np.array([0.0, 1.0, 0.0]), sights)
    asked = sights.part(np.flatnonzero(chosen == ASKS))
    worths = np.array([0, 1, 1, 0, -3, -2, -1, -1], np.float32)

    assert (chosen == ASKS).tolist() == [True, False, True]
    assert asked.slots.tolist() == [0, 2]
    np.testing.assert_array_equal(asked.rows, sights.rows[[0, 2]])
    assert best_actions(worths, asked.legal, asked.offsets).tolist() == [1, 2]


def test_an_episode_is_drawn_as_text_and_as_an_animation_that_ends_with_its_returns():
    spec = games.load("treasurehunt", {"turns": 4})
    decisions, final = replay(spec, np.full(spec.max_decisions, DOWN), 5)
    states = [*(decision.state for decision in decisions), final]
    lines = show.draw(spec, states[-1])
    picture = show.animate(spec, states[:: spec.players])

    assert len(states) == spec.max_decisions + 1
    assert [len(line) for line in lines[:10]] == [10] * 10
    assert sorted(re.sub("[^0-9]", "", "".join(lines[:10]))) == list("01234")
    assert lines[10].startswith("turn 4 of 4: ")
    drawn = ElementTree.fromstring(picture)
    texts = [text.text for text in drawn.findall("{http://www.w3.org/2000/svg}text")]
    assert texts[-1] == lines[10]
    assert "animate" not in show.SHOW.svg(spec, states[0])
