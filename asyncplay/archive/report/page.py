"""The page: one HTML file with everything in it."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from asyncplay.archive.report import gather as source
from asyncplay.archive.report.gather import Material, gather
from asyncplay.archive.report.plots import bar_plot, line_plot, mark_plot
from asyncplay.archive.summary import as_lines
from asyncplay.errors import AsyncplayError
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
    """Into another file than those of the run itself; one that is a link or no file is written into only elsewhere."""
    refuse_own(target, run)
    if target.parent == run and (target.is_symlink() or (target.exists() and not target.is_file())):
        raise AsyncplayError(f"{target} is no regular file; remove it, or say --out FILE")
    text = page(gather(run))
    try:
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise AsyncplayError(f"--out {target}: cannot be written: {error.strerror}") from None


def page(material: Material) -> str:
    """The policy forbids every request: what is not in the file does not exist for it."""
    title = f"asyncplay: {material.summary.game}, {material.run}"
    sections = "\n".join(_section(panel) for panel in panels(material))
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
<p>From {source.clock(material.began_s)}; the games that were stored:</p>
<pre>{escape(chr(10).join(as_lines(material.summary)))}</pre>
<main>
{sections}
</main>
<h2>Events</h2>
{_events(material)}
</body>
</html>
"""


def panels(material: Material) -> list[Card]:
    none = "nothing was recorded"
    return [
        Card("Throughput", line_plot("throughput", source.flow_of(material, "_per_s"), unit="per s", nothing=none)),
        Card("Work done", line_plot("work", source.flow_of(material, "_per_min"), unit="per min", nothing=none)),
        Card("Batch sizes", _batches(material)),
        Card("Loss", _losses(material)),
        Card("Strength", _strength(material)),
        Card("Win rate by seat, 95 % intervals", _seats(material)),
        Card("How games end", bar_plot("ends", source.ends_of(material), unit="games", nothing="no games yet")),
        Card("Tuning trials", _trials(material), _listed(source.trial_texts(material))),
    ]


def _batches(material: Material) -> str:
    lines = source.lines_of(material, "batch/mean_rows")
    return line_plot("batches", lines, unit="rows", nothing="this run asks no network")


def _losses(material: Material) -> str:
    lines = source.lines_of(material, "learn/policy_loss", "learn/value_loss")
    return line_plot("loss", lines, unit="nats, squares", nothing="this run trains no network")


def _strength(material: Material) -> str:
    return mark_plot("strength", source.strengths_of(material), unit="", nothing="no arena and no exploitability yet")


def _seats(material: Material) -> str:
    return bar_plot("seats", source.seats_of(material), unit="share", nothing="no games yet")


def _trials(material: Material) -> str:
    bars = source.trials_of(material)
    return bar_plot("trials", bars, unit="% of throughput", nothing="no setting was changed while it ran")


def _section(panel: Card) -> str:
    return f"<section>\n<h2>{escape(panel.title)}</h2>\n{panel.plot}\n{panel.below}</section>"


def _listed(texts: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ol>{items}</ol>\n" if items else ""


def _events(material: Material) -> str:
    """The latest ones."""
    rows = [
        f"<tr><td>{source.clock(event.time_s)}</td><td>{escape(event.kind)}</td><td>{escape(event.text)}</td></tr>"
        for event in material.events[-LATEST_EVENTS:]
    ]
    return f"<table>{''.join(rows)}</table>"
