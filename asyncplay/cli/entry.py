"""The commands put together. A command reads, builds and runs; what is heavy loads inside it, not on --help."""

import sys

from cyclopts import App, CycloptsError

import asyncplay
from asyncplay.cli import (
    bench,
    buckets,
    data,
    doctor,
    evaluate,
    export,
    games,
    mistakes,
    output,
    play,
    report,
    runs,
    show,
    train,
    tree,
    tune,
    watch,
)
from asyncplay.errors import AsyncplayError, printable

EXIT_UNWRITTEN, EXIT_MISTAKE = 1, 2

app = App(name="asyncplay", help="Self-play training on the machine you have.", version=asyncplay.__version__)
for command in (
    bench.bench,
    data.data,
    runs.runs,
    games.games,
    report.report,
    train.train,
    tune.tune,
    watch.watch,
    tree.tree,
    buckets.buckets,
    show.show,
    play.play,
    export.export,
):
    app.command(command)
app.command(evaluate.evaluate, name="eval")
app.command(doctor.doctor)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; a result that could not be written is a failure, except where the result is a trained run."""
    words = sys.argv[1:] if arguments is None else arguments
    with output.tolerant() as out:
        status = _run(words)
        sys.stdout.flush()
        if (why := output.complaint(out)) and status == 0 and words[:1] != ["train"]:
            output.say(f"asyncplay: {why}")
            return EXIT_UNWRITTEN
        return status


def _run(words: list[str]) -> int:
    """A user's mistake is one line and exit status 2; the help of ``train`` ends with all keys of the configuration."""
    try:
        mistakes.refuse_empty(words)
        words = train.spell_out(data.in_order(words))
        if words[:1] == ["train"] and ("--help" in words or "-h" in words):
            app["train"].help_epilogue = train.list_keys()
        return app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except (CycloptsError, AsyncplayError) as error:
        for line in mistakes.explain(error, app).split("\n"):
            output.say(f"asyncplay: {line}")
        return error.exit_code if isinstance(error, AsyncplayError) else EXIT_MISTAKE
    except OSError as error:
        if error.filename is None:
            raise
        output.say(f"asyncplay: {printable(error.filename)}: {error.strerror}")
        return EXIT_MISTAKE
