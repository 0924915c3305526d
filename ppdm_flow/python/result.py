"""What came of a run, for programs and notebooks: verdict, requirements, figures, tables, and the report."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ppdm_flow.api.run import RunResult
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import RELEASED
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.engine.opening.opening import open_as
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.sdk.storage import StoredTypesSource, TypedSource

if TYPE_CHECKING:
    import pandas as pd


class WithheldError(UsageError):
    """Rows were asked for that were not released. ``requirements`` are those that do not hold."""

    def __init__(self, diagnostics: Diagnostic, requirements: tuple[RequirementOutcome, ...] = ()) -> None:
        super().__init__(diagnostics)
        self.requirements = requirements
        self.args = ("\n".join([str(self), *(f"  {each.id}: {each.sentence}" for each in requirements)]),)


class RequirementOutcome(dict[str, Any]):
    """A requirement on a release, as ``report.json`` has it, with what is asked most as properties."""

    @property
    def id(self) -> str:
        """Its place in the policy: ``privacy.k_anonymity``."""
        return str(self["id"])

    @property
    def release(self) -> str:
        """The release on which it was measured."""
        return str(self["release"])

    @property
    def holds(self) -> bool:
        """Whether the measured figure is within its bound."""
        return bool(self["holds"])

    @property
    def measured(self) -> float | int | None:
        """The figure; None where nothing could be measured, which does not hold."""
        measured: float | int | None = self["measured"]
        return measured

    @property
    def bound(self) -> float | int:
        """What the figure has to be at least or at most (``self["direction"]``)."""
        bound: float | int = self["bound"]
        return bound

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return str(self["sentence"])

    def __repr__(self) -> str:
        """Return the figure, its bound and whether it holds, in one line."""
        side = "at most" if self["direction"] == "at_most" else "at least"
        holds = "holds" if self.holds else "does not hold"
        measured = "not measured" if self.measured is None else f"{self.measured:.12g}"
        return f"<{self.id}: {measured}, {side} {self.bound:.12g}: {holds}>"


@dataclass(frozen=True)
class Result:
    """A finished run. ``warnings`` are what the policy was warned about; ``run_dir`` has everything that is here."""

    run: RunResult

    @property
    def verdict(self) -> str:
        """``released``, ``withheld``, or ``held`` where people have to approve it first."""
        return self.run.verdict

    @property
    def released(self) -> bool:
        """Whether everything held, and nobody has to approve it."""
        return self.run.released

    @property
    def held(self) -> bool:
        """Whether everything held, and the release waits for approvals (``ppdm-flow release``)."""
        return self.run.held

    @property
    def run_dir(self) -> Path:
        """The run's directory."""
        return self.run.run_dir

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the policy was warned about."""
        return self.run.diagnostics

    @property
    def report(self) -> Mapping[str, Any]:
        """The whole report, as ``report.json`` has it."""
        return self.run.document

    @property
    def requirements(self) -> list[RequirementOutcome]:
        """Each requirement on each release: ``holds``, ``measured``, ``bound``, ``sentence``, ``id``, ``release``."""
        return [RequirementOutcome(each) for each in self.run.document["requirements"]]

    @property
    def figures(self) -> dict[str, float | int | None]:
        """Every measured figure by its name; None for one that is not measured."""
        return {name: figure["value"] for name, figure in self.run.document["metrics"].items()}

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The released tables by release, as they were released: nothing of a run that was withheld or is held."""
        if not self.released:
            return {}
        planned = {release["name"]: release for release in self.run.document["plan"]["releases"]}
        every = self.run.document["releases"]
        return {name: released_table(self.run_dir, about, planned[name]) for name, about in every.items()}

    def table(self, release: str | None = None) -> pa.Table:
        """Return a released table; of a policy with one release it need not be named.

        Raises WithheldError with the reasons where nothing was released, and UsageError for an unknown name.
        """
        if not self.released:
            failing = tuple(each for each in self.requirements if not each.holds)
            what = "is held until people approve the release" if self.held else "was withheld"
            text = f"nothing was released: it {what}"
            raise WithheldError(Diagnostic("PPF694", text, help=f"`{self.run_dir / 'report.html'}` says why"), failing)
        names = list(self.tables)
        if release is None and len(names) == 1:
            return self.tables[names[0]]
        if isinstance(release, str) and release in self.tables:
            return self.tables[release]
        known = ", ".join(f"`{name}`" for name in names) or "nothing"
        raise UsageError(Diagnostic("PPF694", f"say which release is meant: the run released {known}"))

    def to_pandas(self, release: str | None = None) -> pd.DataFrame:
        """Return a released table as a pandas data frame. Raises WithheldError and UsageError as :meth:`table`."""
        frame: pd.DataFrame = self.table(release).to_pandas()
        return frame

    def to_arrow(self, release: str | None = None) -> pa.Table:
        """Return a released table, as :meth:`table` does."""
        return self.table(release)

    def to_polars(self, release: str | None = None) -> Any:
        """Return a released table as a polars data frame, where polars is installed. Raises as :meth:`table`."""
        table = self.table(release)
        try:
            polars = import_module("polars")
        except ImportError:
            raise UsageError(Diagnostic("PPF723", "polars is not installed", help="pip install polars")) from None
        return polars.from_arrow(table)

    def _repr_html_(self) -> str:
        """Return the report for a notebook, in a frame of its own in which no script runs."""
        page = html.escape((self.run_dir / "report.html").read_text(encoding="utf-8"), quote=True)
        return f'<iframe sandbox="" srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        """Return the verdict and where the report is."""
        return f"<{self.verdict}: {self.run_dir}>"


# Released files as Arrow tables.


_ARROW = {
    AttributeType.INTEGER: pa.int64(),
    AttributeType.FLOAT: pa.float64(),
    AttributeType.DATE: pa.date32(),
    AttributeType.TIMESTAMP: pa.timestamp("us"),
}


def released_table(run_dir: Path, about: Mapping[str, Any], planned: Mapping[str, Any]) -> pa.Table:
    """Return a released file as a table: numbers, dates and timestamps keep their types, labels are texts.

    ``about`` is the file's entry in the report, ``planned`` the one in the plan. Raises DataError where the file can no
    longer be read.
    """
    options = {key: value for key, value in planned["options"].items() if key != COLLAPSE}  # records, as in the file
    source = open_as(about["format"], options, run_dir / RELEASED / about["path"])
    counts = [str(planned["options"][COLLAPSE])] if COLLAPSE in planned["options"] else []
    kinds = {a["name"]: AttributeType(a["type"]) for a in planned["attributes"] if a["role"] != "items"}
    kinds |= dict.fromkeys(counts, AttributeType.INTEGER)
    numeric = {name: kind for name, kind in kinds.items() if kind in _ARROW}
    names = (*(a["name"] for a in planned["attributes"]), *counts) if "partition_by" in planned else source.names()
    stored = source.stored_types() if isinstance(source, StoredTypesSource) else {}
    types = dict.fromkeys(stored, AttributeType.TEXT) | numeric
    batches = list(source.typed_batches(names, types) if isinstance(source, TypedSource) else source.batches(names))
    if not batches:
        return pa.table(
            {name: pa.array([], _ARROW.get(kinds.get(name, AttributeType.TEXT), pa.string())) for name in names}
        )
    table = pa.Table.from_batches([_plain(batch) for batch in batches])
    columns = {name: _typed(table[name], numeric.get(name)) for name in table.column_names}
    return pa.table(columns)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries, which may differ from one to the next."""
    arrays = [a.dictionary_decode() if pa.types.is_dictionary(a.type) else _items(a) for a in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _items(array: pa.Array) -> pa.Array:
    kind = array.type
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return array.cast(pa.list_(pa.string())) if listed else array


def _typed(column: pa.ChunkedArray, kind: AttributeType | None) -> pa.ChunkedArray:
    if kind is None or not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    try:
        return column.cast(_ARROW[kind])
    except pa.ArrowInvalid:  # labels in place of numbers
        return column
