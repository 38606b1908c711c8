"""A game between a person and an agent: what is typed goes in, lines to print come out."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from asyncplay.agents.search import Thought
from asyncplay.errors import AsyncplayError
from asyncplay.games.position import Position
from asyncplay.games.show import LISTED, LastAction, list_few, parse, show_of
from asyncplay.games.spec import GameSpec
from asyncplay.play import saved

WHY_ACTIONS = 10  # that ``why`` lists
HELP = (
    "an action  its name, another spelling, or # and its number; here:",
    "moves      all legal actions             board   the position drawn again",
    "words      the position in words         hint    what the agent would do",
    "why        what the agent thinks of this position from your seat",
    "why last   what it thought when it decided last; not where hands are hidden",
    "undo       take your last decision back  save FILE, load FILE",
    "resign     give up                       quit    leave",
)


class Deciding(Protocol):
    """What plays the other seats; asyncplay.load returns one."""

    @property
    def game(self) -> GameSpec: ...

    def think(
        self, position: Position, *, simulations: int | None, seconds: float | None, seed: int | None
    ) -> Thought: ...


class Strength(NamedTuple):
    """How long the agent thinks; as it was trained with neither."""

    simulations: int | None = None
    seconds: float | None = None


class Reply(NamedTuple):
    """What is printed, and whether the session ends with it."""

    lines: list[str]
    is_end: bool = False


class PlaySession:
    """One person at one seat; the agent decides for all others."""

    def __init__(
        self, agent: Deciding, options: Mapping[str, Any], *, seat: int, seed: int, strength: Strength
    ) -> None:
        self._agent, self._options, self._strength = agent, options, strength
        self.seat, self.seed = seat, seed
        self._spec, self._show = agent.game, show_of(agent.game)
        self._positions = [Position.start(agent.game, seed)]
        self._thoughts: list[Thought | None] = []  # of each decision; None: the person's own
        self._commands: dict[str, Callable[[str], Reply]] = {
            "help": _alone(self._help),
            "?": _alone(self._help),
            "moves": _alone(lambda: Reply([", ".join(self._choices())])),
            "board": _alone(lambda: Reply(self._board())),
            "words": _alone(lambda: Reply(self._show.describe(self._spec, self.position.state, self.seat))),
            "hint": _alone(lambda: Reply([f"hint: {self._action(self.position, self._think().action)}"])),
            "why": self._why,
            "undo": _alone(self._undo),
            "save": self._save,
            "load": self._load,
            "resign": _alone(lambda: Reply(["you resigned"], is_end=True)),
            "quit": _alone(lambda: Reply([f"left after {len(self._thoughts)} decisions"], is_end=True)),
        }

    @property
    def position(self) -> Position:
        return self._positions[-1]

    @property
    def prompt(self) -> str:
        return f"{self._name(self.position)}, your action > "

    def go_on(self) -> Reply:
        """Let the others decide until the person is to, or the game is over; tell what they did and how it stands."""
        lines = []
        while not self.position.is_over and self.position.player != self.seat:
            thought = self._think()
            lines += self._play(thought.action, thought)
        lines += self._board()
        if self.position.is_over:
            return Reply([*lines, self._result()], is_end=True)
        choices = self._choices()
        more = "; `moves` lists all" if len(choices) > LISTED else ""
        return Reply([*lines, f"legal: {list_few(choices)}{more}"])

    def answer(self, typed: str) -> Reply:
        """Do what was typed. What cannot be done is told in one line."""
        command, _, rest = typed.strip().partition(" ")
        try:
            if (do := self._commands.get(command.lower())) is not None:
                return do(rest.strip())
            action = parse(self._spec, self.position.state, typed)
        except AsyncplayError as error:
            return Reply([str(error) if command else f"{error}; `help` lists what else can be typed"])
        self._play(action, None)
        return self.go_on()

    def _help(self) -> Reply:
        return Reply([HELP[0], f"           {self._show.how}", *HELP[1:]])

    def _think(self) -> Thought:
        simulations, seconds = self._strength
        return self._agent.think(self.position, simulations=simulations, seconds=seconds, seed=self.seed)

    def _play(self, action: int, thought: Thought | None) -> list[str]:
        """Put the next position behind the others; what the person sees of the decision."""
        last = LastAction(self.position.state, self.position.player, action)
        self._positions.append(self.position.after(action))
        self._thoughts.append(thought)
        told = self._show.told(self._spec, self.seat, last)
        return [] if told is None else [told]

    def _undo(self) -> Reply:
        """Back to the person's decision before this one."""
        own = [place for place, thought in enumerate(self._thoughts) if thought is None]
        if not own:
            raise AsyncplayError("there is no decision of yours to take back")
        del self._positions[own[-1] + 1 :], self._thoughts[own[-1] :]
        return self.go_on()

    def _save(self, file: str) -> Reply:
        if not file:
            raise AsyncplayError("save needs the name of a file")
        actions = list(self.position.actions)
        game = saved.SavedGame(
            game=self._spec.name, options=self._options, seed=self.seed, seat=self.seat, actions=actions
        )
        saved.write(Path(file), game)
        return Reply([f"saved in {file}"])

    def _load(self, file: str) -> Reply:
        if not file:
            raise AsyncplayError("load needs the name of a file")
        game, positions = saved.read(Path(file), self._spec)
        self.seat, self.seed, self._positions = game.seat, game.seed, positions
        self._thoughts = [None if position.player == self.seat else NOTHING for position in positions[:-1]]
        return Reply([f"loaded {file}: seat {self.seat}, seed {self.seed}", *self.go_on().lines], positions[-1].is_over)

    def _board(self) -> list[str]:
        last = None
        if len(self._positions) > 1:
            before = self._positions[-2]
            last = LastAction(before.state, before.player, self.position.actions[-1])
        return self._show.text(self._spec, self.position.state, self.seat, last).split("\n")

    def _choices(self) -> list[str]:
        return self._show.choices(self._spec, self.position.state, self.position.legal)

    def _name(self, position: Position) -> str:
        return self._show.player_name(self._spec, position.state, self.seat)

    def _action(self, position: Position, action: int) -> str:
        return self._show.name(self._spec, position.state, action)

    def _why(self, which: str) -> Reply:
        if which not in ("", "last"):
            raise AsyncplayError(f"why {which!r} has no answer; wanted is why or why last")
        return Reply(self._explain_last() if which else self._explain(self.position, self._think()))

    def _explain_last(self) -> list[str]:
        """Not where it would show what is hidden."""
        if self._spec.is_hidden:
            raise AsyncplayError(f"{self._spec.name} hides what others know: `why` explains your own position")
        for place in range(len(self._thoughts) - 1, -1, -1):
            thought = self._thoughts[place]
            if thought is not None and thought.legal:
                return self._explain(self._positions[place], thought)
        raise AsyncplayError("the agent has not decided yet")

    def _explain(self, position: Position, thought: Thought) -> list[str]:
        """The best actions with visits, priors and values, then what each seat may expect."""
        order = sorted(range(len(thought.legal)), key=lambda k: (-thought.visits[k], -thought.priors[k], k))
        shown = order[:WHY_ACTIONS]
        names = [self._action(position, thought.legal[k]) for k in shown]
        wide = max(6, *map(len, names))
        lines = [f"  {'action':<{wide}}  visits   prior   value"]
        for k, name in zip(shown, names, strict=True):
            sign = "*" if thought.legal[k] == thought.action else " "
            numbers = f"{thought.visits[k]:>6}  {thought.priors[k]:>6.1%}  {_number(thought.action_values[k]):>6}"
            lines.append(f"{sign} {name:<{wide}}  {numbers}")
        if len(order) > WHY_ACTIONS:
            lines.append(f"  and {len(order) - WHY_ACTIONS} others")
        names = [self._show.player_name(self._spec, position.state, seat) for seat in range(self._spec.players)]
        values = ", ".join(f"{name} {_number(value)}" for name, value in zip(names, thought.values, strict=True))
        return [*lines, f"* {self._action(position, thought.action)}; values for each seat: {values}"]

    def _result(self) -> str:
        """What the person got, and how it compares."""
        returns = self.position.returns
        own = returns[self.seat]
        if self._spec.zero_sum and self._spec.players == 2:
            verdict = "you won" if own > 0 else "you lost" if own < 0 else "a draw"
        else:
            verdict = f"place {1 + sum(share > own for share in returns)} of {len(returns)}"
        names = (self._show.player_name(self._spec, self.position.state, seat) for seat in range(len(returns)))
        shares = ", ".join(
            f"{name}{' (you)' if seat == self.seat else ''} {share:+g}"
            for seat, (name, share) in enumerate(zip(names, returns, strict=True))
        )
        return f"result: {verdict}: {shares}"


NOTHING = Thought(-1, [], [], [], [], [], 0)
"""Stands for a decision of the agent in a game that was loaded: what it thought is not kept."""


def _alone(do: Callable[[], Reply]) -> Callable[[str], Reply]:
    """A command that nothing may follow."""

    def check_and_do(rest: str) -> Reply:
        if rest:
            raise AsyncplayError(f"{rest!r} is too much; this command stands alone")
        return do()

    return check_and_do


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"
