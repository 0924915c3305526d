"""Tasks that depend on each other; the names of a file's columns; binding them."""

from __future__ import annotations

import threading
import time
from graphlib import CycleError

import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.parallel import run_all
from ppdm_flow.engine.reading.binding import bind, columns
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import SourceNode


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_task_comes_after_what_it_needs(workers):
    done: list[str] = []
    lock = threading.Lock()

    def work(name: str):
        def run() -> str:
            with lock:
                done.append(name)
            return name.upper()

        return run

    needs = {"d": ("b", "c"), "b": ("a",), "c": ("a",), "a": (), "e": ()}
    found = run_all({name: work(name) for name in needs}, workers, Stop(), needs)
    assert found == {n: n.upper() for n in needs}
    for name, after in needs.items():
        assert all(done.index(a) < done.index(name) for a in after)


def test_tasks_run_side_by_side():
    barrier = threading.Barrier(2, timeout=1200)  # one after the other they would wait for each other in vain
    done = run_all({"a": barrier.wait, "b": barrier.wait}, 2, Stop())
    assert sorted(done.values()) == [0, 1]


def test_after_a_failure_nothing_new_begins_and_the_rest_is_stopped():
    stop, began = Stop(), []

    def fail() -> None:
        raise ValueError("first")

    def long() -> None:
        began.append("long")
        while True:
            stop.check()
            time.sleep(0.001)

    work = {"long": long, "fail": fail} | {f"t{i}": lambda: began.append("late") for i in range(5)}
    with pytest.raises(ValueError, match="first"):
        run_all(work, 2, stop)
    assert began.count("late") == 0


def test_the_error_of_the_first_that_failed_is_raised_even_if_another_was_faster():
    second = threading.Event()

    def fail_late() -> None:
        second.wait(300)
        raise ValueError("first")

    def fail() -> None:
        second.set()
        raise ValueError("second")

    with pytest.raises(ValueError, match="first"):
        run_all({"late": fail_late, "early": fail}, 2, Stop())


def test_what_waits_for_itself_is_refused_before_anything_begins():
    began = []
    with pytest.raises(CycleError):
        run_all({"a": began.clear, "b": lambda: began.append(1), "c": began.clear}, 2, Stop(), {"a": "c", "c": "a"})
    assert not began


def node(*names: str, undeclared: str = "error", header: tuple[str, ...] | None = None) -> SourceNode:
    facts = tuple(AttributeFacts(n, Role.INSENSITIVE) for n in names)
    return SourceNode(None, None, {}, header, (), False, undeclared, facts, names)


def test_columns_are_matched_by_name_in_the_order_of_the_policy():
    found = bind(node("b", "a"), ("a", "b"))
    assert [a.name for a in found.attributes] == ["b", "a"]
    assert found.columns == {"b": "b", "a": "a"}


def test_columns_without_a_header_are_matched_by_position():
    found = bind(node("b", "c", header=("a", "b", "c"), undeclared="drop"), ("column_1", "column_2", "column_3"))
    assert found.columns == {"b": "column_2", "c": "column_3"}


@pytest.mark.parametrize(
    ("names", "found", "code", "hint"),
    [
        (("age", "town"), ("aeg", "town"), "PPF708", "did you mean `aeg`?"),
        (("age",), ("age", "extra"), "PPF709", None),
    ],
)
def test_columns_that_do_not_match(names, found, code, hint):
    with pytest.raises(DataError) as caught:
        bind(node(*names), found)
    assert [(d.code, d.hint) for d in caught.value.diagnostics] == [(code, hint)]


def test_undeclared_columns_may_be_dropped():
    assert set(bind(node("age", undeclared="drop"), ("age", "extra")).columns) == {"age"}


def test_many_undeclared_columns_are_counted():
    with pytest.raises(DataError, match="and 12 more"):
        bind(node("age"), ("age", *(f"c{i}" for i in range(20))))


def test_the_header_of_the_policys_own_file_or_of_another(bench, tools, tmp_path):
    bench.data(tools.rows(3))
    plan = bench.plan()
    assert columns(plan, None) == ("name", "age", "town", "illness", "score")
    other = tmp_path / "other.jsonl"
    other.write_text('{"a": 1}\n{"b": 2}\n')
    jsonl = SourceNode(None, None, {}, None, (), False, "error", (), ())
    assert columns(jsonl, other) == ("a", "b")


def test_without_any_file_and_without_any_format():
    with pytest.raises(DataError) as caught:
        columns(node("a"), None)
    assert caught.value.diagnostics[0].code == "PPF721"


def test_a_file_whose_name_tells_no_format(tmp_path):
    path = tmp_path / "table.xyz"
    path.write_text("a\n")
    with pytest.raises(DataError) as caught:
        columns(node("a"), path)
    assert caught.value.diagnostics[0].code == "PPF407"
