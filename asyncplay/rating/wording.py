"""What ``asyncplay eval`` says to people: short lines, each figure with its unit."""

from collections.abc import Mapping, Sequence
from typing import Any


def as_lines(figures: Mapping[str, Any]) -> list[str]:
    """Of a match, of hands of a blueprint, of a population or of a run that solves by table; none is longer than 80
    characters, unless a name is."""
    if "nash_conv" in figures:
        return _solved(figures)
    if "rows" in figures:
        return _hands(figures)
    if "reward" in figures:
        return _rewards(figures)
    if "matches" in figures:
        return _matches(figures)
    games, rival = figures["games"], _rival(figures["against"])
    lines = [
        f"{figures['game']}, version {figures['version']} against {rival}",
        f"{games:,} games, {figures['simulations']:,} simulations a decision",
    ]
    if "options" in figures:
        lines.append(f"with {figures['options']}")
    low, high = figures["interval"]
    if "points" not in figures:
        lines.append(f"score {figures['score']:.3f} (95 % interval {low:.3f} to {high:.3f}); 1 is won, 0 lost")
        return [*lines, f"won {figures['wins']:,}, drawn {figures['draws']:,}, lost {figures['losses']:,}"]
    by_seat = figures["points_by_seat"]
    lines += [
        f"{figures['score']:+.2f} points a game above the others' mean (95 % interval {low:+.2f} to {high:+.2f})",
        f"{figures['points']:.2f} points a game, the others {figures['points_of_others']:.2f}",
        f"by seat {' '.join(f'{points:.2f}' for points in by_seat)}",
        f"most points of the {len(by_seat)} players in {figures['wins']:,} of {games:,} games, shared with another in "
        f"{figures['draws']:,}",
    ]
    return lines


def _matches(figures: Mapping[str, Any]) -> list[str]:
    """A line for each opponent."""
    rows, options = figures["matches"], f" with {figures['options']}" if "options" in figures else ""
    unit = "points above the others" if "points" in rows[0] else "score, 1 is won, 0 lost"
    lines = [
        f"{figures['game']}{options}, version {figures['version']}, {rows[0]['simulations']:,} simulations a decision",
        f"{unit}; 95 % intervals; won, drawn, lost",
    ]
    width = max(len(_rival(row["against"])) for row in rows)
    sign = "+" if "points" in rows[0] else ""
    for row in rows:
        score, (low, high) = row["score"], row["interval"]
        interval = f"{score:{sign}.3f} ({low:{sign}.3f} to {high:{sign}.3f})"
        counts = f"{row['wins']:,} {row['draws']:,} {row['losses']:,}"
        lines.append(f"against {_rival(row['against']):<{width}}  {interval}  {counts} of {row['games']:,}")
    return lines


def _rival(against: str) -> str:
    return f"version {against}" if against.isdecimal() else against


def _rewards(figures: Mapping[str, Any]) -> list[str]:
    low, high = figures["interval"]
    by_agent = zip(figures["reward_by_agent"], figures["intervals_by_agent"], strict=True)
    return [
        f"{figures['game']}, version {figures['version']}, {figures['games']:,} greedy episodes",
        f"reward of all agents {figures['reward']:.1f} (95 % interval {low:.1f} to {high:.1f})",
        *(f"agent {number}: {mean:.1f} ({a:.1f} to {b:.1f})" for number, (mean, (a, b)) in enumerate(by_agent)),
    ]


def _hands(figures: Mapping[str, Any]) -> list[str]:
    purified = ", purified" if figures["purified"] else ""
    return [
        f"{figures['game']}, {figures['iterations']:,} iterations{purified}; bb/100 with 95 % intervals",
        *(_against(row) for row in figures["rows"]),
    ]


def _against(row: Mapping[str, Any]) -> str:
    low, high = row["interval"]
    return f"against {row['against']}: {row['bb_per_100']:+.1f} ({low:+.1f} to {high:+.1f}), {row['hands']:,} hands"


def _solved(figures: Mapping[str, Any]) -> list[str]:
    return [
        f"{figures['game']}, checkpoint {figures['checkpoint']}, {figures['iterations']:,} iterations",
        f"NashConv {figures['nash_conv']:.3g} points: what best responses of all seats would gain",
        f"exploitability {figures['exploitability']:.3g} points, the mean of the seats",
        f"value, by seat: {_by_seat(figures['values'])}",
        f"of a best response, by seat: {_by_seat(figures['best_responses'])}",
    ]


def _by_seat(values: Sequence[float]) -> str:
    return ", ".join(f"{value:+.4f}" for value in values)
