"""The action abstraction of hold'em and its betting tree."""

import numpy as np
import pytest
from games.holdem_table import Hand
from numba import int32, int64
from solve.betting_twin import Twin, count

from asyncplay import games
from asyncplay.config.loading import load
from asyncplay.config.menus import parse_buckets, parse_menu
from asyncplay.config.tables import AbstractionSettings
from asyncplay.errors import ConfigError
from asyncplay.games.holdem import layout
from asyncplay.games.holdem.layout import CALL, FOLD, RAISE_TO
from asyncplay.games.kernels import kernel
from asyncplay.games.spec import GAME_OVER, RULES, STATE
from asyncplay.solve.abstraction.betting_tree import compile_tree, measure_tree
from asyncplay.solve.abstraction.menus import MOST_ACTIONS, STREET_NAMES, considered, menu_table
from asyncplay.solve.abstraction.sizing import MENU_KEYS, needed_memory, require_fit

DEFAULT = AbstractionSettings()
BUCKETS = parse_buckets(DEFAULT.buckets)
POT_OR_ALL_IN = AbstractionSettings(**dict.fromkeys(MENU_KEYS, "1"))
CAPPED = AbstractionSettings(**dict.fromkeys(MENU_KEYS, "0.5 1 | 1 | | -"))


@kernel(int64(RULES, int64[:, :, :, ::1], STATE, int32[::1]))
def list_considered(rules, menus, state, actions):
    return considered(rules, menus, state, actions)


def menu(hand: Hand, settings: AbstractionSettings = DEFAULT) -> list[object]:
    """What the mover considers, as the rules text writes it."""
    actions = np.zeros(MOST_ACTIONS, np.int32)
    found = actions[: list_considered(hand.rules, menu_table(settings), hand.state, actions)].tolist()
    return [{FOLD: "fold", CALL: "call"}.get(action, action - RAISE_TO) for action in found]


def test_example_1_the_button_opens():
    assert menu(Hand()) == ["fold", "call", 4, 5, 6, 8, 10, 12, 14, 200]


def test_example_2_the_button_limps():
    assert menu(Hand().act("call")) == ["call", 4, 5, 6, 8, 10, 12, 200]


def test_example_3_the_first_of_six():
    assert menu(Hand(players=6)) == ["fold", "call", 4, 5, 6, 7, 10, 12, 15, 200]


def test_example_4_the_cutoff_is_in_position():
    hand = Hand(players=6).act("call", "fold", "call", "fold", "fold", 10, "fold")
    assert menu(hand) == ["fold", "call", 18, 22, 25, 27, 33, 45, 56, 68, 79, 200]


def test_example_5_the_button_raises_again():
    assert menu(Hand().act(6, 20)) == ["fold", "call", 34, 40, 46, 50, 60, 80, 100, 120, 140, 200]


def test_example_6_the_flop():
    hand = Hand().act(6, "call")
    assert menu(hand) == ["call", 4, 9, 12, 194]
    assert menu(hand.act(9)) == ["fold", "call", 19, 32, 39, 54, 194]


@pytest.mark.parametrize(("stack", "raises"), [(55, [24, 37]), (56, [24, 36, 38])])
def test_example_7_97_percent_of_the_stack_are_all_of_it(stack, raises):
    """Turn, pot 36, first to act with 37 or 38 behind."""
    hand = Hand(stacks=f"{stack}/200").act(18, "call", "check", "check")
    assert hand.pot == 36
    assert menu(hand) == ["call", *raises]


def test_example_8_a_short_all_in_leaves_fold_and_call():
    hand = Hand(players=3, stacks="200/200/26").act("call", "call", "check", 20, "call", 24)
    assert menu(hand) == ["fold", "call"]


def test_example_8_a_full_all_in_reopens():
    hand = Hand(players=3, stacks="200/200/42").act("call", "call", "check", 20, "call", 40)
    assert menu(hand) == ["fold", "call", 75, 120, 146, 198]


def test_example_9_a_call_for_all_chips_leaves_no_all_in_besides():
    assert menu(Hand(stacks="200/36").act(6, "call", 50)) == ["fold", "call"]


def test_menus_go_by_raise_number_and_a_dash_forbids_the_all_in_too():
    hand = Hand().act("call")
    assert menu(hand, CAPPED) == ["call", 4, 6, 200]
    assert menu(hand.act(6), CAPPED) == ["fold", "call", 18, 200]
    assert menu(hand.act(18), CAPPED) == ["fold", "call", 200]
    assert menu(hand.act(40), CAPPED) == ["fold", "call"]


def test_the_default_tree_has_1402246_decisions():
    """Counted by two other programs: heads-up, 100 big blinds, buckets 24/80/80/64."""
    sizes = measure_tree(games.load("holdem"), menu_table(DEFAULT), BUCKETS)
    assert (sizes.n_decisions, sizes.n_infosets, sizes.n_entries) == (1_402_246, 98_101_616, 222_952_968)


def test_pot_or_all_in_has_1360_decisions():
    sizes = measure_tree(games.load("holdem"), menu_table(POT_OR_ALL_IN), [200] * 4)
    assert (sizes.n_decisions, sizes.n_entries) == (1_360, 672_200)


def test_20_blinds_have_4_million_entries():
    spec = games.load("holdem", {"stack": 40})
    assert measure_tree(spec, menu_table(DEFAULT), BUCKETS).n_entries == 4_064_952


def twin_of(stacks: list[int], settings: AbstractionSettings) -> Twin:
    menus = {
        (street, is_in): [None if row is None else list(row) for row in parse_menu(getattr(settings, key))]
        for street, name in enumerate(STREET_NAMES)
        for is_in, key in ((True, f"{name}_in"), (False, f"{name}_out"))
    }
    return Twin.start(stacks, 1, 2, menus)


def check_against_twin(stacks: list[int], settings: AbstractionSettings) -> None:
    spec = games.load("holdem", {"players": len(stacks), "stacks": "/".join(map(str, stacks))})
    sizes = measure_tree(spec, menu_table(settings), BUCKETS)
    decisions, actions = [0] * 4, [0] * 4
    ends = count(twin_of(stacks, settings), decisions, actions)
    assert (sizes.decisions, sizes.actions, sizes.ends) == (tuple(decisions), tuple(actions), ends)


@pytest.mark.parametrize(
    ("stacks", "settings"),
    [
        ([24, 24], DEFAULT),
        ([40, 17], DEFAULT),
        ([200, 200], POT_OR_ALL_IN),
        ([9, 14, 11], POT_OR_ALL_IN),
        ([12, 5, 20], CAPPED),
        ([5, 3, 9, 4], POT_OR_ALL_IN),
    ],
)
def test_the_tree_is_that_of_the_slow_twin(stacks, settings):
    check_against_twin(stacks, settings)


@pytest.mark.exhaustive
def test_the_default_tree_is_that_of_the_slow_twin():
    check_against_twin([200, 200], DEFAULT)


def test_a_compiled_tree_leads_where_the_real_game_leads():
    """Random ways down: the same movers, streets and considered actions, and at the end the same chips."""
    options = {"players": 3, "stacks": "30/12/44"}
    tree = compile_tree(games.load("holdem", options), menus := menu_table(DEFAULT), BUCKETS)
    random, ends = np.random.default_rng(0), set()
    for seed in range(300):
        hand, at = Hand(seed=seed, **options), 0
        while (node := tree.nodes[at])["mover"] != GAME_OVER:
            assert (node["mover"], node["street"]) == (hand.mover, hand.state[layout.STREET])
            actions = np.zeros(MOST_ACTIONS, np.int32)
            n = list_considered(hand.rules, menus, hand.state, actions)
            first = int(node["first"])
            assert int(node["n"]) == n
            assert tree.actions[first : first + n].tolist() == actions[:n].tolist()
            at = first + int(random.integers(n))
            hand.play(int(tree.actions[at]))
        assert hand.is_over
        assert node["base"] == hand.state[layout.FOLDED]
        assert tree.paid[node["first"]].tolist() == hand.state[layout.PAID : layout.PAID + 3].tolist()
        ends.add(at)
    assert len(ends) > 100


def test_the_entries_of_a_tree_follow_each_other_street_by_street():
    tree = compile_tree(games.load("holdem", {"stack": 24}), menu_table(DEFAULT), BUCKETS)
    decisions = tree.nodes[tree.nodes["mover"] >= 0]
    order = decisions[np.argsort(decisions["base"])]
    ends = order["base"] + order["n"] * np.array(BUCKETS)[order["street"]]
    assert order["base"][0] == 0
    np.testing.assert_array_equal(order["base"][1:], ends[:-1])
    assert ends[-1] == tree.sizes.n_entries
    assert (np.diff(order["street"].astype(int)) >= 0).all()
    assert len(tree.nodes) == tree.sizes.n_decisions + tree.sizes.ends == tree.nodes["n"].sum() + 1


def test_the_default_table_takes_what_was_reckoned():
    """8 bytes an entry, 12 on the first two streets; 20 blinds with few buckets are 33 MB of 16 bytes an entry."""
    sizes = measure_tree(games.load("holdem"), menu_table(DEFAULT), BUCKETS)
    assert needed_memory(sizes, 2).table == 8 * 222_952_968 + 4 * (4_264_776 + 45_642_240)
    small = measure_tree(games.load("holdem", {"stack": 40}), menu_table(DEFAULT), parse_buckets("12/40/40/32"))
    assert needed_memory(small, 2).table == 16 * 2_032_476


@pytest.mark.parametrize(
    ("free_mb", "cure"),
    [
        (1500, 'buckets = "12/40/40/32" would fit'),
        (40, '"1" for all menus would fit'),
        (0.9, '"1 | " for all menus would fit'),
        (0.35, '"1 | -" for all menus with buckets = "12/40/40/32" would fit'),
        (0.001, "no smaller ones would fit either"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(free_mb, cure):
    spec, settings = games.load("holdem"), AbstractionSettings()
    with pytest.raises(ConfigError) as refused:
        require_fit(spec, settings, int(free_mb * 1e6))
    lines = str(refused.value).splitlines()
    assert len(lines) == 1
    assert lines[0].endswith(f"free; {cure}")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("flop_in", "1 0.5"),
        ("flop_in", "1 1"),
        ("flop_in", "0.333"),
        ("flop_in", "0"),
        ("flop_in", "101"),
        ("flop_in", "half"),
        ("flop_in", "- | 1"),
        ("flop_in", "|" * 8),
        ("buckets", "24/80/80"),
        ("buckets", "170/1/1/1"),
        ("buckets", "0/1/1/1"),
        ("buckets", "1/1/1/65536"),
    ],
)
def test_a_text_of_the_abstraction_that_cannot_be_read_is_one_line(key, text):
    with pytest.raises(ConfigError) as refused:
        load(None, {"abstraction": {key: text}})
    assert str(refused.value).startswith(f"--abstraction.{key.replace('_', '-')} is {text}, must be ")
    assert "\n" not in str(refused.value)


def test_an_empty_menu_is_all_in_or_nothing():
    settings = load(None, {"abstraction": dict.fromkeys(MENU_KEYS, "")}).abstraction
    assert menu(Hand(), settings) == ["fold", "call", 200]
