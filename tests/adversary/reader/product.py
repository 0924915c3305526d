"""The product at work on a small table: what it says, and the source row of each row that it would release."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml

from adversary.reader.files import MISSING
from adversary.reader.policies import KEY, Row
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import RequirementResult
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Opening
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.steps.graph import Graph

SUPPRESSED = "⊥"


@dataclass(frozen=True)
class Outcome:
    """What a run says: its verdict (``refused`` with codes), what was measured, and the rows of each release.

    ``releases`` has, for each release, source rows and cells; ``places`` the source rows that are left after each step.
    """

    verdict: str
    codes: tuple[str, ...] = ()
    measured: tuple[RequirementResult, ...] = ()
    releases: dict[str, list[tuple[int, dict[str, Any]]]] = field(default_factory=dict)
    places: dict[str, set[int]] = field(default_factory=dict)


def run_policy(policy: Mapping[str, Any], rows: Sequence[Row]) -> Outcome:
    """Carry out a policy on a table, in a folder of its own. Raises what is no fault of the policy."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    with TemporaryDirectory(prefix="reader-") as folder:
        home = Path(folder)
        (home / "policy.yaml").write_text(yaml.safe_dump(dict(policy), sort_keys=False), encoding="utf-8")
        with (home / "data.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(policy["attributes"]))
            writer.writeheader()
            writer.writerows(rows)
        releases: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        places: dict[str, set[int]] = {}

        def look(candidates: Sequence[Candidate], graph: Graph) -> None:
            releases.update({c.release.name: _released_rows(c, graph) for c in candidates})
            for place, stream in graph.streams.items():
                places[place] = {int(r) for p in stream.parts([]) for r in p.table.rows}

        try:
            context = RunContext(plan_for_data(home / "policy.yaml", {}, None).plan, RunOptions(workers=1))
            outcome = measure(context, Opening(context, None).open(), home, look)
        except PpdmError as error:
            codes = dict.fromkeys(d.code for d in error.diagnostics if d.severity == "error")
            return Outcome("refused", tuple(codes))
        return Outcome(outcome.verdict, (), outcome.requirements, releases, places)


def _released_rows(candidate: Candidate, graph: Graph) -> list[tuple[int, dict[str, Any]]]:
    """The source rows and the cells of a file, held against the rows that went into it."""
    with candidate.file.open(encoding="utf-8", newline="") as file:
        names, *lines = csv.reader(file)
    cells = [{n: c or MISSING for n, c in zip(names, line or [""], strict=True)} for line in lines]
    sent: list[tuple[int, int, dict[str, Any]]] = []
    for part in graph.streams[candidate.release.input].parts():
        keys = part.keys if part.keys is not None else np.arange(len(sent), len(sent) + len(part.table))
        texts = {n: part.table[n].texts() for n in names}
        for i, (key, row) in enumerate(zip(keys.tolist(), part.table.rows.tolist(), strict=True)):
            sent.append((key, row, {n: t[i] or MISSING for n, t in texts.items()}))
    sent.sort(key=lambda s: s[0])
    if [s[2] for s in sent] != cells:
        raise AssertionError("the file does not have the rows that went into it, in their order")
    return [(row, own) for _, row, own in sent]
