"""How many operations work takes, counted in place of seconds: twice the input is about twice the operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ppdm_flow import api
from ppdm_flow.api.diff import policies
from ppdm_flow.core.roles import Nulls
from ppdm_flow.engine.local.sql import DuckSql
from ppdm_flow.engine.local.transforms import RowStream
from ppdm_flow.reader import candidates, run_files
from ppdm_flow.reader.figures import worst
from ppdm_flow.reader.query.figures import figures
from ppdm_flow.reader.query.tables import QueryTables
from ppdm_flow.reader.run import RunReader
from ppdm_flow.requirements.templates import spec
from tests.reader.database import DatabaseSql
from tests.reader.releases import made_of, release


@pytest.fixture
def counted(monkeypatch) -> Callable[[Any, str], list[int]]:
    """Count the calls of a function: return a list that grows by one with each."""

    def count(owner: Any, name: str) -> list[int]:
        calls: list[int] = []
        before = getattr(owner, name)

        def counting(*given: Any, **named: Any) -> Any:
            calls.append(1)
            return before(*given, **named)

        monkeypatch.setattr(owner, name, counting)
        return calls

    return count


def written(folder, file="p.yaml", **sections):
    document = {"version": 1, "name": "p", "source": {"path": "d.csv"}, "releases": {"out": {"path": "out.csv"}}}
    (folder / file).write_text(json.dumps({**document, **sections}))
    return folder / file


# A chain of steps: each is fitted on what the one before it makes.


@pytest.mark.parametrize("steps", [10, 30])
def test_a_chain_of_steps_makes_each_partition_few_times(tmp_path, counted, steps):
    (tmp_path / "d.csv").write_text("age,income\n" + "".join(f"{i % 7},{i}\n" for i in range(40)))
    rounded = {"use": "generalize", "with": {"attributes": {"income": {"round": 10}}}}
    attributes = {"age": {"role": "quasi_identifier"}, "income": {"role": "insensitive", "type": "integer"}}
    chain = {f"s{i}": rounded for i in range(steps)}
    path = written(tmp_path, attributes=attributes, privacy={"k_anonymity": {"k": 2}}, steps=chain)
    applied = counted(RowStream, "_apply")
    assert api.run(path, out=tmp_path / "runs", workers=1).verdict == "released"
    assert len(applied) <= 4 * steps


# Releases that are copies: a reader of many of them learns what a reader of two does.


def files(count: int, source: dict[str, list[str | None]], columns: str) -> list[Any]:
    rows = range(len(next(iter(source.values()))))
    shown = {name: (made_of(name), source[name]) for name in columns}
    return [release(f"r{i}", source, rows, shown) for i in range(count)]


def told(reader: RunReader, grouping: str, sensitive: str = "") -> tuple[Any, Any]:
    joint = reader.together(grouping, sensitive)
    if joint is None:
        return None, None
    again = reader.together_sql(DatabaseSql(), grouping, sensitive)
    return ({name: worst(views) for name, views in joint.views.items()}, joint.linked), {
        name: figures(each) for name, each in again.items()
    }


def table(seed: int, rows: int = 12) -> dict[str, list[str | None]]:
    draw = np.random.default_rng(seed)
    return {name: [str(v) for v in draw.integers(0, 3, rows)] for name in "abcs"}


def test_sixty_four_copies_are_matched_once(counted):
    pairings, queries = counted(candidates, "pairing"), counted(QueryTables, "_ask")
    spent = []
    for count in (4, 64):
        reader = RunReader(files(count, table(1), "abcs"), None, Nulls.OWN_CATEGORY)
        pairings.clear()
        queries.clear()
        joint, again = reader.together("ab", "s"), reader.together_sql(DatabaseSql(), "ab", "s")
        assert joint is not None
        assert len(joint.views) == len(again) == count
        spent.append((len(pairings), len(queries)))
    assert spent[0] == spent[1]
    assert spent[0][0] == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sensitive", ["", "s"])
@pytest.mark.parametrize("columns", ["abs", "abcs", "bcs", "abc"])
def test_copies_tell_what_they_tell_one_by_one(monkeypatch, seed, sensitive, columns):
    def ask() -> Any:
        return told(RunReader(files(3, table(seed), columns), None, Nulls.OWN_CATEGORY), "ab", sensitive)

    together = ask()
    monkeypatch.setattr(run_files, "are_copies", lambda _files: False)
    assert together == ask()


@pytest.mark.parametrize("shown", [{"0": "x", "1": "x", "2": "x"}, {"0": "x", "1": "x", "2": "2"}])
def test_a_file_with_coarser_cells_is_no_copy(shown):
    source = table(3)
    coarser = {**source, "c": [shown[str(v)] for v in source["c"]]}
    files_ = files(3, source, "abcs")
    assert run_files.read_files(files_, None, frozenset()).copies
    other = release("x", source, range(12), {n: (made_of(n), coarser[n]) for n in "abcs"})
    assert not run_files.read_files([*files_, other], None, frozenset()).copies


# Policies: what is compiled, and how many rules are asked.


@pytest.mark.parametrize("count", [8, 64])
def test_params_with_entries_of_their_own_are_tried_at_once(tmp_path, counted, count):
    attributes = {"q": {"role": "quasi_identifier"}, **{f"a{i}": {"role": "sensitive"} for i in range(count)}}
    diverse = {f"a{i}": {"l": f"${{params.p{i}}}"} for i in range(count)}
    for file, default in (("p.yaml", 2), ("q.yaml", 3)):
        params = {f"p{i}": {"type": "integer", "default": default, "min": 1, "max": 9} for i in range(count)}
        written(tmp_path, file, attributes=attributes, params=params, privacy={"l_diversity": diverse})
    compiled = counted(policies, "compile_policy")
    api.diff(str(tmp_path / "p.yaml"), str(tmp_path / "q.yaml"))
    assert len(compiled) <= 8


def test_a_thousand_templates_are_held_against_those_with_their_values(tmp_path, counted):
    domain = [f"d{i}" for i in range(1000)]
    attributes = {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive", "domain": domain}}
    templates = {
        f"t{i}": {"channel": ["age"], "sensitive": {"ill": [value]}, "confidence": 0.5}
        for i, value in enumerate(domain)
    }
    path = written(tmp_path, attributes=attributes, privacy={"templates": templates})
    asked = counted(spec, "implies")
    outcome = api.check([path])
    assert not [d for d in outcome.diagnostics if d.severity.value == "error"]
    assert not asked


def test_templates_over_one_channel_share_their_queries(tmp_path, counted):
    (tmp_path / "d.csv").write_text("age,ill\n" + "".join(f"{i % 3},d{i % 64:02}\n" for i in range(128)))
    attributes = {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}}
    queries, spent = counted(DuckSql, "_answer"), []
    for count in (4, 64):
        templates = {
            f"t{i}": {"channel": ["age"], "sensitive": {"ill": [f"d{i:02}"]}, "confidence": 0.5 + i / 200}
            for i in range(count)
        }
        path = written(tmp_path, attributes=attributes, privacy={"templates": templates})
        queries.clear()
        assert api.run(path, out=tmp_path / f"runs{count}", workers=1).verdict == "released"
        spent.append(len(queries))
    assert 0 < spent[0] == spent[1]
