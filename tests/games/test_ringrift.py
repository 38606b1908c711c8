"""RingRift position by position, in the order of the rules; rings of stacks from the bottom to the top.

Those of section 10 of the rules come first, then for each paragraph what it says.
"""

import pytest
from games.ringrift_table import Table, set_up

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.ringrift import layout

SKIP_CLAIM, SKIP_CAPTURE, SKIP_RECOVERY = ("skip_territory",), ("skip_capture",), ("skip_recovery",)


def moves_from(table: Table, cell: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Where plain moves from a cell may land."""
    return {decision[2] for decision in table.legal if decision[:2] == ("move", cell)}


def captures_from(table: Table, cell: tuple[int, ...]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Targets and landings of captures from a cell."""
    return {decision[2:] for decision in table.legal if decision[:2] == ("capture", cell)}


def row(length: int, y: int = 0, first: int = 0) -> dict[tuple[int, int], int]:
    """Markers of player 1 side by side."""
    return {(x, y): 1 for x in range(first, first + length)}


# Section 10


@pytest.mark.parametrize(("board", "count"), [("square8", 192), ("hex8", 183)])
def test_the_first_player_may_place_one_to_three_rings_anywhere(board, count):
    table = Table(board=board)
    assert len(table.legal) == count
    assert table.kinds() == {"place"}


def test_a_stack_of_three_in_the_corner_has_15_moves_that_leave_a_marker():
    stacks = {(0, 0): (1, 1, 1)}
    table = set_up(stacks=stacks)
    assert len(table.legal) == 15
    boards = set()
    for decision in table.legal:
        after = set_up(stacks=stacks).play(decision)
        assert after.markers == {(0, 0): 1}
        boards.add(str(after.stacks))
    assert len(boards) == 15


@pytest.mark.parametrize(
    ("further", "taken"),
    [({}, {(0, 0), (1, 0), (0, 1)}), ({(1, 1): 1, (2, 2): 1}, {(0, 0), (1, 0), (0, 1), (1, 1)})],
    ids=["two markers", "a diagonal one too, but none beyond it"],
)
def test_a_corner_is_claimed_with_its_border(further, taken):
    table = set_up(stacks={(5, 5): (1,)}, markers={(0, 1): 1, (1, 0): 1} | further)
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (0, 0), 1), SKIP_CLAIM}
    table.play(("claim", (0, 0), 1))
    assert table.legal == {("pay_cap", (5, 6))}
    after = table.play(("pay_cap", (5, 6)))
    assert set(after.collapsed) == taken
    assert after.territory == [len(taken), 0]
    assert after.credit == [1, 0]
    assert after.stacks == {}


def test_a_corner_between_collapsed_cells_is_claimed_without_a_diagonal_marker():
    table = set_up(stacks={(5, 5): (1,)}, markers={(1, 1): 1}, collapsed={(1, 0): 2, (0, 1): 2})
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (0, 0), "none"), SKIP_CLAIM}
    after = table.play(("claim", (0, 0), "none"))
    assert after.territory == [1, 2]
    assert after.markers[1, 1] == 1


def test_three_rings_are_legal_where_one_and_two_are_not():
    table = set_up(stacks={(1, 1): (2, 2, 2)}, collapsed={(1, 0): 2, (0, 1): 2}, hand=[5, 0])
    assert {decision for decision in table.legal if decision[:2] == ("place", (0, 0))} == {("place", (0, 0), 3)}


def test_a_capture_flips_collapses_and_lands_on_a_marker():
    table = set_up(stacks={(0, 0): (1,), (2, 0): (1, 2)}, markers={(1, 0): 2, (5, 0): 2, (3, 0): 1})
    after = table.play(("capture", (0, 0), (2, 0), (5, 0)))
    assert after.markers == {(0, 0): 1, (1, 0): 1}
    assert after.collapsed == {(3, 0): 1}
    assert after.stacks == {(2, 0): (1,), (5, 0): (2,)}
    assert after.credit == [1, 0]
    assert after.to_act == 2


def test_a_line_of_five_has_three_choices_and_no_skip():
    table = set_up(stacks={(3, 0): (1,), (7, 7): (2,)}, markers={**row(3), (4, 0): 1})
    table.play(("move", (3, 0), (3, 4)))
    cells = [(x, 0) for x in range(5)]
    assert table.legal == {("line", tuple(cells)), ("line", tuple(cells[:4])), ("line", tuple(cells[1:]))}


def recovering(**changes):
    """The position of the rules' recovery."""
    return set_up(
        stacks={(7, 7): (1, 2), (6, 0): (1, 1, 2, 2)},
        markers={**row(3), (4, 1): 1} | changes.pop("markers", {}),
        **changes,
    )


def test_a_slide_that_forms_a_line_is_the_only_one_offered():
    table = recovering()
    assert table.legal == {("slide", (4, 1), (3, 0)), SKIP_RECOVERY}
    table.play(("slide", (4, 1), (3, 0)))
    assert table.legal == {("line", ((0, 0), (1, 0), (2, 0), (3, 0)))}
    table.play(*table.legal)
    assert table.legal == {("extract", (7, 7)), ("extract", (6, 0))}
    after = table.play(("extract", (6, 0)))
    assert after.stacks == {(7, 7): (1, 2), (6, 0): (1, 2, 2)}
    assert after.credit == [1, 0]
    assert after.territory == [4, 0]
    assert after.to_act == 2


def test_a_declined_claim_does_not_avoid_forced_elimination():
    table = set_up(stacks={(0, 0): (2, 1, 1), (7, 7): (2,)}, collapsed={(1, 0): 2, (0, 1): 2, (1, 1): 2})
    assert table.legal == {("claim", (2, 0), "none"), SKIP_CLAIM}
    table.play(SKIP_CLAIM)
    assert table.legal == {("eliminate", (0, 0))}
    after = table.play(("eliminate", (0, 0)))
    assert after.stacks == {(0, 0): (2,), (7, 7): (2,)}
    assert after.credit == [2, 0]


def test_the_last_player_standing_wins_as_its_fourth_turn_starts():
    table = set_up(stacks={(7, 0): (2, 1), (0, 7): (1,)})
    for y in (7, 6, 5):
        assert table.position.to_act == 1
        table.play(("move", (0, y), (0, y - 1)))
        if SKIP_CAPTURE in table.legal:
            table.play(SKIP_CAPTURE)
    after = table.position
    assert (after.reason, after.winner, after.count) == ("last_player_standing", 1, 3)


# 1. Boards and constants


@pytest.mark.parametrize(
    ("board", "players", "line", "threshold", "minimum"),
    [
        ("square8", 2, 4, 18, 33),
        ("square8", 3, 3, 24, 22),
        ("square8", 4, 3, 30, 17),
        ("hex8", 2, 4, 18, 31),
        ("hex8", 3, 3, 24, 21),
        ("hex8", 4, 3, 30, 16),
        ("square19", 2, 4, 72, 181),
        ("square19", 3, 4, 96, 121),
        ("square19", 4, 4, 120, 91),
        ("hexagonal", 2, 4, 96, 235),
        ("hexagonal", 3, 4, 128, 157),
        ("hexagonal", 4, 4, 160, 118),
    ],
)
def test_lines_and_thresholds_follow_from_board_and_players(board, players, line, threshold, minimum):
    rules = games.load("ringrift", {"board": board, "players": players}).rules
    assert [rules[layout.LINE], rules[layout.THRESHOLD], rules[layout.MINIMUM]] == [line, threshold, minimum]


@pytest.mark.parametrize(("rings", "players", "threshold"), [(10, 3, 13), (10, 4, 17), (7, 2, 7), (1, 4, 2)])
def test_the_threshold_follows_the_rings_in_use(rings, players, threshold):
    spec = games.load("ringrift", {"rings": rings, "players": players})
    assert spec.rules[layout.THRESHOLD] == threshold
    assert spec.new_state()[layout.HANDS] == rings


@pytest.mark.parametrize(
    ("board", "actions", "most", "symmetries"),
    [
        ("square8", 5186, 1456, 8),
        ("hex8", 5591, None, 12),
        ("square19", 61011, 21432, 8),
        ("hexagonal", 103127, 25968, 12),
    ],
)
def test_a_board_has_its_number_of_actions(board, actions, most, symmetries):
    spec = games.load("ringrift", {"board": board})
    assert spec.actions == actions
    assert most is None or spec.max_legal == most
    assert spec.n_symmetries == symmetries


def test_a_hexagon_has_three_axes_of_moves():
    """From the middle of hex8 a ring goes 1 to 4 steps in 6 directions."""
    table = set_up(board="hex8", stacks={(0, 0, 0): (1,)})
    assert len(table.legal) == 24
    assert moves_from(table, (0, 0, 0)) >= {(4, 0, -4), (0, -4, 4), (-3, 3, 0)}


# 3.1 Placement


def test_one_ring_may_go_on_any_stack_and_takes_control():
    table = set_up(stacks={(3, 3): (2, 2), (5, 5): (2,)}, hand=[5, 5])
    assert {decision[2] for decision in table.legal if decision[:2] == ("place", (3, 3))} == {1}
    after = table.play(("place", (3, 3), 1))
    assert after.stacks[3, 3] == (2, 2, 1)
    assert after.hand == [4, 5]
    assert {decision[1] for decision in table.legal} == {(3, 3)}


def test_no_ring_goes_on_markers_or_collapsed_cells():
    table = set_up(stacks={(7, 7): (2,)}, markers={(2, 2): 1, (3, 3): 2}, collapsed={(4, 4): 1}, hand=[5, 0])
    assert not {(2, 2), (3, 3), (4, 4)} & {decision[1] for decision in table.legal}


def test_no_more_rings_are_placed_than_are_in_hand():
    table = set_up(stacks={(7, 7): (2,)}, hand=[2, 0])
    assert {decision[2] for decision in table.legal} == {1, 2}


def test_a_ring_that_would_make_a_stack_too_high_to_go_is_not_placed():
    table = set_up(stacks={(0, 0): (2,) * 7, (4, 4): (2,) * 4}, hand=[5, 0])
    assert ("place", (0, 0), 1) not in table.legal
    assert ("place", (4, 4), 1) not in table.legal


def test_a_placed_stack_may_go_by_a_capture_alone():
    """(0, 0) is walled in but for a neighbour of cap height 1, behind which two cells are free."""
    table = set_up(stacks={(1, 0): (2,)}, collapsed={(0, 1): 2, (1, 1): 2, (4, 0): 2}, hand=[3, 0])
    assert {decision[2] for decision in table.legal if decision[:2] == ("place", (0, 0))} == {1, 2, 3}
    table.play(("place", (0, 0), 3))
    assert table.legal == {("capture", (0, 0), (1, 0), (3, 0))}


def test_placing_is_mandatory_unless_a_stack_can_move():
    assert ("skip_placement",) in set_up(stacks={(3, 3): (1,), (7, 7): (2,)}, hand=[5, 0]).legal
    walled_in = {(1, 0): 2, (0, 1): 2, (1, 1): 2}
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, collapsed=walled_in, hand=[5, 0])
    assert ("skip_placement",) not in table.legal


def test_placing_may_be_skipped_for_a_recovery_without_any_slide():
    """The only marker is walled in."""
    walled_in = {(1, 0): 2, (0, 1): 2, (1, 1): 2}
    table = set_up(stacks={(7, 7): (1, 2)}, markers={(0, 0): 1}, collapsed=walled_in, hand=[5, 0])
    assert ("skip_placement",) in table.legal
    assert table.play(("skip_placement",)).to_act == 2


def test_a_skipped_placement_leaves_all_stacks_to_move():
    table = set_up(stacks={(3, 3): (1,), (5, 3): (1,), (7, 7): (2,)}, hand=[5, 0])
    table.play(("skip_placement",))
    assert {decision[1] for decision in table.legal} == {(3, 3), (5, 3)}


def all_but(*cells: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Every other cell of square8 collapsed, half of them for each player."""
    others = [(x, y) for y in range(8) for x in range(8) if (x, y) not in cells]
    return {cell: 1 + place % 2 for place, cell in enumerate(others)}


def test_a_turn_without_a_legal_placement_passes_the_phase_whatever_is_in_hand():
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, collapsed=all_but((0, 0), (7, 7)), hand=[5, 5])
    assert table.position.reason is None
    assert table.legal == {("claim", (7, 7), "none"), SKIP_CLAIM}


# 3.2 Movement


def test_a_stack_goes_at_least_its_height_until_something_stops_it():
    table = set_up(
        stacks={(0, 0): (1, 1), (5, 0): (2, 2, 2), (7, 7): (2,)}, markers={(0, 3): 2, (1, 1): 1}, collapsed={(0, 5): 1}
    )
    assert moves_from(table, (0, 0)) == {(2, 0), (3, 0), (4, 0), (0, 2), (0, 3), (0, 4), *((d, d) for d in range(2, 7))}


def test_markers_on_the_way_are_flipped_or_collapse():
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, markers={(1, 0): 2, (2, 0): 1, (3, 0): 2})
    after = table.play(("move", (0, 0), (4, 0)))
    assert after.markers == {(0, 0): 1, (1, 0): 1, (3, 0): 1}
    assert after.collapsed == {(2, 0): 1}
    assert after.territory == [1, 0]


@pytest.mark.parametrize("owner", [1, 2])
def test_landing_on_a_marker_removes_it_and_costs_the_top_ring(owner):
    table = set_up(stacks={(0, 0): (1, 1), (7, 7): (2,)}, markers={(2, 0): owner})
    after = table.play(("move", (0, 0), (2, 0)))
    assert after.stacks[2, 0] == (1,)
    assert after.markers == {(0, 0): 1}
    assert (after.credit, after.territory) == ([1, 0], [0, 0])


def test_a_single_ring_that_lands_on_a_marker_vanishes():
    table = set_up(stacks={(0, 0): (1,), (5, 5): (1,), (7, 7): (2,)}, markers={(2, 0): 2})
    after = table.play(("move", (0, 0), (2, 0)))
    assert set(after.stacks) == {(5, 5), (7, 7)}


def test_a_move_that_exposes_another_colour_passes_control_and_ends_the_movement():
    """The stack of player 2 that is left could capture (4, 0), but player 1 does not control it."""
    table = set_up(stacks={(0, 0): (2, 1), (4, 0): (2,), (7, 7): (1,)}, markers={(2, 0): 2})
    after = table.play(("move", (0, 0), (2, 0)))
    assert after.stacks[2, 0] == (2,)
    assert after.to_act == 2


def test_a_capture_after_a_plain_move_may_be_declined():
    table = set_up(stacks={(0, 0): (1,), (4, 0): (2,), (7, 7): (2,)})
    table.play(("move", (0, 0), (1, 0)))
    assert SKIP_CAPTURE in table.legal
    assert captures_from(table, (1, 0)) == {((4, 0), (5, 0)), ((4, 0), (6, 0)), ((4, 0), (7, 0))}
    assert table.play(SKIP_CAPTURE).to_act == 2


def test_other_stacks_do_not_capture_after_a_plain_move():
    table = set_up(stacks={(0, 7): (1,), (0, 0): (1,), (1, 0): (2,)})
    assert captures_from(table, (0, 0))
    after = table.play(("move", (0, 7), (2, 7)))
    assert after.to_act == 2


# 3.3 Capture


def test_the_cap_must_be_as_high_as_that_of_the_target():
    """Whatever the heights are: a cap of 1 takes no cap of 2, a cap of 2 does."""
    table = set_up(stacks={(0, 0): (1, 2, 1), (3, 0): (2, 2), (0, 3): (2, 1, 2), (6, 0): (1, 1)})
    assert {target for target, _ in captures_from(table, (0, 0))} == {(0, 3)}
    assert captures_from(table, (6, 0)) == {((3, 0), (2, 0)), ((3, 0), (1, 0))}


def test_own_stacks_may_be_captured():
    table = set_up(stacks={(0, 0): (1,), (3, 0): (1,), (7, 7): (2,)})
    after = table.play(("capture", (0, 0), (3, 0), (5, 0)))
    assert after.stacks[5, 0] == (1, 1)
    assert (3, 0) not in after.stacks


def test_a_capture_goes_at_least_the_height_of_the_mover_and_never_over_two_stacks():
    table = set_up(stacks={(0, 0): (1, 1, 1, 1), (1, 0): (2,), (6, 0): (2,), (0, 1): (2,), (0, 2): (2,)})
    assert captures_from(table, (0, 0)) == {((1, 0), (4, 0)), ((1, 0), (5, 0))}


def test_a_captured_ring_goes_to_the_bottom_and_the_rest_of_the_target_stays():
    table = set_up(stacks={(0, 0): (1, 1), (2, 0): (1, 2), (7, 7): (2,)})
    after = table.play(("capture", (0, 0), (2, 0), (7, 0)))
    assert after.stacks == {(7, 0): (2, 1, 1), (2, 0): (1,), (7, 7): (2,)}
    assert after.credit == [0, 0]


def test_a_capture_that_lands_on_a_marker_loses_the_top_ring_after_it_took_one():
    """A single ring is lost and the captured one is left: control passes and no chain follows."""
    table = set_up(stacks={(0, 0): (1,), (2, 0): (2,), (5, 0): (2,), (7, 7): (1,)}, markers={(3, 0): 1})
    after = table.play(("capture", (0, 0), (2, 0), (3, 0)))
    assert after.stacks == {(3, 0): (2,), (5, 0): (2,), (7, 7): (1,)}
    assert (after.credit, after.to_act) == ([1, 0], 2)


# 3.4 Chains


def test_a_chain_must_go_on_and_may_turn_back_to_the_same_stack():
    table = set_up(stacks={(0, 0): (1, 1), (3, 0): (2, 2), (3, 7): (2,)})
    table.play(("capture", (0, 0), (3, 0), (5, 0)))
    assert table.legal == {("capture", (5, 0), (3, 0), (x, 0)) for x in (0, 1, 2)}
    after = table.play(("capture", (5, 0), (3, 0), (2, 0)))
    assert after.stacks == {(2, 0): (2, 2, 1, 1), (3, 7): (2,)}
    assert after.to_act == 2


def test_a_chain_ends_when_nothing_can_be_captured():
    table = set_up(stacks={(0, 0): (1,), (2, 0): (2,), (7, 7): (2,)})
    assert table.play(("capture", (0, 0), (2, 0), (4, 0))).to_act == 2


# 3.5 Forced elimination


def test_a_player_that_cannot_move_loses_a_cap_of_its_choice():
    """Both corners are walled in."""
    walls = {(1, 0): 2, (0, 1): 2, (1, 1): 2, (6, 7): 2, (7, 6): 2, (6, 6): 2}
    table = set_up(stacks={(0, 0): (2, 1, 1), (7, 7): (1,), (4, 4): (2,)}, collapsed=walls)
    table.play(SKIP_CLAIM)
    assert table.legal == {("eliminate", (0, 0)), ("eliminate", (7, 7))}
    after = table.play(("eliminate", (7, 7)))
    assert (7, 7) not in after.stacks
    assert after.credit == [1, 0]


def test_a_claim_avoids_forced_elimination():
    walls = {(1, 0): 2, (0, 1): 2, (1, 1): 2, (6, 7): 2, (7, 6): 2, (6, 6): 2}
    table = set_up(stacks={(0, 0): (1, 2, 1, 1), (7, 7): (1,), (4, 4): (2,)}, collapsed=walls)
    table.play(("claim", (7, 7), "none"))
    assert table.legal == {("pay_cap", (0, 0))}
    after = table.play(("pay_cap", (0, 0)))
    assert after.stacks == {(0, 0): (1, 2), (4, 4): (2,)}
    assert (after.credit, after.to_act) == ([3, 0], 2)


def test_a_player_without_stacks_is_not_forced():
    table = set_up(stacks={(0, 0): (1, 2), (4, 4): (2,)}, player=1)
    assert table.position.to_act == 2


# 3.6 Recovery


def test_without_a_line_every_slide_is_offered_and_costs_a_buried_ring():
    table = set_up(stacks={(7, 7): (1, 2), (5, 5): (2,)}, markers={(0, 0): 1})
    assert table.legal == {
        ("slide", (0, 0), (1, 0)),
        ("slide", (0, 0), (0, 1)),
        ("slide", (0, 0), (1, 1)),
        SKIP_RECOVERY,
    }
    table.play(("slide", (0, 0), (1, 1)))
    assert table.legal == {("extract", (7, 7))}
    after = table.play(("extract", (7, 7)))
    assert after.markers == {(1, 1): 1}
    assert after.stacks[7, 7] == (2,)
    assert after.credit == [1, 0]


def test_only_the_bottommost_ring_is_extracted():
    table = set_up(stacks={(7, 7): (2, 1, 2, 1, 2), (5, 5): (2,)}, markers={(0, 0): 1})
    after = table.play(("slide", (0, 0), (1, 1)), ("extract", (7, 7)))
    assert after.stacks[7, 7] == (2, 2, 1, 2)


@pytest.mark.parametrize(
    ("stacks", "markers"),
    [
        ({(7, 7): (1, 2), (0, 7): (1,)}, {(0, 0): 1}),
        ({(7, 7): (1, 2)}, {(0, 0): 2}),
        ({(7, 7): (2, 2)}, {(0, 0): 1}),
    ],
    ids=["controls a stack", "no marker", "no buried ring"],
)
def test_recovery_needs_a_marker_a_buried_ring_and_no_stack(stacks, markers):
    table = set_up(stacks=stacks, markers=markers, hand=[0, 3])
    assert not {"slide", "skip_recovery"} & table.kinds()


def test_rings_in_hand_do_not_forbid_recovery():
    table = set_up(stacks={(7, 7): (1, 2)}, markers={(0, 0): 1}, hand=[4, 0])
    table.play(("skip_placement",))
    assert "slide" in table.kinds()


def test_a_marker_that_leaves_its_own_run_does_not_count_there():
    """(3, 0) goes on to (4, 0): the run behind it is broken off, so this forms no line."""
    table = set_up(stacks={(7, 7): (1, 2)}, markers={(1, 0): 1, (2, 0): 1, (3, 0): 1})
    assert ("slide", (3, 0), (4, 0)) in table.legal
    assert len(table.legal) > 10


def test_a_part_of_a_longer_line_through_the_slid_marker_is_free():
    table = set_up(stacks={(7, 7): (1, 2)}, markers={**row(3), (4, 0): 1, (3, 1): 1})
    table.play(("slide", (3, 1), (3, 0)))
    cells = [(x, 0) for x in range(5)]
    assert table.legal == {("line", tuple(cells)), ("line", tuple(cells[:4])), ("line", tuple(cells[1:]))}
    after = table.play(("line", tuple(cells[:4])))
    assert (after.credit, after.territory, after.to_act) == ([0, 0], [4, 0], 2)


def test_of_two_lines_through_the_slid_marker_one_is_chosen():
    """The slid marker ends a row and a column; with it the other one is gone."""
    table = set_up(stacks={(7, 7): (1, 2)}, markers={**row(3), (3, 1): 1, (3, 2): 1, (3, 3): 1, (4, 1): 1}, hand=[1, 0])
    table.play(("skip_placement",), ("slide", (4, 1), (3, 0)))
    whole, column = tuple((x, 0) for x in range(4)), tuple((3, y) for y in range(4))
    assert table.legal == {("line", whole), ("line", column)}
    after = table.play(("line", whole), ("extract", (7, 7)))
    assert (after.to_act, after.territory) == (2, [4, 0])


def test_a_strike_is_an_option_of_the_game():
    position = {"stacks": {(1, 1): (1, 2), (7, 7): (1, 2)}, "markers": {(0, 0): 1}}
    assert "strike" not in set_up(**position).kinds()
    table = set_up(**position, stack_strike=True)
    assert table.legal == {
        ("slide", (0, 0), (1, 0)),
        ("slide", (0, 0), (0, 1)),
        ("strike", (0, 0), (1, 1)),
        SKIP_RECOVERY,
    }
    table.play(("strike", (0, 0), (1, 1)))
    assert table.position.credit == [1, 0]
    assert table.position.markers == {}
    assert table.legal == {("extract", (7, 7))}


def test_a_strike_is_not_offered_beside_lines():
    table = recovering(stack_strike=True, markers={(7, 6): 1})
    assert table.kinds() == {"slide", "skip_recovery"}


def test_the_cost_of_a_strike_is_waived_when_no_ring_is_buried_any_more():
    table = set_up(stacks={(1, 1): (1, 2), (7, 7): (2,)}, markers={(0, 0): 1}, stack_strike=True)
    after = table.play(("strike", (0, 0), (1, 1)))
    assert after.stacks[1, 1] == (1,)
    assert (after.credit, after.to_act) == ([1, 0], 2)


def test_a_claim_in_a_recovery_turn_costs_a_buried_ring_outside():
    """After the slide the corner is enclosed by (1, 0) and (0, 1)."""
    table = set_up(stacks={(7, 7): (1, 2), (5, 5): (1, 2)}, markers={(1, 0): 1, (0, 2): 1})
    table.play(("slide", (0, 2), (0, 1)), ("extract", (5, 5)))
    assert table.legal == {("claim", (0, 0), 1), SKIP_CLAIM}
    table.play(("claim", (0, 0), 1))
    assert table.legal == {("extract", (7, 7))}
    after = table.play(("extract", (7, 7)))
    assert (after.territory, after.credit) == ([3, 0], [2, 0])


def test_a_claim_in_a_recovery_turn_needs_a_buried_ring_outside():
    table = set_up(stacks={(5, 5): (1, 2), (7, 7): (2,)}, markers={(1, 0): 1, (0, 2): 1}, hand=[2, 0])
    after = table.play(("skip_placement",), ("slide", (0, 2), (0, 1)), ("extract", (5, 5)))
    assert after.to_act == 2


def test_a_skipped_recovery_is_no_recovery_turn():
    """The corner is enclosed and rings are buried, but only a recovery turn could pay with them."""
    table = set_up(stacks={(7, 7): (1, 2), (5, 5): (1, 2)}, markers={(1, 0): 1, (0, 1): 1})
    assert table.play(SKIP_RECOVERY).to_act == 2


# 3.7 Lines


def lining(length: int = 3, **changes):
    """Player 1 completes a row by leaving (3, 0), whose stack goes to (3, 4)."""
    stacks = {(3, 0): (1, 1), (6, 6): (1,), (7, 7): (2,)} | changes.pop("stacks", {})
    table = set_up(stacks=stacks, markers=row(length) | changes.pop("markers", {}), **changes)
    table.play(("move", (3, 0), (3, 4)))
    return table


def test_a_line_of_the_needed_length_has_one_choice_and_any_stack_pays_its_top_ring():
    table = lining()
    assert table.legal == {("line", ((0, 0), (1, 0), (2, 0), (3, 0)))}
    table.play(*table.legal)
    assert table.legal == {("pay_ring", (3, 4)), ("pay_ring", (6, 6))}
    after = table.play(("pay_ring", (3, 4)))
    assert after.stacks == {(3, 4): (1,), (6, 6): (1,), (7, 7): (2,)}
    assert (after.territory, after.credit, after.to_act) == ([4, 0], [1, 0], 2)


def test_a_part_of_a_longer_line_is_free_and_the_rest_stays():
    table = lining(markers={(4, 0): 1})
    after = table.play(("line", ((1, 0), (2, 0), (3, 0), (4, 0))))
    assert after.markers == {(0, 0): 1}
    assert (after.credit, after.to_act) == ([0, 0], 2)


def test_the_cost_of_a_line_is_waived_without_a_stack():
    table = set_up(stacks={(3, 0): (1,), (7, 7): (2,)}, markers={**row(3), (3, 4): 2}, hand=[2, 2])
    table.play(("skip_placement",), ("move", (3, 0), (3, 4)))
    after = table.play(("line", ((0, 0), (1, 0), (2, 0), (3, 0))))
    assert (after.credit, after.territory, after.to_act) == ([1, 0], [4, 0], 2)


def test_three_markers_are_no_line_with_two_players_but_one_with_three():
    stacks, markers = {(3, 0): (1, 1), (7, 7): (2,)}, {(1, 0): 1, (2, 0): 1}
    assert set_up(stacks=stacks, markers=markers).play(("move", (3, 0), (3, 4))).to_act == 2
    table = set_up(stacks=stacks | {(7, 5): (3,)}, markers=markers, players=3)
    table.play(("move", (3, 0), (3, 4)))
    assert table.legal == {("line", ((1, 0), (2, 0), (3, 0)))}


def test_a_line_may_take_the_corner_of_another():
    """Of two lines that cross at (3, 0) the second is gone with the first."""
    table = set_up(
        stacks={(3, 0): (1,), (6, 6): (1,), (0, 7): (2,)}, markers={**row(3), (3, 1): 1, (3, 2): 1, (3, 3): 1}
    )
    table.play(("move", (3, 0), (4, 0)))
    whole, column = tuple((x, 0) for x in range(4)), tuple((3, y) for y in range(4))
    assert table.legal == {("line", whole), ("line", column)}
    after = table.play(("line", column), ("pay_ring", (6, 6)))
    assert (after.to_act, after.markers) == (2, row(3))


def test_two_lines_are_processed_one_after_the_other():
    """A move along (4, 0) .. (4, 4) flips two markers of player 2, each of which completes a row."""
    markers = {(x, y): 1 for x in range(1, 4) for y in (1, 3)} | {(4, 1): 2, (4, 3): 2}
    table = set_up(stacks={(4, 0): (1, 1, 1), (7, 7): (2,)}, markers=markers)
    table.play(("move", (4, 0), (4, 4)))
    rows = {y: ("line", tuple((x, y) for x in range(1, 5))) for y in (1, 3)}
    assert table.legal == set(rows.values())
    table.play(rows[3], ("pay_ring", (4, 4)))
    assert table.legal == {rows[1]}


def test_a_diagonal_of_a_hexagon_is_no_line():
    """Four markers along x, then along a direction that joins no neighbours."""
    cells = [(x, 0, -x) for x in range(-4, -1)]
    table = set_up(board="hex8", stacks={(-1, 0, 1): (1,), (0, -4, 4): (2,)}, markers=dict.fromkeys(cells, 1))
    table.play(("move", (-1, 0, 1), (-1, 2, -1)))
    assert table.legal == {("line", (*cells, (-1, 0, 1)))}
    knights = {(-2, 1, 1): 1, (0, 0, 0): 1, (2, -1, -1): 1}
    table = set_up(board="hex8", stacks={(-4, 2, 2): (1,), (0, -4, 4): (2,)}, markers=knights)
    assert table.play(("move", (-4, 2, 2), (-3, 2, 1))).to_act == 2


# 3.8 Territory


def test_rings_in_a_claimed_region_are_eliminated_for_the_claimer():
    table = set_up(stacks={(0, 0): (2, 1, 2), (5, 5): (1,), (7, 7): (2,)}, markers={(1, 0): 1, (0, 1): 1})
    table.play(("move", (5, 5), (5, 6)))
    table.play(("claim", (0, 0), 1))
    assert table.position.credit == [3, 0]
    assert table.play(("pay_cap", (5, 6))).credit == [4, 0]


def test_a_region_where_all_active_colours_control_a_stack_is_not_claimed():
    """Two cells with a stack of each player; as soon as a third one is active, they may be claimed."""
    stacks, markers = {(0, 0): (2,), (1, 0): (1,), (5, 5): (1,)}, {(2, 0): 1, (1, 1): 1, (0, 1): 1}
    table = set_up(stacks=stacks, markers=markers)
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (3, 0), 1), SKIP_CLAIM}  # the rest of the board
    table = set_up(stacks=stacks | {(7, 7): (3,)}, markers=markers, players=3)
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (0, 0), 1), ("claim", (3, 0), 1), SKIP_CLAIM}


def test_a_buried_ring_keeps_its_colour_active():
    """Player 2 controls nothing, but one of its rings lies under the stack outside."""
    table = set_up(stacks={(0, 0): (1,), (5, 5): (2, 1)}, markers={(1, 0): 1, (0, 1): 1})
    table.play(("move", (5, 5), (5, 7)))
    assert ("claim", (0, 0), 1) in table.legal


def test_a_player_whose_stacks_all_lie_inside_cannot_pay():
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, collapsed={(1, 0): 2, (0, 1): 2, (1, 1): 2})
    assert ("claim", (0, 0), "none") not in table.legal
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2, 1)}, collapsed={(1, 0): 2, (0, 1): 2, (1, 1): 2})
    table.play(("move", (7, 7), (7, 5)))
    assert ("claim", (0, 0), "none") in table.legal


def test_markers_of_an_opponent_are_a_border_too_and_other_colours_lie_inside():
    """(1, 0), (1, 1) and (0, 2) of player 2 enclose (0, 0) and the marker of player 1 on (0, 1)."""
    table = set_up(stacks={(5, 5): (1,), (7, 7): (2,)}, markers={(1, 0): 2, (1, 1): 2, (0, 2): 2, (0, 1): 1})
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (0, 0), 2), SKIP_CLAIM}
    after = table.play(("claim", (0, 0), 2))
    assert {cell for cell, owner in after.collapsed.items() if owner == 1} == {(0, 0), (0, 1), (1, 0), (1, 1), (0, 2)}


def test_markers_of_a_player_without_rings_are_still_a_border():
    table = set_up(stacks={(5, 5): (1,), (7, 7): (2,)}, markers={(1, 0): 3, (0, 1): 3}, players=3)
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (0, 0), 3), SKIP_CLAIM}


def test_claims_go_on_while_they_can_be_paid():
    markers = {(1, 0): 1, (0, 1): 1, (6, 0): 1, (7, 1): 1}
    table = set_up(stacks={(5, 5): (1,), (3, 5): (1,), (7, 7): (2,), (1, 5): (1,)}, markers=markers)
    table.play(("move", (5, 5), (5, 6)), ("claim", (7, 0), 1), ("pay_cap", (3, 5)))
    assert table.legal == {("claim", (0, 0), 1), SKIP_CLAIM}
    after = table.play(("claim", (0, 0), 1), ("pay_cap", (1, 5)))
    assert (after.territory, after.credit, after.to_act) == ([6, 0], [2, 0], 2)


def test_the_same_cells_may_be_claimed_by_two_borders():
    """Between (1, 0) of player 1 and (0, 1) of player 2, walled off by collapsed cells, two regions begin at (0, 0)."""
    table = set_up(
        stacks={(5, 5): (1,), (7, 7): (2,)},
        markers={(1, 0): 1, (0, 1): 2},
        collapsed={(2, 0): 1, (1, 1): 1, (0, 2): 2},
    )
    table.play(("move", (5, 5), (5, 6)))
    assert table.legal == {("claim", (0, 0), 1), ("claim", (0, 0), 2), ("claim", (0, 0), "none"), SKIP_CLAIM}
    assert table.play(("claim", (0, 0), "none")).territory == [5, 1]


def test_on_a_hexagon_three_markers_enclose_a_corner():
    corner = (4, -4, 0)
    around = [(3, -4, 1), (3, -3, 0), (4, -3, -1)]
    table = set_up(board="hex8", stacks={(0, 0, 0): (1,), (-4, 4, 0): (2,)}, markers=dict.fromkeys(around, 1))
    table.play(("move", (0, 0, 0), (0, 1, -1)))
    assert table.legal == {("claim", corner, 1), SKIP_CLAIM}
    assert set(table.play(("claim", corner, 1)).collapsed) == {corner, *around}


# 4. End of game


def test_enough_credit_wins_when_the_turn_ends():
    table = set_up(stacks={(0, 0): (1, 1), (7, 7): (2,)}, markers={(2, 0): 2}, credit=[17, 0], hand=[0, 5])
    after = table.play(("move", (0, 0), (2, 0)))
    assert (after.reason, after.winner, after.ranks) == ("ring_elimination", 1, [1, 2])
    assert table.returns() == [1.0, -1.0]


def test_a_player_past_the_threshold_still_finishes_its_turn():
    table = lining(markers={(3, 4): 2}, credit=[17, 0])
    assert (table.position.credit, table.position.reason, table.kinds()) == ([18, 0], None, {"line"})
    after = table.play(*table.legal, ("pay_ring", (6, 6)))
    assert (after.credit, after.reason) == ([19, 0], "ring_elimination")


def territory(counts: list[int]) -> dict[tuple[int, int], int]:
    """The first cells of square8, so many for each player; row 7 stays free."""
    owners = [player for player, count in enumerate(counts, 1) for _ in range(count)]
    return {(place % 8, place // 8): owner for place, owner in enumerate(owners)}


def test_territory_wins_with_the_minimum_and_more_than_all_others():
    """A move over a marker of its own gives player 1 its 33rd cell, with two players always more than half."""
    stacks, markers = {(0, 7): (1,), (7, 7): (2,)}, {(1, 7): 1}
    after = set_up(stacks=stacks, markers=markers, collapsed=territory([32, 10])).play(("move", (0, 7), (2, 7)))
    assert (after.reason, after.winner) == ("territory", 1)
    after = set_up(stacks=stacks, markers=markers, collapsed=territory([31, 10])).play(("move", (0, 7), (2, 7)))
    assert after.reason is None


def test_the_minimum_of_territory_does_not_win_against_as_much_of_the_others():
    """Three players: 22 are the minimum, but the others have 23, then 21, together."""
    stacks, markers = {(0, 7): (1,), (7, 7): (2,), (6, 6): (3,)}, {(1, 7): 1}
    for others, winner in (([12, 11], None), ([11, 10], 1)):
        table = set_up(stacks=stacks, markers=markers, collapsed=territory([21, *others]), players=3)
        assert table.play(("move", (0, 7), (2, 7))).winner == winner


def test_a_player_alone_with_rings_wins_at_once_whoever_was_acting():
    """Player 1 loses its last ring on a marker."""
    after = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, markers={(2, 0): 1}).play(("move", (0, 0), (2, 0)))
    assert (after.reason, after.winner) == ("early_last_player_standing", 2)


def test_a_ring_in_hand_keeps_a_player_in_the_game():
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, markers={(2, 0): 1}, hand=[1, 0])
    assert table.play(("skip_placement",), ("move", (0, 0), (2, 0))).reason is None


def test_a_holder_without_a_real_action_holds_no_more_and_others_start_from_0():
    walls = {(1, 0): 2, (0, 1): 2, (1, 1): 2}
    table = set_up(stacks={(0, 0): (1,), (7, 7): (2,)}, collapsed=walls, holder=1, count=2)
    assert (table.position.holder, table.position.count) == (None, 0)
    table = set_up(stacks={(3, 3): (1,), (7, 7): (2,)}, holder=2, count=2)
    assert (table.position.holder, table.position.count) == (1, 0)


def test_three_rounds_do_not_win_while_another_player_has_a_real_action():
    table = set_up(stacks={(3, 3): (1,), (7, 7): (2,)}, holder=1, count=2)
    assert (table.position.reason, table.position.count) == (None, 3)
    table = set_up(stacks={(3, 3): (1,), (7, 7): (2, 1)}, holder=1, count=2)
    assert table.position.reason == "last_player_standing"
    table = set_up(stacks={(3, 3): (1,), (7, 7): (2, 1)}, holder=1, count=2, rounds=4)
    assert table.position.reason is None


def stalemate(player: int = 1, marker: int | None = None, **counts):
    """Two cells are left, each walled in: the last stack at (0, 0), and (7, 7), empty or with a marker."""
    markers = {} if marker is None else {(7, 7): marker}
    walls = all_but((0, 0), (7, 7))
    table = set_up(stacks={(0, 0): (player,)}, markers=markers, collapsed=walls, player=player, **counts)
    return table.play(SKIP_CLAIM, ("eliminate", (0, 0)))


def test_a_stalemate_counts_rings_in_hand_as_credit():
    after = stalemate(hand=[0, 3])
    assert after.territory == [31, 31]
    assert (after.reason, after.credit, after.hand) == ("stalemate", [1, 3], [0, 0])
    assert (after.winner, after.ranks) == (2, [2, 1])


def test_a_stalemate_goes_to_more_credit_then_markers_then_the_player_who_moved():
    assert stalemate(marker=2, hand=[0, 1], credit=[2, 0]).winner == 1
    assert stalemate(marker=2, hand=[0, 1]).winner == 2
    assert stalemate(marker=1, hand=[0, 1]).winner == 1
    assert stalemate(hand=[0, 1]).winner == 1
    assert stalemate(player=2, hand=[1, 0]).winner == 2


def test_players_without_rings_are_passed_over_and_those_with_buried_ones_are_not():
    table = set_up(stacks={(0, 0): (1,), (7, 7): (3, 1)}, players=4, hand=[0, 0, 0, 2])
    assert table.play(("move", (0, 0), (0, 1))).to_act == 4
    assert table.state[layout.TURNS] == 12  # player 3 had a turn of its own, player 2 none


def test_players_that_are_equal_share_a_rank():
    """Player 1 wins by credit; 2 and 3 are equal and have rings, player 4 has less territory."""
    stacks = {(0, 0): (1, 1), (7, 7): (2,), (7, 5): (3,), (7, 3): (4,)}
    table = set_up(
        stacks=stacks, markers={(2, 0): 1}, collapsed={(5, 5): 2, (5, 3): 3}, credit=[29, 0, 0, 0], players=4
    )
    after = table.play(("move", (0, 0), (2, 0)))
    assert after.ranks == [1, 2, 2, 4]
    assert table.returns() == pytest.approx([1.0, 1 / 3, 1 / 3, -1.0])


def test_of_players_that_are_otherwise_equal_the_one_eliminated_later_ranks_higher():
    """Players 2 and 3 are gone, in this order; player 4 still has a ring."""
    table = set_up(stacks={(0, 0): (1, 1), (7, 3): (4,)}, markers={(2, 0): 1}, credit=[29, 0, 0, 0], players=4)
    assert table.play(("move", (0, 0), (2, 0))).ranks == [1, 4, 3, 2]


def test_ranks_go_by_territory_before_credit():
    stacks = {(0, 0): (1, 1), (7, 7): (2,), (7, 5): (3,)}
    table = set_up(stacks=stacks, markers={(2, 0): 1}, collapsed={(5, 5): 3}, credit=[23, 9, 0], players=3)
    assert table.play(("move", (0, 0), (2, 0))).ranks == [1, 3, 2]


# 5. Swap


def test_sides_may_be_swapped_once_at_the_start_of_the_second_turn():
    table = Table(swap=True)
    assert ("swap_sides",) not in table.legal
    table.play(("place", (3, 3), 2), ("move", (3, 3), (3, 5)))
    assert ("swap_sides",) in table.legal
    before = table.position
    after = table.play(("swap_sides",))
    assert after == before._replace(decisions=3)
    assert ("swap_sides",) not in table.legal
    assert table.spec.kernels.to_move(table.spec.rules, table.state) == 0  # the player who opened now sits at seat 2


def test_after_a_swap_a_player_gets_what_its_new_seat_brings():
    table = Table(swap=True)
    table.play(("place", (3, 3), 2), ("move", (3, 3), (3, 5)), ("swap_sides",))
    table.state[layout.RANKS : layout.RANKS + 2] = [1, 2]
    assert table.returns() == [-1.0, 1.0]


def test_without_the_option_nobody_swaps():
    table = Table()
    table.play(("place", (3, 3), 2), ("move", (3, 3), (3, 5)))
    assert table.kinds() == {"place"}
    with pytest.raises(AsyncplayError, match=r"option swap of ringrift is true, must be one of false with players=3"):
        Table(swap=True, players=3)


# 7. Limits


@pytest.mark.parametrize(
    ("board", "limits"),
    [
        ("square8", [500, 800, 1200]),
        ("hex8", [500, 800, 1200]),
        ("square19", [1200, 1600, 2000]),
        ("hexagonal", [1200, 1600, 2000]),
    ],
)
def test_the_automatic_limit_follows_from_board_and_players(board, limits):
    found = [games.load("ringrift", {"board": board, "players": players}).max_decisions for players in (2, 3, 4)]
    assert found == limits


def test_a_game_that_is_not_over_after_its_last_decision_has_no_winner():
    table = Table(max_moves=2)
    after = table.play(("place", (3, 3), 2), ("move", (3, 3), (3, 5)))
    assert (after.reason, after.winner, after.ranks) == ("limit", None, None)
    assert table.returns() == [0.0, 0.0]
    assert table.legal == set()


def test_a_game_that_ends_by_its_last_decision_has_its_winner():
    table = set_up(stacks={(0, 0): (1, 1), (7, 7): (2,)}, markers={(2, 0): 2}, credit=[17, 0], hand=[0, 5], max_moves=1)
    assert table.play(("move", (0, 0), (2, 0))).reason == "ring_elimination"


def test_a_limit_is_a_number_or_auto():
    assert games.load("ringrift", {"max_moves": "auto"}).max_decisions == 500
    with pytest.raises(
        AsyncplayError, match=r"option max_moves of ringrift is 0, must be a whole number from 1 to 100000, or"
    ):
        games.load("ringrift", {"max_moves": 0})
