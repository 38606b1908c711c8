"""``asyncplay bench NAME``: commands made from one table.

Each calls ``measure`` of the module of its name in asyncplay.bench with its options and shows what that returns.
"""

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter as Argument
from inspect import Signature
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from cyclopts import App, Parameter

from asyncplay.cli.kinds import Count, MaybeKey, MaybeOptions, MaybeVersion, Milliseconds, Seconds, Seed
from asyncplay.cli.tables import show


class Option(NamedTuple):
    """An option of a command; without a default it is a required argument."""

    name: str
    kind: Any
    default: Any = Argument.empty
    help: str | None = None


class Bench(NamedTuple):
    """A command; every one has --json too."""

    name: str
    help: str
    options: tuple[Option, ...] = ()


JSON = Option("json", bool, False)
GAME = Option("game", str, "connect4")
OPTION = Option("option", MaybeOptions, None, "An option of the game, such as players=3; repeatable.")
TABLED = Option("game", str, "forest", "forest, a synthetic tree, or holdem.")
BACKEND = Option("backend", str, "auto")
LOAD = Option("load", str | None, None, "blob, blob-default, connect4, connect4-mlp, ...; without it, the game's own.")
PLACEMENT = Option("placement", Literal["auto", "coordinator", "workers"], "auto", "Where the network answers.")
BENCHES = (
    Bench("wire", "What a row costs the coordinator: decoded, queued, batched and answered."),
    Bench(
        "batching",
        "The fire rule against fixed policies on a virtual clock, or through real processes.",
        (Option("real", bool, False, "Real processes and pipes in real time instead of the virtual clock."),),
    ),
    Bench(
        "search",
        "Tree, rules and encoding alone: simulations/s of one core with a constant network.",
        (GAME, OPTION),
    ),
    Bench(
        "rules",
        "Rules alone: random games with legality and encoding, decisions/s of one core, and how games end.",
        (GAME, OPTION, Option("seconds", Seconds, 10.0, "Of processor time.")),
    ),
    Bench("hands", "Hold'em's kernels alone, one core: seven-card hands/s, boards/s, decisions/s of the betting tree."),
    Bench(
        "workers",
        "The same games in flight, split over 1, 2, 4, 8 and 16 workers.",
        (
            GAME,
            OPTION,
            BACKEND,
            PLACEMENT._replace(kind=Literal["coordinator", "workers"], default="coordinator"),
            Option("rounds", Count, 60, "How often each number of workers gets its turn."),
        ),
    ),
    Bench(
        "store",
        "Games/s into the store and the loop's longest pause, at both levels of durability, also on a slow disk.",
        (Option("quick", bool, False, "Shorter windows and fewer of them."),),
    ),
    Bench(
        "selfplay",
        "Self-play with real processes against the model's own forward limit, learner off and on.",
        (
            GAME,
            OPTION,
            BACKEND._replace(
                help="auto, torch, onnx-fp32 or onnx-int8; "
                "or sim: an accelerator simulated after a GPU of the middle range."
            ),
            LOAD,
            PLACEMENT,
            Option(
                "exact_decisions",
                MaybeKey,
                None,
                "Endings that are worked out, other than the load's (Blob 14, the others 0).",
            ),
            Option("host_ms", Milliseconds, 0.1, "With sim: from a batch's launch until the device can begin with it."),
        ),
    ),
    Bench(
        "strategies",
        "Blob by four strategies: sequential, processes, threads and ours, with 1 to 16 workers; some minutes.",
        (
            BACKEND._replace(help="That of ours; the others use torch."),
            Option("seconds", Seconds, 8.0, "Least time of each row of the table."),
        ),
    ),
    Bench(
        "cfr",
        "Iterations/s of sampled solving beside open_spiel's, and seconds until NashConv is small; one core.",
        (Option("game", str, "leduc", "kuhn, leduc, liarsdice or holdem."), OPTION),
    ),
    Bench(
        "console",
        "What the live console takes of rows/s: windows with and without it in turn, in one run of a fast game.",
    ),
    Bench(
        "deltas",
        "What a batch of a tabular run sends, and whether its rate stays the same while the table fills.",
        (TABLED, Option("quick", bool, False, "Thirty seconds instead of ten minutes.")),
    ),
    Bench("thinkers", "What it costs to know who is still waited for, with 10, 100 and 1,000 simulated workers."),
    Bench(
        "population",
        "Five agents with a network each: pooled against one thing after another, and the arithmetic alone; minutes.",
        (
            Option("episodes", Count, 1000, "Of 50 turns."),
            Option("seeds", Count, 1, "Trainings of either kind, one for each seed."),
        ),
    ),
    Bench(
        "tables",
        "Saving and loading a large table against a plain write and read of as many bytes, and the memory they take.",
        (
            Option("megabytes", Count, 1024, "Of the table."),
            Option("where", Path | None, None, "A folder on the disk that is measured; without it, the present one."),
        ),
    ),
    Bench("split", "No iteration is lost in the split, by arithmetic and with real processes."),
    Bench(
        "scaling",
        "Two workers against one over a table of 30 MB, of hold'em 10 MB or, shared, more than 1 GB.",
        (
            TABLED,
            Option(
                "table",
                Literal["deltas", "shared"],
                "deltas",
                "How workers share it: they send what they changed, or all change one.",
            ),
            Option("pairs", Count, 3, "Runs with one and with two workers, in turn."),
        ),
    ),
    Bench(
        "duel",
        "Two ways to think, or two runs: points a round that one makes beyond the other, deals paired.",
        (
            Option("run", Path, help="The folder of the run."),
            Option("against", Path | None, None, "Another run of the same game, whose latest weights the rival has."),
            Option(
                "hero",
                list[str] | None,
                None,
                "What one seat does in another way than the run did, such as device.backend=onnx-int8; repeatable.",
            ),
            Option("rival", list[str] | None, None, "The same for all other seats."),
            Option("rounds", Count, 2000, "How many, each deal or opening once from each seat."),
            Option("version", MaybeVersion, None, "Which weights of the run play; without it, the latest."),
            Option("seed", Seed, 0),
        ),
    ),
    Bench(
        "values",
        "How well a network foresees outcomes of new games: squared error and R2 of its values, by relative seat.",
        (
            Option("run", Path, help="The folder of the run."),
            Option("played_by", Path | None, None, "The run whose network plays the games; without it, the same."),
            Option("games", Count, 1000, "How many."),
            Option("version", MaybeVersion, None, "Which weights are judged; without it, the latest."),
            Option("seed", Seed, 0),
        ),
    ),
)


def make_command(bench: Bench) -> Callable[..., int]:
    """A function with the signature that the table says; cyclopts reads it from there."""
    arguments = [
        Argument(
            option.name,
            Argument.POSITIONAL_OR_KEYWORD if option.default is Argument.empty else Argument.KEYWORD_ONLY,
            default=option.default,
            annotation=Annotated[option.kind, Parameter(help=option.help)],
        )
        for option in (*bench.options, JSON)
    ]
    signature = Signature(arguments, return_annotation=int)

    def command(*words: Any, **options: Any) -> int:
        given = signature.bind(*words, **options)
        given.apply_defaults()
        as_json = given.arguments.pop("json")
        result = import_module(f"asyncplay.bench.{bench.name}").measure(**given.arguments)
        chosen = given.arguments.get("option")
        return show(result | {"options": " ".join(chosen)} if chosen else result, as_json=as_json)

    command.__doc__, command.__signature__ = bench.help, signature  # type: ignore[attr-defined]
    return command


bench = App(name="bench", help="Measure one published table here.")
for each in BENCHES:
    bench.command(make_command(each), name=each.name)
