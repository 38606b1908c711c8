"""What a population shows of its learning."""

from dataclasses import dataclass, replace
from typing import Annotated, Self

from asyncplay.config.live import LiveSettings
from asyncplay.monitor.part import Figure, Part, Plot, count, per_s

REWARD = Plot("episode-reward", "Reward of an episode", "this run has no rewards on the way")
AGENT_REWARD = Plot("agent-reward", "Reward of an episode by agent", "this run has no rewards on the way")
NETWORK_LOSS = Plot("network-loss", "Quantile loss by network", "this run trains no population")


def by_agent(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.1f}" for value in values)


@dataclass(frozen=True, slots=True)
class PopulationFigures(Part):
    """How agents learn from rewards. Losses, age and lag are those of the last round of steps."""

    NAME = "population"
    TITLE = "population"
    RANK = 4

    reward: Annotated[float, Figure("gauge", "points", "reward", "{:.1f}".format, "reward {:.1f}", plot=REWARD)] = 0.0
    """Of an episode, all agents together, mean of the latest 100; random decisions included."""

    agent_rewards: Annotated[
        tuple[float, ...], Figure("gauges", "points", "by agent", by_agent, plot=AGENT_REWARD, hides_zero=True)
    ] = ()
    """The same of each agent."""

    epsilon: Annotated[float, Figure("gauge", "share", "epsilon", "{:.3f}".format, line="epsilon {:.3f}")] = 0.0
    """Part of the random decisions in the latest episode."""

    version: Annotated[int, Figure("gauge", "versions", "version", "{:,}".format, line="version {}")] = 0
    """Version of the weights that answer."""

    steps: Annotated[int, Figure("counter", "steps", "steps", count)] = 0
    """Training steps of each network since the run began."""

    steps_per_s: Annotated[float, Figure("gauge", "steps/s", "", lambda rate: f", {count(rate)}/s")] = 0.0
    """Training steps a second."""

    losses: Annotated[
        tuple[float, ...], Figure("gauges", "points", "loss", by_agent, plot=NETWORK_LOSS, hides_zero=True)
    ] = ()
    """Quantile Huber loss of each network."""

    window_rows: Annotated[
        int, Figure("gauge", "rows", "replay", count, line="replay {:,} x{samples_per_insert:.1f}")
    ] = 0
    """Transitions that are kept, of all agents."""

    age_rows: Annotated[float, Figure("gauge", "rows", "age", lambda rows: f"{count(rows)} rows")] = 0.0
    """Mean number of transitions of the same agent that came after a drawn one."""

    version_lag: Annotated[float, Figure("gauge", "versions", "lag", "{:.1f} versions".format)] = 0.0
    """Mean number of versions since a drawn transition was made."""

    samples_per_insert: Annotated[float, Figure("gauge", "samples", "samples/insert", "{:.2f}".format)] = 0.0
    """How often a transition was drawn, on average over the run."""

    balance: Annotated[str, Figure("text", "", "limiter", str, line="{}")] = ""
    """Which of play and training waits for the other."""

    published: Annotated[int, Figure("counter", "versions", "published", count)] = 0
    """Versions that began to answer, since the run was started: learn.publish_steps had passed, and the weights had
    moved by learn.publish_distance or learn.publish_age_s was over."""

    skipped: Annotated[int, Figure("counter", "versions", "", lambda n: f", skipped {count(n)}")] = 0
    """Times that enough steps had passed and the weights had not moved enough."""

    publish_share: Annotated[float, Figure("gauge", "share", "publishing", "{:.2%}".format)] = 0.0
    """Part of the time that goes into comparing and publishing weights."""

    train_share: Annotated[float, Figure("gauge", "cores", "training", "{:.2f} cores".format)] = 0.0
    """Cores' time that goes into training steps."""

    inserted_rows: int = 0
    sampled_rows: int = 0
    publish_s: float = 0.0
    train_s: float = 0.0

    def since(self, then: Self, seconds: float, settings: LiveSettings) -> Self:
        return replace(
            self,
            steps_per_s=per_s(then.steps, self.steps, seconds),
            publish_share=per_s(then.publish_s, self.publish_s, seconds),
            train_share=per_s(then.train_s, self.train_s, seconds),
        )
