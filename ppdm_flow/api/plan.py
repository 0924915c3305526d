"""Plans, with or without a look at the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.loading.policies import ready_plan
from ppdm_flow.api.own_data import own_data as own_data_of
from ppdm_flow.api.own_data import refuse_both
from ppdm_flow.api.row_counts import rows_of
from ppdm_flow.api.show import shown_text
from ppdm_flow.api.where import HERE, SPARK, EngineChoice
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.plan.cluster.amounts import MEMORY
from ppdm_flow.plan.cluster.foreseen import WorkForecast, foreseen
from ppdm_flow.plan.cluster.text import text as cluster_text
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.document import document
from ppdm_flow.plan.fields import PlanDocument
from ppdm_flow.plan.pictures import forms

if TYPE_CHECKING:  # a plan without data needs no engine
    from ppdm_flow.engine.run.preview import Preview


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan with its warnings; ``preview`` says what the data lets one expect, where there was data.

    ``cluster`` says what each part takes on a cluster, where that was asked. ``resolved`` is the policy after
    inheritance and params, with what its requirements chose from the data.
    """

    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    preview: Preview | None = None
    cluster: WorkForecast | None = None
    resolved: str = ""

    @property
    def document(self) -> PlanDocument:
        """The JSON form."""
        return document(self.plan)

    @property
    def with_preview(self) -> PlanDocument:
        """The JSON form, and beside it what the data lets one expect, and what each part takes on a cluster."""
        document = self.document
        if self.preview is not None:
            document = {**document, "preview": self.preview.document}
        return document if self.cluster is None else {**document, "cluster": self.cluster.document}

    def picture(self, form: str) -> str:
        """Return the plan as ``text`` (with what is expected of the run), ``mermaid``, ``dot`` or ``svg``."""
        drawn = forms.draw(form, self.document)
        if form == "text" and self.cluster is not None:
            return f"{drawn}\n{cluster_text(self.cluster)}"
        if form != "text" or self.preview is None:
            return drawn
        from ppdm_flow.api.loading.bindings import expected  # noqa: PLC0415  # a plan without data needs no engine

        return f"{drawn}\n{expected(self.preview)}"


def plan(
    path: Path,
    sets: Mapping[str, str] = {},
    data: Path | None = None,
    *,
    strict: bool = False,
    locked: bool = False,
    own_data: bool = False,
    where: EngineChoice = HERE,
    rows: int | None = None,
) -> PlanResult:
    """Compile a policy; with ``data``, or with ``own_data`` that of the policy itself, look at it too.

    Where it is to run on a cluster, no row is read: what each part takes there is said for ``rows``, or for the rows
    that the files have.

    Raises PolicyError for an invalid policy (or, with ``locked``, one that is not as its lock file has it), DataError
    for data that cannot be read or does not match.
    """
    refuse_both(data, own_data=own_data)
    if where.engine == SPARK:
        return _on_cluster(path, sets, data, strict=strict, locked=locked, memory=where.memory, rows=rows)
    if rows is not None or where.memory is not None:
        text = "of a plan, `--rows` and `--memory` are for `--engine spark`"
        raise UsageError(Diagnostic("PPF954", text, help="say `--engine spark` too, or leave them out"))
    if data is None and not own_data:
        ready = ready_plan(path, sets, strict=strict, locked=locked)
        return PlanResult(ready.plan, ready.warnings, ready.sources, resolved=shown_text(ready.loaded))
    from ppdm_flow.api.loading.bindings import previewed  # noqa: PLC0415  # a plan without data needs no engine

    with copies_for() as copies:
        there = own_data_of(path, sets, copies) if data is None else copies.local(data)
        ready, seen = previewed(path, sets, there, strict=strict, locked=locked)
    diagnostics = (*ready.warnings, *seen.diagnostics)
    return PlanResult(ready.plan, diagnostics, ready.sources, seen, resolved=shown_text(ready.loaded))


def _on_cluster(
    path: Path,
    sets: Mapping[str, str],
    data: Path | None,
    *,
    strict: bool,
    locked: bool,
    memory: int | None,
    rows: int | None,
) -> PlanResult:
    """Return a plan with what each part takes on a cluster, for the columns of files that are there."""
    ready = ready_plan(path, sets, data, strict=strict, locked=locked)
    counted = rows_of(ready.plan, data, rows)
    shown = bound = ready
    if data is not None or all(each.octets for each in counted.values()):
        from ppdm_flow.api.loading.bindings import plan_for_data  # noqa: PLC0415  # needs the readers of files

        bound = plan_for_data(path, sets, data, strict=strict, locked=locked, cluster=True)
        shown = ready if data is None else bound
    works = foreseen(bound.plan, counted, MEMORY if memory is None else memory)
    resolved = shown_text(shown.loaded)
    return PlanResult(shown.plan, shown.warnings, shown.sources, cluster=works, resolved=resolved)
