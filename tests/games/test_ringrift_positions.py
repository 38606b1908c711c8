"""The positions of section 10 of RingRift's rules text: what may be done there and what follows."""

import pytest
from games.ringrift_board import board_of
from games.ringrift_sides import Begin, kinds, legal_set, offers
from games.ringrift_twin import Options

CORNER = {(1, 0): 1, (0, 1): 1}
AWAY = ("move", (7, 7), (7, 6))  # of a lone stack whose marker then encloses nothing
BOARDS = ["square8", "square19", "hex8", "hexagonal"]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("board", BOARDS)
def test_every_cell_of_an_empty_board_takes_one_two_or_three_rings(begin: Begin, board, players):
    """192 placements on square8, 183 on hex8."""
    table = begin(Options(board=board, players=players))
    cells = board_of(board).cells
    assert legal_set(table) == {("place", cell, number) for cell in cells for number in (1, 2, 3)}
    assert len(table.legal()) == {"square8": 192, "square19": 1083, "hex8": 183, "hexagonal": 1407}[board]
    assert table.view().player == 1


def test_a_stack_of_three_in_the_corner_has_15_moves(begin: Begin):
    corner = {"stacks": {(0, 0): [1, 1, 1]}}
    moves = legal_set(begin(**corner))
    assert moves == {("move", (0, 0), (d * dx, d * dy)) for d in range(3, 8) for dx, dy in [(1, 0), (0, 1), (1, 1)]}
    for move in moves:
        table = begin(**corner)
        table.play(move)
        view = table.view()
        assert (view.markers, view.stacks, view.player) == ({(0, 0): 1}, {move[2]: (1, 1, 1)}, 2)


def test_two_markers_make_the_corner_claimable(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers=CORNER)
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), 1), ("skip_territory",)}
    table.play(("claim", (0, 0), 1))
    assert legal_set(table) == {("pay_cap", (7, 6))}
    table.play(("pay_cap", (7, 6)))
    view = table.view()
    assert view.collapsed == {(0, 0): 1, (1, 0): 1, (0, 1): 1}
    assert (view.territory, view.credit, view.stacks, view.player) == ((3, 0), (1, 0), {}, 2)


def test_a_claim_takes_the_diagonal_border_marker_and_none_behind_it(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers=CORNER | {(1, 1): 1, (2, 2): 1})
    table.play(AWAY, ("claim", (0, 0), 1), ("pay_cap", (7, 6)))
    view = table.view()
    assert set(view.collapsed) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert view.markers == {(2, 2): 1, (7, 7): 1}


def test_a_region_without_border_takes_no_marker_beside_it(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, markers={(1, 1): 1}, collapsed={(1, 0): 2, (0, 1): 2})
    table.play(AWAY)
    assert legal_set(table) == {("claim", (0, 0), "none"), ("skip_territory",)}
    table.play(("claim", (0, 0), "none"), ("pay_cap", (7, 6)))
    view = table.view()
    assert (view.territory, view.markers) == ((1, 2), {(1, 1): 1, (7, 7): 1})


def test_three_rings_can_be_legal_where_one_and_two_are_dead(begin: Begin):
    table = begin(stacks={(1, 1): [2, 2, 2]}, collapsed={(1, 0): 1, (0, 1): 1}, hands=(5, 3))
    assert {number for cell, number in offers(table, "place") if cell == (0, 0)} == {3}


def test_a_capture_with_all_its_effects(begin: Begin):
    table = begin(stacks={(0, 0): [1], (2, 0): [1, 2]}, markers={(1, 0): 2, (5, 0): 2, (3, 0): 1})
    table.play(("capture", (0, 0), (2, 0), (5, 0)))
    view = table.view()
    assert view.markers == {(0, 0): 1, (1, 0): 1}
    assert view.collapsed == {(3, 0): 1}
    assert view.stacks == {(2, 0): (1,), (5, 0): (2,)}
    assert (view.credit, view.player) == ((1, 0), 2)


def test_a_line_of_five_has_three_choices_and_no_skip(begin: Begin):
    table = begin(stacks={(3, 0): [1]}, markers={(0, 0): 1, (1, 0): 1, (2, 0): 1, (4, 0): 1})
    table.play(("move", (3, 0), (3, 4)))
    line = tuple((x, 0) for x in range(5))
    assert legal_set(table) == {("line", line), ("line", line[:4]), ("line", line[1:])}


RECOVERY = {
    "stacks": {(7, 7): [1, 2], (6, 0): [1, 1, 2, 2]},
    "markers": {(0, 0): 1, (1, 0): 1, (2, 0): 1, (4, 1): 1},
}


def test_recovery_offers_the_slide_that_makes_a_line_and_the_skip(begin: Begin):
    table = begin(**RECOVERY)
    assert legal_set(table) == {("slide", (4, 1), (3, 0)), ("skip_recovery",)}
    table.play(("slide", (4, 1), (3, 0)))
    assert legal_set(table) == {("line", ((0, 0), (1, 0), (2, 0), (3, 0)))}
    table.play(*table.legal())
    assert legal_set(table) == {("extract", (7, 7)), ("extract", (6, 0))}
    table.play(("extract", (6, 0)))
    view = table.view()
    assert view.stacks == {(7, 7): (1, 2), (6, 0): (1, 2, 2)}
    assert (view.credit, view.territory, view.markers, view.player) == ((1, 0), (4, 0), {}, 2)


FORCED = {
    "stacks": {(0, 0): [2, 1, 1], (7, 7): [2]},
    "collapsed": {(1, 0): 2, (0, 1): 2, (1, 1): 2},
    "hands": (0, 0),
}


def test_who_declines_a_claim_and_changed_nothing_is_forced_to_eliminate(begin: Begin):
    """P2 is then the only one with rings, and wins though P1 was acting."""
    table = begin(**FORCED)
    assert legal_set(table) == {("claim", (2, 0), "none"), ("skip_territory",)}
    table.play(("skip_territory",))
    assert legal_set(table) == {("eliminate", (0, 0))}
    table.play(("eliminate", (0, 0)))
    view = table.view()
    assert (view.stacks, view.credit) == ({(0, 0): (2,), (7, 7): (2,)}, (2, 0))
    assert (view.player, view.reason, view.winner) == (None, "early_last_player_standing", 2)


def test_three_rounds_alone_win_as_the_fourth_turn_starts(begin: Begin):
    table = begin(stacks={(7, 0): [2, 1], (0, 7): [1]}, hands=(0, 0))
    for x in range(3):
        view = table.view()
        assert (view.player, view.holder, view.count) == (1, 1, x)
        table.play(("move", (x, 7), (x + 1, 7)))
        if kinds(table) & {"skip_capture"}:
            table.play(("skip_capture",))
    view = table.view()
    assert (view.reason, view.winner, view.count, view.ranks) == ("last_player_standing", 1, 3, (1, 2))
    assert table.legal() == []
