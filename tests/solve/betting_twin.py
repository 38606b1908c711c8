"""The betting tree of abstracted hold'em in plain Python, close to the rules text: slow, and no code of ours in it."""

from dataclasses import dataclass, field

Menus = dict[tuple[int, bool], list[list[int] | None]]
"""By street and whether the mover is in position: percents by raise number, None for no raise."""


@dataclass
class Twin:
    """A position: stacks behind ``s``, bets of the street ``b``, chips put in ``t``, as the rules text calls them."""

    s: list[int]
    b: list[int]
    t: list[int]
    big: int
    menus: Menus
    street: int = 0
    r: int = 0
    raises: int = 0
    folded: set[int] = field(default_factory=set)
    acted: set[int] = field(default_factory=set)
    mover: int | None = None

    @classmethod
    def start(cls, stacks: list[int], small: int, big: int, menus: Menus) -> "Twin":
        n = len(stacks)
        b = [0] * n
        b[1 if n == 2 else 0], b[0 if n == 2 else 1] = small, big
        twin = cls([chips - own for chips, own in zip(stacks, b, strict=True)], b, list(b), big, menus)
        twin.mover = 1 if n == 2 else 2 % n
        return twin

    @property
    def living(self) -> list[int]:
        return [i for i in range(len(self.s)) if i not in self.folded]

    def actions(self) -> list[object]:
        """ "fold", "call" and amounts to raise to."""
        i, top = self.mover, max(self.b)
        call, s, b = top - self.b[i], self.s[i], self.b[i]
        found: list[object] = ["fold", "call"] if call > 0 else ["call"]
        able = [j for j in self.living if self.s[j] > 0]
        rows = self.menus[self.street, i == max(able)]
        menu = rows[min(self.raises, len(rows) - 1)]
        others = any(self.b[j] + self.s[j] > top for j in self.living if j != i)
        if menu is None or s <= call or not others or (i in self.acted and call < self.r):
            return found
        amounts = set()
        for percent in menu:
            amount = top + (percent * (sum(self.t) + call) + 50) // 100
            amount = max(amount, top + max(self.r, self.big))
            if 100 * (amount - b) < 97 * s:
                amounts.add(amount)
        return [*found, *sorted(amounts), b + s]

    def after(self, action: object) -> "Twin":
        new = Twin(
            list(self.s), list(self.b), list(self.t), self.big, self.menus, self.street, self.r, self.raises,
            set(self.folded), set(self.acted), self.mover,
        )  # fmt: skip
        i, top = self.mover, max(self.b)
        new.acted.add(i)
        if action == "fold":
            new.folded.add(i)
        else:
            paid = min(top - self.b[i], self.s[i]) if action == "call" else action - self.b[i]
            new.s[i] -= paid
            new.b[i] += paid
            new.t[i] += paid
            if new.b[i] > top:
                new.r, new.raises = max(new.r, new.b[i] - top), new.raises + 1
        new._pass_on(i)
        return new

    def _pass_on(self, i: int) -> None:
        n, self.mover = len(self.s), None
        if len(self.living) == 1:
            return
        for j in [*range(i + 1, n), *range(i)]:
            if j in self.living and self.s[j] > 0 and (j not in self.acted or self.b[j] < max(self.b)):
                self.mover = j
                return
        able = [j for j in self.living if self.s[j] > 0]
        if self.street < 3 and len(able) > 1:
            self.street, self.r, self.raises, self.b = self.street + 1, 0, 0, [0] * n
            self.acted, self.mover = set(), able[0]


def count(position: Twin, decisions: list[int], actions: list[int]) -> int:
    """Add up decisions and actions by street below a position; return the number of ends."""
    if position.mover is None:
        return 1
    found = position.actions()
    decisions[position.street] += 1
    actions[position.street] += len(found)
    return sum(count(position.after(action), decisions, actions) for action in found)
