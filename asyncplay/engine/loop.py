"""The event loop of a run, and what becomes of exceptions that nobody awaits."""

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

log = logging.getLogger(__name__)

GC_ALLOCATIONS = 20_000
CALLBACK_FAILED = "an exception in a callback of the loop"

Result = TypeVar("Result")


def run_loop(main: Coroutine[Any, Any, Result]) -> Result:
    """uvloop where it exists, asyncio's own loop elsewhere.

    What was imported is taken out of the garbage collector's sight: walking through it again and again cost the
    coordinator 40 % of its time.
    """
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS)
    make_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
    with suppress(ImportError):
        import uvloop

        make_loop = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(_watched(main))


async def _watched(main: Coroutine[Any, Any, Result]) -> Result:
    """Await ``main``. An exception in a callback of the loop, which nobody awaits, ends it as one of its own would:
    what is half alive waits for ever."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    failures: list[BaseException] = []

    def note(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        is_transient = isinstance(error, OSError) and "handle" not in context  # of a socket: whoever has it is told
        if error is None or is_transient or "future" in context:
            log.warning("%s", context["message"], exc_info=error)
            return
        log.error("%s: %s", CALLBACK_FAILED, context["message"], exc_info=error)
        failures.append(error)
        if len(failures) == 1 and task is not None:
            task.cancel()

    loop.set_exception_handler(note)
    try:
        result = await main
    except asyncio.CancelledError:
        if not failures:
            raise
    finally:
        loop.set_exception_handler(None)
    if failures:
        raise failures[0]
    return result
