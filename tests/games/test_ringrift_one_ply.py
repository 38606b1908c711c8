"""RingRift's one-ply player, rules text section 11, against the same words in exact fractions."""

import copy
from fractions import Fraction

import pytest
from games.ringrift_actions import action_of
from games.ringrift_board import elimination_threshold
from games.ringrift_pieces import cap_height
from games.ringrift_random import SMALL, drawn, name_of, source_of, tables
from games.ringrift_sides import KernelTable, TwinTable
from games.ringrift_twin import Decision, Game


def worth(game: Game, player: int) -> Fraction:
    pieces, n_players = game.pieces, len(game.seats)
    stacks = [pieces.stacks[cell] for cell in pieces.controlled(player)]
    return (
        Fraction(2 * pieces.territory(player), game.board.territory_minimum(n_players))
        + Fraction(2 * game.credit[player], elimination_threshold(game.rings, n_players))
        + Fraction("0.02") * len(stacks)
        + Fraction("0.01") * sum(map(cap_height, stacks))
        + Fraction("0.005") * len(pieces.markers_of(player))
    )


def score(game: Game, decision: Decision) -> Fraction:
    """Of the position right after the decision, for the player who takes it."""
    player, after = game.player, copy.deepcopy(game)
    after.play(decision)
    if after.outcome is not None:
        if after.outcome.winner is None:
            return Fraction(0)
        return Fraction(10 if after.outcome.winner == player else -10)
    return worth(after, player) - max(worth(after, other) for other in after.seats if other != player)


def advised(game: Game) -> int:
    """The highest score, the lowest action on ties."""
    scores = {action_of(game, decision): score(game, decision) for decision in game.legal()}
    best = max(scores.values())
    return min(action for action, found in scores.items() if found == best)


def check_advice(options, seed: int, every: int) -> None:
    """In every so-manieth position of a random game."""
    source, twin, kernels = source_of(options, seed), TwinTable(options), KernelTable(options)
    spec, state, room = kernels.table.spec, kernels.table.state, kernels.table.spec.new_room()
    while twin.game.outcome is None:
        if twin.game.n_decisions % every == 0:
            wanted = advised(twin.game)
            assert spec.advise(spec.rules, state, room) == wanted, f"game {seed}, {twin.view()}"
        decision = drawn(twin.legal(), source, seed)
        spec.kernels.play(spec.rules, state, action_of(twin.game, decision), room)
        twin.play(decision)


@pytest.mark.parametrize("options", tables(SMALL), ids=name_of)
def test_the_one_ply_player_takes_the_highest_score_and_the_lowest_action_on_ties(options):
    check_advice(options, 2, every=23)
