"""The tables of a test as files that the engine reads, in a private folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.opening.opening import refuse_linked
from ppdm_flow.plan.definition import SOURCE, Plan, SourceNode
from ppdm_flow.plan.formats import handling, inferred, usual_ending
from ppdm_flow.policy.test import LoadedTests, PolicyTestTable, text_of


@dataclass(frozen=True, slots=True)
class PolicyTestData:
    """A file, and how it is read. ``shown`` says that its values stand in the test file, so that they may be told."""

    path: Path
    node: SourceNode
    shown: bool


@dataclass(frozen=True, slots=True)
class PolicyTestTables:
    """The files of linked tables, by table; of any other policy the one under ``source``."""

    files: Mapping[str, PolicyTestData]

    @property
    def shown(self) -> bool:
        """Whether the values of all stand in the test file."""
        return all(file.shown for file in self.files.values())

    def one(self, plan: Plan) -> Path:
        """Return the file of the one table. Raises DataError for linked ones."""
        refuse_linked(plan)
        return self.files[SOURCE].path

    def read_by(self, plan: Plan) -> Plan:
        """Return the plan that reads these files."""
        if not plan.tables:
            return replace(plan, source=_reading(plan.source, self.files[SOURCE].node))
        tables = tuple(
            replace(t, plan=replace(t.plan, source=_reading(t.plan.source, self.files[t.name].node)))
            for t in plan.tables
        )
        return replace(plan, tables=tables)


def _reading(source: SourceNode, node: SourceNode) -> SourceNode:
    return replace(source, path=node.path, format=node.format, options=node.options, columns=node.columns)


def prepare_tables(
    file: LoadedTests, data: PolicyTestTable | None, tables: Mapping[str, PolicyTestTable], plan: Plan, folder: Path
) -> PolicyTestTables:
    """Return the data of a test, of one table or of linked ones. Raises DataError where it is the other."""
    if not plan.tables:
        if data is None:
            raise DataError(Diagnostic("PPF146", "the policy has one table", help="write its rows under `data`"))
        return PolicyTestTables({SOURCE: prepare_data(file, data, plan.source, folder)})
    names = [table.name for table in plan.tables]
    if set(tables) != set(names):
        listed = ", ".join(f"`{name}`" for name in names)
        text = f"the policy has the linked tables {listed}, and the test other ones"
        raise DataError(Diagnostic("PPF146", text, help="write the rows of each under `tables`"))
    prepared = {}
    for table in plan.tables:
        own = folder / table.name
        own.mkdir()
        prepared[table.name] = prepare_data(file, tables[table.name], table.plan.source, own)
    return PolicyTestTables(prepared)


def prepare_data(file: LoadedTests, table: PolicyTestTable, node: SourceNode, folder: Path) -> PolicyTestData:
    """Return one table of a test. Those in the test file are CSV with a header; sets are as the source has them."""
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


def released(file: LoadedTests, table: PolicyTestTable, plan: Plan, release: str, folder: Path) -> Path:
    """Return the file that a test gives in place of what the steps would make."""
    if table.csv is not None or table.file is not None:
        return file.beside(table.csv or table.file or "")
    node = next(r for r in plan.releases if r.name == release)
    if table.text is not None and handling("sinks", node.format) == "only":
        path = folder / f"released{usual_ending('sinks', node.format)}"
        path.write_text(table.text, encoding="utf-8")
        return path
    return written(table, folder / "released.csv")


def written(table: PolicyTestTable, path: Path) -> Path:
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
