"""Both event loops for every asynchronous test, and no time limits on generated cases."""

import asyncio
from collections.abc import Callable, Mapping

import uvloop
from hypothesis import HealthCheck, settings

settings.register_profile("asyncplay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("asyncplay")


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
