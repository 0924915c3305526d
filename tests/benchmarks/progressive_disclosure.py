"""What template-based suppression costs: the paper's scaling experiment, a million rows, and two plain twins.

    python tests/benchmarks/progressive_disclosure.py [--data ../shared/data] [--only scale] [--sizes 1000000]
                                                      [--huge [--rows 20000000]] [--json FILE] [--plot FILE.svg]

``scale``: Adult expanded as in the paper, <7 attributes -> the rarer half of Marital-status, 90 %>, from CSV to audited
Parquet; ``ratio`` is over pandas copying the file. ``copies``: a million rows with few distinct ones, one template of
50 % on Divorced; ``.bare`` is without report files. ``twins``: the same template on tables in memory, from coded
columns to code maps, beside pandas on all rows and numpy on distinct rows; the outcomes have to be equal. ``values``:
the search alone over an attribute of many values, ten rows each, nearly all of them disclosed one by one. ``.search``
is the step alone, its counting included, as the run's events have it. Kernels are compiled before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from measuring import ROOT, Row, Sheet, flow, timed
from populations import SENSITIVE, Grow, channel, copies, original, rarer_half, variations, write
from twins import Suppressed, Task, collapsed, naive

sys.path.insert(0, str(ROOT / "tests/reproductions"))

from panels import Panel, svg

from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.anonymizer import RowTransform
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case
from ppdm_flow.testing.conformance import run

SIZES = (200_000, 500_000, 1_000_000, 2_000_000, 5_000_000)
MILLION = 23 * 45_222
VALUES = (1_000, 5_000, 10_000, 45_000)
PAPER = 192.0
COPY = "import pandas as p; p.read_csv('table.csv', dtype=str).to_parquet('copy.parquet')"
ARROW = """import pyarrow.parquet as q
f = q.ParquetFile('table.parquet')
w = q.ParquetWriter('copy.parquet', f.schema_arrow, compression='zstd')
[w.write_batch(b) for b in f.iter_batches(262144)]
w.close()
"""
BARE = """import sys
from pathlib import Path
from ppdm_flow.engine.reading.binding import columns
from ppdm_flow.engine.run.finishing import execute
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
loaded = load(Path('policy.yaml'))
plan = compile_policy(loaded).plan
execute(compile_policy(loaded, columns(plan, None)).plan, None, Path(sys.argv[1]))
"""


def policy(table: pa.Table, file: str, values: list[str], confidence: float) -> str:
    roles = [f"  {name}: {{role: quasi_identifier}}" for name in channel(table)]
    return "\n".join(
        [
            "version: 1",
            "name: scaling",
            f"source: {{path: {file}}}",
            "attributes:",
            *roles,
            f"  {SENSITIVE}: {{role: sensitive}}",
            "  class: {role: target}",
            "privacy:",
            "  templates:",
            "    all:",
            f"      channel: [{', '.join(channel(table))}]",
            f"      sensitive: {{{SENSITIVE}: [{', '.join(values)}]}}",
            f"      confidence: {confidence}",
            "steps:",
            "  suppress: {use: progressive_disclosure}",
            "releases:",
            "  out: {path: out.parquet}",
            "",
        ]
    )


def whole(folder: Path, name: str, rows: int, copy: str, repeats: int = 1) -> Iterator[Row]:
    """One policy as the user runs it; the step's own seconds from the run's events."""
    found = []
    for number in range(repeats):
        out = folder / f"{name}-{rows}-{number}"
        found.append((timed(*flow("run", "policy.yaml", "--out", out), cwd=folder), step(out)))
    spent = min(s for s, _ in found)
    base = timed(sys.executable, "-c", copy, cwd=folder).seconds
    yield Row(f"{name}.{rows}.search", rows, min(s for _, s in found), spent.peak_mb)
    label = "pandas, CSV to Parquet" if copy is COPY else "Arrow, Parquet to Parquet"
    yield Row(f"{name}.{rows}.run", rows, spent.seconds, spent.peak_mb, label, spent.seconds / base, spent.cpu)


def step(out: Path) -> float:
    (events,) = out.glob("*/*/events.jsonl")
    lines = map(json.loads, events.read_text().splitlines())
    return next(e["seconds"] for e in lines if e["event"] == "finished" and e["name"] == "suppress")


def scale(folder: Path, table: pa.Table, sizes: list[int]) -> Iterator[Row]:
    (folder / "policy.yaml").write_text(policy(table, "table.csv", rarer_half(table), 0.9))
    for rows in sizes:
        write(folder / "table.csv", table, variations, rows)
        yield from whole(folder, "scale", rows, COPY, repeats=3 if rows <= 1_000_000 else 1)


def million(folder: Path, table: pa.Table) -> Iterator[Row]:
    write(folder / "table.csv", table, copies, MILLION)
    (folder / "policy.yaml").write_text(policy(table, "table.csv", ["Divorced"], 0.5))
    yield from whole(folder, "copies", MILLION, COPY, repeats=3)
    base = timed(sys.executable, "-c", COPY, cwd=folder).seconds
    bare = min(timed(sys.executable, "-c", BARE, folder / f"bare-{number}", cwd=folder) for number in range(3))
    ratio = bare.seconds / base
    yield Row(f"copies.{MILLION}.bare", MILLION, bare.seconds, bare.peak_mb, "pandas, CSV to Parquet", ratio, bare.cpu)


def twins(_folder: Path, table: pa.Table) -> Iterator[Row]:
    task = Task(channel(table), SENSITIVE, ["Divorced"], 0.5, table.column_names[-1])
    for grow, rows in ((None, len(table)), (copies, MILLION)):
        frame = (table if grow is None else grown(table, grow, rows)).to_pandas()
        coded = Table({n: _column(frame[n]) for n in frame}, np.arange(rows))
        fitted, seconds = _timed(case(coded, task).fit, 5)
        ours = suppressed(coded, task, fitted.transform)
        (plain, count), base = _timed(lambda: collapsed(frame, task), 1)  # noqa: B023  # called at once
        _same(ours, plain)
        yield Row(f"twins.{rows}.numpy", rows, base, 0, f"{count} disclosures")
        yield Row(f"twins.{rows}.search", rows, seconds, 0, "numpy, distinct rows", seconds / base)
        if grow is None:
            (plain, count), base = _timed(lambda: naive(frame, task), 1)  # noqa: B023
            _same(ours, plain)
            yield Row(f"twins.{rows}.pandas", rows, base, 0, f"{count} disclosures", seconds / base)


def grown(table: pa.Table, grow: Grow, rows: int) -> pa.Table:
    return pa.concat_tables(grow(table, rows)).unify_dictionaries()


def case(table: Table, task: Task) -> Case:
    template = InferenceTemplate.of(
        "t",
        "t",
        channel=tuple(task.channel),
        sensitive=by_attribute(tuple((SENSITIVE, v) for v in task.worst)),
        confidence=task.confidence,
    )
    roles = {task.target: Role.TARGET, SENSITIVE: Role.SENSITIVE}
    return Case(load("anonymizers", "progressive_disclosure"), {}, table, roles=roles, requirements=(template,))


def suppressed(table: Table, task: Task, transform: RowTransform) -> Suppressed:
    """The values that the step suppresses, read off a table in which each occurs."""
    widths = {a: len(table[a].categories) for a in task.channel}
    place = np.arange(max(widths.values()), dtype=np.int32)
    every = Table({a: Column(np.minimum(place, w - 1), table[a].categories) for a, w in widths.items()}, place)
    done = run(transform, every)[""]
    return {
        a: frozenset(name for name, cell in zip(every[a].texts(), done[a].texts(), strict=True) if name != cell)
        for a in task.channel
    }


def _column(values: pd.Series) -> Column:
    return Column(values.cat.codes.to_numpy().astype(np.int32), pa.array(list(values.cat.categories), pa.string()))


def _timed(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    found, seconds = None, math.inf
    for _ in range(repeats):
        started = time.perf_counter()
        found = work()
        seconds = min(seconds, time.perf_counter() - started)
    return found, seconds


def _same(ours: Suppressed, plain: Suppressed) -> None:
    if ours != plain:
        raise AssertionError([a for a in ours if ours[a] != plain[a]])


def huge(folder: Path, table: pa.Table, rows: int) -> Iterator[Row]:
    write(folder / "table.parquet", table, copies, rows)
    (folder / "policy.yaml").write_text(policy(table, "table.parquet", ["Divorced"], 0.5))
    yield from whole(folder, "huge", rows, ARROW)


def plot(rows: list[Row]) -> str:
    """The scalability curve, the paper's point on a machine of 2005 left out of the scale."""
    every = [(kind, r) for r in rows for kind in ("search", "run") if r.id == f"scale.{r.rows}.{kind}"]
    lines = {kind: [(r.rows / 1e6, r.seconds) for k, r in every if k == kind] for kind in ("search", "run")}
    return svg([Panel("Adult expanded, <7 attributes, 90 %>", "million rows", "seconds", lines, {})], across=1)


def slope(rows: list[Row], part: str, figure: str) -> float:
    """The exponent of rows in the time, by least squares: 1 is linear, less is a fixed part."""
    found = [(math.log(r.rows), math.log(getattr(r, figure))) for r in rows if r.id == f"scale.{r.rows}.{part}"]
    return float(np.polyfit(*zip(*found, strict=True), 1)[0])


def values(_folder: Path, _table: pa.Table) -> Iterator[Row]:
    for number in VALUES:
        draw, rows = np.random.default_rng(3), 10 * number
        codes = {"A": np.concatenate([np.arange(number), draw.integers(0, number, rows - number)])}
        codes |= {n: draw.integers(0, w, rows) for n, w in (("B", 5), (SENSITIVE, 10), ("class", 2))}
        names = pa.array([f"v{v:05}" for v in range(number)], pa.string())
        coded = Table({n: Column(c.astype(np.int32), names) for n, c in codes.items()}, np.arange(rows))
        mine = case(coded, Task(["A", "B"], SENSITIVE, ["v00000"], 0.9, "class"))
        started = time.process_time()
        found = mine.fit()
        spent = time.process_time() - started
        told = f"{found.figures['disclosures'].value} disclosures"
        yield Row(f"values.{number}.search", rows, spent, 0, told, cpu=spent)


def warmed() -> None:
    """Compile what is compiled once for all."""
    tiny = Table({n: Column.of(["x", "y"]) for n in ("a", SENSITIVE, "class")}, np.arange(2))
    case(tiny, Task(["a"], SENSITIVE, ["x"], 0.9, "class")).fit()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--data", type=Path, default=Path(os.environ.get("PPDM_DATA", ROOT.parent / "shared/data")))
    words.add_argument("--only", choices=("scale", "copies", "twins", "values", "huge"))
    words.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    words.add_argument("--huge", action="store_true", help="a whole run on --rows rows from Parquet, too")
    words.add_argument("--rows", type=int, default=20_000_000)
    words.add_argument("--json", type=Path)
    words.add_argument("--plot", type=Path)
    chosen = words.parse_args()
    table = original(chosen.data)
    parts: dict[str, Callable[[Path], Iterator[Row]]] = {
        "twins": lambda folder: twins(folder, table),
        "values": lambda folder: values(folder, table),
        "copies": lambda folder: million(folder, table),
        "scale": lambda folder: scale(folder, table, chosen.sizes),
    }
    if chosen.huge or chosen.only == "huge":
        parts["huge"] = lambda folder: huge(folder, table, chosen.rows)
    warmed()
    sheet = Sheet(wide=24)
    sheet.head()
    for name, part in parts.items():
        if chosen.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                for row in part(Path(folder)):
                    sheet.add(row)
    scaled = [r for r in sheet.rows if r.id.startswith("scale.")]
    if len({r.rows for r in scaled}) > 1:
        named = {"search": ("search", "seconds"), "run": ("run", "seconds"), "CPU of the run": ("run", "cpu")}
        powers = ", ".join(f"{slope(scaled, *which):.2f} ({name})" for name, which in named.items())
        print(f"time grows with rows to the power of {powers}")
    if scaled:
        print(f"the paper, 2005: {PAPER:.0f} s for 1,000,000 rows, 150 s of it suppression")
    sheet.write(chosen.json)
    if chosen.plot and scaled:
        chosen.plot.write_text(plot(scaled))


if __name__ == "__main__":
    main()
