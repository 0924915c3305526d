"""Tasks that depend on each other, on a few threads; the outcome does not depend on which thread was faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from ppdm_flow.core.records import dataclass
from ppdm_flow.engine.streams.stream import Stop, StoppedError


@dataclass(frozen=True, slots=True)
class Task:
    """``work`` runs when all of ``after`` are done."""

    name: str
    work: Callable[[], Any]
    after: tuple[str, ...] = ()


def run_all(tasks: Sequence[Task], workers: int, stop: Stop) -> Mapping[str, Any]:
    """Run the tasks and return their results by name.

    Where some fail, the rest is told to stop, and the error of the first failed task, in the order of ``tasks``, is
    raised.
    """
    waiting = {t.name: t for t in tasks}
    running: dict[Future[Any], str] = {}
    results: dict[str, Any] = {}
    errors: dict[str, BaseException] = {}
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        try:
            while waiting or running:
                ready = [] if errors else [t for t in waiting.values() if results.keys() >= set(t.after)]
                for task in ready[: max(1, workers) - len(running)]:
                    del waiting[task.name]
                    running[pool.submit(task.work)] = task.name
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                _collect(done, running, results, errors, stop)
        except BaseException:
            stop.set()
            for future in running:
                future.cancel()
            raise
    _raise_first(tasks, errors)
    return results


def _collect(
    done: set[Future[Any]],
    running: dict[Future[Any], str],
    results: dict[str, Any],
    errors: dict[str, BaseException],
    stop: Stop,
) -> None:
    for future in done:
        name = running.pop(future)
        error = future.exception()
        if error is None:
            results[name] = future.result()
        else:
            errors[name] = error
            stop.set()


def _raise_first(tasks: Sequence[Task], errors: Mapping[str, BaseException]) -> None:
    failed = [errors[t.name] for t in tasks if t.name in errors]
    real = [e for e in failed if not isinstance(e, StoppedError)]
    if failed:
        raise (real or failed)[0]
