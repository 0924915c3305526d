"""Threads that partitions are worked on by: a few at once, handed on in their order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa

T = TypeVar("T")
_END: Any = object()


class Workers:
    """``number`` threads, made when they are needed; with one, whoever asks does the work itself.

    They belong to all parts of a run together. Work must not ask for workers in its turn: each might wait for another.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = max(1, number)
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def each(self, jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
        """Yield what the jobs return, in their order; beside the one in use, one more than there are workers wait.

        An error of a job, or in making one, is raised where its result would have come. Whoever stops early waits for
        what has begun.
        """
        if self.number == 1:
            yield from (job() for job in jobs)
            return
        source = iter(jobs)
        coming: deque[Future[T]] = deque()
        failure: Exception | None = None
        more = True
        try:
            while True:
                while more and len(coming) <= self.number:
                    try:
                        job = next(source, _END)
                    except Exception as error:  # noqa: BLE001  # raised below, in its turn
                        failure, job = error, _END
                    more = job is not _END
                    if more:
                        coming.append(self.submit(job))
                if not coming:
                    break
                yield coming.popleft().result()
        finally:
            for future in coming:
                future.cancel()
            wait(coming)
        if failure is not None:
            raise failure

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Return what the job will return; with one worker it is done already."""
        if self.number == 1:
            done: Future[T] = Future()
            try:
                done.set_result(job())
            except Exception as error:  # noqa: BLE001  # raised for whoever asks for the result
                done.set_exception(error)
            return done
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.number, thread_name_prefix="worker")
            return self._pool.submit(job)

    def ahead(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, each made by a thread of its own while the one before is in use; not so with one worker."""
        return iter(items) if self.number == 1 else ahead(items)

    def close(self) -> None:
        """Wait for what has begun, and end the threads."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)


@contextmanager
def arrow_threads(number: int) -> Iterator[None]:
    """Let Arrow, whose threads belong to the process, decode with no more than so many meanwhile."""
    before = pa.cpu_count()
    pa.set_cpu_count(max(1, min(before, number)))
    try:
        yield
    finally:
        pa.set_cpu_count(before)


ALONE = Workers(1)
"""Whoever asks does the work."""


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items in order, each made by a thread of its own while the one before is in use.

    An error in making an item is raised where the item would have come. At most one item is made ahead; whoever stops
    early waits for that one.
    """
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, source, _END)
            yield item
