"""How training steps find the number of threads that suits the moment."""

from collections import Counter

from asyncplay.model.thread_choice import LAST_GAP, ThreadChoice


def taken(choice: ThreadChoice, per_row_s: dict[int, float], steps: int) -> Counter[int]:
    """How often each number was used over so many steps, each taking what its number takes."""
    counts: Counter[int] = Counter()
    for _ in range(steps):
        counts[choice.threads] += 1
        choice.note(per_row_s[choice.threads])
    return counts


def test_every_option_is_tried_before_one_is_preferred() -> None:
    assert set(taken(ThreadChoice((1, 2, 8)), {1: 1.0, 2: 1.0, 8: 1.0}, 3)) == {1, 2, 8}


def test_the_slower_option_is_tried_ever_more_rarely() -> None:
    choice = ThreadChoice((1, 2))
    assert taken(choice, {1: 1.0, 2: 12.0}, 2000)[2] <= 8
    assert taken(choice, {1: 1.0, 2: 12.0}, 4 * LAST_GAP)[2] == 4


def test_a_machine_that_falls_quiet_is_noticed() -> None:
    choice = ThreadChoice((1, 2))
    taken(choice, {1: 1.0, 2: 12.0}, 100)
    later = taken(choice, {1: 1.0, 2: 0.5}, 2 * LAST_GAP)
    assert later[2] > LAST_GAP


def test_one_bad_step_costs_the_better_option_only_a_few() -> None:
    """However rare trials have become."""
    choice = ThreadChoice((1, 2))
    taken(choice, {1: 1.5, 2: 1.0}, 4 * LAST_GAP)
    while choice.threads != 2:
        choice.note(1.5)
    choice.note(2.5)
    assert taken(choice, {1: 1.5, 2: 1.0}, 100)[2] > 70


def test_a_single_option_is_always_taken() -> None:
    assert taken(ThreadChoice((3,)), {3: 1.0}, 100) == {3: 100}
