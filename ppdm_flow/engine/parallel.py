"""Runs tasks on a few threads in the order of a graph; the outcome does not depend on their speed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Any

from ppdm_flow.engine.streams.stream import Stop, StoppedError

_SIDE_BY_SIDE: Mapping[str, Iterable[str]] = MappingProxyType({})


def run_all(
    work: Mapping[str, Callable[[], Any]], workers: int, stop: Stop, after: Mapping[str, Iterable[str]] = _SIDE_BY_SIDE
) -> Mapping[str, Any]:
    """Do all work and return the results by name; what is ``after`` other work waits for it.

    If some of it fails, nothing new begins and the rest is stopped. The error of the first failure in the order of
    ``work`` is raised. Raises CycleError where work waits for itself.
    """
    order = TopologicalSorter({name: after.get(name, ()) for name in work})
    order.prepare()
    ready: deque[str] = deque()
    running: dict[Future[Any], str] = {}
    results: dict[str, Any] = {}
    errors: dict[str, BaseException] = {}
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        try:
            while order.is_active() and (running or not errors):
                ready += order.get_ready()
                while ready and not errors and len(running) < max(1, workers):
                    name = ready.popleft()
                    running[pool.submit(work[name])] = name
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    name, error = running.pop(future), future.exception()
                    if error is None:
                        results[name] = future.result()
                        order.done(name)
                    else:
                        errors[name] = error
                        stop.set()
        except BaseException:
            stop.set()
            for future in running:
                future.cancel()
            raise
    failed = [errors[name] for name in work if name in errors]
    if failed:
        raise next((error for error in failed if not isinstance(error, StoppedError)), failed[0])
    return results
