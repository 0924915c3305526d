"""Checking privacy models on about 1 million rows, in process, on coded columns; counting included.

The table is ARX's Adult 33 times over with 1 % of the ages drawn anew, by eight quasi-identifiers. ``check.file.*`` is
the same by SQL over the columns as text, the audits' second route. Baseline: pycanon on a pandas table, where it is
installed, else a pandas group-by.
"""

from __future__ import annotations

import gzip
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from measuring import Row

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import Diversity, LDiversity
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

COPIES = 33
SENSITIVE = "occupation"


class Relation:
    """DuckDB over the cells as text."""

    def __init__(self, table: Table) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.register("candidate", pa.table({n: _text(c) for n, c in table.columns.items()}))
        self.connection.execute("CREATE TABLE held AS SELECT * FROM candidate; DROP VIEW candidate")
        self.connection.execute("ALTER TABLE held RENAME TO candidate")

    def rows(self, query: str, parameters: Any = (), tables: Mapping[str, Any] = {}) -> list[tuple[Any, ...]]:
        for name, table in tables.items():
            self.connection.register(name, table)
        found = self.connection.execute(query, list(parameters)).fetchall()
        for name in tables:
            self.connection.unregister(name)
        return found


def _text(column: Column) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(column.codes), column.categories).cast(pa.string())


def check(data: Path) -> Iterator[Row]:
    with gzip.open(data / "arx_adult" / "adult.csv.gz", "rt", encoding="utf-8") as stream:
        frame = pd.read_csv(stream, sep=";", dtype=str)
    table = _table(frame)
    grouping = tuple(n for n in frame.columns if n != SENSITIVE)
    roles = dict.fromkeys(grouping, Role.QUASI_IDENTIFIER) | {SENSITIVE: Role.SENSITIVE}
    view = InMemoryView.of(table, roles)
    facts = {n: AttributeFacts(n, role, source=n) for n, role in roles.items()}
    ranks = tuple(table[SENSITIVE].categories.to_pylist())
    asked = {
        "k": KAnonymity.of("r", k=5, attributes=grouping),
        "l": LDiversity.of("r", SENSITIVE, l=2, attributes=grouping),
        "entropy_l": LDiversity.of("r", SENSITIVE, l=2, attributes=grouping, variant=Diversity.ENTROPY),
        "recursive_l": LDiversity.of("r", SENSITIVE, l=2, attributes=grouping, variant=Diversity.RECURSIVE, c=2.0),
        "t": TCloseness.of("r", SENSITIVE, t=0.2, attributes=grouping),
        "ordered_t": TCloseness.of("r", SENSITIVE, t=0.2, attributes=grouping, distance=Distance.ORDERED, order=ranks),
        "alpha": AlphaK.of("r", SENSITIVE, alpha=0.5, attributes=grouping),
        "delta": DeltaDisclosure.of("r", SENSITIVE, delta=1.0, attributes=grouping),
        "beta": BetaLikeness.of("r", SENSITIVE, beta=1.0, attributes=grouping),
    }
    sql = Relation(table)
    baselines = _baselines(table, list(grouping))
    for name, requirement in asked.items():
        spec = load("audits", requirement.kind)
        audit = spec.load()(spec.params())
        ctx = AuditContext("r", facts, facts, (requirement,), sql=sql)
        row = _row(f"check.{name}", len(table), lambda a=audit, c=ctx: a.measure(view, view, c), repeats=3)
        whose, baseline = baselines.get(name, ("", None))
        if baseline is not None:
            slow = _row("", len(table), baseline, repeats=1)
            row = Row(row.id, row.rows, row.seconds, row.peak_mb, whose, row.seconds / slow.seconds, row.cpu)
        yield row
    for name in ("k", "l", "t"):
        spec = load("audits", asked[name].kind)
        audit = spec.load()(spec.params())
        ctx = AuditContext("r", facts, facts, (asked[name],), sql=sql)
        yield _row(f"check.file.{name}", len(table), lambda a=audit, c=ctx: a.recheck(view, view, c), repeats=2)


def _table(frame: pd.DataFrame) -> Table:
    rng = np.random.default_rng(1)
    columns = {}
    for name in frame.columns:
        codes, names = pd.factorize(frame[name])
        many = np.tile(codes, COPIES).astype(np.int32)
        if name == "age":
            other = rng.random(len(many)) < 0.01
            many[other] = rng.integers(0, len(names), int(other.sum()))
        columns[name] = Column(many, pa.array(list(names), pa.string()))
    return Table(columns, np.arange(len(frame) * COPIES, dtype=np.int64))


def _baselines(table: Table, grouping: list[str]) -> dict[str, tuple[str, Callable[[], Any]]]:
    frame = pd.DataFrame({n: _text(c).to_pandas() for n, c in table.columns.items()})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pycanon import anonymity
    except ImportError:
        return {
            "k": ("pandas group-by", lambda: frame.groupby(grouping).size().min()),
            "l": ("pandas group-by", lambda: frame.groupby(grouping)[SENSITIVE].nunique().min()),
        }
    return {
        "k": ("pycanon", lambda: anonymity.k_anonymity(frame, grouping)),
        "l": ("pycanon", lambda: anonymity.l_diversity(frame, grouping, [SENSITIVE])),
    }


def _row(name: str, rows: int, work: Callable[[], Any], repeats: int) -> Row:
    times = []
    for _ in range(repeats):
        begun, used = time.perf_counter(), os.times()
        work()
        spent = os.times()
        cpu = spent.user + spent.system - used.user - used.system
        times.append((time.perf_counter() - begun, cpu))
    seconds, cpu = min(times)
    return Row(name, rows, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, cpu=cpu)
