"""Work divided so that nothing is lost."""


def shares(total: int, workers: int) -> list[int]:
    """Return int[workers] that add up to ``total`` and differ by one at most, the larger first."""
    assert workers > 0, "work cannot be divided among nobody"
    base, remainder = divmod(total, workers)
    return [base + (worker < remainder) for worker in range(workers)]


def chunks(first: int, count: int, size: int) -> list[tuple[int, int]]:
    """Cut the units first .. first + count - 1 into (first, count) pieces of at most ``size``."""
    assert size > 0, "a piece holds at least one unit"
    return [(start, min(size, first + count - start)) for start in range(first, first + count, size)]
