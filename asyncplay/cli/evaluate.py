"""``asyncplay eval``."""

from functools import partial
from pathlib import Path

from asyncplay.cli.kinds import MaybeCount, MaybeNames, MaybeOptions, MaybeSeed, MaybeVersion, run_or_latest


def evaluate(
    run: Path | None = None,
    *,
    against: MaybeNames = None,
    games: MaybeCount = None,
    simulations: MaybeCount = None,
    version: MaybeVersion = None,
    option: MaybeOptions = None,
    seed: MaybeSeed = None,
    purified: bool = False,
    json: bool = False,
) -> int:
    """Let what a run has learned play a match; of a small game solved by table, say how far it is from equilibrium.

    Parameters
    ----------
    run
        The folder of the run; without it, the latest in runs/.
    against
        random (unless you say otherwise), rules (Blob, RingRift), perfect (tic-tac-toe), mcts-100, the number of a
        version, the folder of another run of the game, openspiel:mcts-1000 (Connect Four, tic-tac-toe) or
        openspiel:ismcts-500 (Blob); repeatable. For hold'em: random, always-call, always-fold, tight, aggressive, the
        folder of another run, or all of the simple players, which is what it plays unless you say otherwise.
    games
        How many; 200 unless you say otherwise, of hold'em 200,000 hands.
    simulations
        For each decision of ours; 64 unless you say otherwise.
    version
        Which weights play; without it, the latest.
    option
        An option of the game other than the run's own, such as trump=spades; repeatable. What the network or the
        table does not fit is refused.
    purified
        Hold'em: take the most likely action of the policy instead of drawing one; the opponent does not.
    """
    from json import dumps

    from asyncplay.cli.output import print_lines
    from asyncplay.console.progress import bar
    from asyncplay.engine.loop import run_loop
    from asyncplay.rating import evaluate as rating
    from asyncplay.rating.wording import as_lines

    words = {"against": against, "games": games, "simulations": simulations, "version": version, "seed": seed}
    words |= {"purified": purified or None}
    question = rating.Question.of(run_or_latest(run), words, options=option or ())
    figures = run_loop(rating.evaluate(question, partial(bar, every=1)))
    print_lines([dumps(figures)] if json else as_lines(figures))
    return 0
