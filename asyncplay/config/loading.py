"""Reading a configuration: a TOML file, flags over it, all of it checked, a line for each mistake.

The pydantic models are generated from the dataclasses of ``sections``; no setting is declared here.
"""

import ast
import inspect
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, create_model, field_validator
from pydantic_core import PydanticCustomError

from asyncplay.config import sections, tables
from asyncplay.config.menus import parse_buckets, parse_menu
from asyncplay.config.sections import SECTIONS, Config
from asyncplay.config.wording import plain_number, suggestion
from asyncplay.errors import ConfigError

Overrides = Mapping[str, Mapping[str, str]]
"""The flags: section, key, text."""

SHIPPED = Path(__file__).parent.parent / "configs"
"""The configurations that come with the package; in a checkout a link to configs/ at its top."""

RETIRED = {
    "search.candidates": None,
    "net.belief": "beliefs about hidden cards are no longer learned; leave it out "
    "(asyncplay 0.1 can go on with such a run)",
}
"""Keys of older files: None where any value is ignored, else why a value other than false is refused."""


class Section(BaseModel):
    """The base of the models that check sections."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_switch(cls, value: object, info: ValidationInfo) -> object:
        """Refuse true and false for numbers; Python would take them for 1 and 0."""
        kind = cls.model_fields[info.field_name or ""].annotation
        kinds = [getattr(part, "__origin__", part) for part in (kind, *get_args(kind))]
        if isinstance(value, bool) and (int in kinds or float in kinds):
            raise PydanticCustomError("int_type" if int in kinds else "float_type", "a truth value")
        return value


class QuickSection(Section):
    """The section ``[search]``, in which a quick decision must not be slower than a full one."""

    @field_validator("quick_simulations", check_fields=False)
    @classmethod
    def _is_quick(cls, value: int, info: ValidationInfo) -> int:
        most = info.data.get("simulations", value)
        if value <= most:
            return value
        raise PydanticCustomError("too_slow", "too slow", {"expected": f"at most search.simulations, {most}"})


class TextSection(Section):
    """The section ``[abstraction]``, whose texts are menus and buckets."""

    @field_validator("*")
    @classmethod
    def _can_be_read(cls, value: str, info: ValidationInfo) -> str:
        readers: dict[str | None, Callable[[str], object]] = {"buckets": parse_buckets, "file": str}
        try:
            readers.get(info.field_name, parse_menu)(value)
        except ValueError as error:
            raise PydanticCustomError("unreadable", "unreadable", {"expected": str(error)}) from None
        return value


BASES = {"search": QuickSection, "abstraction": TextSection}
"""Sections that are checked by more than the bounds of each key."""


def _model(name: str, kind: Any) -> type[Section]:
    """The model of a section: the fields of its dataclass, with their bounds and defaults."""
    keys: dict[str, Any] = {key.name: (key.type, getattr(kind(), key.name)) for key in fields(kind)}
    return create_model(name, __base__=BASES.get(name, Section), **keys)


MODELS = {name: _model(name, kind) for name, kind in SECTIONS.items()}
_WHOLE: dict[str, Any] = {name: (model, model()) for name, model in MODELS.items()}
MODEL = create_model("config", __base__=Section, **_WHOLE)


def find(name: Path) -> Path:
    """The file of that name; where there is none, the configuration shipped as NAME or configs/NAME.toml."""
    shipped = {path.stem: path for path in SHIPPED.glob("*.toml")}
    for stem, path in shipped.items():
        if name in (Path(stem), Path("configs", path.name)) and not os.path.isfile(name):
            return path
    try:
        name.stat()
    except FileNotFoundError:
        others = _neighbour(name) or f"; by name there are {', '.join(sorted(shipped))}"
        raise ConfigError(f"{name}: no such file{others}") from None
    except OSError:
        pass  # load says why
    return name


def load(path: Path | None, overrides: Overrides | None = None) -> Config:
    """Read a TOML file, lay the flags over it, check all of it; ConfigError has a line for each mistake."""
    values, flags = _read(path) if path is not None else {}, dict[str, dict[str, str]]()
    lines = _drop_retired(values, path)
    for section, texts in (overrides or {}).items():
        if isinstance(known := values.setdefault(section, {}), dict):  # the model refuses what is no section
            flags[section] = {key.replace("-", "_"): text for key, text in texts.items()}
            known |= flags[section]
    try:
        checked = MODEL.model_validate(values)
    except ValidationError as error:
        lines += _complaints(error, path, flags)
    if lines:
        raise ConfigError("\n".join(lines))
    return Config(**{name: SECTIONS[name](**dict(section)) for name, section in checked})


def dump(config: Config) -> str:
    """Return the resolved configuration as TOML, with the meaning of each key."""
    meanings = {name: meaning for name, _, meaning in keys()}
    blocks = []
    for name, section in asdict(config).items():
        lines = [f"{key} = {_toml(value)}  # {meanings[f'{name}.{key}']}" for key, value in section.items()]
        blocks.append("\n".join([f"[{name}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(entry)}" for key, entry in value.items()) + "}"
    return json.dumps(value)


def keys() -> Iterator[tuple[str, Any, str]]:
    """Every key as (dotted name, default, meaning)."""
    for name, section in asdict(Config()).items():
        for key, default in section.items():
            yield f"{name}.{key}", default, _meanings()[SECTIONS[name].__name__, key]


@cache
def _meanings() -> dict[tuple[str, str], str]:
    """The docstring below each field, by class and field; Python itself does not keep them."""
    meanings = {}
    for kind in (kind for module in (sections, tables) for kind in ast.parse(inspect.getsource(module)).body):
        if isinstance(kind, ast.ClassDef):
            for pair in pairwise(kind.body):
                match pair:
                    case ast.AnnAssign(target=ast.Name(key)), ast.Expr(ast.Constant(str(meaning))):
                        meanings[kind.name, key] = meaning
    return meanings


def options(plain: Config) -> Iterator[str]:
    """Every key as an option, with its default and its meaning; ``plain`` is the configuration without a file."""
    for name, default, meaning in keys():
        section, _, key = name.partition(".")
        value = getattr(getattr(plain, section), key)
        other = "" if value == default else f"; {default} in a CONFIG that leaves it out"
        yield f"--{name.replace('_', '-')} (default {value}{other}): {meaning}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin a file with a mark
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file{_neighbour(path)}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # of its bytes, its letters or its numbers
        raise ConfigError(f"{path}: is no TOML: {error}") from None


def _drop_retired(values: Mapping[str, Any], path: Path | None) -> list[str]:
    """Take retired keys out of a file's sections; a line for each that had an effect."""
    lines = []
    for name, reason in RETIRED.items():
        section, _, key = name.partition(".")
        keys = values.get(section)
        value = keys.pop(key, False) if isinstance(keys, dict) else False
        if reason is not None and value is not False:
            lines.append(f"{path}: {name} is {_brief(value).lower()}: {reason}")
    return lines


def _neighbour(path: Path) -> str:
    """Suggest the TOML file of the same folder whose name looks most like this one's."""
    return suggestion(path.name, {other.name: str(other) for other in path.parent.glob("*.toml")})


def _complaints(error: ValidationError, path: Path | None, flags: Mapping[str, Mapping[str, str]]) -> list[str]:
    """One line for each mistake. A union complains once for each of its members; they become one line."""
    lines: dict[tuple[str, ...], str] = {}
    wanted: dict[tuple[str, ...], list[str]] = {}
    for item in error.errors(include_url=False):
        place = tuple(str(part) for part in item["loc"][:2])
        is_flag = place[0] in flags and (len(place) == 1 or place[1] in flags[place[0]])
        source = f"--{'.'.join(place)}".replace("_", "-") if is_flag else f"{path}: {'.'.join(place)}"
        wanted.setdefault(place, []).append(_wanted(item))
        if item["type"] == "extra_forbidden":
            lines[place] = f"{source} is no known key{_nearest(*place)}"
        else:
            lines[place] = f"{source} is {_brief(item['input'])}, must be {' or '.join(dict.fromkeys(wanted[place]))}"
    return list(lines.values())


def _wanted(item: Any) -> str:
    """What an error of pydantic asks for, in words for users."""
    context = item.get("ctx", {})
    bounds = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    for name, words in bounds.items():
        if name in context:
            return f"{words} {plain_number(context[name])}"
    if item["type"] == "finite_number":
        return "a finite number"
    if "expected" in context:
        return str(context["expected"])
    nouns = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "text"}
    nouns |= {"dict": "a table, which only a file can hold; a flag is --option KEY=VALUE", "model": "a section"}
    return nouns.get(item["type"].partition("_")[0], str(item["msg"]))


def _brief(value: object) -> str:
    """Any value on one line of bounded length."""
    words = " ".join(str(value).split())
    return words if len(words) <= 80 else f"{words[:77]}..."


def _nearest(section: str, key: str | None = None) -> str:
    """Suggest the known name that looks most like this one: the same section first, then anywhere."""
    if key is None:
        return suggestion(section, {name: name for name in SECTIONS})
    own = {field.name: f"{section}.{field.name}" for field in fields(SECTIONS[section])}
    anywhere = {name.partition(".")[2]: name for name, _, _ in reversed(list(keys()))}
    return suggestion(key, own) or suggestion(key, anywhere)
