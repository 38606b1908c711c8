"""``asyncplay eval``."""

from pathlib import Path

from asyncplay.cli.kinds import MaybeCount, MaybeSeed, MaybeVersion


def evaluate(
    run: Path,
    *,
    against: str | None = None,
    games: MaybeCount = None,
    simulations: MaybeCount = None,
    version: MaybeVersion = None,
    seed: MaybeSeed = None,
    json: bool = False,
) -> int:
    """Let what a run has learned play a match; of a run that solves by table, say how far it is from equilibrium.

    Parameters
    ----------
    run
        The folder of the run.
    against
        random (unless you say otherwise), rules (Blob), perfect (tic-tac-toe), the number of a version,
        openspiel:mcts-1000 (boards) or openspiel:ismcts-500 (Blob).
    games
        How many; 200 unless you say otherwise.
    simulations
        For each decision of ours; 64 unless you say otherwise.
    version
        Which weights play; without it, the latest.
    """
    from asyncplay.cli.tables import show
    from asyncplay.engine.loop import run_loop
    from asyncplay.rating import evaluate as rating

    words = {"against": against, "games": games, "simulations": simulations, "version": version, "seed": seed}
    question = rating.Question.of(run, words)
    return show(run_loop(rating.evaluate(question)), as_json=json)
