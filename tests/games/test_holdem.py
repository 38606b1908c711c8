"""The rules of no-limit hold'em: worked examples of the rules text, and random hands beside pokerkit."""

import numpy as np
import pokerkit
import pytest
from games.holdem_table import Hand

from asyncplay import games
from asyncplay.errors import AsyncplayError
from asyncplay.games.cards import RANK_LETTERS, RANKS, SUIT_LETTERS
from asyncplay.games.holdem import layout
from asyncplay.games.holdem.layout import CALL, FOLD, RAISE_TO

AUTOMATIONS = (
    pokerkit.Automation.ANTE_POSTING,
    pokerkit.Automation.BET_COLLECTION,
    pokerkit.Automation.BLIND_OR_STRADDLE_POSTING,
)


def test_heads_up_the_button_has_the_small_blind_and_acts_first_before_and_last_after_the_flop():
    hand = Hand()
    assert hand.mover == 1
    assert hand.pot == 3
    assert hand.legal[:2] == [FOLD, CALL]
    assert hand.raises == (4, 200)
    assert hand.act("call").mover == 0  # the big blind may raise when nobody has
    assert hand.legal[0] == CALL
    assert hand.act("check").mover == 0


def test_example_3_six_players_begin_left_of_the_big_blind():
    hand = Hand(players=6)
    assert (hand.mover, hand.pot, hand.raises) == (2, 3, (4, 200))


def test_example_4_limpers_face_a_raise_of_8():
    """The first and the cutoff limp, button and small blind fold, the big blind raises to 10, the first folds."""
    hand = Hand(players=6).act("call", "fold", "call", "fold", "fold", 10, "fold")
    assert (hand.mover, hand.pot, hand.raises) == (4, 15, (18, 200))


def test_example_5_the_least_raise_grows_with_the_last_raise():
    hand = Hand().act(6, 20)
    assert (hand.mover, hand.pot, hand.raises) == (1, 26, (34, 200))


def test_example_6_a_bet_counts_from_zero():
    hand = Hand().act(6, "call")
    assert (hand.mover, hand.pot, hand.raises) == (0, 12, (2, 194))
    hand.act(9)
    assert (hand.mover, hand.pot, hand.raises) == (1, 21, (18, 194))


def test_example_8_a_short_all_in_does_not_reopen_the_betting():
    """The small blind bets 20, the big blind calls, the button is all-in for 24: fold or call only."""
    hand = Hand(players=3, stacks="200/200/26").act("call", "call", "check", 20, "call", 24)
    assert hand.mover == 0
    assert hand.legal == [FOLD, CALL]
    assert hand.act("call").legal == [FOLD, CALL]


def test_example_8_an_all_in_of_a_full_raise_does():
    hand = Hand(players=3, stacks="200/200/42").act("call", "call", "check", 20, "call", 40)
    assert (hand.mover, hand.pot, hand.raises) == (0, 86, (60, 198))


def test_example_9_a_call_for_less_is_all_in_and_the_rest_goes_back():
    hand = Hand("AsAhKsKh2c3d7h9sTd", stacks="200/36").act(6, "call", 50)
    assert hand.legal == [FOLD, CALL]
    hand.act("call")
    assert hand.is_over
    assert hand.pots == [(72, (0, 1)), (20, (0,))]
    assert hand.net == [36, -36]


def test_example_10_three_all_ins_make_three_pots():
    """Small blind, big blind and button all-in with 40, 100 and 200, their hands in this order."""
    hand = Hand("AsAhKsKhQsQh2c3d7h9sJd", players=3, stacks="40/100/200").act(200, "call", "call")
    assert hand.pots == [(120, (0, 1, 2)), (120, (1, 2)), (100, (2,))]
    assert hand.net == [80, 20, -100]


def test_example_11_the_odd_chip_of_two_goes_to_the_first_left_of_the_button():
    hand = Hand("2s3sAsKsAhKh4c4d7h7cQd", players=3).act("call", "fold", *["check"] * 7)
    assert hand.net == [-1, 1, 0]


def test_example_11_three_tie_over_20_and_the_first_gets_8():
    hand = Hand("AsKsAhKhAcKc2s3s4h5h7dTc9s", players=4).act(5, "call", "call", "call")
    hand.act(*["check"] * 3 * 4)
    assert hand.net == [3, 1, 1, -5]


def test_all_but_one_fold_and_that_one_takes_the_pot_unseen():
    hand = Hand(players=3).act("fold", 6, "fold")
    assert hand.is_over
    assert hand.net == [2, -2, 0]
    assert hand.state[layout.N_DEALT] == 6


def test_a_bet_that_nobody_could_pay_more_than_cannot_be_raised():
    hand = Hand(stacks="200/30").act(30)
    assert hand.legal == [FOLD, CALL]


def test_a_board_is_dealt_to_its_end_when_at_most_one_has_chips():
    hand = Hand(stacks="200/30").act(30, "call")
    assert hand.is_over
    assert hand.state[layout.N_DEALT] == 9


@pytest.mark.parametrize(("cards", "lowest"), [(24, "9"), (36, "6"), (52, "2")])
def test_a_reduced_deck_has_the_high_ranks_of_every_suit(cards, lowest):
    spec = games.load("holdem", {"deck": cards})
    state, numbers, odds = spec.new_state(), np.zeros(52, np.int32), np.zeros(52)
    count = spec.kernels.outcomes(spec.rules, state, numbers, odds)
    first = RANK_LETTERS.index(lowest)
    assert numbers[:count].tolist() == [13 * suit + rank for suit in range(4) for rank in range(first, 13)]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"players": 7}, "option players of holdem is 7, must be a whole number from 2 to 6"),
        ({"players": 2.0}, "option players of holdem is 2.0, must be a whole number from 2 to 6"),
        ({"stack": 2}, "option stack of holdem is 2, must be a whole number from 3 to 20000 with big_blind=2"),
        ({"stack": True}, "option stack of holdem is true, must be a whole number from 3 to 20000 with big_blind=2"),
        ({"stacks": "200/1"}, "option stacks of holdem is 200/1, must be more than the big blind"),
        ({"stacks": "200"}, "option stacks of holdem is '200', must be whole numbers seat by seat like 200/200"),
        ({"stacks": "200/x"}, "option stacks of holdem is '200/x', must be whole numbers seat by seat"),
        ({"stacks": 200}, "option stacks of holdem is 200, must be whole numbers like 200/100/150, or empty"),
        ({"small_blind": 3}, "option small_blind of holdem is 3, must be a whole number from 0 to 2 with big_blind=2"),
        ({"big_blind": 0}, "option big_blind of holdem is 0, must be a whole number from 1 to 10000"),
        ({"deck": 40}, "option deck of holdem is 40, must be one of 24, 36, 52"),
    ],
)
def test_an_option_out_of_bounds_is_refused_in_one_line(options, complaint):
    with pytest.raises(AsyncplayError) as refused:
        games.load("holdem", options)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("players", [2, 3, 6])
def test_the_longest_hand_keeps_within_the_bound_of_decisions(players):
    """The last who has to answer a raise always makes the least raise."""
    hand = Hand(players=players)
    n_decisions, n_calls = 0, 0
    while not hand.is_over:
        is_last = n_calls >= players - 2 and hand.raises is not None
        hand.play(RAISE_TO + hand.raises[0] if is_last else CALL)
        n_decisions, n_calls = n_decisions + 1, 0 if is_last else n_calls + 1
    assert 0.8 * hand.spec.max_decisions < n_decisions <= hand.spec.max_decisions


class Beside:
    """A random hand, played by ours and by pokerkit."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        players, big = int(random.integers(2, 7)), int(random.integers(2, 12))
        small = int(random.integers(1, big))  # with equal blinds pokerkit mistakes one for the other
        stacks = [int(big * random.choice([1.3, 3, 10, 40, 100]) * random.uniform(1, 2)) + 1 for _ in range(players)]
        options = {"small_blind": small, "big_blind": big, "stacks": "/".join(map(str, stacks))}
        self.ours = Hand(seed=seed, players=players, **options)
        self.theirs = pokerkit.NoLimitTexasHoldem.create_state(
            AUTOMATIONS, True, 0, (small, big), big, tuple(stacks), players
        )
        cards = self.ours.cards
        for seat in range(players):
            self.theirs.deal_hole(names(cards[2 * seat : 2 * seat + 2]), seat)
        self._board, self._burnt = cards[2 * players :], [card for card in range(52) if card not in cards]

    def settle(self) -> None:
        """Whatever pokerkit wants to see, hands at the showdown and the board, until a player decides or it is over."""
        theirs = self.theirs
        while True:
            if theirs.can_show_or_muck_hole_cards(True):
                theirs.show_or_muck_hole_cards(True)
            elif theirs.can_burn_card():
                theirs.burn_card(names([self._burnt.pop()]))
            elif theirs.can_deal_board():
                count = theirs.board_dealing_count
                theirs.deal_board(names(self._board[:count]))
                del self._board[:count]
            else:
                return

    def compare_decision(self) -> None:
        ours, theirs = self.ours, self.theirs
        assert ours.mover == theirs.actor_index
        assert (FOLD in ours.legal) == theirs.can_fold()
        call = min(ours.state[layout.LARGEST] - ours.state[layout.BETS + ours.mover], theirs.stacks[ours.mover])
        assert call == theirs.checking_or_calling_amount
        assert ours.pot == theirs.total_pot_amount
        bounds = theirs.min_completion_betting_or_raising_to_amount, theirs.max_completion_betting_or_raising_to_amount
        assert ours.raises == (None if bounds[0] is None else bounds)

    def decide(self) -> None:
        """Often calls, seldom folds, raises of all sizes, small ones more often."""
        ours, theirs, kind = self.ours, self.theirs, self.random.random()
        if ours.raises and kind < 0.4:
            least, most = ours.raises
            amount = most if kind < 0.12 else least + int((most - least) * self.random.random() ** 4)
            ours.act(amount)
            theirs.complete_bet_or_raise_to(amount)
        elif FOLD in ours.legal and kind > 0.9:
            ours.act("fold")
            theirs.fold()
        else:
            ours.act("call")
            theirs.check_or_call()

    def compare_end(self) -> None:
        """Pots while all hands live, then winners and payouts. Pokerkit gives an uncalled bet back before it counts."""
        ours, theirs = self.ours, self.theirs
        assert ours.is_over
        pots = [(pot.amount, pot.player_indices) for pot in theirs.pots]
        assert [pot for pot in pots if len(pot[1]) > 1] == [pot for pot in ours.pots if len(pot[1]) > 1]
        while theirs.can_kill_hand():
            theirs.kill_hand()
        while theirs.can_push_chips():
            theirs.push_chips()
        while theirs.can_pull_chips():
            theirs.pull_chips()
        assert not theirs.status
        assert ours.net == theirs.payoffs


def names(cards: list[int]) -> str:
    return "".join(RANK_LETTERS[card % RANKS] + SUIT_LETTERS[card // RANKS] for card in cards)


def play_beside(seed: int) -> None:
    hand = Beside(seed)
    hand.settle()
    while hand.theirs.actor_index is not None:
        hand.compare_decision()
        hand.decide()
        hand.settle()
    hand.compare_end()


def test_random_hands_go_as_with_pokerkit():
    """Legal decisions, pots, side pots, winners and payouts, for 2 to 6 players with uneven stacks."""
    for seed in range(80):
        play_beside(seed)


@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
def test_20000_random_hands_go_as_with_pokerkit():
    for seed in range(20_000):
        play_beside(seed)
