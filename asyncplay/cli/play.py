"""``asyncplay play``."""

import shlex
from pathlib import Path

from asyncplay.cli.dialogue import ask, show_lines
from asyncplay.cli.interrupts import EXIT_INTERRUPTED
from asyncplay.cli.kinds import MaybeCount, MaybeSeconds, MaybeSeed, MaybeVersion, run_or_latest
from asyncplay.cli.output import say
from asyncplay.errors import AsyncplayError

RANDOM = "random"
SEAT_STREAM = 9  # of the game's seed: which seat the person gets


def play(
    run: Path | None = None,
    *,
    seat: str = "0",
    simulations: MaybeCount = None,
    seconds: MaybeSeconds = None,
    version: MaybeVersion = None,
    seed: MaybeSeed = None,
) -> int:
    """Play against what a run has learned, in the terminal; `help` there lists what can be typed.

    Parameters
    ----------
    run
        The folder of the run; without it, the latest in runs/.
    seat
        Yours: a number from 0, or random. The agent plays all others.
    simulations
        Of each of its decisions; as in training unless you say otherwise. Tables and populations do not search.
    seconds
        For each of its decisions, instead of simulations.
    version
        Which weights play; without it, the latest.
    seed
        Of deals, of chance and of the agent; without it, a fresh one, which is told.
    """
    import secrets

    from asyncplay import load, rng
    from asyncplay.play.session import PlaySession, Strength
    from asyncplay.rundir.layout import read_config

    if simulations is not None and seconds is not None:
        raise AsyncplayError(
            f"--simulations {simulations} and --seconds {seconds:g} cannot both be kept; leave one out"
        )
    folder = run_or_latest(run)
    try:
        agent = load(folder, version)
        players, chosen = agent.game.players, secrets.randbelow(2**32) if seed is None else seed
        if seat != RANDOM and not (seat.isascii() and seat.isdecimal() and len(seat) < 3 and int(seat) < players):
            raise AsyncplayError(f"--seat is {seat}, must be 0 to {players - 1} or {RANDOM}")
        own = rng.derive(chosen, SEAT_STREAM) % players if seat == RANDOM else int(seat)
        options = read_config(folder).game.options
        session = PlaySession(agent, options, seat=own, seed=chosen, strength=Strength(simulations, seconds))
        say(f"{agent.game.name} against version {agent.version} of {folder}: you are seat {own}, seed {chosen}")
        reply = session.go_on()
        show_lines(reply.lines)
        while not reply.is_end and (typed := ask(session.prompt)) is not None:
            reply = session.answer(typed)
            show_lines(reply.lines)
    except KeyboardInterrupt:
        show_lines([""])
        return EXIT_INTERRUPTED
    name = shlex.quote(str(folder))
    again = f"play {name} --seat {session.seat} --seed {session.seed}"
    for line in ("next:", *(f"  asyncplay {words}" for words in (again, f"play {name} --seat random", f"eval {name}"))):
        say(line)
    return 0
