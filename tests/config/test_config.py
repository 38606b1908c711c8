"""Files, flags and their merging; and what a user is told about mistakes."""

import dataclasses
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import annotated_types
import pytest

from asyncplay.cli.entry import app
from asyncplay.config.loading import dump, find, keys, load
from asyncplay.config.sections import SECTIONS, Config
from asyncplay.errors import ConfigError

CONFIGS = Path(__file__).parents[2] / "configs"


class Declared(NamedTuple):
    """A field of a section, taken apart."""

    default: Any
    annotation: Any
    metadata: tuple[Any, ...]  # bounds of the whole, marks


def fields() -> Iterator[tuple[str, str, Declared]]:
    for section, settings in SECTIONS.items():
        for field in dataclasses.fields(settings):
            default = getattr(settings(), field.name)
            kind, marks = getattr(field.type, "__origin__", None), getattr(field.type, "__metadata__", ())
            yield section, field.name, Declared(default, kind if marks else field.type, marks)


FLAGS = {f"{section}.{key}": field for section, key, field in fields() if not isinstance(field.default, dict)}
"""Everything but tables, which only a file can hold."""


def value_of(config: Config, dotted: str) -> Any:
    section, key = dotted.split(".")
    return getattr(getattr(config, section), key)


def flags(dotted: str, text: str) -> dict[str, dict[str, str]]:
    section, key = dotted.split(".")
    return {section: {key: text}}


def another(dotted: str) -> str:
    """A text that this key takes and that is not its default."""
    choices = [str(choice) for choice in get_args(FLAGS[dotted].annotation) if isinstance(choice, str)]
    for text in (*choices, "true", "false", "3", "64", "0.5", "another", "1/2/3/4"):
        try:
            if value_of(load(None, flags(dotted, text)), dotted) != FLAGS[dotted].default:
                return text
        except ConfigError:
            continue
    raise AssertionError(f"nothing is known that {dotted} would take")


def complaints(path: Path | None, overrides: dict[str, dict[str, str]] | None = None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path, overrides)
    return str(caught.value).splitlines()


@pytest.fixture
def file(tmp_path):
    """Write a TOML file and return its path."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "some.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_nothing_said_means_the_defaults():
    assert load(None) == Config()
    assert load(None).batch.max_rows == 1024


def test_a_flag_wins_over_the_file_and_the_files_other_values_stay(file):
    path = file("[batch]\nmax_rows = 64\nhard_cap_ms = 7.5\n[load]\nslots = 9\n")
    config = load(path, {"batch": {"max-rows": "128", "timeout-ms": "2"}, "train": {"seed": "5"}})

    assert (config.batch.max_rows, config.batch.hard_cap_ms, config.batch.timeout_ms) == (128, 7.5, 2.0)
    assert (config.load.slots, config.train.seed) == (9, 5)
    assert dataclasses.replace(config, batch=Config().batch, load=Config().load, train=Config().train) == Config()


def test_a_flag_corrects_a_mistake_of_the_file(file):
    assert load(file("[batch]\nmax_rows = 0\n"), {"batch": {"max_rows": "8"}}).batch.max_rows == 8


def test_every_mistake_of_a_file_is_told_at_once_in_our_words(file):
    path = file(
        """
[train]
seed = -1
units = 1.5
[pool]
kind = "cloud"
workers = "many"
[batch]
max_rows = 2000000
timeout_ms = -3
hard_cap_ms = 0
max_row = 4
[load]
straggler_share = 1.5
"""
    )
    assert complaints(path) == [
        f"{path}: train.seed is -1, must be at least 0",
        f"{path}: train.units is 1.5, must be a whole number",
        f"{path}: pool.kind is cloud, must be 'local' or 'inline'",
        f"{path}: pool.workers is many, must be a whole number",
        f"{path}: batch.max_rows is 2000000, must be at most 1048576",
        f"{path}: batch.timeout_ms is -3, must be at least 0 or 'auto'",
        f"{path}: batch.hard_cap_ms is 0, must be more than 0",
        f"{path}: batch.max_row is no known key; did you mean batch.max_rows?",
        f"{path}: load.straggler_share is 1.5, must be at most 1",
    ]


def test_a_quick_search_is_not_slower_than_a_full_one():
    flags = {"simulations": "16", "quick_simulations": "17"}
    with pytest.raises(
        ConfigError, match=r"^--search.quick-simulations is 17, must be at most search.simulations, 16$"
    ):
        load(None, {"search": flags})
    assert load(None, {"search": flags | {"quick_simulations": "16"}}).search.quick_simulations == 16


def test_mistakes_of_file_and_flags_are_told_apart(file):
    path = file("[batch]\nmax_rows = 0\n")
    assert complaints(path, {"batch": {"timeout-ms": "soon"}, "trian": {"seed": "1"}}) == [
        f"{path}: batch.max_rows is 0, must be at least 1",
        "--batch.timeout-ms is soon, must be a number or 'auto'",
        "--trian is no known key; did you mean train?",
    ]


@pytest.mark.parametrize("value", ['"""a\nb\tc"""', "[[1, 2],\n [3, 4]]", "{ x = 1 }", '"' + "long " * 1000 + '"'])
def test_a_mistake_is_one_line_of_bearable_length_whatever_the_value(file, value):
    (line,) = complaints(file(f"[batch]\nmax_rows = {value}\n"))
    assert line.endswith(", must be a whole number")
    assert len(line.partition("some.toml")[2]) < 150


def test_retired_keys_of_older_files_that_had_no_effect_are_passed_over(file):
    assert load(file("[search]\ncandidates = 1\nworlds = 3\n[net]\nbelief = false\n")).search.worlds == 3
    assert load(file("[search]\ncandidates = 'x'\n")) == Config()


@pytest.mark.parametrize(("text", "told"), [("true", "true"), ("1", "1"), ("0", "0"), ('"maybe"', "maybe")])
def test_a_file_that_wants_beliefs_is_refused_in_one_line(file, text, told):
    path = file(f"[net]\nbelief = {text}\nwidth = 8\n")
    assert complaints(path) == [
        f"{path}: net.belief is {told}: beliefs about hidden cards are no longer learned; leave it out "
        "(asyncplay 0.1 can go on with such a run)"
    ]


def test_a_retired_key_beside_other_mistakes_has_a_line_of_its_own(file):
    path = file("[net]\nbelief = true\nwidth = 0\n")
    first, second = complaints(path)
    assert first.startswith(f"{path}: net.belief is true: ")
    assert second == f"{path}: net.width is 0, must be at least 1"


@pytest.mark.parametrize(
    ("dotted", "text"), [("net.belief", "false"), ("net.belief", "true"), ("search.candidates", "8")]
)
def test_a_flag_for_a_retired_key_is_unknown(dotted, text):
    (line,) = complaints(None, flags(dotted, text))
    assert line.startswith(f"--{dotted} is no known key")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[batch]\nmax_row = 1", "batch.max_row is no known key; did you mean batch.max_rows?"),
        ("[batch]\ntimeout = 1", "batch.timeout is no known key; did you mean batch.timeout_ms?"),
        ("[pool]\nworker = 1", "pool.worker is no known key; did you mean pool.workers?"),
        ("[batch]\nslots = 1", "batch.slots is no known key; did you mean load.slots?"),
        ("[bacth]\nmax_rows = 1", "bacth is no known key; did you mean batch?"),
        ("[zzz]\nmax_rows = 1", "zzz is no known key"),
        ("[batch]\nqqqqqqqqqq = 1", "batch.qqqqqqqqqq is no known key"),
        ("batch = 3", "batch is 3, must be a section"),
        ("[[batch]]\nmax_rows = 3", "batch is [{'max_rows': 3}], must be a section"),
    ],
)
def test_an_unknown_name_suggests_the_nearest_known_one(file, text, told):
    path = file(text)
    assert complaints(path) == [f"{path}: {told}"]


def test_a_flag_does_not_hide_that_the_file_has_no_such_section(file):
    path = file("batch = 3")
    assert complaints(path, {"batch": {"max_rows": "8"}}) == [f"{path}: batch is 3, must be a section"]


def test_a_missing_file_suggests_its_neighbour(file):
    path = file("")
    assert complaints(path.with_name("smoe.toml")) == [
        f"{path.with_name('smoe.toml')}: no such file; did you mean {path}?"
    ]
    assert complaints(path.with_name("zzzzzz.toml")) == [f"{path.with_name('zzzzzz.toml')}: no such file"]
    assert complaints(path / "below.toml") == [f"{path / 'below.toml'}: cannot be read: Not a directory"]


@pytest.mark.parametrize("name", [path.stem for path in CONFIGS.glob("*.toml")])
def test_a_shipped_configuration_is_found_by_name_from_anywhere(name, tmp_path, monkeypatch):
    """And by the path that it has in a checkout; it is the file that people edit there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    for typed in (name, f"configs/{name}.toml", f"./{name}"):
        assert find(Path(typed)).samefile(CONFIGS / f"{name}.toml")


def test_a_file_comes_before_a_shipped_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    for name in ("blob", "configs/blob.toml"):
        (tmp_path / name).write_text("[train]\nseed = 7\n")
        assert find(Path(name)) == Path(name)


def test_a_name_that_nothing_has_is_told_which_there_are(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ", ".join(sorted(path.stem for path in CONFIGS.glob("*.toml")))
    for typed in ("blbo", "blob.toml", "configs/blbo.toml", "elsewhere/blob.toml"):
        with pytest.raises(ConfigError, match=f"^{typed}: no such file; by name there are {names}$"):
            find(Path(typed))
    path = file("")
    with pytest.raises(ConfigError, match=f"no such file; did you mean {path}\\?$"):
        find(path.with_name("smoe.toml"))


def test_what_cannot_be_looked_at_is_left_to_the_reader(file):
    """Which names the reason."""
    below = file("") / "below.toml"
    assert find(below) == below


def test_a_directory_is_no_file(tmp_path):
    assert complaints(tmp_path) == [f"{tmp_path}: cannot be read: Is a directory"]


@pytest.mark.parametrize(
    "text", ["[batch", "max_rows =", "a = 1\na = 2", b"\xff\xfe\x00", b"[batch]\n# \xe9", "a = " + "[" * 100_000]
)
def test_what_is_no_toml_is_one_line(file, text):
    path = file(text)
    (line,) = complaints(path)
    assert line.startswith(f"{path}: is no TOML: ")


def test_a_file_is_read_as_utf_8_wherever_it_was_written(file):
    assert load(file("# größer\n[load]\nslots = 3\n")).load.slots == 3


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf[load]\nslots = 3\n", b"[load]\r\nslots = 3\r\n"])
def test_marks_and_line_ends_of_other_systems_are_no_mistake(file, text):
    assert load(file(text)).load.slots == 3


def test_a_number_of_thousands_of_digits_is_one_line(file):
    (line,) = complaints(file("[train]\nunits = " + "9" * 5000))
    assert "is no TOML: " in line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[train]\nunits = true", "train.units is True, must be a whole number"),
        ("[train]\ninterval_s = false", "train.interval_s is False, must be a number"),
        ("[batch]\ntimeout_ms = true", "batch.timeout_ms is True, must be a number"),
        ("[game]\nname = true", "game.name is True, must be text"),
        (
            "[game]\noptions = 3",
            "game.options is 3, must be a table, which only a file can hold; a flag is --option KEY=VALUE",
        ),
    ],
)
def test_a_value_of_another_kind_is_no_number(file, text, told):
    path = file(text)
    assert complaints(path) == [f"{path}: {told}"]


@pytest.mark.parametrize("dotted", FLAGS)
def test_every_key_is_reachable_as_a_flag(dotted):
    """Through the command line's own parser, with dashes and with underscores."""
    text = another(dotted)
    wanted = value_of(load(None, flags(dotted, text)), dotted)
    for name in (dotted, dotted.replace("_", "-")):
        words = ["train", f"--{name}", text]
        _, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False)
        config = load(None, bound.kwargs)
        assert value_of(config, dotted) == wanted != FLAGS[dotted].default


def test_every_key_is_listed_with_its_default_and_its_meaning():
    listed = {name: (default, meaning) for name, default, meaning in keys()}
    assert listed.keys() == {f"{section}.{key}" for section, key, _ in fields()}
    assert listed["batch.max_rows"] == (1024, "Cut the batch once it holds this many rows.")
    assert [name for name, (_, meaning) in listed.items() if not meaning or "\n" in meaning] == []


def beyond(field: Declared) -> Iterator[tuple[str, str]]:
    """Values just outside each bound, and the words for it."""
    step = 1 if field.annotation is int else 0.001
    for bound in field.metadata:
        match bound:
            case annotated_types.Ge(ge):
                yield str(ge - step), f"at least {ge}"
            case annotated_types.Gt(gt):
                yield str(gt), f"more than {gt}"
            case annotated_types.Le(le):
                yield str(le + step), f"at most {le}"
            case annotated_types.Lt(lt):
                yield str(lt), f"less than {lt}"


BOUNDS = [(dotted, *limit) for dotted, field in FLAGS.items() for limit in beyond(field)]


@pytest.mark.parametrize(("dotted", "text", "wanted"), BOUNDS)
def test_every_bound_is_kept(dotted, text, wanted):
    flag = f"--{dotted.replace('_', '-')}"
    assert complaints(None, flags(dotted, text)) == [f"{flag} is {text}, must be {wanted}"]


def test_every_number_is_bounded_on_both_sides():
    """One that is not ends up where nobody expects it: in a kernel of 64 bits, a list, a clock."""
    numbers = {dotted: field for dotted, field in FLAGS.items() if field.annotation in (int, float)}
    unbounded = [
        dotted
        for dotted, field in numbers.items()
        if not any(isinstance(bound, annotated_types.Ge | annotated_types.Gt) for bound in field.metadata)
        or not any(isinstance(bound, annotated_types.Le | annotated_types.Lt) for bound in field.metadata)
    ]
    assert unbounded == []
    assert len(numbers) > 80


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e999"])
@pytest.mark.parametrize("dotted", [dotted for dotted, field in FLAGS.items() if field.annotation is float])
def test_no_number_is_infinite(dotted, text):
    (line,) = complaints(None, flags(dotted, text))
    assert line.startswith(f"--{dotted.replace('_', '-')} is {text}, must be ")


@pytest.mark.parametrize("text", ["-0.001", "10000.1", "inf", "nan", "soon", ""])
def test_a_batch_timeout_is_a_time_or_auto(text):
    (line,) = complaints(None, {"batch": {"timeout_ms": text}})
    assert line.endswith("or 'auto'")


def test_the_resolved_configuration_loads_back_equal(file):
    every: dict[str, dict[str, str]] = {}
    for dotted in FLAGS:
        section, key = dotted.split(".")
        every.setdefault(section, {})[key] = another(dotted)
    changed = load(None, every)
    assert changed != Config()
    for config in (Config(), changed):
        assert load(file(dump(config))) == config
        assert tomllib.loads(dump(config)) == dataclasses.asdict(config)


def test_the_resolved_configuration_explains_itself():
    assert "\nmax_rows = 1024  # Cut the batch once it holds this many rows.\n" in dump(Config())


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_every_file_that_comes_along_loads(path):
    assert isinstance(load(path), Config)


def test_a_configuration_does_not_change():
    config = Config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.batch.max_rows = 7
