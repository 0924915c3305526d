"""Reads a file that claims to be a release in the form that its policy declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.file_sets import data_identity, data_sha256, file_set, telling_name
from ppdm_flow.core.people import BY_PSEUDONYMS
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import RELEASED_WITH, data_fault, naming_file, wrap_plugin_errors
from ppdm_flow.engine.judging.auditing import AuditSubject
from ppdm_flow.engine.judging.joining.table import JoinedStream
from ppdm_flow.engine.local.writing import stream_of
from ppdm_flow.engine.opening.collapsed import no_counts
from ppdm_flow.engine.opening.opening import open_released, released_names
from ppdm_flow.engine.options import RunContext
from ppdm_flow.engine.reading.binding import foreign
from ppdm_flow.engine.reading.identifiers import check_identifiers
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.reading.received import is_own, operators_for, set_operators_for
from ppdm_flow.engine.reading.spellings import refuse_two_spellings, spelling_checks
from ppdm_flow.engine.streams.stream import LoadedStream, Stop, Stream, StreamPairs
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import COLLAPSE, Plan, ReceivedFormat, ReleaseNode
from ppdm_flow.plan.formats import implied, inferred
from ppdm_flow.plan.rules.perturbation import judged_on_draws
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.storage import InspectingSource
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.numeric.column import numbers_among, texts_of
from ppdm_flow.tables.spelling import respelled
from ppdm_flow.tables.table import Table, concat

_OF_ITS_FILE = ("header", "skip_rows", "formulas")
"""Options of a source that say nothing of how another file is written."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class VerifiedFile:
    """A file as the release of a plan. ``whose`` are the pseudonyms of its rows, in ``column``, where it has such."""

    node: ReleaseNode
    path: Path
    rows: LoadedStream
    subject: AuditSubject
    whose: Column | None
    column: str

    @classmethod
    def read(
        cls,
        context: RunContext,
        name: str,
        path: Path,
        source: Original,
        operator: Path | None = None,
        received: ReceivedFormat | None = None,
    ) -> VerifiedFile:
        """Read a file, as ``received`` says that it is written, else as the policy says.

        Raises DataError where it does not fit, or identifiers or subjects are in it.
        """
        options, plan = context.options, context.plan
        have = context.resources
        with naming_file(path, RELEASED_WITH):
            node = _node(plan, name, path, received)
            spellings = spelling_checks(plan, node.attributes)
            rows = stream_of(
                node, path, have.partition_rows, have.budget, have.stop, *spellings, foreign=True, workers=have.workers
            )
        if not rows.row_count:
            raise data_fault("PPF714", f"`{path}` has a header and no rows")
        refuse_two_spellings(plan, spellings, rows, node.name)
        _check_missing(plan, node, StreamView(source.stream))
        subject = _subject(context, node, path, source, rows, operator)
        check_identifiers(node, subject.original, subject.candidate)
        whose = own_subjects(plan, node, source.stream, rows)
        if whose is not None and plan.people is not None:
            fact = next(a for a in source.stream.attributes if a.name == plan.people.subject)
            pseudonyms = subject_pairs(fact, whose, rows, context.stop, options.partition_rows)
            subject = replace(subject, pseudonyms=pseudonyms)
        return cls(node, path, rows, subject, whose, pseudonym_column(plan, node) or "")

    @property
    def about(self) -> Mapping[str, Any]:
        """What a report says of it."""
        return {
            "path": self.path.name,
            "format": self.node.format,
            "audience": self.node.audience,
            "rows": self.rows.row_count,
            "columns": len(self.node.attributes) + bool(self.node.collapse),
            "bytes": data_identity(self.path)[1],
            "sha256": data_sha256(self.path),
        }

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The content of its format beside the cells, where its reader knows it, and the column that counts people."""
        counted = () if self.whose is None else (_by_pseudonyms(self.node, self.column),)
        with wrap_plugin_errors(f"release `{self.node.name}`"):
            source = open_released(self.node, self.path)
            return (*counted, *(source.beside() if isinstance(source, InspectingSource) else ()))


def _by_pseudonyms(node: ReleaseNode, column: str) -> Finding:
    text = (
        f"People of release `{node.name}` are counted by `{column}`: that all rows of a person have one there is taken"
        " from the file, since its rows cannot be paired with the data before."
    )
    return Finding(BY_PSEUDONYMS, Severity.WARNING, text, node.name)


def _node(plan: Plan, name: str, released: Path, received: ReceivedFormat | None) -> ReleaseNode:
    """Return the release as the file has it: its format, and its columns in their order.

    A file beside the data dictionary of a run is written as the policy says; others as ``received`` does.
    """
    node = next(r for r in plan.releases if r.name == name)
    name_of_file, keys = telling_name(released), file_set(released).keys if released.is_dir() else ()
    alike = (
        PurePath(name_of_file).suffix == PurePath(node.path).suffix
    )  # several share an ending: the policy says which
    kind = node.format if alike else inferred("sources", name_of_file) or node.format
    if received is None and is_own(released):
        options = node.options if kind == node.format else {}
        options = {**options, **implied("sources", kind, name_of_file)}
    else:
        received = _received(plan, received or node.received, kind)
        options = {**implied("sources", kind, name_of_file), **received.options}
    plain = {key: value for key, value in options.items() if key != COLLAPSE}
    said = replace(node, format=kind, partition_by=keys, options=plain, received=received)
    with wrap_plugin_errors(f"release `{node.name}`"):
        names = released_names(said, released, open_released(said, released))
    counts = _counts(said, node.collapse, names)
    file = replace(said, options={**plain, COLLAPSE: counts}) if counts else said
    own = [name for name in names if name != counts] if counts else names
    return replace(file, attributes=foreign(file, own))


def _counts(node: ReleaseNode, usual: str, names: Collection[str]) -> str:
    """Return the column of counts among those of a file: the one that is said, or the release's own where it is there.

    Raises DataError where the one that is said is not there, or is a column of the release.
    """
    said = None if node.received is None else node.received.count
    if said is None:
        return usual if usual and usual in names else ""
    if said.casefold() in {fact.name.casefold() for fact in node.attributes}:
        raise data_fault("PPF498", f"`{said}` is a column of release `{node.name}`, and holds no counts")
    if said not in names:
        raise data_fault("PPF498", no_counts(said))
    return said


def _received(plan: Plan, said: ReceivedFormat | None, kind: str) -> ReceivedFormat:
    """Return how a file of another tool is written; where nobody says it, as the policy's own data is.

    Raises DataError where its reader has not an option that is said.
    """
    known = registry.load("sources", kind).params.model_fields
    if said is None:
        alike = plan.source.format == kind
        of_source = {n: v for n, v in plan.source.options.items() if alike and n in known and n not in _OF_ITS_FILE}
        return ReceivedFormat(of_source, plan.source.missing)
    for name in said.options:
        if name not in known:
            raise data_fault("PPF490", f"the reader of `{kind}` has no option `{name}`")
    if said.columns is not None and "header" not in known:
        raise data_fault("PPF490", f"files of format `{kind}` have names: they take no `columns`")
    headless = {} if said.columns is None else {"header": False}
    missing = plan.source.missing if said.missing is None else said.missing
    return ReceivedFormat({**said.options, **headless}, missing, said.columns, said.count)


def _check_missing(plan: Plan, release: ReleaseNode, original: DataView) -> None:
    """Raise DataError where a text for missing values is a value of the original: real cells would not count."""
    said = () if release.received is None else release.received.missing or ()
    more = [text for text in said if text not in plan.source.missing]
    for facts in release.attributes if more else ():
        for name in sorted(facts.lineage.computed_from):
            if name not in original.schema or original.schema[name].role is Role.ITEMS:
                continue
            texts = respelled(pa.array(more, pa.string()), plan.source.normalize)
            if original.schema[name].numeric:
                kind = original.schema[name].type
                texts = pa.concat_arrays([texts, texts_of(numbers_among(more, kind), kind)])
            if pc.any(pc.is_in(texts, value_set=original.domain(name))).as_py():
                raise data_fault(
                    "PPF494",
                    f"release `{release.name}`: a text that means a missing value in `{facts.name}` is a value of"
                    f" `{name}` in the original",
                    span=facts.span,
                    advice=f"take it out of `{RELEASED_WITH} missing=…` or of `received: {{missing: […]}}`",
                )


def _subject(
    context: RunContext, node: ReleaseNode, file: Path, source: Original, back: LoadedStream, operator: Path | None
) -> AuditSubject:
    view = StreamView(source.stream)
    operators = operators_for(node, file, operator)
    sets = dict(set_operators_for(node, file, operator))
    if (sent := context.plan.source.operator) is not None:  # the clients had it, even if another tool wrote the file
        sets |= {fact.name: sent for fact in node.attributes if fact.source == sent.attribute}
    _refuse_groups_of_draws(context.plan, node, {*operators, *sets})
    sources = {name: each.attribute for name, each in operators.items()}
    sources |= {name: each.attribute for name, each in sets.items()}
    return AuditSubject(
        release=node,
        file=file,
        original=view,
        candidate=StreamView(back),
        read_back=back,
        original_attributes=source.stream.attributes,
        operators=operators,
        operator_inputs={n: view for n, source in sources.items() if _is_direct(node, n, source)},
        set_operators=sets,
    )


def _refuse_groups_of_draws(plan: Plan, node: ReleaseNode, randomized: Collection[str]) -> None:
    """Raise DataError where an operator came with an attribute that secrets are judged on groups by."""
    drawn = [fact for fact in node.attributes if fact.name in randomized]
    for requirement, fact in judged_on_draws(plan.requirements, node, drawn):
        raise data_fault(
            "PPF569",
            f"`{requirement.id}` is judged on groups by `{fact.source}`, which an operator randomizes in release"
            f" `{node.name}`: it leads back to the true groups",
            advice=f"release `{fact.source}` as it is, generalized, or not at all",
        )


def _is_direct(node: ReleaseNode, name: str, source: str) -> bool:
    """Whether the source's own values went into the operator: nothing else was done to them."""
    facts = _facts(node, name)
    return facts.source == source and [c for _, c in facts.changes] in ([], [Change.PERTURBED])


def _facts(node: ReleaseNode, name: str) -> AttributeFacts:
    return next(a for a in node.attributes if a.name == name)


# Whose the rows of a file are that another tool made: as its own pseudonyms tell.


_SHOWN = 5
_TOLD = " it cannot be told whose their rows are"


def pseudonym_column(plan: Plan, release: ReleaseNode) -> str | None:
    """Return the released column of pseudonyms, one for each subject; None where there is none.

    Cells of generated rows belong to nobody.
    """
    if plan.people is None or any(step.effect.rows == "generated" for step in plan.upstream(release.input)):
        return None
    subject = plan.people.subject
    return next((fact.name for fact in release.attributes if _stands_for(fact, subject)), None)


def _stands_for(fact: AttributeFacts, subject: str) -> bool:
    replaced = {change for _, change in fact.changes} <= {Change.PSEUDONYMIZED}
    return (fact.source or fact.name) == subject and fact.lineage.computed_from == {subject} and replaced


def pseudonyms_of(stream: Stream, column: str, release: ReleaseNode) -> Column:
    """Return the pseudonyms of all rows, in their order. Raises DataError for rows that have none."""
    cells = concat(part.table for part in stream.parts([column]))
    pseudonyms = cells[column]
    none = pseudonyms.codes < 0
    if none.any():
        rows = ", ".join(str(int(row) + 1) for row in cells.rows[none][:_SHOWN])
        more = ", …" if int(none.sum()) > _SHOWN else ""
        many = counted(int(none.sum()), "row")
        text = f"{many} of release `{release.name}` have no `{column}` (rows {rows}{more}):{_TOLD}"
        raise data_fault("PPF700", text, advice="write the pseudonym of its person into every row")
    return pseudonyms


def require_one_each(released: Ints, original: Ints, what: str) -> None:
    """Raise DataError where people cannot have one pseudonym each.

    Parameters
    ----------
    released : rows of each pseudonym
    original : rows of each person in the data before
    what : where the pseudonyms are, in a message
    """
    ours, theirs = np.sort(released)[::-1], np.sort(original)[::-1]
    if len(ours) <= len(theirs) and bool((ours <= theirs[: len(ours)]).all()):
        return
    has = f"{what} has {counted(len(ours), 'pseudonym')}, with the rows that they have,"
    text = f"{has} for {counted(len(theirs), 'person')} in the data before:"
    advice = "give all rows of a person one pseudonym, and no two people the same one"
    raise data_fault("PPF700", f"{text} they do not correspond to people one to one", advice=advice)


def rows_of_each(column: Column) -> Ints:
    """Return the rows of each value that occurs."""
    rows = np.bincount(column.codes[column.codes != MISSING], minlength=len(column.categories))
    return rows[rows > 0].astype(np.int64)


def subject_pairs(subject: AttributeFacts, whose: Column, released: Stream, stop: Stop, rows: int) -> PairedView:
    """Return the released rows beside their subjects. Nothing else is known of these.

    ``whose`` has the pseudonym of each row's subject, in the order of row numbers from 0; ``rows`` are read at a time.
    """
    people = Table({subject.name: whose}, np.arange(len(whose), dtype=np.int64))
    fact = replace(subject, labels=True)
    return StreamPairs(JoinedStream((fact,), people, rows, stop), released, aligned=True)


def own_subjects(plan: Plan, node: ReleaseNode, source: LoadedStream, back: LoadedStream) -> Column | None:
    """Return the pseudonym of each row of a file; None where no column has pseudonyms of the subject.

    Raises DataError where rows have none, or the pseudonyms cannot be those of the people.
    """
    column = pseudonym_column(plan, node)
    if plan.people is None or column is None:
        return None
    whose = pseudonyms_of(back, column, node)
    subject = plan.people.subject
    people = concat(part.table for part in source.parts([subject]))[subject]
    require_one_each(rows_of_each(whose), rows_of_each(people), f"`{column}` of release `{node.name}`")
    return whose
