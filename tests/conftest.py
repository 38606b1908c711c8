"""Both event loops for every asynchronous test, no time limits on generated cases, leftovers looked for last."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop
from hypothesis import HealthCheck, settings

settings.register_profile("asyncplay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("asyncplay")


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == "test_zz_resources.py")
