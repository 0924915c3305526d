"""What a data sheet is made from: the public report, cut down to one release, and the documents beside that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.results import Report
from ppdm_flow.plan.dag import steps_before
from ppdm_flow.report.run.checks import unit_of
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.fields import FindingDocument, ReportDocument, ResultDocument
from ppdm_flow.report.run.public import public

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DatasheetInput:
    """One release of a report. ``report`` is public and says what may be shown.

    ``steps`` are those up to the release in their order, with parameters: these only choose between statements.
    ``units`` are those of figures, by name. ``beside`` are the documents in the release's folder, by file name.
    """

    release: str
    report: ReportDocument
    steps: tuple[Document, ...]
    units: Mapping[str, str]
    beside: Mapping[str, Document]

    @property
    def node(self) -> Document:
        """The release as the plan has it."""
        return next(each for each in self.report["plan"]["releases"] if each["name"] == self.release)

    @property
    def about(self) -> Document:
        """What the run found of the released file."""
        return self.report["releases"][self.release]

    @property
    def source(self) -> Document:
        """The source, or the linked table, that the release was made from."""
        tables = {table["name"]: table["source"] for table in self._tables}
        source: Document = tables[self._root] if tables else self.report["plan"]["source"]
        return source

    @property
    def _tables(self) -> list[Document]:
        tables: list[Document] = self.report["plan"].get("tables", [])
        return tables

    @property
    def _root(self) -> str:
        return str(self.steps[0]["input"] if self.steps else self.node["input"])

    def own(self, attributes: Sequence[str]) -> list[str]:
        """Return those attributes that are of the release's table, as it calls them; of one table, all."""
        if not self._tables:
            return list(attributes)
        before = f"{self._root}."
        return [name.removeprefix(before) for name in attributes if name.startswith(before)]

    def plain(self, name: str) -> str:
        """Return the name of an attribute without that of its table, where several belong together."""
        tables = {table["name"] for table in self._tables}
        table, _, rest = name.partition(".")
        return rest if rest and table in tables else name

    def results(self, part: str) -> Iterator[ResultDocument]:
        """Yield the requirements or gates that were judged on this release by itself, or on none in particular."""
        yield from (r for r in self.report[part] if r["release"] in {self.release, ""})  # type: ignore[literal-required]  # mypy: one of two parts

    def findings(self) -> Iterator[FindingDocument]:
        """Yield the findings about this release; of a policy with one release, all."""
        alone = len(self.report["releases"]) == 1
        yield from (f for f in self.report["findings"] if alone or f.get("release") == self.release)

    def unit(self, result: ResultDocument) -> str:
        """Return the unit of the figure that a result rests on; empty where it is not known."""
        name = result["metric"]
        return unit_of(name, self.units.get(f"{self.release}/{name}", "") or self.units.get(name, ""))


def inputs(report: Report, beside: Mapping[str, Mapping[str, Document]]) -> Iterator[DatasheetInput]:
    """Yield what there is to say of each release of this report; ``beside`` are the documents in its folder."""
    internal = document(report)
    shown = public(internal)
    units = {name: figure["unit"] for name, figure in internal["metrics"].items()}
    for release, documents in beside.items():
        yield DatasheetInput(release, shown, tuple(steps_before(internal["plan"], [release])), units, documents)
