"""RingRift, rules text 2, 3.5, 3.7 and 6: what holds in every game, asked of the twin in random ones."""

from collections.abc import Callable
from itertools import permutations, product

import pytest
from games.ringrift_board import Cell, board_of, in_order
from games.ringrift_random import FEW_RINGS, KINDS, LARGE, SMALL, drawn, name_of, source_of, tables, with_variants
from games.ringrift_twin import FORCED, PLACEMENT, Decision, Game, Options

RISES = dict.fromkeys(["move", "capture", "pay_ring", "extract"], 1)
RISES |= dict.fromkeys(["place", "slide", "strike", "line", "swap_sides"], 0)
RISES |= dict.fromkeys(["skip_placement", "skip_capture", "skip_recovery", "skip_territory"], 0)
"""Section 6: by how much S grows with a decision."""

RISES_AT_LEAST = {"pay_cap": 1, "eliminate": 1, "claim": 0}
"""A cap has one ring or more; a region may be all markers, which collapsed cells replace."""


def check_game(options: Options, seed: int) -> Game:
    """Play a random game and hold every decision to section 6 and to what the other paragraphs promise."""
    source, game = source_of(options, seed), Game(with_variants(options, seed))
    seen = {position_key(game)}
    while game.outcome is None:
        check_promises(game)
        decision = drawn(game.legal(), source, seed)
        kind, before, collapsed, lost = decision[0], game.measure(), len(game.pieces.collapsed), sum(game.lost.values())
        game.play(decision)
        if game.outcome and game.outcome.reason == "stalemate":
            break  # rings in hand were converted
        grown = game.measure() - before
        assert grown == RISES[kind] if kind in RISES else grown >= RISES_AT_LEAST[kind]
        assert kind not in ("line", "claim") or len(game.pieces.collapsed) > collapsed
        assert kind != "strike" or sum(game.lost.values()) > lost
        assert position_key(game) not in seen, f"a position came back after {decision}"
        seen.add(position_key(game))
    check_conservation(game)
    return game


def position_key(game: Game) -> tuple[object, ...]:
    """The position with player and phase.

    Whether the turn has changed the board is part of it: a claim may be declined after a move, and again by the same
    player in the same position one round later, when it could not move and must eliminate next.
    """
    pieces = game.pieces
    stacks = frozenset((cell, tuple(rings)) for cell, rings in pieces.stacks.items())
    lying = frozenset(pieces.markers.items()), frozenset(pieces.collapsed.items())
    return stacks, *lying, tuple(game.hand.values()), game.player, game.phase, game.is_changed, game.may_swap


def check_promises(game: Game) -> None:
    """At every decision: cells hold one thing, no skip is alone, no line is left over, nobody is forced who can act."""
    check_conservation(game)
    pieces = game.pieces
    assert len({*pieces.stacks, *pieces.markers, *pieces.collapsed}) == sum(
        map(len, (pieces.stacks, pieces.markers, pieces.collapsed))
    )
    assert all(pieces.stacks.values()), "a stack without rings has vanished"
    assert any(not decision[0].startswith("skip_") for decision in game.legal())
    if game.phase == PLACEMENT:
        assert not any(pieces.lines(seat, game.line_length) for seat in game.seats)
    if game.phase == FORCED:
        assert not game.has_real_action(game.player)


def check_conservation(game: Game) -> None:
    """Of each colour R rings in hand, on the board or eliminated; credits add up to the eliminated; S is bounded."""
    rings = [ring for stack in game.pieces.stacks.values() for ring in stack]
    for seat in game.seats:
        assert game.hand[seat] + rings.count(seat) + game.lost[seat] == game.rings
    assert sum(game.credit.values()) == sum(game.lost.values())
    assert game.measure() <= len(game.board.cells) + game.rings * len(game.seats)


def check_end(game: Game) -> None:
    """One winner, whose rank is 1, and no game near its limit."""
    assert game.outcome is not None
    assert game.outcome.reason != "max_moves"
    assert game.outcome.ranks is not None
    assert [seat for seat, rank in zip(game.seats, game.outcome.ranks, strict=True) if rank == 1] == [
        game.outcome.winner
    ]
    assert game.outcome.values[game.outcome.winner - 1] == max(game.outcome.values) == 1


def check_games(options: Options, n_games: int) -> None:
    for seed in range(n_games):
        check_end(check_game(options, seed))


@pytest.mark.parametrize("options", tables(SMALL) + FEW_RINGS, ids=name_of)
def test_the_measure_never_falls_rings_are_conserved_and_no_position_repeats(options):
    check_games(options, 3 if options.board in SMALL else 1)


@pytest.mark.slow
@pytest.mark.parametrize("options", tables(SMALL) + tables(LARGE), ids=name_of)
def test_the_same_in_more_games(options):
    check_games(options, 20 if options.board in SMALL else 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", tables(SMALL) + tables(LARGE), ids=name_of)
def test_the_same_in_many_games(options):
    check_games(options, 1000 if options.board in SMALL else 30)


def test_random_games_meet_every_kind_of_decision():
    """What the comparisons draw from would be worth less without one of them."""
    met: set[str] = set()
    for options in tables(SMALL):
        for seed in (10, 11):
            source, game = source_of(options, seed), Game(with_variants(options, seed))
            while game.outcome is None:
                decision = drawn(game.legal(), source, seed)
                met.add(decision[0])
                game.play(decision)
    assert met == KINDS


# Symmetries (section 8)


def symmetries(board: str) -> list[Callable[[Cell], Cell]]:
    """8 of a square board, 12 of a hexagon, as maps of cells."""
    if board.startswith("square"):
        last = {"square8": 7, "square19": 18}[board]
        return [
            lambda cell, turn=turn, flip_x=flip_x, flip_y=flip_y: (
                last - cell[turn] if flip_x else cell[turn],
                last - cell[1 - turn] if flip_y else cell[1 - turn],
            )
            for turn, flip_x, flip_y in product((0, 1), (False, True), (False, True))
        ]
    return [
        lambda cell, order=order, sign=sign: tuple(sign * cell[k] for k in order)
        for order, sign in product(permutations(range(3)), (1, -1))
    ]


def turned(decision: Decision, game: Game, turn: Callable[[Cell], Cell]) -> Decision:
    """The same decision in the turned game: a claim is named by its turned region's lowest cell."""
    kind, *what = decision
    if kind == "claim":
        regions = game.pieces.candidates()
        region = next(region for region in regions if [region.lowest, region.border] == what)
        return kind, min(map(turn, region.cells), key=in_order), region.border
    if kind == "line":
        return kind, tuple(sorted(map(turn, what[0]), key=in_order))
    return kind, *[turn(part) if isinstance(part, tuple) else part for part in what]


def check_symmetry(options: Options, number: int) -> None:
    turn, source = symmetries(options.board)[number], source_of(options, number)
    chosen = with_variants(options, number)
    game, image = Game(chosen), Game(chosen)
    while game.outcome is None:
        assert {turned(decision, game, turn) for decision in game.legal()} == set(image.legal())
        decision = drawn(game.legal(), source, number)
        reply = turned(decision, game, turn)
        game.play(decision)
        image.play(reply)
        assert image.player == game.player
    assert image.outcome == game.outcome


@pytest.mark.parametrize("options", tables(SMALL), ids=name_of)
def test_turned_games_have_turned_decisions_and_the_same_outcome(options):
    for number in range(1, len(symmetries(options.board)), 5):
        check_symmetry(options, number)


@pytest.mark.slow
@pytest.mark.parametrize("options", tables(SMALL), ids=name_of)
def test_every_symmetry_turns_games(options):
    for number in range(len(symmetries(options.board))):
        check_symmetry(options, number)


@pytest.mark.parametrize("board", SMALL + LARGE)
def test_a_symmetry_maps_the_board_onto_itself(board):
    cells = set(board_of(board).cells)
    maps = symmetries(board)
    assert len({tuple(turn(cell) for cell in board_of(board).cells) for turn in maps}) == len(maps)
    assert all({turn(cell) for cell in cells} == cells for turn in maps)
