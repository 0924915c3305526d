"""One case carried out by the engine, in a private folder: what it says, and whose rows it would release."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml

from adversary.crowds import Release
from adversary.lineage import released
from adversary.policies import Case
from adversary.shares import MISSING, SUPPRESSED
from adversary.steps import KEY
from ppdm_flow.api.bindings import with_data
from ppdm_flow.api.policies import ready
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import RequirementResult
from ppdm_flow.engine.graph import Graph
from ppdm_flow.engine.measuring import measure, opened
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.releasing import Candidate
from ppdm_flow.engine.streams import Stop

REFUSED = "refused"


@dataclass(frozen=True)
class Tried:
    """What came of a case: a verdict, or ``refused`` with codes; what was judged; what each release holds.

    ``rows`` are the source rows at each place of the policy.
    """

    verdict: str
    judged: tuple[RequirementResult, ...] = ()
    releases: dict[str, Release] | None = None
    codes: tuple[str, ...] = ()
    rows: dict[str, set[int]] | None = None


def attempt(case: Case) -> Tried:
    """Let the engine carry out a case. Raises what is no fault of the input."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    with TemporaryDirectory(prefix="adversary-") as folder:
        home = Path(folder)
        write(case, home)
        seen: dict[str, tuple[list[dict[str, str]], list[int]]] = {}
        rows: dict[str, set[int]] = {}
        try:
            found = with_data(ready(home / "policy.yaml", {}), None, strict=False)
            stop, options = Stop(), RunOptions(workers=1)
            original = opened(found.plan, None, options, stop)

            def look(candidates: Sequence[Candidate], graph: Graph) -> None:
                seen.update({c.release.name: _rows(c, graph) for c in candidates})
                for place, stream in graph.streams.items():
                    rows[place] = {int(r) for p in stream.parts([]) for r in p.table.rows}

            measured = measure(found.plan, original, home, options, stop, look=look)
        except PpdmError as error:
            errors = [d.code for d in error.diagnostics if d.severity == "error"]
            return Tried(REFUSED, codes=tuple(dict.fromkeys(errors)))
        columns = released(case.policy)
        people = [{n: v or MISSING for n, v in row.items()} for row in case.rows]
        releases = {
            name: Release(columns[name], cells, [people[i] for i in origins], origins, case.policy["nulls"])
            for name, (cells, origins) in seen.items()
        }
        return Tried(measured.verdict, measured.requirements, releases, rows=rows)


def write(case: Case, home: Path) -> None:
    """Write the policy and its table."""
    (home / "policy.yaml").write_text(yaml.safe_dump(case.policy, sort_keys=False), encoding="utf-8")
    with (home / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(case.policy["attributes"]))
        writer.writeheader()
        writer.writerows(case.rows)


def _rows(candidate: Candidate, graph: Graph) -> tuple[list[dict[str, str]], list[int]]:
    """Return the cells of a file, and the source row of each, held against the rows that went into it."""
    with candidate.file.open(encoding="utf-8", newline="") as file:
        names, *lines = csv.reader(file)
        cells = [dict(zip(names, map(_cell, line or [""]), strict=True)) for line in lines]  # a blank line is a cell
    sent: list[tuple[int, int, dict[str, str]]] = []
    for part in graph.streams[candidate.release.input].parts():
        keys = part.keys if part.keys is not None else np.arange(len(sent), len(sent) + len(part.table))
        columns = {n: part.table[n].texts() for n in names}
        for i, (key, origin) in enumerate(zip(keys.tolist(), part.table.rows.tolist(), strict=True)):
            sent.append((key, origin, {n: _cell(texts[i] or "") for n, texts in columns.items()}))
    sent.sort(key=lambda s: s[0])
    if [s[2] for s in sent] != cells:
        raise AssertionError("the released file has not the rows that went into it, in their order")
    return cells, [s[1] for s in sent]


def _cell(text: Any) -> str:
    return {"": MISSING, "⊥": SUPPRESSED}.get(text, text)
