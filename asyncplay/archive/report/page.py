"""The page: one HTML file with everything in it."""

from html import escape
from pathlib import Path
from typing import NamedTuple

from asyncplay.archive.report import gather as source
from asyncplay.archive.report.gather import Material, gather
from asyncplay.archive.report.plots import bar_plot, line_plot, mark_plot
from asyncplay.archive.summary import as_lines, clock
from asyncplay.errors import AsyncplayError
from asyncplay.monitor.part import plots
from asyncplay.rundir.layout import refuse_own

LATEST_EVENTS = 40

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #8884; --back: #fff; --card: #f6f6f4; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --back: #161618; --card: #1f1f22; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 2rem auto;
  max-width: 1340px; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1rem; margin: 0 0 .4rem; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1rem; }
section { background: var(--card); border-radius: 8px; padding: .8rem 1rem; }
svg { width: 100%; height: auto; font-size: 11px; fill: var(--ink); }
pre, td { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
td { vertical-align: top; padding-right: 1rem; }
.rule { stroke: var(--faint); } .line { fill: none; stroke-width: 1.6; } .y { text-anchor: end; }
.x, .nothing { text-anchor: middle; } .nothing { opacity: .6; } .whisker { stroke: var(--ink); stroke-width: 1.4; }
.bar { fill: #4c78a8; } .value { opacity: .8; }
.c0 { stroke: #4c78a8; } .c1 { stroke: #e45756; } .c2 { stroke: #54a24b; } .c3 { stroke: #b279a2; }
.c4 { stroke: #eeca3b; } .c5 { stroke: #72b7b2; }
.key.c0, .dot.c0 { fill: #4c78a8; } .key.c1, .dot.c1 { fill: #e45756; } .key.c2, .dot.c2 { fill: #54a24b; }
.key.c3, .dot.c3 { fill: #b279a2; } .key.c4, .dot.c4 { fill: #eeca3b; } .key.c5, .dot.c5 { fill: #72b7b2; }
"""


class Card(NamedTuple):
    """A plot under its title."""

    title: str
    plot: str
    below: str = ""


def write_report(run: Path, target: Path) -> None:
    """Write the page to ``target``, which is no file of the run; in the run's folder only to a regular file."""
    refuse_own(target, run)
    if target.parent == run and (target.is_symlink() or (target.exists() and not target.is_file())):
        raise AsyncplayError(f"{target} is no regular file; remove it, or say --out FILE")
    text = page(gather(run))
    try:
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise AsyncplayError(f"--out {target}: cannot be written: {error.strerror}") from None


def page(material: Material) -> str:
    """The page forbids every request by its policy: it needs no other file."""
    title = f"asyncplay: {material.summary.game}, {material.run}"
    sections = "\n".join(
        f"<section>\n<h2>{escape(card.title)}</h2>\n{card.plot}\n{card.below}</section>" for card in panels(material)
    )
    events = "".join(
        f"<tr><td>{clock(event.time_s)}</td><td>{escape(event.kind)}</td><td>{escape(event.text)}</td></tr>"
        for event in material.events[-LATEST_EVENTS:]
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>From {clock(material.began_s)}; the games that were stored:</p>
<pre>{escape(chr(10).join(as_lines(material.summary)))}</pre>
<main>
{sections}
</main>
<h2>Events</h2>
<table>{events}</table>
</body>
</html>
"""


def panels(material: Material) -> list[Card]:
    """All plots, in the order of the page."""
    none, no_games = "nothing was recorded", "no games yet"
    flow, work = source.flow_of(material, "_per_s"), source.flow_of(material, "_per_min")
    figures = [
        Card(title, line_plot(key, source.lines_of(material, *names), unit=", ".join(units), nothing=nothing))
        for (key, title, nothing), names in plots().items()
        if (units := dict.fromkeys(names.values()))
    ]
    strengths, no_strengths = source.strengths_of(material), "no arena and no exploitability yet"
    seats, ends = source.seats_of(material), source.ends_of(material)
    trials, no_trials = source.trials_of(material), "no setting was changed while it ran"
    items = "".join(f"<li>{escape(text)}</li>" for text in source.trial_texts(material))
    return [
        Card("Throughput", line_plot("throughput", flow, unit="per s", nothing=none)),
        Card("Work done", line_plot("work", work, unit="per min", nothing=none)),
        *figures,
        Card("Strength", mark_plot("strength", strengths, unit="", nothing=no_strengths)),
        Card("Win rate by seat, 95 % intervals", bar_plot("seats", seats, unit="share", nothing=no_games)),
        Card("How games end", bar_plot("ends", ends, unit="games", nothing=no_games)),
        Card(
            "Tuning trials",
            bar_plot("trials", trials, unit="% of throughput", nothing=no_trials),
            f"<ol>{items}</ol>\n" if items else "",
        ),
    ]
