"""``asyncplay show``."""

from json import dumps
from pathlib import Path

from asyncplay.cli.output import print_lines
from asyncplay.errors import AsyncplayError


def show(
    run: Path,
    *,
    history: str = "",
    board: str = "",
    hand: str | None = None,
    svg: Path | None = None,
    json: bool = False,
) -> int:
    """Say what a blueprint of hold'em does at a spot: before the flop a chart of all hands, later by bucket.

    Parameters
    ----------
    run
        The folder of the run; its latest policy is shown.
    history
        The betting so far, like "6 call check 4": fold, call, check or the amount that is raised to.
    board
        The cards turned up, like 7h8h2c.
    hand
        Two cards, like AsKd: what the policy does with them alone.
    svg
        Write the chart to this file too.
    """
    from asyncplay.rating import chart
    from asyncplay.rating.hands import read_contender
    from asyncplay.rating.solved import config_of
    from asyncplay.rating.spots import as_lines, find_spot
    from asyncplay.rundir.layout import refuse_own

    config = config_of(run)
    if config is None or config.game.name != "holdem":
        raise AsyncplayError(f"{run} is no run that solves hold'em; `asyncplay runs` lists what there is")
    contender = read_contender(run, config)
    spot = find_spot(contender, history=history, board=board, hand=hand)
    is_chart = board == "" and hand is None
    if svg is not None:
        if not is_chart:
            raise AsyncplayError(f"--svg {svg}: only spots before the flop have a chart; leave --board and --hand out")
        refuse_own(svg, run)
        svg.write_text(chart.as_svg(spot, f"{run}: {history or 'first decision'}"), encoding="utf-8")
    facts = {"run": str(run), "iterations": contender.policy.iterations, "history": history, "board": board}
    lines = [*as_lines(spot), *(chart.as_text(spot) if is_chart else ())]
    print_lines([dumps(facts | spot.as_facts())] if json else lines)
    return 0
