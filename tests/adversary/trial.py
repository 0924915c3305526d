"""One case carried out by the engine, in a private folder: what it says, and whose rows it would release."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from adversary.crowds import Release
from adversary.generated import Generation, columns_made, last_maker, read_by, readable
from adversary.lineage import Columns, as_written, origin, released
from adversary.policies import Case
from adversary.shares import MISSING, SUPPRESSED
from adversary.steps import KEY
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import RequirementResult
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stream
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table

REFUSED = "refused"


@dataclass(frozen=True)
class Tried:
    """What came of a case: a verdict, or ``refused`` with codes; what was judged; what each release holds.

    ``rows`` are the source rows at each place of the policy; ``generations`` what made the rows of releases that are
    nobody's.
    """

    verdict: str
    judged: tuple[RequirementResult, ...] = ()
    releases: dict[str, Release] | None = None
    codes: tuple[str, ...] = ()
    rows: dict[str, set[int]] | None = None
    generations: Mapping[str, Generation | None] = field(default_factory=dict)


def attempt(case: Case) -> Tried:
    """Let the engine carry out a case. Raises what is no fault of the input."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    with TemporaryDirectory(prefix="adversary-") as folder:
        home = Path(folder)
        write(case, home)
        seen: dict[str, tuple[list[dict[str, str]], list[int]]] = {}
        rows: dict[str, set[int]] = {}
        generations: dict[str, Generation | None] = {}
        try:
            found = plan_for_data(home / "policy.yaml", {}, None)
            context = RunContext(found.plan, RunOptions(workers=1))

            def look(candidates: Sequence[Candidate], graph: Graph) -> None:
                seen.update({c.release.name: _rows(c, graph) for c in candidates})
                for name, (_, numbers) in seen.items():
                    if last_maker(case.policy, origin(case.policy, name)) is not None:
                        generations[name] = _generation(case, name, numbers, graph)
                for place, stream in graph.streams.items():
                    rows[place] = {int(r) for p in stream.parts([]) for r in p.table.rows}

            measured = measure(context, Opening(context, None).open(), home, look)
        except PpdmError as error:
            errors = [d.code for d in error.diagnostics if d.severity == "error"]
            return Tried(REFUSED, codes=tuple(dict.fromkeys(errors)))
        columns = released(case.policy)
        people = [{n: v or MISSING for n, v in row.items()} for row in case.rows]
        releases = {
            name: Release(
                as_written(columns[name], cells[0] if cells else ()),
                cells,
                [] if name in generations else [people[i] for i in origins],
                origins,
                case.policy["nulls"],
            )
            for name, (cells, origins) in seen.items()
        }
        return Tried(measured.verdict, measured.requirements, releases, rows=rows, generations=generations)


def write(case: Case, home: Path) -> None:
    """Write the policy and its table."""
    (home / "policy.yaml").write_text(yaml.safe_dump(case.policy, sort_keys=False), encoding="utf-8")
    if case.policy["source"]["format"] == "parquet":
        names = [n for n in case.policy["attributes"] if n != "basket"]
        table = pa.table({n: pa.array([r[n] or None for r in case.rows], pa.string()) for n in names})
        sets = pa.array([r["basket"].split(";") if r["basket"] else [] for r in case.rows], pa.list_(pa.string()))
        pq.write_table(table.append_column("basket", sets), home / "data.parquet")
        return
    with (home / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(case.policy["attributes"]))
        writer.writeheader()
        writer.writerows(case.rows)


def _generation(case: Case, release: str, numbers: Sequence[int], graph: Graph) -> Generation | None:
    """Return what the rows of a release were when they were made, and what they were learned from."""
    maker = last_maker(case.policy, origin(case.policy, release))
    if maker is None or not readable(case.policy, maker):
        return None
    first = next(graph.streams[maker].parts()).table
    columns = {
        n: c for n, c in columns_made(case.policy, maker).items() if n in first.columns
    }  # what nobody reads is not kept
    made = dict(_cells(graph.streams[maker], columns))
    read = dict(_cells(graph.streams[read_by(case.policy, maker)], columns))
    holdout = graph.fitted[maker].holdout
    if holdout is not None:
        out = holdout.held_out(np.array(list(read), dtype=np.int64))
        read = {row: cells for (row, cells), left in zip(read.items(), out.tolist(), strict=True) if not left}
    people = [{n: v or MISSING for n, v in case.rows[row].items()} for row in read]
    source = {n: frozenset(r[n] for r in case.rows if r[n]) for n in case.policy["attributes"]}
    return Generation(columns, [made[i] for i in numbers], list(read.values()), people, source)


def _cells(stream: Stream, columns: Columns) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the cells of each row."""
    for part in stream.parts():
        texts = _texts(part.table, columns)
        for i, row in enumerate(part.table.rows.tolist()):
            yield row, {n: _cell(t[i] or "") for n, t in texts.items()}


def _rows(candidate: Candidate, graph: Graph) -> tuple[list[dict[str, str]], list[int]]:
    """Return the cells of a file, and the source row of each, held against the rows that went into it."""
    names, cells = _file(candidate.file)
    sent: list[tuple[int, int, dict[str, str]]] = []
    for part in graph.streams[candidate.release.input].parts():
        keys = part.keys if part.keys is not None else np.arange(len(sent), len(sent) + len(part.table))
        columns = _texts(part.table, names)
        for i, (key, row) in enumerate(zip(keys.tolist(), part.table.rows.tolist(), strict=True)):
            sent.append((key, row, {n: _cell(texts[i] or "") for n, texts in columns.items()}))
    sent.sort(key=lambda s: s[0])
    if cells is not None and [s[2] for s in sent] != cells:
        raise AssertionError("the released file has not the rows that went into it, in their order")
    return [s[2] for s in sent], [s[1] for s in sent]


def _file(path: Path) -> tuple[list[str], list[dict[str, str]] | None]:
    """Return the columns of a file and its cells; none of one that has numbers and sets."""
    if path.suffix == ".parquet":
        return pq.read_schema(path).names, None
    with path.open(encoding="utf-8", newline="") as file:
        names, *lines = csv.reader(file)
    return names, [dict(zip(names, map(_cell, line or [""]), strict=True)) for line in lines]  # a blank line is a cell


def _texts(table: Table, names: Iterable[str]) -> dict[str, list[str | None]]:
    """Return cells as texts, of sets the items between semicolons; randomized ones come with how many they were."""
    found: dict[str, list[str | None]] = {n: table[n].texts() for n in names if n not in table.sets}
    for name, sets in table.sets.items():
        plain = sets if isinstance(sets, Baskets) else sets.baskets()
        sizes = [""] * len(table) if isinstance(sets, Baskets) else [str(n) for n in sets.sizes.tolist()]
        found[name] = [f"{{{';'.join(sorted(items))}}}{size}" for items, size in zip(plain.texts(), sizes, strict=True)]
    return {n: found[n] for n in names}


def _cell(text: Any) -> str:
    return {"": MISSING, "⊥": SUPPRESSED}.get(text, text)
