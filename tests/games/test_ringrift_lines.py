"""RingRift, rules text 3.7 and 3.8: lines and territory."""

import pytest
from games.ringrift_sides import Begin, kinds, legal_set, offers
from games.ringrift_twin import Options

ROW = ((0, 0), (1, 0), (2, 0), (3, 0))
THREE = {(0, 0): 1, (1, 0): 1, (2, 0): 1}  # markers that a departure from (3, 0) makes a row of four
CORNER = {(1, 0): 1, (0, 1): 1}
AWAY = ("move", (7, 7), (7, 6))

# 3.7 Line processing


def test_a_line_of_the_required_length_is_collapsed_whole_and_any_controlled_stack_pays_one_ring(begin: Begin):
    for payer, left in [((3, 4), {(7, 7): (2, 1, 1)}), ((7, 7), {(3, 4): (1,), (7, 7): (2, 1)})]:
        table = begin(stacks={(3, 0): [1], (7, 7): [2, 1, 1], (5, 7): [2]}, markers=THREE)
        table.play(("move", (3, 0), (3, 4)))
        assert legal_set(table) == {("line", ROW)}
        table.play(("line", ROW))
        assert legal_set(table) == {("pay_ring", (3, 4)), ("pay_ring", (7, 7))}
        table.play(("pay_ring", payer))
        view = table.view()
        assert view.stacks == left | {(5, 7): (2,)}
        assert (view.territory, view.credit, view.player) == ((4, 0), (1, 0), 2)


def test_part_of_a_longer_line_is_free_and_its_other_markers_stay(begin: Begin):
    table = begin(stacks={(3, 0): [1]}, markers=THREE | {(4, 0): 1})
    table.play(("move", (3, 0), (3, 4)), ("line", ROW))
    view = table.view()
    assert (view.markers, view.territory, view.credit, view.player) == ({(4, 0): 1}, (4, 0), (0, 0), 2)


def test_all_of_a_longer_line_costs_a_ring(begin: Begin):
    table = begin(stacks={(3, 0): [1, 1]}, markers=THREE | {(4, 0): 1})
    table.play(("move", (3, 0), (3, 4)), ("line", (*ROW, (4, 0))))
    assert legal_set(table) == {("pay_ring", (3, 4))}


def test_a_line_of_eight_has_its_five_parts(begin: Begin):
    table = begin(stacks={(3, 0): [1]}, markers={(x, 0): 1 for x in range(8) if x != 3})
    table.play(("move", (3, 0), (3, 4)))
    row = tuple((x, 0) for x in range(8))
    assert offers(table, "line") == {(row,)} | {(row[first : first + 4],) for first in range(5)}
    table.play(("line", row[:4]))
    assert legal_set(table) == {("line", row[4:])}
    table.play(("line", row[4:]))
    assert kinds(table) == {"pay_ring"}


def test_a_collapsed_line_breaks_the_one_that_crosses_it(begin: Begin):
    table = begin(stacks={(3, 0): [1, 1]}, markers=THREE | {(3, 1): 1, (3, 2): 1, (3, 3): 1})
    table.play(("move", (3, 0), (7, 4)))
    assert legal_set(table) == {("line", ROW), ("line", tuple((3, y) for y in range(4)))}
    table.play(("line", ROW), ("pay_ring", (7, 4)))
    view = table.view()
    assert (view.markers, view.stacks, view.player) == ({(3, 1): 1, (3, 2): 1, (3, 3): 1}, {(7, 4): (1,)}, 2)


def test_lines_are_processed_one_after_the_other_each_with_its_cost(begin: Begin):
    """The departure completes row 0, the flip of (3,2) row 2; the second payment empties the stack."""
    second = {(0, 2): 1, (1, 2): 1, (2, 2): 1, (3, 2): 2}
    table = begin(stacks={(3, 0): [1, 1]}, markers=THREE | second)
    table.play(("move", (3, 0), (3, 4)))
    other = tuple((x, 2) for x in range(4))
    assert legal_set(table) == {("line", ROW), ("line", other)}
    table.play(("line", other), ("pay_ring", (3, 4)))
    assert legal_set(table) == {("line", ROW)}
    table.play(("line", ROW), ("pay_ring", (3, 4)))
    view = table.view()
    assert (view.territory, view.credit, view.stacks, view.player) == ((8, 0), (2, 0), {}, 2)


@pytest.mark.parametrize("breaker", ["empty", "marker", "stack", "collapsed"])
def test_anything_but_an_own_marker_breaks_a_line(begin: Begin, breaker):
    markers = {(0, 0): 1, (1, 0): 1, (4, 0): 1} | ({(2, 0): 2} if breaker == "marker" else {})
    stacks = {(3, 0): [1]} | ({(2, 0): [2]} if breaker == "stack" else {})
    table = begin(stacks=stacks, markers=markers, collapsed={(2, 0): 1} if breaker == "collapsed" else {})
    table.play(("move", (3, 0), (3, 1)))
    if "skip_capture" in kinds(table):
        table.play(("skip_capture",))
    assert table.view().player == 2


@pytest.mark.parametrize(
    ("cells", "landing"),
    [
        ([(0, 0), (1, 0), (2, 0), (3, 0)], (1, 5)),
        ([(0, 0), (0, 1), (0, 2), (0, 3)], (5, 1)),
        ([(0, 0), (1, 1), (2, 2), (3, 3)], (1, 5)),
        ([(3, 0), (2, 1), (1, 2), (0, 3)], (2, 5)),
    ],
)
def test_lines_run_along_the_four_axes_of_a_square_board(begin: Begin, cells, landing):
    table = begin(stacks={cells[1]: [1]}, markers=dict.fromkeys([cells[0], *cells[2:]], 1))
    table.play(("move", cells[1], landing))
    assert offers(table, "line") == {(tuple(cells),)}


@pytest.mark.parametrize("axis", [(1, 0, -1), (1, -1, 0), (0, -1, 1)])
def test_lines_run_along_the_three_axes_of_a_hexagon(begin: Begin, axis):
    cells = [tuple(k * part for part in axis) for k in range(-1, 3)]
    off = {(1, 0, -1): (0, 2, -2), (1, -1, 0): (0, 2, -2), (0, -1, 1): (2, 0, -2)}[axis]
    table = begin(Options(board="hex8"), stacks={(0, 0, 0): [1]}, markers=dict.fromkeys(set(cells) - {(0, 0, 0)}, 1))
    table.play(("move", (0, 0, 0), off))
    assert offers(table, "line") == {(tuple(sorted(cells, key=lambda cell: (cell[1], cell[0]))),)}


def test_markers_a_knight_s_step_apart_are_no_line_of_a_hexagon(begin: Begin):
    """Four markers in a straight line that joins no neighbours."""
    knights = {(-2, 1, 1): 1, (0, 0, 0): 1, (2, -1, -1): 1}
    table = begin(Options(board="hex8"), stacks={(-4, 2, 2): [1]}, markers=knights)
    table.play(("move", (-4, 2, 2), (-3, 2, 1)))
    assert table.view().player == 2


@pytest.mark.parametrize(
    ("board", "players", "is_line"),
    [("square8", 2, False), ("square8", 3, True), ("square8", 4, True), ("square19", 3, False), ("square19", 4, False)],
)
def test_three_markers_are_a_line_on_the_small_boards_with_three_or_four_players(begin: Begin, board, players, is_line):
    table = begin(Options(board=board, players=players), stacks={(2, 0): [1]}, markers={(0, 0): 1, (1, 0): 1})
    table.play(("move", (2, 0), (2, 4)))
    assert ("line" in kinds(table)) == is_line


@pytest.mark.parametrize(("board", "players", "is_line"), [("hex8", 3, True), ("hexagonal", 3, False)])
def test_three_markers_are_a_line_on_the_small_hexagon_with_three_players(begin: Begin, board, players, is_line):
    markers = {(0, 0, 0): 1, (1, 0, -1): 1}
    table = begin(Options(board=board, players=players), stacks={(2, 0, -2): [1]}, markers=markers)
    table.play(("move", (2, 0, -2), (2, 1, -3)))
    assert ("line" in kinds(table)) == is_line


def test_the_cost_of_a_line_is_waived_for_who_controls_no_stack(begin: Begin):
    """The only stack lands on a marker and vanishes."""
    table = begin(stacks={(3, 0): [1], (7, 7): [1, 2]}, markers=THREE | {(3, 4): 2})
    table.play(("move", (3, 0), (3, 4)), ("line", ROW))
    view = table.view()
    assert (view.territory, view.credit, view.player) == ((4, 0), (1, 0), 2)


def test_lines_come_before_territory(begin: Begin):
    """Row 0 of four markers shuts nothing in; the corner (7,0) is claimed after it."""
    table = begin(stacks={(3, 0): [1, 1]}, markers=THREE | {(6, 0): 1, (7, 1): 1})
    table.play(("move", (3, 0), (3, 4)))
    assert kinds(table) == {"line"}
    table.play(("line", ROW), ("pay_ring", (3, 4)))
    assert legal_set(table) == {("claim", (7, 0), 1), ("skip_territory",)}


# 3.8 Territory processing


def test_markers_of_an_opponent_are_a_border_too_and_become_territory_of_who_claims(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers={(1, 0): 2, (0, 1): 2})
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), 2), ("skip_territory",)}
    table.play(("claim", (0, 0), 2), ("pay_cap", (7, 6)))
    assert table.view().territory == (3, 0)


def test_markers_of_an_eliminated_player_are_a_border_too(begin: Begin):
    table = begin(Options(players=3), stacks={(7, 7): [1]}, markers={(1, 0): 3, (0, 1): 3}, hands=(0, 3, 0))
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), 3), ("skip_territory",)}


def test_two_colours_make_no_common_border(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers={(1, 0): 1, (0, 1): 2})
    table.play(AWAY)
    assert table.view().player == 2


def test_collapsed_cells_and_one_colour_make_a_common_border(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers={(1, 0): 2}, collapsed={(0, 1): 2})
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), 2), ("skip_territory",)}


def test_all_rings_inside_a_claimed_region_are_eliminated_to_the_claimer_s_credit(begin: Begin):
    table = begin(stacks={(7, 7): [2, 1, 1], (0, 0): [1, 2, 2]}, markers=CORNER)
    table.play(("move", (7, 7), (7, 4)), ("claim", (0, 0), 1))
    assert table.view().credit == (3, 0)
    table.play(("pay_cap", (7, 4)))
    view = table.view()
    assert (view.credit, view.stacks, view.territory) == ((5, 0), {(7, 4): (2,)}, (3, 0))


INHABITED = {"stacks": {(0, 0): [1], (1, 0): [2], (7, 7): [1]}, "markers": {(0, 1): 1, (1, 1): 1, (2, 0): 1}}


def test_a_region_in_which_all_colours_control_a_stack_is_not_claimable(begin: Begin):
    table = begin(**INHABITED)
    table.play(AWAY)
    assert ("claim", (0, 0), 1) not in table.legal()


@pytest.mark.parametrize("third", [[3], [3, 2]])
def test_a_colour_elsewhere_makes_the_region_claimable_even_if_it_is_buried(begin: Begin, third):
    table = begin(Options(players=3), **(INHABITED | {"stacks": INHABITED["stacks"] | {(5, 2): third}}))
    table.play(AWAY)
    assert ("claim", (0, 0), 1) in table.legal()


def test_who_controls_no_stack_outside_cannot_claim(begin: Begin):
    """P1's stack is inside; P2, whose stack is outside, may claim the corner with P1's border."""
    stacks, markers = {(0, 0): [2, 1], (5, 5): [2]}, {(1, 0): 1, (0, 1): 1}
    table = begin(stacks=stacks, markers=markers, player=2, hands=(3, 0))
    table.play(("move", (5, 5), (5, 6)))
    assert ("claim", (0, 0), 1) in table.legal()
    table = begin(stacks=stacks, markers=markers, collapsed={(1, 1): 2})
    table.play(("move", (0, 0), (2, 0)))
    assert "claim" not in kinds(table)


def test_markers_of_other_colours_are_part_of_the_region(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers={(1, 0): 2, (0, 1): 1, (1, 1): 1, (2, 0): 1})
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), 1), ("skip_territory",)}
    table.play(("claim", (0, 0), 1), ("pay_cap", (7, 6)))
    assert table.view().collapsed == dict.fromkeys([(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)], 1)


def test_regions_with_the_same_lowest_cell_are_told_apart_by_their_border(begin: Begin):
    """P1's border around the corner alone, P2's around that."""
    outer = {(2, 0): 2, (1, 1): 2, (0, 2): 2}
    for border, territory in [(1, 3), (2, 6)]:
        table = begin(stacks={(7, 7): [1]}, markers=CORNER | outer)
        table.play(AWAY)
        assert legal_set(table) == {("claim", (0, 0), 1), ("claim", (0, 0), 2), ("skip_territory",)}
        table.play(("claim", (0, 0), border), ("pay_cap", (7, 6)))
        assert table.view().territory == (territory, 0)


def test_the_same_lowest_cell_may_have_regions_of_two_borders_and_of_none(begin: Begin):
    """Between (1,0) of P1 and (0,1) of P2, walled off by collapsed cells; without a border all three are one region."""
    markers, collapsed = {(1, 0): 1, (0, 1): 2}, {(2, 0): 1, (1, 1): 1, (0, 2): 2}
    table = begin(stacks={(7, 7): [1]}, markers=markers, collapsed=collapsed)
    table.play(AWAY)
    assert offers(table, "claim") == {((0, 0), 1), ((0, 0), 2), ((0, 0), "none")}
    table.play(("claim", (0, 0), "none"))
    assert table.view().territory == (5, 1)


TWO_CORNERS = {
    "stacks": {(7, 7): [1], (3, 7): [1]},
    "markers": CORNER | {(6, 0): 1, (7, 1): 1},
}


def test_claims_go_on_while_there_is_a_region_and_a_stack_to_pay(begin: Begin):
    table = begin(**TWO_CORNERS)
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), 1), ("claim", (7, 0), 1), ("skip_territory",)}
    table.play(("claim", (7, 0), 1))
    assert legal_set(table) == {("pay_cap", (7, 6)), ("pay_cap", (3, 7))}
    table.play(("pay_cap", (7, 6)))
    assert legal_set(table) == {("claim", (0, 0), 1), ("skip_territory",)}
    table.play(("claim", (0, 0), 1), ("pay_cap", (3, 7)))
    view = table.view()
    assert (view.territory, view.credit, view.stacks, view.player) == ((6, 0), (2, 0), {}, 2)


def test_claims_end_with_the_last_stack_that_could_pay(begin: Begin):
    table = begin(**(TWO_CORNERS | {"stacks": {(7, 7): [1]}}))
    table.play(AWAY, ("claim", (0, 0), 1), ("pay_cap", (7, 6)))
    assert table.view().player == 2


def test_skipping_ends_the_phase_with_all_its_regions(begin: Begin):
    table = begin(**TWO_CORNERS)
    table.play(AWAY, ("skip_territory",))
    view = table.view()
    assert (view.player, view.territory, len(view.markers)) == (2, (0, 0), 5)


def test_cells_that_touch_only_diagonally_are_not_connected_on_a_square_board(begin: Begin):
    """(0,0) and (1,1) are two regions: each is shut in by its own neighbours."""
    markers = {(1, 0): 1, (0, 1): 1, (2, 1): 1, (1, 2): 1}
    table = begin(stacks={(7, 7): [1]}, markers=markers)
    table.play(AWAY)
    assert offers(table, "claim") == {((0, 0), 1), ((1, 1), 1)}
    table.play(("claim", (1, 1), 1), ("pay_cap", (7, 6)))
    assert set(table.view().collapsed) == {(1, 1), *markers}


def test_a_hexagon_s_region_takes_its_neighbours_and_nothing_diagonal(begin: Begin):
    border = {(3, -3, 0): 1, (3, -4, 1): 1, (4, -3, -1): 1}
    table = begin(Options(board="hex8"), stacks={(-4, 4, 0): [1]}, markers=border | {(2, -2, 0): 1})
    table.play(("move", (-4, 4, 0), (-4, 3, 1)))
    assert legal_set(table) == {("claim", (4, -4, 0), 1), ("skip_territory",)}
    table.play(("claim", (4, -4, 0), 1), ("pay_cap", (-4, 3, 1)))
    view = table.view()
    assert set(view.collapsed) == {(4, -4, 0), *border}
    assert view.markers == {(2, -2, 0): 1, (-4, 4, 0): 1}


def test_a_region_bounded_by_collapsed_cells_may_hold_one_controller(begin: Begin):
    """9 b: the proper-subset test alone decides."""
    table = begin(stacks={(7, 7): [1], (0, 0): [2]}, collapsed={(1, 0): 1, (0, 1): 1})
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), "none"), ("skip_territory",)}
    table.play(("claim", (0, 0), "none"), ("pay_cap", (7, 6)))
    assert table.view().credit == (2, 0)
