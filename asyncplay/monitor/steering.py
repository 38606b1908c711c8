"""What a person may do to a run: the same verbs by key and over the socket."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from asyncplay.config.live import LiveSettings
from asyncplay.errors import ConfigError
from asyncplay.monitor.trial import Trials, describe

VERBS = ("set", "undo", "pause", "checkpoint", "stop")
UNTRIED = {"pause"}  # its effect on throughput is known
MOST_UNDONE = 100


class Outcome(NamedTuple):
    """What was done, in a line, and the number of the trial that it opened."""

    text: str
    trial: int | None = None


class Steering:
    """Changes settings, remembers them for ``undo`` and opens their trials. All of it on the loop."""

    def __init__(
        self,
        settings: LiveSettings,
        trials: Trials,
        *,
        clock: Callable[[], float],
        checkpoint: Callable[[], None],
        stop: Callable[[], None],
    ) -> None:
        self._settings, self._trials, self._clock = settings, trials, clock
        self._checkpoint, self._stop = checkpoint, stop
        self._past: list[dict[str, str]] = []  # what to go back to, by change

    async def do(self, verb: str, argument: str = "") -> str:
        """Return a line that says what was done; ConfigError says why not."""
        return self.act(verb, argument).text

    def act(self, verb: str, argument: str = "") -> Outcome:
        if verb not in VERBS:
            raise ConfigError(f"{verb!r} is nothing one can do to a run; what can be done: {', '.join(VERBS)}")
        if verb == "set":
            return self._set(parse_changes(argument.split()))
        if argument:
            raise ConfigError(f"{verb} takes nothing, but {argument!r} came with it")
        return {"undo": self._undo, "pause": self._pause, "checkpoint": self._save, "stop": self._end}[verb]()

    def _set(self, wanted: Mapping[str, str]) -> Outcome:
        for key, text in wanted.items():
            self._settings.check(key, text)
        before = {key: self._settings.show(key) for key in wanted}
        self._past = [*self._past, before][-MOST_UNDONE:]
        return self._change(wanted)

    def _undo(self) -> Outcome:
        if not self._past:
            raise ConfigError("nothing to undo")
        return self._change(self._past.pop())

    def _change(self, wanted: Mapping[str, str]) -> Outcome:
        before = {key: self._settings.show(key) for key in wanted}
        for key, text in wanted.items():
            self._settings.change(key, text)
        pairs = {key: (old, self._settings.show(key)) for key, old in before.items()}
        changes = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
        if not changes:
            return Outcome(", ".join(f"{key} is {old} already" for key, old in before.items()))
        tried = {key: pair for key, pair in changes.items() if key not in UNTRIED}
        number = self._trials.begin(tried, self._clock()) if tried else None
        remarks = [f"; {remark}" for key in changes if (remark := self._settings.remarks.get(key))]
        return Outcome(describe(changes) + "".join(remarks), number)

    def _pause(self) -> Outcome:
        self._settings.change("pause", "off" if self._settings.is_paused else "on")
        return Outcome("paused" if self._settings.is_paused else "going on")

    def _save(self) -> Outcome:
        self._checkpoint()
        return Outcome("a checkpoint is being saved")

    def _end(self) -> Outcome:
        self._stop()
        return Outcome("stopping; what is under way is saved")


def parse_changes(words: list[str]) -> dict[str, str]:
    """KEY=VALUE, one or several."""
    if not words:
        raise ConfigError("nothing to set; wanted KEY=VALUE")
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            near = get_close_matches(word, VERBS[1:], n=1)
            hint = f"; did you mean {near[0]}?" if near and len(words) == 1 else ""
            raise ConfigError(f"{word!r} is no KEY=VALUE{hint}")
    return {word.partition("=")[0]: word.partition("=")[2] for word in words}
