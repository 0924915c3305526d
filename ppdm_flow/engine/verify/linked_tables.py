"""A run of linked tables, measured again: each table by its own plan, then what whoever has all of them joins."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ppdm_flow.core.errors import DisagreementError, PpdmError
from ppdm_flow.core.file_sets import data_sha256
from ppdm_flow.engine import manifest
from ppdm_flow.engine.linked.sources import open_linked, table_data
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.run.scratch_run import measure
from ppdm_flow.engine.verify.remaking import remake_target
from ppdm_flow.engine.verify.remeasuring import Remeasurement, RemeasureResult
from ppdm_flow.plan.definition import LinkedTable, Plan


def remeasure_tables(run_dir: Path, known: manifest.Manifest, folder: Path, plan: Plan) -> RemeasureResult:
    """Measure the releases of linked tables, whose files are in a folder, again, and compare them with the report.

    What is joined is measured again where all releases came out the same. Raises DataError where the data does not fit.
    """
    files = {table.name: _file(table, folder) for table in plan.tables}
    inputs = known.get("tables", {})
    same = {name: name in inputs and data_sha256(file) == inputs[name]["sha256"] for name, file in files.items()}
    single = {
        table.name: Remeasurement(
            run_dir,
            known,
            files[table.name],
            replace(table.plan, digest=plan.digest),
            same_input=same[table.name],
            releases=_releases(table),
        ).outcome()
        for table in plan.tables
    }
    joined = _joined(run_dir, known, folder, plan, single)
    every = [*single.values(), joined]
    return RemeasureResult(
        all(same.values()),
        sum(result.requirements for result in every),
        tuple(dict.fromkeys(d for result in every for d in result.differences)),
        tuple(name for result in single.values() for name in result.skipped),
        {name: why for result in every for name, why in result.unknown.items()},
        {name: text for result in single.values() for name, text in result.columns.items()},
        {name: made for result in single.values() for name, made in result.made.items()},
        sum(result.figures for result in every),
    )


def _file(table: LinkedTable, folder: Path) -> Path:
    file = table_data(table, folder)
    return folder if file is None else file


def _releases(table: LinkedTable) -> frozenset[str]:
    return frozenset(release.name for release in table.plan.releases)


def _joined(
    run_dir: Path, known: manifest.Manifest, folder: Path, plan: Plan, single: Mapping[str, RemeasureResult]
) -> RemeasureResult:
    """Measure the joins again where every release was made again and is the same."""
    own = frozenset[str]().union(*(_releases(table) for table in plan.tables))
    names = frozenset(r["release"] for r in _requirements(run_dir, known, folder, plan)) - own
    again = Remeasurement(run_dir, known, folder, plan, same_input=True, releases=names)
    made = {name: same for result in single.values() for name, (same, _) in result.made.items()}
    if not all(made.get(name) for name in own):
        return again.result()
    targets = [remake_target(table.plan, release) for table in plan.tables for release in table.plan.releases]
    scratch = Path(tempfile.mkdtemp(prefix="ppdm-flow-"))
    try:
        with RunContext(replace(plan, waivers=())) as context:
            run = measure(context, open_linked(context, folder), scratch)
    except DisagreementError:
        raise
    except PpdmError:  # a key or a file is not there any more: it is said of each release
        return again.result()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return again.result(again.whole_run(run, exact=all(t is not None and t.reproducible for t in targets)))


def _requirements(run_dir: Path, known: manifest.Manifest, folder: Path, plan: Plan) -> list[dict[str, str]]:
    every = Remeasurement(run_dir, known, folder, plan, same_input=True)
    return list(every.before.values())
