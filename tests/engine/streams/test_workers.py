"""Work done by several threads: in order, errors where they belong, a bounded number in advance."""

from __future__ import annotations

import threading
import time
from functools import partial

import pyarrow as pa
import pytest

from ppdm_flow.engine.streams.workers import ALONE, Workers, ahead, arrow_threads


def test_order_and_end():
    assert list(ahead(range(100))) == list(range(100))
    assert list(ahead([])) == []
    assert list(ahead([None, None])) == [None, None]


def test_errors_come_where_their_item_would():
    def items():
        yield 1
        yield 2
        raise KeyError("third")

    source = ahead(items())
    assert (next(source), next(source)) == (1, 2)
    with pytest.raises(KeyError, match="third"):
        next(source)


def test_one_item_is_made_ahead_by_another_thread():
    made, threads = [], set()

    def items():
        for i in range(10):
            made.append(i)
            threads.add(threading.get_ident())
            yield i

    source = ahead(items())
    assert next(source) == 0
    time.sleep(0.05)
    assert made == [0, 1]
    assert threading.get_ident() not in threads
    source.close()
    assert made == [0, 1]
    assert len(threads) == 1


def test_no_thread_stays():
    before = threading.active_count()
    for _ in ahead(range(5)):
        break
    for _ in ahead(range(5)):
        pass
    assert threading.active_count() == before


def failing(number: int) -> int:
    if number == 3:
        raise KeyError("third")
    return number


@pytest.mark.parametrize("number", [1, 2, 3])
def test_results_come_in_the_order_of_jobs(number):
    workers = Workers(number)
    jobs = [partial(time.sleep, 0.02), *(partial(int, i) for i in range(1, 20))]
    assert list(workers.each(jobs)) == [None, *range(1, 20)]
    assert list(workers.each([])) == []
    workers.close()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_error_comes_where_its_result_would(number):
    def jobs():
        yield from (partial(failing, i) for i in range(3))
        raise ValueError("no more jobs")

    workers = Workers(number)
    results = workers.each(partial(failing, i) for i in range(9))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="third"):
        next(results)
    results = workers.each(jobs())
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no more jobs"):
        next(results)
    with pytest.raises(KeyError, match="third"):
        workers.submit(partial(failing, 3)).result()
    workers.close()


@pytest.mark.parametrize("number", [2, 3])
def test_workers_work_at_once_and_not_far_ahead(number):
    together, made = threading.Barrier(number, timeout=30), []

    def jobs():
        for i in range(20):
            made.append(i)
            yield together.wait if i < number else partial(int, i)

    workers = Workers(number)
    results = workers.each(jobs())
    assert sorted(next(results) for _ in range(number)) == list(range(number))
    assert len(made) <= 2 * number + 1
    results.close()
    assert len(made) <= 2 * number + 1
    workers.close()


def test_one_worker_is_the_calling_thread():
    before = threading.active_count()
    threads = set(ALONE.each(threading.get_ident for _ in range(5)))
    threads |= set(ALONE.ahead(threading.get_ident() for _ in range(5)))
    threads.add(ALONE.submit(threading.get_ident).result())
    assert threads == {threading.get_ident()}
    assert threading.active_count() == before


def test_threads_end_when_workers_are_closed():
    before = threading.active_count()
    workers = Workers(3)
    assert list(workers.each(partial(int, i) for i in range(9))) == list(range(9))
    assert threading.active_count() > before
    workers.close()
    assert threading.active_count() == before


def test_arrow_takes_no_more_threads_than_there_are_workers():
    before = pa.cpu_count()
    with arrow_threads(1):
        assert pa.cpu_count() == 1
    with arrow_threads(before + 5):
        assert pa.cpu_count() == before
    assert pa.cpu_count() == before


def slow_first(number: int) -> int:
    time.sleep(0.02 if number % 4 == 0 else 0.0)
    return number


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_jobs_that_workers_make_come_in_their_order(number):
    workers, made, makers = Workers(number), [], set()

    def jobs():
        for i in range(40):
            made.append(i)
            makers.add(threading.get_ident())
            time.sleep(0.001)
            yield partial(slow_first, i)

    assert list(workers.each_drawn(jobs())) == list(range(40))
    assert made == list(range(40))
    assert (threading.get_ident() in makers) == (number == 1)
    assert list(workers.each_drawn([])) == []
    assert list(workers.each_drawn([partial(dict)])) == [{}]
    workers.close()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_errors_of_jobs_that_workers_make_come_in_their_turn(number):
    def jobs():
        yield from (partial(slow_first, i) for i in range(3))
        raise ValueError("no more jobs")

    workers = Workers(number)
    results = workers.each_drawn(partial(failing, i) for i in range(9))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="third"):
        next(results)
    results = workers.each_drawn(jobs())
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no more jobs"):
        next(results)
    assert list(workers.each_drawn(partial(int, i) for i in range(5))) == list(range(5))  # they are not stuck
    workers.close()


@pytest.mark.parametrize("number", [2, 3])
def test_workers_make_jobs_one_at_a_time_and_not_far_ahead(number):
    making, most, made = threading.Semaphore(1), [], []

    def jobs():
        for i in range(60):
            most.append(making.acquire(blocking=False))
            made.append(i)
            time.sleep(0.001)
            making.release()
            yield partial(int, i)

    workers = Workers(number)
    results = workers.each_drawn(jobs())
    assert [next(results) for _ in range(4)] == list(range(4))
    time.sleep(0.1)
    assert len(made) <= 4 + number + 1
    assert all(most)
    results.close()
    assert len(made) <= 4 + number + 1
    workers.close()


def test_workers_do_the_jobs_that_they_make_at_once():
    together = threading.Barrier(2, timeout=30)
    workers = Workers(2)
    assert sorted(workers.each_drawn([together.wait, together.wait])) == [0, 1]
    workers.close()


@pytest.mark.parametrize("way", ["each", "each_drawn"])
def test_results_that_nobody_wants_any_more_hold_nobody_up(way):
    """A run that is interrupted closes its workers; what was left of its results is dropped later, by any thread."""
    go_on = threading.Event()
    workers = Workers(2)
    results = getattr(workers, way)(go_on.wait if i else int for i in range(9))
    workers.submit(go_on.wait)  # others work, too: some of the results have not begun
    assert next(results) == 0
    closing = threading.Thread(target=workers.close, daemon=True)
    closing.start()  # cancels what has not begun, and waits for the rest
    while workers._pool is not None:
        time.sleep(0.001)
    time.sleep(0.05)
    go_on.set()
    closing.join(30)
    dropping = threading.Thread(target=results.close, daemon=True)
    dropping.start()
    dropping.join(30)
    assert not closing.is_alive()
    assert not dropping.is_alive()
