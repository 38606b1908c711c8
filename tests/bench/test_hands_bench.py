"""``asyncplay bench hands``."""

from asyncplay.bench import hands


def test_random_hands_have_seven_different_cards():
    found = hands.random_hands(1000, 7)
    assert {hand.bit_count() for hand in found.tolist()} == {7}
    assert len(set(found.tolist())) > 990


def test_every_rate_is_measured(monkeypatch):
    monkeypatch.setattr(hands, "N_HANDS", 1000)
    monkeypatch.setattr(hands, "N_BOARDS", 2)
    monkeypatch.setattr(hands, "WINDOWS", 1)
    assert {name for name, rate in hands.measure().items() if rate > 0} == {
        "hands_per_s",
        "boards_per_s",
        "decisions_per_s",
    }
