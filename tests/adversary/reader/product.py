"""The product at work on a small table: what it says, and the source row of each row that it would release."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml

from adversary.reader.files import MISSING, SUPPRESSED
from adversary.reader.policies import KEY, Row
from adversary.reader.sequences import OTHER_KEY
from ppdm_flow.api import create_ledger
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.cli.main import main
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.results import RequirementResult
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.ledger.ledger import open_ledger
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.options import RunContext, RunOptions
from ppdm_flow.engine.reading.original import Opening, Original
from ppdm_flow.engine.run.carry_out import Look, audited_run
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.steps.graph import Graph

NUMBER = "row_number"
"""The attribute with the number of each row."""


@dataclass(frozen=True)
class Outcome:
    """What a run says: its verdict (``refused`` with codes), what was measured, and the rows of each release.

    ``releases`` has, for each release, source rows and cells; ``places`` the source rows that are left after each step,
    and ``hiding`` the steps and columns after which some cell is hidden, or None; linked tables have neither.
    """

    verdict: str
    codes: tuple[str, ...] = ()
    measured: tuple[RequirementResult | ReportedRequirement, ...] = ()
    releases: dict[str, list[tuple[int, dict[str, Any]]]] = field(default_factory=dict)
    places: dict[str, set[int]] = field(default_factory=dict)
    hiding: frozenset[tuple[str, str]] | None = None


@dataclass(frozen=True)
class ReportedRequirement:
    """What a report says of a requirement."""

    id: str
    release: str
    metric: str
    measured: float | None
    passes: bool
    sentence: str


def run_policy(policy: Mapping[str, Any], rows: Sequence[Row]) -> Outcome:
    """Carry out a policy on a table, in a folder of its own. Raises what is no fault of it."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    with TemporaryDirectory(prefix="reader-") as folder:
        home = Path(folder)
        _write(home, policy, {"data": rows})
        return _outcome(home, measure)


def run_with_ledger(home: Path, policy: Mapping[str, Any], rows: Sequence[Row]) -> Outcome:
    """Carry out a policy with a ledger, in the folder ``home``, and write it down there if it may be released.

    The same as a run but for the directory that this publishes.
    """
    home.mkdir()
    _write(home, policy, {"data": rows})

    def run(context: RunContext, original: Original, scratch: Path, look: Look) -> JudgedResults:
        directory, ledger = RunDirectory(scratch), open_ledger(context.plan)
        try:
            with audited_run(context, original, directory, ledger, look) as audited:
                results = audited.judged()
                if ledger is not None and results.verdict == "released":
                    directory.write(MANIFEST, "{}")
                    ledger.confirm(ledger.announce(audited.candidates, directory.home))
            return results
        finally:
            directory.discard()

    return _outcome(home, run)


def make_ledger(home: Path, name: str) -> None:
    """Make an empty ledger in a folder, and set the keys of pseudonyms."""
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    os.environ.setdefault(OTHER_KEY, "another key of at least sixteen bytes")
    create_ledger(str(home / name), home / f"{name}.key")


def _outcome(home: Path, carry_out: Callable[[RunContext, Original, Path, Look], JudgedResults]) -> Outcome:
    """What carrying out the policy in a folder says, and what it would release."""
    releases: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    places: dict[str, set[int]] = {}
    hiding: set[tuple[str, str]] = set()

    def look(candidates: Sequence[Candidate], graph: Graph) -> None:
        releases.update({c.release.name: _released_rows(c, graph) for c in candidates})
        for place, stream in graph.streams.items():
            tables = [part.table for part in stream.parts()]
            places[place] = {int(r) for table in tables for r in table.rows}
            hiding.update((place, n) for table in tables for n in table.names if SUPPRESSED in table[n].texts())

    try:
        context = RunContext(plan_for_data(home / "policy.yaml", {}, None).plan, RunOptions(workers=1))
        outcome = carry_out(context, Opening(context, None).open(), home, look)
    except PpdmError as error:
        codes = dict.fromkeys(d.code for d in error.diagnostics if d.severity == "error")
        return Outcome("refused", tuple(codes))
    return Outcome(outcome.verdict, (), outcome.requirements, releases, places, frozenset(hiding))


def run_linked_policy(policy: Mapping[str, Any], tables: Mapping[str, Sequence[Row]]) -> Outcome:
    """Carry out a policy of linked tables by the command line: as it is, and for its files once more.

    The second run has no requirements, so that it releases what it makes, and an attribute with the number of each row.
    No step here fits itself to requirements, and draws are the same in both runs.
    """
    os.environ.setdefault(KEY, "a key of at least sixteen bytes")
    with TemporaryDirectory(prefix="reader-") as folder:
        home = Path(folder)
        _write(home, policy, tables)
        report = _run_command(home)
        if report is None:
            return Outcome("refused")
        measured = tuple(
            ReportedRequirement(r["id"], r["release"], r["metric"], r["measured"], r["holds"], r["sentence"])
            for r in report["requirements"]
        )
        numbered = {t: [{**row, NUMBER: str(i)} for i, row in enumerate(rows)] for t, rows in tables.items()}
        with_numbers = {
            t: {**own, "attributes": {**own["attributes"], NUMBER: {"role": "insensitive"}}}
            for t, own in policy["tables"].items()
        }
        again = {n: v for n, v in policy.items() if n != "privacy"} | {"tables": with_numbers}
        home = home / "again"
        home.mkdir()
        _write(home, again, numbered)
        if _run_command(home) is None:
            return Outcome("refused", ("without requirements",))
        releases = {}
        for name, release in policy["releases"].items():
            (path,) = home.glob(f"runs/*/*/released/{name}/{release['path']}")
            with path.open(encoding="utf-8", newline="") as file:
                rows = [{n: c or MISSING for n, c in row.items()} for row in csv.DictReader(file)]
            releases[name] = [(int(row.pop(NUMBER)), row) for row in rows]
        return Outcome(report["verdict"], (), measured, releases)


def _write(home: Path, policy: Mapping[str, Any], tables: Mapping[str, Sequence[Row]]) -> None:
    (home / "policy.yaml").write_text(yaml.safe_dump(dict(policy), sort_keys=False), encoding="utf-8")
    for name, rows in tables.items():
        attributes = policy["tables"][name]["attributes"] if "tables" in policy else policy["attributes"]
        with (home / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(attributes))
            writer.writeheader()
            writer.writerows(rows)


def _run_command(home: Path) -> dict[str, Any] | None:
    """The report of `ppdm-flow run`; None if the policy is refused. Raises AssertionError if the run fails."""
    arguments, before = sys.argv, Path.cwd()
    sys.argv = ["ppdm-flow", "run", "policy.yaml", "-q"]
    os.chdir(home)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main()
        code: Any = 0
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = arguments
        os.chdir(before)
    if code not in (0, 1, None):
        if "PPF" not in said.getvalue() or "PPF9" in said.getvalue():
            raise AssertionError(said.getvalue())
        return None
    (path,) = home.glob("runs/*/*/report.json")
    return json.loads(path.read_text(encoding="utf-8"))


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
