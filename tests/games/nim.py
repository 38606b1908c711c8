"""Games as users write them: see docs/other-games.md."""

from typing import NamedTuple


class Heap(NamedTuple):
    left: int
    player: int
    winner: int = -1


class Nim:
    """Take 1 to 3 from a heap; who takes the last one wins."""

    players, actions, shape = 2, 3, (10,)

    def __init__(self, size: int = 9) -> None:
        self.size, self.longest = size, size

    def start(self) -> Heap:
        return Heap(self.size, 0)

    def legal(self, heap: Heap) -> list[int]:
        return list(range(min(heap.left, 3)))

    def play(self, heap: Heap, action: int) -> Heap:
        left = heap.left - action - 1
        return Heap(left, 1 - heap.player) if left else Heap(0, -2, heap.player)

    def returns(self, heap: Heap) -> list[float]:
        return [1.0, -1.0] if heap.winner == 0 else [-1.0, 1.0]

    def features(self, heap: Heap, player: int) -> list[float]:
        return [float(heap.left > place) for place in range(10)]


class LuckyNim(Nim):
    """Before each decision a coin may take one more, if two are left at least."""

    longest = 20

    def play(self, heap: Heap, action: int) -> Heap:
        if heap.player == -1:
            return Heap(heap.left - action, heap.winner)
        after = super().play(heap, action)
        return after if after.player < 0 or after.left < 2 else Heap(after.left, -1, after.player)

    def chances(self, heap: Heap) -> list[tuple[int, float]]:
        return [(0, 0.75), (1, 0.25)]


class Odd(Nim):
    def legal(self, heap: Heap) -> list[int]:
        return [7]


class Shapeless(Nim):
    shape = (3,)


class Generous(Nim):
    def returns(self, heap: Heap) -> list[float]:
        return [5.0, -5.0]


class Mute:
    """No game at all."""
