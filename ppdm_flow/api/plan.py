"""Plans, with or without a look at the data."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.loading.policies import ready_plan
from ppdm_flow.api.own_data import own_data as own_data_of
from ppdm_flow.api.own_data import refuse_both
from ppdm_flow.api.show import shown_text
from ppdm_flow.api.where import HERE, SPARK, EngineChoice
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.file_sets import file_set, is_file_set, telling_name
from ppdm_flow.plan.cluster.amounts import MEMORY
from ppdm_flow.plan.cluster.foreseen import UNKNOWN_ROWS, RowEstimate, WorkForecast, foreseen
from ppdm_flow.plan.cluster.foreseen import text as cluster_text
from ppdm_flow.plan.definition import Plan, SourceNode
from ppdm_flow.plan.document import document
from ppdm_flow.plan.fields import PlanDocument
from ppdm_flow.plan.formats import inferred
from ppdm_flow.plan.pictures import forms

if TYPE_CHECKING:
    from ppdm_flow.engine.run.preview import Preview


@dataclass(frozen=True, slots=True, repr=False)
class PlanResult:
    """A plan with its warnings; ``preview`` says what to expect on the data, where there was data.

    ``cluster`` says what each part takes on a cluster, where that was asked. ``resolved`` is the policy after
    inheritance and params, with what its requirements chose from the data.
    """

    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    preview: Preview | None = None
    cluster: WorkForecast | None = None
    resolved: str = ""

    def __repr__(self) -> str:
        """Return its policy, steps and releases, in one line."""
        steps, releases = ([each.name for each in part] for part in (self.plan.steps, self.plan.releases))
        return f"<plan of {self.plan.policy}: steps {', '.join(steps) or '-'}; releases {', '.join(releases)}>"

    @property
    def document(self) -> PlanDocument:
        """The JSON form."""
        return document(self.plan)

    @property
    def with_preview(self) -> PlanDocument:
        """The JSON form, and beside it what to expect on the data, and the cost of each part on a cluster."""
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


# How many rows files have, without reading them: Parquet says it, of CSV the first lines let one guess it.


_SAMPLE = 1 << 20
_GZIP = b"\x1f\x8b"


def rows_of(plan: Plan, data: Path | None, number: int | None = None) -> dict[str, RowEstimate]:
    """Return the rows of a plan's source, or of its linked tables, by name; ``number`` where the caller says it.

    ``data`` is a file, a folder or a glob; of linked tables the folder of their files. Where nothing is there, nobody
    knows.
    """
    if not plan.tables:
        return {plan.roots[0]: _of_source(plan.source, data, number)}
    paths = {t.name: t.plan.source.path for t in plan.tables}
    return {
        t.name: _of_source(
            t.plan.source, data / Path(paths[t.name] or "").name if data is not None and paths[t.name] else None, number
        )
        for t in plan.tables
    }


def _of_source(node: SourceNode, data: Path | None, number: int | None) -> RowEstimate:
    there = data if data is not None else Path(node.path) if node.path and not is_bucket(node.path) else None
    counted = UNKNOWN_ROWS if there is None or node.server else _of_files(node, there)
    if number is None:
        return counted
    return RowEstimate(number, how="as --rows says", several=counted.several, packed=counted.packed)


def _of_files(node: SourceNode, path: Path) -> RowEstimate:
    try:
        several = is_file_set(path)
        files = [part.path for part in file_set(path).parts] if several else [path]
        octets = sum(file.stat().st_size for file in files)
    except (OSError, DataError):
        return UNKNOWN_ROWS
    kind = node.format or inferred("sources", telling_name(path))
    number = _by_metadata(files) if kind == "parquet" else None
    if number is not None:
        return RowEstimate(number, how="as Parquet says", octets=octets, several=several)
    try:
        guess = sum(_guessed(file) for file in files)
    except (OSError, EOFError):
        return UNKNOWN_ROWS
    how, packed = "by size, of the first lines", any(_is_packed(file) for file in files)
    return RowEstimate(round(guess), about=True, how=how, octets=octets, several=several, packed=packed)


def _by_metadata(files: list[Path]) -> int | None:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415  # heavy, and not of the light distribution
    except ImportError:
        return None
    try:
        return sum(int(pq.read_metadata(file).num_rows) for file in files)
    except (OSError, ValueError):
        return None


def _guessed(file: Path) -> float:
    """Return about how many lines there are below the first, from the mean length of the first ones."""
    size = file.stat().st_size
    packed = _is_packed(file)
    with file.open("rb") as opened:
        text = b"".join(_unpacked(file)) if packed else opened.read(_SAMPLE)
        taken = _taken(file) if packed else len(text)
    lines = text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
    return max(0.0, lines * size / max(1, taken) - 1)


def _is_packed(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(2) == _GZIP


def _unpacked(file: Path) -> Iterator[bytes]:
    with gzip.open(file) as opened:
        yield opened.read(_SAMPLE)


def _taken(file: Path) -> int:
    """Return how many bytes of a packed file the sample came from."""
    with file.open("rb") as raw, gzip.GzipFile(fileobj=raw) as opened:
        opened.read(_SAMPLE)
        return min(raw.tell(), file.stat().st_size) if opened.read(1) else file.stat().st_size
