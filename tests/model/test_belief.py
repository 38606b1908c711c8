import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from model_cases import BELIEVER, MLP, random_examples

from asyncplay.errors import AsyncplayError
from asyncplay.model.belief import belief_loss, counting_loss, to_whereabouts
from asyncplay.model.learner import Learner, LearnerSettings
from asyncplay.model.schedule import LearningRate
from asyncplay.payloads import POSSIBLE_SHIFT, SEEN

PLAYERS = 3
NOBODY, LEFT, RIGHT = range(PLAYERS)


def held(holder: int, *possible: int) -> int:
    """A card as rows tell of it."""
    return holder | sum(1 << place for place in possible) << POSSIBLE_SHIFT


def row(*cards: int) -> np.ndarray:
    return np.array([cards], np.int16)


def test_counting_cards_by_hand():
    """Two undealt, one with each neighbour: the first three cards may be anywhere and have odds 2 : 1 : 1; the last
    cannot be on the left, so the odds are 2 : 1. The fifth is seen."""
    anywhere, not_left = (NOBODY, LEFT, RIGHT), (NOBODY, RIGHT)
    cards = row(held(NOBODY, *anywhere), held(LEFT, *anywhere), held(NOBODY, *anywhere), held(RIGHT, *not_left), SEEN)

    loss = counting_loss(to_whereabouts(cards, PLAYERS))

    assert loss.tolist() == pytest.approx([(math.log(2) + math.log(4) + math.log(2) + math.log(3)) / 4])


def test_a_belief_multiplies_the_odds_of_counting():
    """One card with a neighbour and one undealt: even odds, which a belief of log 3 makes three to one."""
    cards = to_whereabouts(row(held(LEFT, NOBODY, LEFT), held(NOBODY, NOBODY, LEFT)), PLAYERS)
    beliefs = torch.zeros(1, 2, PLAYERS)
    beliefs[0, 0, LEFT] = math.log(3)

    assert belief_loss(beliefs.flatten(1), cards).tolist() == pytest.approx([(math.log(4 / 3) + math.log(2)) / 2])


def test_cards_that_are_seen_and_holders_that_cannot_be_never_count():
    """Neither in the loss nor in its gradient, whatever is believed of them."""
    cards = to_whereabouts(row(SEEN, held(LEFT, NOBODY, LEFT), held(NOBODY, NOBODY, LEFT), SEEN), PLAYERS)
    wild = torch.zeros(1, 4, PLAYERS)
    wild[:, [0, 3]], wild[:, :, RIGHT] = 50.0, 70.0
    wild.requires_grad_()

    loss = belief_loss(wild.flatten(1), cards)
    loss.sum().backward()

    assert loss.tolist() == pytest.approx([math.log(2)])
    assert wild.grad[:, [0, 3]].abs().max() == 0
    assert wild.grad[:, :, RIGHT].abs().max() == 0
    assert wild.grad[:, 1, LEFT] == pytest.approx(-0.25)


def test_a_row_that_sees_all_cards_teaches_nothing():
    assert counting_loss(to_whereabouts(row(SEEN, SEEN), PLAYERS)).tolist() == [0.0]


def test_a_network_learns_who_always_holds_a_card():
    """Card 0 is the opponent's if the first feature is 1, else nobody's, and card 1 is the other's: counting says
    log 2, a network that has understood 0. The cards seen, 2 and 3, do not disturb."""
    rows = random_examples(BELIEVER, 64)
    is_held = rows.features[:, 0] > 0
    cards = np.full((64, 4), SEEN, np.int16)
    cards[:, 0], cards[:, 1] = (
        np.where(is_held, held(1, 0, 1), held(0, 0, 1)),
        np.where(is_held, held(0, 0, 1), held(1, 0, 1)),
    )
    learner = Learner(BELIEVER, LearnerSettings(LearningRate(peak=0.01, warmup_steps=1)), seed=0)

    reports = [learner.train(rows._replace(holders=cards)) for _ in range(150)]

    assert reports[0].belief_loss == pytest.approx(math.log(2), rel=1e-5)
    assert {round(report.counting_loss, 5) for report in reports} == {round(math.log(2), 5)}
    assert reports[-1].belief_loss < 0.05


def test_without_beliefs_no_loss_of_theirs_is_reported():
    report = Learner(MLP, LearnerSettings(), seed=0).train(random_examples(MLP, 8))
    assert (report.belief_loss, report.counting_loss) == (None, None)


def test_a_network_that_was_saved_before_there_were_beliefs_can_be_loaded():
    learner = Learner(MLP, LearnerSettings(), seed=0)
    saved = learner.save()
    old = saved._replace(facts=saved.facts.replace(', "beliefs": 0', ""))
    assert old.facts != saved.facts

    Learner(MLP, LearnerSettings(), seed=1).load(old)
    with pytest.raises(AsyncplayError, match="the saved network is"):
        Learner(BELIEVER, LearnerSettings(), seed=1).load(old)


def test_beliefs_are_as_many_for_each_card_as_there_are_players():
    with pytest.raises(AsyncplayError, match="2 players cannot have 7 beliefs"):
        replace(MLP, beliefs=7)
