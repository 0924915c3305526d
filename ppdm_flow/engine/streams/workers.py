"""Threads that work on partitions: a few at once, with the results in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

import pyarrow as pa

T = TypeVar("T")
_END: Any = object()


class Workers:
    """``number`` threads, made when they are needed; with one, the calling thread does the work itself.

    They belong to all parts of a run together. Work must not ask for workers in its turn: each might wait for another.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = max(1, number)
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def each(self, jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
        """Yield what the jobs return, in their order; beside the one in use, one more than there are workers wait.

        An error of a job, or in making one, is raised where its result would have come. A caller who stops early waits
        for the jobs that have begun.
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
            _drop(coming)
        if failure is not None:
            raise failure

    def each_drawn(self, jobs: Iterable[Callable[[], T]]) -> Iterator[T]:
        """Yield the same where making a job takes time: the workers make the jobs as well, one at a time.

        Any worker may ask ``jobs`` for the next one, so successive requests can come from different threads.
        """
        if self.number == 1:
            yield from (job() for job in jobs)
            return
        queue = _JobQueue(jobs)
        coming: deque[Future[tuple[int, Future[T]] | None]] = deque()
        waiting: dict[int, Future[T]] = {}
        turn, more = 0, True
        try:
            while True:
                while more and len(coming) + len(waiting) <= self.number:
                    coming.append(self.submit(queue.work))
                if turn in waiting:
                    yield waiting.pop(turn).result()
                    turn += 1
                elif coming:
                    worked = coming.popleft().result()
                    more = more and worked is not None
                    waiting.update([worked] if worked else [])
                else:
                    break
        finally:
            _drop(coming)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Return what the job will return; with one worker it is done already."""
        if self.number == 1:
            return _done(job)
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


class _JobQueue(Generic[T]):
    """Jobs that threads take one after the other; after an error in making one there are no more."""

    def __init__(self, jobs: Iterable[Callable[[], T]]) -> None:
        self._source: Iterator[Callable[[], T]] = iter(jobs)
        self._lock = threading.Lock()
        self._taken = 0

    def work(self) -> tuple[int, Future[T]] | None:
        """Do the next job, and return its place among them with what it returned; None where there is none."""
        with self._lock:
            place, job = self._taken, self._next()
            self._taken += 1
        return None if job is None else (place, _done(job))

    def _next(self) -> Callable[[], T] | None:
        try:
            return next(self._source, None)
        except Exception as error:  # noqa: BLE001  # raised where the job's result would have come
            self._source = iter(())
            return partial(_raise, error)


def _drop(coming: Iterable[Future[Any]]) -> None:
    """Cancel what has not begun, and wait for the rest.

    A cancelled future of a closed pool is never notified, so that waiting for it takes forever.
    """
    wait([future for future in coming if not future.cancel()])


def _raise(error: Exception) -> NoReturn:
    raise error


def _done(job: Callable[[], T]) -> Future[T]:
    """Do a job, and return what has its result or its error."""
    done: Future[T] = Future()
    try:
        done.set_result(job())
    except Exception as error:  # noqa: BLE001  # raised when the result is asked for
        done.set_exception(error)
    return done


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
"""No threads: the calling thread does the work."""


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items in order, each made by a thread of its own while the one before is in use.

    An error in making an item is raised where the item would have come. At most one item is made ahead; a caller who
    stops early waits for that one.
    """
    source = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, source, _END)
            yield item
