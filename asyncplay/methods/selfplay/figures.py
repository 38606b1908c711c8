"""What self-play shows of its learner and of how its games end."""

from dataclasses import dataclass, replace
from typing import Annotated, Self

from asyncplay.config.live import LiveSettings
from asyncplay.monitor.part import Figure, Part, Plot, count, per_s
from asyncplay.monitor.verdict import Strain

LOSS = Plot("loss", "Loss", "this run trains no network")
SEAT_LOSS = Plot("seat-loss", "Value loss by seat, from the player to move", "this run trains no network")
SEAT_R2 = Plot("seat-r2", "Explained share of the value's variance by seat", "this run trains no network")


SEAT_WINS = Plot("seat-wins", "Share of games won by seat", "this run plays no games")


def by_seat(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


@dataclass(frozen=True, slots=True)
class LearnFigures(Part):
    """How the network learns. Losses, age and lag are those of the last step."""

    NAME = "learn"
    TITLE = "learning"
    RANK = 4

    version: Annotated[int, Figure("gauge", "versions", "version", "{:,}".format, line="version {}")] = 0
    """Version of the weights that answer."""

    steps: Annotated[int, Figure("counter", "steps", "steps", count)] = 0
    """Training steps since the run began."""

    steps_per_s: Annotated[float, Figure("gauge", "steps/s", "", lambda rate: f", {count(rate)}/s")] = 0.0
    """Training steps a second."""

    policy_loss: Annotated[
        float,
        Figure("gauge", "nats", "policy loss", "{:.3f}".format, "loss {:.3f}+{value_loss:.3f}", LOSS, has_curve=True),
    ] = 0.0
    """Cross-entropy of the policy."""

    value_loss: Annotated[
        float, Figure("gauge", "squares", "value loss", "{:.3f}".format, plot=LOSS, has_curve=True)
    ] = 0.0
    """Squared error of the value."""

    window_rows: Annotated[
        int, Figure("gauge", "rows", "replay", count, line="replay {:,} x{samples_per_insert:.1f}")
    ] = 0
    """Examples in the replay window."""

    age_rows: Annotated[
        float,
        Figure("gauge", "rows", "age", lambda rows: f"{count(rows)} rows", words="examples newer than a drawn one"),
    ] = 0.0
    """Mean number of examples that came after a drawn one."""

    version_lag: Annotated[
        float,
        Figure("gauge", "versions", "lag", "{:.1f} versions".format, words="versions since a drawn example was played"),
    ] = 0.0
    """Mean number of versions since a drawn example was played."""

    samples_per_insert: Annotated[
        float,
        Figure("gauge", "samples", "samples/insert", "{:.1f}".format, words="how often an example was drawn"),
    ] = 0.0
    """How often an example was drawn, on average over the run."""

    balance: Annotated[
        str,
        Figure("text", "", "limiter", str, "{}", words="who waits, play or training, to keep samples/insert"),
    ] = ""
    """Which of play and training waits for the other."""

    device_share: Annotated[
        float, Figure("gauge", "share", "device trains", "{:.0%}".format, words="share of the time that it learns")
    ] = 0.0
    """Share of the time in which the device trains."""

    seat_losses: Annotated[
        tuple[float, ...], Figure("gauges", "squares", "value loss by seat", by_seat, plot=SEAT_LOSS, hides_zero=True)
    ] = ()
    """Squared error of the value for the player to move, the seat to its left and so on, over about 50 steps."""

    seat_r2: Annotated[
        tuple[float, ...], Figure("gauges", "share", "value R2 by seat", by_seat, plot=SEAT_R2, hides_zero=True)
    ] = ()
    """Share of the variance of outcomes that the value explains, likewise, on drawn examples."""

    shortened: Annotated[
        int, Figure("counter", "searches", "cut short", count, line="{:,} searches cut short", hides_zero=True)
    ] = 0
    """Searches of finished games that ended early because their tree was full, since the run was started."""

    unrecorded: Annotated[
        int, Figure("counter", "decisions", "unrecorded", count, line="{:,} policies not recorded", hides_zero=True)
    ] = 0
    """Decisions of finished games whose policy found no space, since the run was started."""

    window_mb: Annotated[float, Figure("gauge", "MB")] = 0.0
    """Megabytes of the replay window, at most replay.capacity_mb."""

    early_rows: Annotated[
        int, Figure("counter", "rows", "forgotten early", count, line="forgotten early {:,}", hides_zero=True)
    ] = 0
    """Examples that left the replay window for want of bytes and not of rows, see replay.capacity_mb."""

    rows: int = 0  # trained on, each as often as it was drawn
    micro_rows: int = 0  # of the parts in which a step goes to the device
    device_s: float = 0.0  # time that the device spent on training
    inserted_rows: int = 0
    sampled_rows: int = 0

    def since(self, then: Self, seconds: float, settings: LiveSettings) -> Self:
        return replace(
            self,
            steps_per_s=per_s(then.steps, self.steps, seconds),
            device_share=per_s(then.device_s, self.device_s, seconds),
        )

    def strain(self, strain: Strain) -> Strain:
        """Training takes its share of the device beside inference."""
        whole = (strain.device_share or 0.0) + self.device_share
        return strain._replace(
            device_share=None if strain.device_share is None else whole,
            training_share=self.device_share / whole if whole else 0.0,
        )


@dataclass(frozen=True, slots=True)
class EndFigures(Part):
    """How games end, since the run was started."""

    NAME = "ends"
    TITLE = "ends of games"
    RANK = 7

    warning: Annotated[str, Figure("alarm", "")] = ""
    """That too many games were broken off by their move limit."""

    limit_share: Annotated[float, Figure("gauge", "share", "broken off", "{:.1%}".format, hides_zero=True)] = 0.0
    """Share of the games that their move limit ended."""

    reasons: Annotated[str, Figure("text", "", "by", str, hides_zero=True)] = ""
    """Why games ended, the most frequent first, where there are several reasons."""

    seat_wins: Annotated[
        tuple[float, ...], Figure("gauges", "share", "won by seat", by_seat, plot=SEAT_WINS, hides_zero=True)
    ] = ()
    """Share of the games that each seat won alone."""

    seat_intervals: Annotated[str, Figure("note", "", hides_zero=True)] = ""
    """Their 95 % intervals."""
