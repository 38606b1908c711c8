"""The games of a run in figures."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from asyncplay.data.reader import Tallies, read_tallies, reading
from asyncplay.data.store import read_meta
from asyncplay.payloads import MOST_BROKEN_OFF
from asyncplay.stats import wilson

N_PERIODS = 12


@dataclass(frozen=True, slots=True)
class SeatRate:
    """How often a seat had a higher return than every other, of the games with so many seats."""

    seats: int
    seat: int
    games: int
    wins: int
    rate: float
    low: float  # of the 95 % interval
    high: float


@dataclass(frozen=True, slots=True)
class Lengths:
    """Decisions of a game."""

    mean: float
    shortest: int
    median: int
    p95: int
    longest: int


@dataclass(frozen=True, slots=True)
class Period:
    """Games that came in during an interval of time."""

    start_s: float  # since 1970
    seconds: float
    games: int
    games_per_min: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that ``asyncplay data RUN stats`` prints."""

    game: str
    games: int
    lengths: Lengths | None  # None where there are no games
    reasons: dict[str, int]
    limit_share: float
    draws: int  # several seats had the highest return
    seats: list[SeatRate]
    versions: tuple[int, int] | None
    periods: list[Period]

    @property
    def warning(self) -> str:
        if self.limit_share <= MOST_BROKEN_OFF:
            return ""
        return (
            f"{self.limit_share:.1%} of the games were broken off by the move limit, more than {MOST_BROKEN_OFF:.0%}: "
            "raise the limit, or make endless play pay less"
        )

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "warning": self.warning}


def summarize(folder: Path) -> Summary:
    with reading(folder) as connection:
        return from_tallies(read_tallies(connection, N_PERIODS), read_meta(connection).get("game", "unknown"))


def from_tallies(tallies: Tallies, game: str) -> Summary:
    """All figures of a run; a period without games, as between a stop and a resume, counts too."""
    seats, draws = seat_rates(tallies.returns)
    ordered = sorted(tallies.lengths.items())
    lengths = None
    if ordered:
        mean = sum(length * count for length, count in ordered) / sum(count for _, count in ordered)
        lengths = Lengths(mean, ordered[0][0], quantile(ordered, 0.5), quantile(ordered, 0.95), ordered[-1][0])
    seconds = (tallies.last_s - tallies.first_s) / N_PERIODS
    counts = [tallies.periods.get(number, 0) for number in range(N_PERIODS)] if seconds > 0 else []
    return Summary(
        game=game,
        games=tallies.games,
        lengths=lengths,
        reasons=tallies.reasons,
        limit_share=tallies.reasons.get("limit", 0) / max(tallies.games, 1),
        draws=draws,
        seats=seats,
        versions=tallies.versions,
        periods=[
            Period(tallies.first_s + number * seconds, seconds, count, count / seconds * 60)
            for number, count in enumerate(counts)
        ],
    )


def seat_rates(returns: Mapping[tuple[float, ...], int]) -> tuple[list[SeatRate], int]:
    """By number of seats and seat, and how many games no seat won."""
    played, wins, draws = Counter[int](), Counter[tuple[int, int]](), 0
    for gains, count in returns.items():
        n_seats, best = len(gains), max(gains)
        played[n_seats] += count
        if gains.count(best) > 1:
            draws += count
        else:
            wins[n_seats, gains.index(best)] += count
    rates = []
    for n_seats, games in sorted(played.items()):
        for seat in range(n_seats):
            won = wins[n_seats, seat]
            rates.append(SeatRate(n_seats, seat, games, won, won / games, *wilson(won, games)))
    return rates, draws


def quantile(ordered: Sequence[tuple[int, int]], share: float) -> int:
    """The least value that ``share`` of all do not exceed; (value, count), ascending."""
    wanted, seen = share * sum(count for _, count in ordered), 0
    for value, count in ordered:
        seen += count
        if seen >= wanted:
            return value
    return ordered[-1][0]


def as_lines(summary: Summary) -> list[str]:
    """The summary as text."""
    lines = [f"{summary.game}: {summary.games:,} games"]
    if (length := summary.lengths) is None:
        return lines
    lines.append(
        f"decisions: mean {length.mean:.1f}, shortest {length.shortest}, median {length.median}, "
        f"95 % up to {length.p95}, longest {length.longest}"
    )
    lines.append("ends: " + ", ".join(f"{reason} {count:,}" for reason, count in sorted(summary.reasons.items())))
    lines += [
        f"seat {rate.seat} of {rate.seats}: won {rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f}) of {rate.games:,}"
        for rate in summary.seats
    ]
    lines.append(f"nobody won: {summary.draws:,}")
    if summary.versions:
        lines.append(f"versions that played: {summary.versions[0]} to {summary.versions[1]}")
    lines += [f"{clock(period.start_s)}  {period.games_per_min:>10,.1f} games/min" for period in summary.periods]
    return lines


def clock(time_s: float) -> str:
    """Seconds since 1970 as local date and time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time_s))
