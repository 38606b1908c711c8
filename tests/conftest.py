"""Both event loops for every asynchronous test, no time limits on generated cases, leftovers looked for last."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import uvloop
from hypothesis import HealthCheck, settings
from leftovers import left_over, until_empty

from asyncplay.engine.loop import CALLBACK_FAILED

# The same cases each time, so that a change is judged by the change; --hypothesis-profile explore looks for new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("asyncplay", settings.get_profile("explore"), derandomize=True)
settings.load_profile("asyncplay")


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture(scope="session", autouse=True)
def plenty_of_memory() -> Iterator[None]:
    """What is refused for want of memory does not depend on the machine; processes of their own see what there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("asyncplay.machine.at_hand", lambda: 64 << 30)
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_over() -> Iterator[None]:
    """Fail after the last test where processes, threads or lanes are left; tests run in two processes, each looks."""
    yield
    assert until_empty(left_over) == []


class CallbackFaults(logging.Handler):
    """Notes the exceptions of loop callbacks: asyncio and uvloop log them, a run's own handler does too."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and (record.name == "asyncio" or record.getMessage().startswith(CALLBACK_FAILED)):
            self.found.append(f"{record.getMessage()}: {record.exc_info[1]!r}")


@pytest.fixture(autouse=True)
def callback_faults() -> Iterator[list[str]]:
    """Fail a test in which a callback of a loop raised; one that wants it so takes what was found out of the list."""
    faults, loggers = CallbackFaults(), [logging.getLogger(name) for name in ("asyncio", "asyncplay.engine.loop")]
    for logger in loggers:
        logger.addHandler(faults)
    yield faults.found
    for logger in loggers:
        logger.removeHandler(faults)
    assert faults.found == []


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name; `just golden` rewrites it."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--golden"):
            path.write_text(text)
        assert text == path.read_text(), f"{name} has changed; if it should, run `just golden` and read the difference"

    return check


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real processes under the second loop are for the slow tests."""
    for item in items:
        if item.get_closest_marker("process") and _is_on_second_loop(item):
            item.add_marker(pytest.mark.slow)


def _is_on_second_loop(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and hasattr(item, "callspec") and "asyncio" in item.callspec.id.split("-")
