"""RingRift, rules text 3.0 to 3.6: placement, movement, captures, forced elimination, recovery."""

import pytest
from games.ringrift_sides import Begin, kinds, legal_set, offers
from games.ringrift_twin import Options

STRIKE = Options(strike=True)
WALLED = {(1, 0): 2, (0, 1): 2, (1, 1): 2}  # collapsed cells that shut (0, 0) in
WALLED_FAR = {(6, 7): 2, (7, 6): 2, (6, 6): 2}  # and (7, 7)


def alternating(*open_cells):
    """All of square8 collapsed but these cells, for both players in turn."""
    rest = [(x, y) for y in range(8) for x in range(8) if (x, y) not in open_cells]
    return {cell: 1 + k % 2 for k, cell in enumerate(rest)}


# 3.0 Decisions


def test_a_decision_with_one_choice_counts_and_a_passed_phase_does_not(begin: Begin):
    """Move, claim and the only payment are three decisions; P1's placement and lines are passed."""
    table = begin(stacks={(7, 7): [1]}, markers={(1, 0): 1, (0, 1): 1})
    assert table.view().n_decisions == 0
    table.play(("move", (7, 7), (7, 6)), ("claim", (0, 0), 1))
    assert len(table.legal()) == 1
    table.play(*table.legal())
    assert table.view().n_decisions == 3


def test_a_turn_without_any_decision_is_passed(begin: Begin):
    """P1 has only a buried ring and no marker: the next decision is P2's, and it is the first."""
    view = begin(stacks={(4, 4): [1, 2]}).view()
    assert (view.player, view.n_decisions) == (2, 0)


# 3.1 Placement


def test_nothing_in_hand_nothing_to_place(begin: Begin):
    assert kinds(begin(stacks={(3, 3): [1]}, hands=(0, 3))) == {"move"}


def test_no_more_rings_are_placed_than_are_in_hand(begin: Begin):
    table = begin(hands=(2, 3))
    assert {number for _, number in offers(table, "place")} == {1, 2}
    table.play(("place", (0, 0), 2))
    assert table.view().hands == (0, 3)


def test_any_stack_takes_exactly_one_ring_and_its_controller_changes(begin: Begin):
    table = begin(stacks={(3, 3): [2, 2], (6, 6): [1]}, hands=(5, 3))
    assert {placement for placement in offers(table, "place") if placement[0] in [(3, 3), (6, 6)]} == {
        ((3, 3), 1),
        ((6, 6), 1),
    }
    table.play(("place", (3, 3), 1))
    view = table.view()
    assert (view.stacks[3, 3], view.hands, view.player) == ((2, 2, 1), (4, 3), 1)


def test_markers_and_collapsed_cells_take_no_ring(begin: Begin):
    table = begin(markers={(3, 3): 1, (4, 4): 2}, collapsed={(5, 5): 1}, hands=(5, 3))
    cells = [cell for cell, _ in offers(table, "place")]
    assert len(cells) == 3 * 61
    assert not {(3, 3), (4, 4), (5, 5)} & set(cells)


def test_a_placement_that_could_not_move_is_illegal(begin: Begin):
    """Shut in by collapsed cells: no number of rings; by an own stack of cap 2: two and three may capture it."""
    table = begin(collapsed=WALLED, hands=(5, 3))
    assert (0, 0) not in {cell for cell, _ in offers(table, "place")}

    table = begin(collapsed={(1, 0): 2, (0, 1): 2}, stacks={(1, 1): [1, 1]}, hands=(5, 3))
    assert {number for cell, number in offers(table, "place") if cell == (0, 0)} == {2, 3}


def test_a_placed_stack_may_go_by_a_capture_alone(begin: Begin):
    """(0,0) is shut in but for a neighbour of cap height 1, behind which two cells are free."""
    table = begin(stacks={(1, 0): [2]}, collapsed={(0, 1): 2, (1, 1): 2, (4, 0): 2}, hands=(3, 3))
    assert {number for cell, number in offers(table, "place") if cell == (0, 0)} == {1, 2, 3}
    table.play(("place", (0, 0), 3))
    assert legal_set(table) == {("capture", (0, 0), (1, 0), (3, 0))}


def test_a_stack_too_high_for_its_rays_takes_no_ring(begin: Begin):
    """In the middle of square8 the longest ray has 4 cells: 4 rings move there, a fifth is dead."""
    assert ("place", (3, 3), 1) in begin(stacks={(3, 3): [2, 2, 2]}, hands=(5, 3)).legal()
    assert ("place", (3, 3), 1) not in begin(stacks={(3, 3): [2, 2, 2, 2]}, hands=(5, 3)).legal()


def test_placing_is_mandatory_for_who_can_neither_move_nor_recover(begin: Begin):
    assert kinds(begin(stacks={(4, 4): [2]}, hands=(5, 3))) == {"place"}
    assert kinds(begin(stacks={(0, 0): [1]}, collapsed=WALLED, hands=(5, 3))) == {"place"}
    assert kinds(begin(stacks={(4, 4): [2]}, markers={(2, 2): 1}, hands=(5, 3))) == {"place"}


def test_placing_may_be_skipped_by_who_can_move(begin: Begin):
    table = begin(stacks={(4, 4): [1]}, hands=(5, 3))
    assert kinds(table) == {"place", "skip_placement"}
    table.play(("skip_placement",))
    assert kinds(table) == {"move"}


def test_placing_may_be_skipped_by_who_is_eligible_for_recovery_even_without_a_slide(begin: Begin):
    table = begin(stacks={(5, 5): [1, 2]}, markers={(0, 0): 1}, collapsed=WALLED, hands=(5, 3))
    assert kinds(table) == {"place", "skip_placement"}
    table.play(("skip_placement",))
    assert table.view().player == 2


def test_rings_in_hand_do_not_hinder_recovery(begin: Begin):
    table = begin(stacks={(5, 5): [1, 2]}, markers={(0, 0): 1}, hands=(5, 3))
    table.play(("skip_placement",))
    assert kinds(table) == {"slide", "skip_recovery"}


def test_the_placement_phase_is_passed_if_every_placement_is_dead(begin: Begin):
    """5 rings in hand, but whatever stands on the two open cells is shut in; P1 may claim the empty one."""
    table = begin(stacks={(7, 7): [2, 1]}, collapsed=alternating((0, 0), (7, 7)), hands=(5, 3))
    assert legal_set(table) == {("claim", (0, 0), "none"), ("skip_territory",)}


def test_after_a_placement_only_that_stack_moves(begin: Begin):
    table = begin(stacks={(0, 0): [1], (4, 6): [2]}, hands=(5, 3))
    table.play(("place", (4, 4), 1))
    assert {decision[1] for decision in table.legal()} == {(4, 4)}
    assert kinds(table) == {"move", "capture"}


# 3.2 Movement


def test_a_move_flips_foreign_markers_and_collapses_own_ones(begin: Begin):
    table = begin(stacks={(0, 0): [1]}, markers={(1, 0): 2, (2, 0): 1})
    table.play(("move", (0, 0), (3, 0)))
    view = table.view()
    assert (view.markers, view.collapsed) == ({(0, 0): 1, (1, 0): 1}, {(2, 0): 1})
    assert (view.territory, view.credit) == ((1, 0), (0, 0))


@pytest.mark.parametrize("owner", [1, 2])
def test_landing_on_a_marker_removes_it_and_costs_the_top_ring(begin: Begin, owner):
    """The ring below is P2's: control passes, and P1 may not go on to capture with it."""
    table = begin(stacks={(0, 0): [2, 1], (5, 0): [2], (0, 7): [1]}, markers={(3, 0): owner})
    table.play(("move", (0, 0), (3, 0)))
    view = table.view()
    assert view.stacks == {(3, 0): (2,), (5, 0): (2,), (0, 7): (1,)}
    assert (view.markers, view.collapsed, view.credit, view.player) == ({(0, 0): 1}, {}, (1, 0), 2)


def test_a_single_ring_that_lands_on_a_marker_vanishes(begin: Begin):
    table = begin(stacks={(0, 0): [1], (0, 7): [1]}, markers={(3, 0): 2})
    table.play(("move", (0, 0), (3, 0)))
    view = table.view()
    assert (view.stacks, view.markers, view.collapsed) == ({(0, 7): (1,)}, {(0, 0): 1}, {})


def test_stacks_and_collapsed_cells_stop_a_move_and_markers_do_not(begin: Begin):
    table = begin(stacks={(0, 0): [1], (3, 0): [2, 2]}, collapsed={(0, 3): 2}, markers={(2, 2): 2})
    landings = {(1, 0), (2, 0), (0, 1), (0, 2)} | {(k, k) for k in range(1, 8)}
    assert legal_set(table) == {("move", (0, 0), landing) for landing in landings}


def test_moves_and_captures_of_all_stacks_are_offered_together_without_a_skip(begin: Begin):
    """15 and 20 moves, 4 captures of (3,0); the stacks on the long diagonal have no room behind each other."""
    table = begin(stacks={(0, 0): [1], (7, 7): [1], (3, 0): [2]})
    assert kinds(table) == {"move", "capture"}
    assert offers(table, "capture") == {((0, 0), (3, 0), (x, 0)) for x in range(4, 8)}
    assert len(table.legal()) == 15 + 20 + 4


def test_a_capture_after_a_plain_move_is_optional_and_the_moved_stack_s_alone(begin: Begin):
    """The stack on (3,5) could capture (3,1) too; it has not moved."""
    table = begin(stacks={(0, 0): [1], (3, 1): [2], (3, 5): [1]})
    table.play(("move", (0, 0), (0, 1)))
    assert legal_set(table) == {("capture", (0, 1), (3, 1), (x, 1)) for x in range(4, 8)} | {("skip_capture",)}
    table.play(("skip_capture",))
    assert table.view().player == 2


def test_a_hexagon_has_six_directions(begin: Begin):
    """From the middle of hex8 six rays of 4 cells; from a corner one of 8 and two of 4."""
    table = begin(Options(board="hex8"), stacks={(0, 0, 0): [1]})
    assert len(table.legal()) == 24
    table = begin(Options(board="hex8"), stacks={(4, -4, 0): [1]})
    assert len(table.legal()) == 16
    assert {("move", (4, -4, 0), end) for end in [(-4, 4, 0), (0, -4, 4), (4, 0, -4)]} <= legal_set(table)


@pytest.mark.parametrize(("board", "cell", "n_moves"), [("square19", (9, 9), 72), ("hexagonal", (0, 0, 0), 72)])
def test_rays_reach_the_edge_of_the_large_boards(begin: Begin, board, cell, n_moves):
    """8 rays of 9 cells, 6 rays of 12."""
    assert len(begin(Options(board=board), stacks={cell: [1]}).legal()) == n_moves


# 3.3 Overtaking capture


def test_the_cap_decides_what_may_be_captured_and_the_height_does_not(begin: Begin):
    """Height 3 and cap 1: not the cap of 2, but the stack of 5 with a cap of 1, at a distance of at least 3."""
    table = begin(stacks={(0, 0): [2, 2, 1], (1, 0): [2, 2], (0, 1): [2, 2, 2, 1, 2]})
    assert offers(table, "capture") == {((0, 0), (0, 1), (0, y)) for y in range(3, 8)}


def test_only_the_first_stack_of_a_ray_is_a_target_and_the_second_ends_the_landings(begin: Begin):
    table = begin(stacks={(0, 0): [1], (2, 0): [2], (5, 0): [2]})
    assert offers(table, "capture") == {((0, 0), (2, 0), (3, 0)), ((0, 0), (2, 0), (4, 0))}


def test_collapsed_cells_before_or_behind_a_target_prevent_its_capture(begin: Begin):
    """East: before. South: behind. South-east: the landings end at the collapsed cell."""
    stacks = {(0, 0): [1], (2, 0): [2], (0, 2): [2], (2, 2): [2]}
    table = begin(stacks=stacks, collapsed={(1, 0): 2, (0, 3): 2, (5, 5): 2})
    assert offers(table, "capture") == {((0, 0), (2, 2), (3, 3)), ((0, 0), (2, 2), (4, 4))}


def test_a_target_at_the_edge_has_no_landing_behind_it(begin: Begin):
    assert kinds(begin(stacks={(4, 0): [1], (7, 0): [2]})) == {"move"}


def test_a_captured_ring_goes_to_the_bottom_and_is_not_eliminated(begin: Begin):
    table = begin(stacks={(0, 0): [2, 1], (2, 0): [1, 2]})
    table.play(("capture", (0, 0), (2, 0), (3, 0)))
    view = table.view()
    assert view.stacks == {(3, 0): (2, 2, 1), (2, 0): (1,)}
    assert (view.credit, view.markers) == ((0, 0), {(0, 0): 1})


def test_a_target_of_one_ring_vanishes_and_leaves_its_cell_empty(begin: Begin):
    table = begin(stacks={(0, 0): [1], (2, 0): [2]})
    table.play(("capture", (0, 0), (2, 0), (3, 0)))
    view = table.view()
    assert (view.stacks, view.markers, view.collapsed) == ({(3, 0): (2, 1)}, {(0, 0): 1}, {})


def test_the_ring_lost_on_a_marker_is_the_top_one_after_the_captured_was_added(begin: Begin):
    """An own stack is captured: of the two own rings one is left, and P1 keeps it."""
    table = begin(stacks={(0, 0): [1], (2, 0): [1]}, markers={(3, 0): 2})
    table.play(("capture", (0, 0), (2, 0), (3, 0)))
    view = table.view()
    assert (view.stacks, view.credit, view.player) == ({(3, 0): (1,)}, (1, 0), 2)


def test_captures_jump_along_the_three_axes_of_a_hexagon(begin: Begin):
    table = begin(Options(board="hex8"), stacks={(0, 0, 0): [1], (1, -1, 0): [2], (1, 1, -2): [2]})
    assert offers(table, "capture") == {((0, 0, 0), (1, -1, 0), (k, -k, 0)) for k in (2, 3, 4)}


# 3.4 Chain capture


def test_a_chain_must_go_on_and_may_turn_back_to_the_same_stack(begin: Begin):
    """The own stack 2,1 is captured twice: from the west, then from the east; (0,0) holds the departure marker."""
    table = begin(stacks={(0, 0): [1], (2, 0): [2, 1]})
    table.play(("capture", (0, 0), (2, 0), (3, 0)))
    assert table.view().stacks == {(3, 0): (1, 1), (2, 0): (2,)}
    assert legal_set(table) == {("capture", (3, 0), (2, 0), (1, 0)), ("capture", (3, 0), (2, 0), (0, 0))}
    table.play(("capture", (3, 0), (2, 0), (1, 0)))
    view = table.view()
    assert (view.stacks, view.markers) == ({(1, 0): (2, 1, 1)}, {(0, 0): 1, (3, 0): 1})
    assert (view.credit, view.player) == ((0, 0), 2)


def test_a_capture_after_a_plain_move_begins_a_chain_that_is_mandatory(begin: Begin):
    table = begin(stacks={(0, 0): [1], (3, 1): [2], (5, 3): [2]})
    table.play(("move", (0, 0), (0, 1)), ("capture", (0, 1), (3, 1), (5, 1)))
    assert legal_set(table) == {("capture", (5, 1), (5, 3), (5, y)) for y in (4, 5, 6, 7)}


def test_a_chain_ends_with_the_control_of_the_stack(begin: Begin):
    """2,1 lands on a marker and is P2's 2; the stack on (5,0) is not captured."""
    table = begin(stacks={(0, 0): [1], (2, 0): [2], (5, 0): [2], (7, 7): [1]}, markers={(3, 0): 1})
    table.play(("capture", (0, 0), (2, 0), (3, 0)))
    view = table.view()
    assert (view.stacks[3, 0], view.credit, view.player) == ((2,), (1, 0), 2)


def test_lines_wait_for_the_end_of_the_chain(begin: Begin):
    """The first departure completes a row of four; the second capture comes before it."""
    table = begin(stacks={(0, 0): [1], (0, 2): [2], (2, 4): [2]}, markers={(1, 0): 1, (2, 0): 1, (3, 0): 1})
    table.play(("capture", (0, 0), (0, 2), (0, 4)))
    assert legal_set(table) == {("capture", (0, 4), (2, 4), (x, 4)) for x in range(3, 8)}
    table.play(("capture", (0, 4), (2, 4), (3, 4)))
    assert legal_set(table) == {("line", ((0, 0), (1, 0), (2, 0), (3, 0)))}


# 3.5 Forced elimination

SHUT_IN = {"stacks": {(0, 0): [1, 2, 1, 1], (7, 7): [1]}, "collapsed": WALLED | WALLED_FAR}


def test_forced_elimination_takes_the_whole_cap_of_a_stack_of_choice(begin: Begin):
    for cell, left, credit in [((0, 0), {(0, 0): (1, 2), (7, 7): (1,)}, 2), ((7, 7), {(0, 0): (1, 2, 1, 1)}, 1)]:
        table = begin(**SHUT_IN)
        table.play(("skip_territory",))
        assert legal_set(table) == {("eliminate", (0, 0)), ("eliminate", (7, 7))}
        table.play(("eliminate", cell))
        view = table.view()
        assert (view.stacks, view.credit, view.player) == (left, (credit, 0), 2)


def test_a_claim_is_a_change_that_spares_the_forced_elimination(begin: Begin):
    table = begin(**SHUT_IN)
    table.play(("claim", (7, 7), "none"), ("pay_cap", (0, 0)))
    view = table.view()
    assert (view.stacks, view.credit, view.player) == ({(0, 0): (1, 2)}, (3, 0), 2)


def test_without_a_claimable_region_forced_elimination_is_the_only_decision(begin: Begin):
    """The stack stands in the only region there is, so it could not pay for it."""
    table = begin(stacks={(0, 0): [2, 1]}, collapsed=alternating((0, 0)), hands=(0, 0))
    assert legal_set(table) == {("eliminate", (0, 0))}


# 3.6 Recovery

FALLBACK = {"stacks": {(0, 0): [1, 2], (7, 0): [1, 1, 2]}, "markers": {(4, 4): 1}}
BESIDE = {"stacks": {(0, 1): [1, 2]}, "markers": {(0, 0): 1, (1, 0): 2}}  # room for (0,0) on (1,1) alone
CLAIMS = {"stacks": {(7, 7): [1, 1, 1, 2]}, "markers": {(1, 0): 1, (0, 1): 1, (4, 4): 1}}


def test_without_a_line_to_form_every_slide_is_offered_and_costs_an_extraction(begin: Begin):
    table = begin(**FALLBACK)
    around = {(4 + dx, 4 + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)} - {(4, 4)}
    assert legal_set(table) == {("slide", (4, 4), cell) for cell in around} | {("skip_recovery",)}
    table.play(("slide", (4, 4), (5, 5)))
    assert table.view().markers == {(5, 5): 1}
    assert legal_set(table) == {("extract", (0, 0)), ("extract", (7, 0))}
    table.play(("extract", (0, 0)))
    view = table.view()
    assert (view.stacks, view.credit, view.player) == ({(0, 0): (2,), (7, 0): (1, 1, 2)}, (1, 0), 2)


def test_an_extraction_takes_the_player_s_bottommost_ring(begin: Begin):
    table = begin(stacks={(0, 0): [3, 1, 2, 1, 2]}, markers={(4, 4): 1}, options=Options(players=3))
    table.play(("slide", (4, 4), (5, 5)), ("extract", (0, 0)))
    assert table.view().stacks == {(0, 0): (3, 2, 1, 2)}


def test_a_skipped_recovery_changes_nothing(begin: Begin):
    table = begin(**FALLBACK)
    before = table.view()
    table.play(("skip_recovery",))
    view = table.view()
    assert (view.stacks, view.markers, view.credit) == (before.stacks, before.markers, before.credit)
    assert view.player == 2


def test_a_hexagon_s_marker_slides_to_six_cells(begin: Begin):
    table = begin(Options(board="hex8"), stacks={(4, -4, 0): [1, 2]}, markers={(0, 0, 0): 1})
    steps = {(1, 0, -1), (1, -1, 0), (0, -1, 1), (-1, 0, 1), (-1, 1, 0), (0, 1, -1)}
    assert offers(table, "slide") == {((0, 0, 0), step) for step in steps}


def test_a_slide_goes_to_an_empty_cell_only_and_strikes_are_off(begin: Begin):
    assert legal_set(begin(**BESIDE)) == {("slide", (0, 0), (1, 1)), ("skip_recovery",)}


def test_who_controls_a_stack_does_not_recover(begin: Begin):
    """The only stack is shut in: P1 is offered no slide, only the claim of all the rest, and then the elimination."""
    table = begin(stacks={(0, 0): [1, 1], (5, 5): [1, 2]}, markers={(4, 3): 1}, collapsed=WALLED)
    assert kinds(table) == {"claim", "skip_territory"}


@pytest.mark.parametrize(("stack", "owner"), [([1, 2], 2), ([2, 2], 1)], ids=["no marker", "no buried ring"])
def test_recovery_needs_a_marker_and_a_buried_ring(begin: Begin, stack, owner):
    assert not {"slide", "skip_recovery"} & kinds(begin(stacks={(7, 7): stack}, markers={(0, 0): owner}))


def test_a_marker_that_leaves_its_own_run_does_not_count_there(begin: Begin):
    """(3,0) goes on to (4,0): the run behind it is broken off, so no slide makes a line and all are offered."""
    table = begin(stacks={(7, 7): [1, 2]}, markers={(1, 0): 1, (2, 0): 1, (3, 0): 1})
    assert ("slide", (3, 0), (4, 0)) in table.legal()
    assert len(offers(table, "slide")) == 4 + 3 + 4


def test_a_strike_costs_marker_and_top_ring_and_the_extraction_is_waived_without_a_buried_ring(begin: Begin):
    table = begin(STRIKE, **BESIDE)
    assert legal_set(table) == {("slide", (0, 0), (1, 1)), ("strike", (0, 0), (0, 1)), ("skip_recovery",)}
    table.play(("strike", (0, 0), (0, 1)))
    view = table.view()
    assert (view.stacks, view.markers, view.credit, view.player) == ({(0, 1): (1,)}, {(1, 0): 2}, (1, 0), 2)


def test_a_strike_is_paid_by_an_extraction_while_a_ring_is_buried(begin: Begin):
    table = begin(STRIKE, stacks={(0, 1): [2], (7, 7): [1, 2]}, markers={(0, 0): 1})
    table.play(("strike", (0, 0), (0, 1)))
    assert table.view().stacks == {(7, 7): (1, 2)}
    assert legal_set(table) == {("extract", (7, 7))}


def test_a_strike_is_offered_where_no_slide_is(begin: Begin):
    shut = {"stacks": {(0, 1): [1, 2]}, "markers": {(0, 0): 1}, "collapsed": {(1, 0): 2, (1, 1): 2}}
    assert legal_set(begin(STRIKE, **shut)) == {("strike", (0, 0), (0, 1)), ("skip_recovery",)}
    assert begin(**shut).view().player == 2


def test_a_strike_is_never_offered_beside_a_slide_that_makes_a_line(begin: Begin):
    markers = {(0, 0): 1, (1, 0): 1, (2, 0): 1, (4, 1): 1}
    table = begin(STRIKE, stacks={(7, 7): [1, 2], (5, 1): [2]}, markers=markers)
    assert legal_set(table) == {("slide", (4, 1), (3, 0)), ("skip_recovery",)}


def test_a_longer_line_of_a_slide_is_collapsed_whole_at_a_cost_or_in_part_for_free(begin: Begin):
    markers = {(0, 0): 1, (1, 0): 1, (2, 0): 1, (4, 0): 1, (3, 1): 1}
    line = tuple((x, 0) for x in range(5))
    for choice, next_kind, territory in [(line, {"extract"}, 5), (line[:4], {"place"}, 4), (line[1:], {"place"}, 4)]:
        table = begin(stacks={(7, 7): [1, 2]}, markers=markers)
        assert offers(table, "slide") == {((3, 1), (3, 0)), ((4, 0), (3, 0))}
        table.play(("slide", (3, 1), (3, 0)))
        assert offers(table, "line") == {(line,), (line[:4],), (line[1:],)}
        table.play(("line", choice))
        assert next_kind <= kinds(table)
        assert table.view().territory == (territory, 0)


def test_a_slide_into_the_corner_of_two_lines_collapses_one_of_them(begin: Begin):
    """Row and column meet in (3,0); whichever is taken breaks the other."""
    markers = {(0, 0): 1, (1, 0): 1, (2, 0): 1, (3, 1): 1, (3, 2): 1, (3, 3): 1, (4, 1): 1}
    table = begin(stacks={(7, 7): [1, 1, 2]}, markers=markers)
    table.play(("slide", (4, 1), (3, 0)))
    row, column = tuple((x, 0) for x in range(4)), tuple((3, y) for y in range(4))
    assert legal_set(table) == {("line", row), ("line", column)}
    table.play(("line", row), ("extract", (7, 7)))
    view = table.view()
    assert (view.markers, view.player) == ({(3, 1): 1, (3, 2): 1, (3, 3): 1}, 2)


def test_claims_of_a_recovery_turn_are_paid_by_extraction(begin: Begin):
    table = begin(**CLAIMS)
    table.play(("slide", (4, 4), (4, 5)), ("extract", (7, 7)))
    assert legal_set(table) == {("claim", (0, 0), 1), ("skip_territory",)}
    table.play(("claim", (0, 0), 1))
    assert legal_set(table) == {("extract", (7, 7))}
    table.play(("extract", (7, 7)))
    view = table.view()
    assert (view.stacks, view.territory, view.credit) == ({(7, 7): (1, 2)}, (3, 0), (2, 0))


def test_a_claim_of_a_recovery_turn_needs_a_buried_ring_outside(begin: Begin):
    """The slide costs the only one."""
    table = begin(**(CLAIMS | {"stacks": {(7, 7): [1, 2]}}))
    table.play(("slide", (4, 4), (4, 5)), ("extract", (7, 7)))
    assert table.view().territory == (0, 0)
    assert "claim" not in kinds(table)


def test_a_skipped_recovery_allows_no_claim(begin: Begin):
    table = begin(**CLAIMS)
    table.play(("skip_recovery",))
    assert table.view().player == 2


def test_claims_after_a_strike_cost_extractions_even_of_who_controls_a_stack_now(begin: Begin):
    stacks = {(5, 5): [1, 1, 2], (7, 7): [1, 2]}
    table = begin(STRIKE, stacks=stacks, markers={(1, 0): 1, (0, 1): 1, (4, 4): 1})
    table.play(("strike", (4, 4), (5, 5)))
    assert table.view().stacks == {(5, 5): (1, 1), (7, 7): (1, 2)}
    assert legal_set(table) == {("extract", (5, 5)), ("extract", (7, 7))}
    table.play(("extract", (7, 7)), ("claim", (0, 0), 1))
    assert legal_set(table) == {("extract", (5, 5))}
    table.play(("extract", (5, 5)))
    assert table.view().stacks == {(5, 5): (1,), (7, 7): (2,)}
