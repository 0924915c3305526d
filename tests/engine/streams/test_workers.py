"""Items made ahead: the same ones, in order, errors where they belong, one at most in advance."""

from __future__ import annotations

import threading
import time

import pytest

from ppdm_flow.engine.streams.workers import ahead


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
