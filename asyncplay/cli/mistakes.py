"""What a user typed wrong, in our words."""

import difflib
from itertools import pairwise

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError

from asyncplay.errors import AsyncplayError, ConfigError, printable


def refuse_empty(words: list[str]) -> None:
    """AsyncplayError for an empty word: no option takes one, so it is a shell variable that was not set."""
    for before, word in pairwise(["asyncplay", *words]):
        if word.startswith("--") and word.endswith("="):
            raise AsyncplayError(f"{word.removesuffix('=')} is empty")
        if not word.strip():
            raise AsyncplayError(f"{before} is empty" if before.startswith("--") else f"what follows {before} is empty")


CONFIGURED = (("train",), ("tree",))
"""The commands that take any key of the configuration as an option."""


def explain(error: CycloptsError | AsyncplayError, app: App) -> str:
    """The lines about an error. Cyclopts takes an unknown option of ``train`` for a section of the configuration
    whose key or value is missing; here it is called what it is."""
    if isinstance(error, AsyncplayError):
        return str(error) if isinstance(error, ConfigError) else printable(error)
    if isinstance(error, MissingArgumentError):
        name = error.keyword
    elif isinstance(error, CoercionError) and error.target_type == dict[str, str]:
        dotted = [word for word in error.root_input_tokens or () if word.startswith("--") and word.count(".") > 1]
        name = error.token.keyword if error.token is not None else dotted[0].partition("=")[0]
    else:
        name = None
    if name is None or error.command_chain not in CONFIGURED:
        return str(error)
    from asyncplay.config.loading import keys

    options = [
        option for argument in app[error.command_chain[0]].assemble_argument_collection() for option in argument.names
    ]
    dashed = [f"--{key.replace('_', '-')}" for key, _, _ in keys()]
    if name.replace("_", "-") in (*options, *dashed):
        return str(error)
    known = {option.partition(".")[2]: option for option in reversed(dashed)}
    known |= {option.removeprefix("--"): option for option in (*dashed, *options)}
    known["options"] = "--option"  # game.options is a table, which no flag can hold
    near = [known[word] for word in difflib.get_close_matches(name.removeprefix("--"), known, n=1, cutoff=0.75)]
    hint = f"did you mean {near[0]}? A" if near else "a"
    return f"{name} is no known option; {hint} key of the configuration is --SECTION.KEY VALUE"
