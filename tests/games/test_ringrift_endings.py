"""RingRift, rules text 1, 4, 5 and 7: thresholds, endings, ranks, the swap and the move limit."""

import pytest
from games.ringrift_board import board_of, elimination_threshold
from games.ringrift_sides import Begin, kinds, legal_set
from games.ringrift_twin import Options

ON_A_MARKER = {"stacks": {(0, 0): [1, 1]}, "markers": {(3, 0): 1}}  # moving there eliminates a ring
ELIMINATING = ("move", (0, 0), (3, 0))


def collapsed_from_the_end(*counts):
    """The last cells of square8 collapsed, so many for each player."""
    owners = [player for player, count in enumerate(counts, 1) for _ in range(count)]
    return dict(zip(reversed(board_of("square8").cells), owners, strict=False))


# Section 1


@pytest.mark.parametrize(
    ("name", "n_cells", "thresholds", "minima", "lengths"),
    [
        ("square8", 64, (18, 24, 30), (33, 22, 17), (4, 3, 3)),
        ("square19", 361, (72, 96, 120), (181, 121, 91), (4, 4, 4)),
        ("hex8", 61, (18, 24, 30), (31, 21, 16), (4, 3, 3)),
        ("hexagonal", 469, (96, 128, 160), (235, 157, 118), (4, 4, 4)),
    ],
)
def test_the_twin_s_boards_are_those_of_the_table(name, n_cells, thresholds, minima, lengths):
    board = board_of(name)
    assert len(board.cells) == n_cells
    assert tuple(elimination_threshold(board.rings, players) for players in (2, 3, 4)) == thresholds
    assert tuple(board.territory_minimum(players) for players in (2, 3, 4)) == minima
    assert tuple(board.line_length(players) for players in (2, 3, 4)) == lengths
    assert board.cells == sorted(board.cells, key=lambda cell: (cell[1], cell[0]))


def test_rings_start_in_hand(begin: Begin):
    assert begin(Options(players=3)).view().hands == (18, 18, 18)
    assert begin(Options(board="hexagonal", players=4)).view().hands == (96,) * 4
    assert begin(Options(rings=5)).view().hands == (5, 5)


# Section 4


@pytest.mark.parametrize(
    ("options", "threshold"),
    [
        (Options(), 18),
        (Options(players=3), 24),
        (Options(players=4), 30),
        (Options(rings=4), 4),
        (Options(rings=4, players=3), 5),
        (Options(rings=4, players=4), 7),
    ],
)
def test_eliminated_rings_win_at_the_threshold_and_not_before(begin: Begin, options, threshold):
    """4 rings: 4, 16/3 and 20/3, rounded."""
    for credit, reason in [(threshold - 2, None), (threshold - 1, "ring_elimination")]:
        table = begin(options, credit=(credit, *[0] * (options.players - 1)), **ON_A_MARKER)
        table.play(ELIMINATING)
        view = table.view()
        assert (view.reason, view.winner) == (reason, 1 if reason else None)


def test_a_player_past_the_threshold_finishes_its_turn(begin: Begin):
    markers = {(0, 0): 1, (1, 0): 1, (2, 0): 1, (3, 4): 2}
    table = begin(stacks={(3, 0): [1, 1]}, markers=markers, credit=(17, 0))
    table.play(("move", (3, 0), (3, 4)))
    assert (table.view().credit, table.view().reason, kinds(table)) == ((18, 0), None, {"line"})
    table.play(*table.legal())
    table.play(*table.legal())
    view = table.view()
    assert (view.reason, view.winner, view.credit) == ("ring_elimination", 1, (19, 0))


def test_territory_wins_at_the_minimum_and_not_before(begin: Begin):
    for owned, reason in [(31, None), (32, "territory")]:
        table = begin(stacks={(0, 0): [1]}, markers={(1, 0): 1}, collapsed=collapsed_from_the_end(owned, 5))
        table.play(("move", (0, 0), (2, 0)))
        assert table.view().reason == reason


@pytest.mark.parametrize(("third", "reason"), [(11, None), (10, "territory")])
def test_territory_must_exceed_that_of_all_opponents_together(begin: Begin, third, reason):
    """22 cells are the minimum of three players; against 11 and 11 they do not win."""
    collapsed = collapsed_from_the_end(21, 11, third)
    table = begin(Options(players=3), stacks={(0, 0): [1]}, markers={(1, 0): 1}, collapsed=collapsed)
    table.play(("move", (0, 0), (2, 0)))
    view = table.view()
    assert (view.territory[0], view.reason) == (22, reason)


def test_elimination_is_checked_before_territory(begin: Begin):
    """One move crosses both thresholds."""
    markers = {(1, 0): 1, (3, 0): 1}
    table = begin(stacks={(0, 0): [1, 1]}, markers=markers, collapsed=collapsed_from_the_end(32, 0), credit=(17, 0))
    table.play(ELIMINATING)
    view = table.view()
    assert (view.territory, view.credit, view.reason) == ((33, 0), (18, 0), "ring_elimination")


def test_the_only_player_with_rings_wins_early(begin: Begin):
    table = begin(stacks={(7, 7): [1], (3, 7): [1], (0, 0): [2]}, markers={(1, 0): 1, (0, 1): 1}, hands=(0, 0))
    table.play(("move", (7, 7), (7, 6)), ("claim", (0, 0), 1), ("pay_cap", (3, 7)))
    view = table.view()
    assert (view.reason, view.winner, view.ranks) == ("early_last_player_standing", 1, (1, 2))


@pytest.mark.parametrize("left", ["in hand", "buried"])
def test_a_ring_in_hand_or_buried_prevents_the_early_win(begin: Begin, left):
    stacks = {(7, 7): [2, 1] if left == "buried" else [1]}
    table = begin(stacks=stacks, hands=(0, 1 if left == "in hand" else 0))
    table.play(("move", (7, 7), (7, 4)))
    assert table.view().reason is None


def test_fewer_rounds_of_standing_alone_can_be_asked_for(begin: Begin):
    table = begin(Options(rounds=1), stacks={(7, 0): [2, 1], (0, 7): [1]}, hands=(0, 0))
    table.play(("move", (0, 7), (1, 7)))
    view = table.view()
    assert (view.reason, view.count, view.n_decisions) == ("last_player_standing", 1, 1)


def test_a_real_action_of_another_player_takes_the_count_away(begin: Begin):
    """In the third round P1 uncovers P2's ring: P2 can move, and is the holder with count 0."""
    table = begin(stacks={(7, 0): [2, 1], (0, 7): [1]}, markers={(7, 3): 1}, hands=(0, 0))
    table.play(("move", (0, 7), (1, 7)), ("move", (1, 7), (2, 7)))
    assert (table.view().holder, table.view().count) == (1, 2)
    table.play(("move", (7, 0), (7, 3)))
    view = table.view()
    assert (view.player, view.holder, view.count) == (2, 2, 0)
    table.play(("move", (7, 3), (7, 4)))
    if "skip_capture" in kinds(table):
        table.play(("skip_capture",))
    assert (table.view().player, table.view().holder, table.view().count) == (1, 1, 0)


def test_three_rounds_do_not_win_while_another_player_could_act_now(begin: Begin):
    """P2 has no real action in its own three turns, but its strike in the third uncovers a ring of its own."""
    options = Options(strike=True)
    table = begin(options, stacks={(7, 0): [2, 1], (0, 7): [1]}, markers={(6, 1): 2}, hands=(0, 0))
    table.play(("move", (0, 7), (1, 7)), ("skip_recovery",), ("move", (1, 7), (2, 7)), ("skip_recovery",))
    table.play(("move", (2, 7), (2, 6)), ("strike", (6, 1), (7, 0)))
    view = table.view()
    assert (view.player, view.holder, view.count, view.reason) == (1, 1, 3, None)
    table.play(("move", (2, 6), (2, 5)))
    assert (table.view().player, table.view().holder, table.view().count) == (2, 2, 0)


def test_a_holder_without_a_real_action_is_holder_no_more(begin: Begin):
    """P1's only stack is shut in: it must eliminate; P2 then starts to count anew."""
    walls = {(1, 0): 2, (0, 1): 2, (1, 1): 2}
    table = begin(stacks={(0, 0): [2, 1]}, collapsed=walls, hands=(0, 0), holder=1, count=2)
    view = table.view()
    assert (view.player, view.holder, view.count) == (1, None, 0)


def test_a_turn_without_a_real_action_leaves_another_player_s_count_alone(begin: Begin):
    walls = {(1, 0): 2, (0, 1): 2, (1, 1): 2}
    table = begin(stacks={(0, 0): [2, 1]}, collapsed=walls, hands=(0, 0), holder=2, count=2)
    view = table.view()
    assert (view.player, view.holder, view.count) == (1, 2, 2)


OPEN = [(0, 0), (7, 7)]  # cells left open at a stalemate; a stack on (7, 7) is shut in


def shut(*counts):
    """All of square8 collapsed but two corners, so many cells for each player."""
    cells = [cell for cell in board_of("square8").cells if cell not in OPEN]
    owners = [player for player, count in enumerate(counts, 1) for _ in range(count)]
    return dict(zip(cells, owners, strict=True))


LAST_RING = [("skip_territory",), ("eliminate", (7, 7))]


def test_at_a_stalemate_rings_in_hand_become_credit_of_their_owner(begin: Begin):
    """P1 claims the other corner; P2, in control of what is left, must eliminate it."""
    table = begin(stacks={(7, 7): [2, 1]}, collapsed=shut(31, 31), hands=(5, 3))
    table.play(("claim", (0, 0), "none"), ("pay_cap", (7, 7)))
    assert legal_set(table) == {("eliminate", (7, 7))}
    table.play(("eliminate", (7, 7)))
    view = table.view()
    assert (view.reason, view.winner, view.territory) == ("stalemate", 1, (32, 31))
    assert (view.credit, view.hands) == ((6, 4), (0, 0))


def test_a_stalemate_is_won_by_territory_first(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, collapsed=shut(30, 32), hands=(5, 0))
    table.play(*LAST_RING)
    assert (table.view().reason, table.view().winner, table.view().credit) == ("stalemate", 2, (6, 0))


def test_a_stalemate_is_won_by_credit_second(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, collapsed=shut(31, 31), hands=(0, 2))
    table.play(*LAST_RING)
    assert (table.view().reason, table.view().winner, table.view().credit) == ("stalemate", 2, (1, 2))


def test_a_stalemate_is_won_by_markers_third(begin: Begin):
    table = begin(stacks={(7, 7): [1]}, collapsed=shut(31, 31), markers={(0, 0): 2}, hands=(0, 1))
    table.play(*LAST_RING)
    assert (table.view().reason, table.view().winner, table.view().credit) == ("stalemate", 2, (1, 1))


@pytest.mark.parametrize("player", [1, 2])
def test_a_stalemate_is_won_by_the_player_whose_turn_ended_fourth(begin: Begin, player):
    table = begin(player=player, stacks={(7, 7): [player]}, collapsed=shut(31, 31), hands=(player - 1, 2 - player))
    table.play(*LAST_RING)
    view = table.view()
    assert (view.reason, view.winner, view.credit) == ("stalemate", player, (1, 1))


def test_a_stalemate_is_won_by_the_lowest_seat_last(begin: Begin):
    table = begin(Options(players=3), stacks={(7, 7): [1]}, collapsed=shut(20, 21, 21), hands=(0, 0, 0))
    table.play(*LAST_RING)
    view = table.view()
    assert (view.reason, view.winner, view.ranks) == ("stalemate", 2, (3, 1, 2))


def test_a_player_without_any_ring_has_no_turn_any_more(begin: Begin):
    table = begin(Options(players=3), stacks={(0, 0): [1]}, hands=(0, 0, 3))
    table.play(("move", (0, 0), (0, 1)))
    assert table.view().player == 3


def test_a_player_with_only_buried_rings_has_its_turn(begin: Begin):
    table = begin(Options(players=3), stacks={(0, 0): [2, 1]}, markers={(5, 5): 2}, hands=(0, 0, 3))
    table.play(("move", (0, 0), (0, 2)))
    assert table.view().player == 2
    assert kinds(table) == {"slide", "skip_recovery"}


def test_the_same_player_goes_on_if_nobody_else_has_a_ring(begin: Begin):
    """P1's last ring on the board is lost, so it controls no stack; it still has rings in hand."""
    table = begin(stacks={(0, 0): [1]}, markers={(3, 0): 1}, hands=(2, 0))
    table.play(("skip_placement",), ELIMINATING)
    view = table.view()
    assert (view.player, view.reason, view.hands) == (1, None, (2, 0))


# Ranks


@pytest.mark.parametrize(
    ("owned", "ranks", "values"),
    [
        ((0, 1, 0, 0), (1, 2, 3, 3), (1, 1 / 3, -1 / 3, -1 / 3)),
        ((0, 1, 1, 0), (1, 2, 2, 4), (1, 1 / 3, 1 / 3, -1)),
        ((0, 1, 2, 3), (1, 4, 3, 2), (1, -1, -1 / 3, 1 / 3)),
        ((0, 0, 0, 0), (1, 2, 2, 2), (1, 1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_equal_players_share_a_rank_and_the_next_is_left_out(begin: Begin, owned, ranks, values):
    """P1 wins by elimination; the others differ in territory alone."""
    table = begin(Options(players=4), collapsed=collapsed_from_the_end(*owned), credit=(29, 0, 0, 0), **ON_A_MARKER)
    table.play(ELIMINATING)
    view = table.view()
    assert (view.reason, view.ranks) == ("ring_elimination", ranks)
    assert view.values == pytest.approx(values)


@pytest.mark.parametrize(
    ("position", "ranks"),
    [
        ({"credit": (29, 1, 2, 3)}, (1, 4, 3, 2)),
        ({"credit": (29, 1, 2, 3), "collapsed": {(7, 7): 2}}, (1, 2, 4, 3)),
        ({"markers": {(3, 0): 1, (7, 7): 4, (5, 5): 4, (6, 3): 3}}, (1, 4, 3, 2)),
        ({"credit": (29, 1, 0, 0), "markers": {(3, 0): 1, (7, 7): 4}}, (1, 2, 4, 3)),
    ],
)
def test_ranks_go_by_territory_then_credit_then_markers(begin: Begin, position, ranks):
    table = begin(Options(players=4), **(ON_A_MARKER | {"credit": (29, 0, 0, 0)} | position))
    table.play(ELIMINATING)
    assert table.view().ranks == ranks


def test_who_was_never_eliminated_ranks_before_who_was(begin: Begin):
    table = begin(Options(players=3), hands=(0, 0, 3), credit=(23, 0, 0), **ON_A_MARKER)
    table.play(ELIMINATING)
    view = table.view()
    assert (view.reason, view.ranks, view.values) == ("ring_elimination", (1, 3, 2), (1, -1, 0))


def test_who_was_eliminated_later_ranks_before_who_was_earlier(begin: Begin):
    """P2 has no ring at the end of P1's first turn, P3 loses its buried one in P1's next; the last turn counts."""
    table = begin(
        Options(players=3),
        stacks={(7, 7): [1], (3, 7): [1], (0, 0): [3, 1]},
        markers={(1, 0): 1, (0, 1): 1},
        hands=(0, 0, 0),
    )
    table.play(("move", (7, 7), (7, 6)), ("skip_territory",))
    assert table.view().player == 1
    table.play(("move", (7, 6), (7, 5)), ("claim", (0, 0), 1), ("pay_cap", (3, 7)))
    view = table.view()
    assert (view.reason, view.winner, view.ranks) == ("early_last_player_standing", 1, (1, 3, 2))


def test_eliminated_in_the_same_turn_is_equal(begin: Begin):
    table = begin(Options(players=3), hands=(0, 0, 0), credit=(23, 0, 0), **ON_A_MARKER)
    table.play(ELIMINATING)
    assert table.view().ranks == (1, 2, 2)


# Section 5


def test_seat_2_may_swap_once_in_its_first_turn(begin: Begin):
    table = begin(Options(swap=True))
    table.play(("place", (0, 0), 2), ("move", (0, 0), (3, 0)))
    before, legal = table.view(), legal_set(table)
    assert ("swap_sides",) in legal
    table.play(("swap_sides",))
    after = table.view()
    assert legal_set(table) == legal - {("swap_sides",)}
    assert (after.player, after.n_decisions) == (2, before.n_decisions + 1)
    assert (after.stacks, after.markers, after.hands) == (before.stacks, before.markers, before.hands)
    assert (after.holder, after.count) == (before.holder, before.count)


def test_the_swap_is_gone_after_a_first_turn_without_it(begin: Begin):
    table = begin(Options(swap=True))
    assert ("swap_sides",) not in table.legal()
    table.play(("place", (0, 0), 1), ("move", (0, 0), (3, 0)), ("place", (7, 7), 1), ("move", (7, 7), (7, 6)))
    assert ("swap_sides",) not in table.legal()
    table.play(("place", (0, 7), 1), ("move", (0, 7), (1, 7)))
    assert table.view().player == 2
    assert ("swap_sides",) not in table.legal()


def test_the_swap_is_off_unless_it_is_asked_for(begin: Begin):
    table = begin()
    table.play(("place", (0, 0), 2), ("move", (0, 0), (3, 0)))
    assert ("swap_sides",) not in table.legal()


# Section 7


def test_a_game_at_its_limit_ends_without_winner_and_ranks(begin: Begin):
    table = begin(Options(players=3, max_moves=3))
    table.play(("place", (0, 0), 1), ("move", (0, 0), (3, 0)))
    assert table.view().reason is None
    table.play(("place", (7, 7), 1))
    view = table.view()
    assert (view.player, view.reason, view.winner, view.ranks) == (None, "max_moves", None, None)
    assert view.values == (0, 0, 0)
    assert table.legal() == []


@pytest.mark.parametrize(("limit", "reason"), [(2, "max_moves"), (3, "last_player_standing")])
def test_an_ending_after_the_last_decision_of_the_limit_is_a_real_one(begin: Begin, limit, reason):
    """The third move is followed by P2's passed turn and the win as P1's fourth turn starts."""
    table = begin(Options(max_moves=limit), stacks={(7, 0): [2, 1], (0, 7): [1]}, hands=(0, 0))
    for x in range(limit):
        table.play(("move", (x, 7), (x + 1, 7)))
    assert table.view().reason == reason


def test_the_limits_follow_board_and_players():
    limits = {name: [board_of(name).move_limit(n) for n in (2, 3, 4)] for name in ("square8", "hex8", "square19")}
    assert limits == {"square8": [500, 800, 1200], "hex8": [500, 800, 1200], "square19": [1200, 1600, 2000]}
    assert [board_of("hexagonal").move_limit(n) for n in (2, 3, 4)] == [1200, 1600, 2000]
