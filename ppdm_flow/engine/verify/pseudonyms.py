"""Whose the rows of a file are that another tool made: as its own pseudonyms tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.judging.joining.table import JoinedStream
from ppdm_flow.engine.streams.pairs import StreamPairs
from ppdm_flow.engine.streams.stream import LoadedStream, Stop, Stream
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.column import MISSING, Column
from ppdm_flow.tables.table import Table, concat

Ints = npt.NDArray[np.int64]
_SHOWN = 5
_TOLD = " it cannot be told whose their rows are"


def pseudonym_column(plan: Plan, release: ReleaseNode) -> str | None:
    """Return the released column that stands for the subject one to one; None where there is none.

    Cells of generated rows stand for nobody.
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
    raise data_fault("PPF700", f"{text} they do not stand for people one to one", advice=advice)


def rows_of_each(column: Column) -> Ints:
    """Return the rows of each value that occurs."""
    rows = np.bincount(column.codes[column.codes != MISSING], minlength=len(column.categories))
    return rows[rows > 0].astype(np.int64)


def subject_pairs(subject: AttributeFacts, whose: Column, released: Stream, stop: Stop, rows: int) -> PairedView:
    """Return the released rows beside their subjects, of whom nothing else is known.

    ``whose`` says of each row, in the order of their numbers from 0, what stands for its subject; ``rows`` are read at
    a time.
    """
    people = Table({subject.name: whose}, np.arange(len(whose), dtype=np.int64))
    fact = replace(subject, labels=True)
    return StreamPairs(JoinedStream((fact,), people, rows, stop), released, aligned=True)


def own_subjects(plan: Plan, node: ReleaseNode, source: LoadedStream, back: LoadedStream) -> Column | None:
    """Return the pseudonym of each row of a file; None where no column of it stands for the subject.

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
