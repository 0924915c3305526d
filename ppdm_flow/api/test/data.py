"""The tables of a test as files that the engine reads, in a private folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.plan.definition import Plan, SourceNode
from ppdm_flow.plan.formats import handling, inferred, usual_ending
from ppdm_flow.policy.test.loading import LoadedTests
from ppdm_flow.policy.test.models import Table
from ppdm_flow.policy.test.tables import text_of


@dataclass(frozen=True, slots=True)
class PolicyTestData:
    """A file, and how it is read. ``shown`` says that its values stand in the test file, so that they may be told."""

    path: Path
    node: SourceNode
    shown: bool


def prepare_data(file: LoadedTests, table: Table, plan: Plan, folder: Path) -> PolicyTestData:
    """Return the data of a test. Tables in the test file are CSV with a header; sets are as the source has them."""
    node = plan.source
    if table.file is not None:
        return PolicyTestData(file.beside(table.file), replace(node, path=str(file.beside(table.file))), shown=False)
    if table.csv is not None:
        path = file.beside(table.csv)
        return PolicyTestData(path, _csv(node, path), shown=False)
    kind = node.format
    if kind is not None and handling("sources", kind) == "only":
        if table.text is None:
            text = f"rows of single values are no sets: write `data: |` as a file of format `{kind}` has it"
            raise DataError(Diagnostic("PPF146", text))
        path = folder / f"data{usual_ending('sources', kind)}"
        path.write_text(table.text, encoding="utf-8")
        return PolicyTestData(path, replace(node, path=str(path), options=_utf8(node)), shown=True)
    path = written(table, folder / "data.csv")
    return PolicyTestData(path, _csv(node, path), shown=True)


def released(file: LoadedTests, table: Table, plan: Plan, release: str, folder: Path) -> Path:
    """Return the file that a test gives in place of what the steps would make."""
    if table.csv is not None or table.file is not None:
        return file.beside(table.csv or table.file or "")
    node = next(r for r in plan.releases if r.name == release)
    if table.text is not None and handling("sinks", node.format) == "only":
        path = folder / f"released{usual_ending('sinks', node.format)}"
        path.write_text(table.text, encoding="utf-8")
        return path
    return written(table, folder / "released.csv")


def written(table: Table, path: Path) -> Path:
    """Write a table of the test file as CSV."""
    path.write_text(table.text if table.text is not None else text_of(table.rows or ((),)), encoding="utf-8")
    return path


def _csv(node: SourceNode, path: Path) -> SourceNode:
    """Return the source as one that reads a CSV file with a header; blanks are stripped where the policy says so."""
    kept = {"strip": node.options["strip"]} if node.options.get("strip") is True and _is_csv(node) else {}
    return replace(node, path=str(path), format="csv", columns=None, options=kept)


def _is_csv(node: SourceNode) -> bool:
    return (node.format or inferred("sources", node.path or "")) == "csv"


def _utf8(node: SourceNode) -> dict[str, object]:
    return {k: v for k, v in node.options.items() if k != "encoding"}
