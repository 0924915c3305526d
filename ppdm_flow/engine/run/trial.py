"""What a run would release, looked at in a private folder: for tests of policies. Nothing leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.releasing import Candidate
from ppdm_flow.engine.ledger.making import make_ledger
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.engine.run.measuring import Measured, measure
from ppdm_flow.engine.steps.changed import changed_steps
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import LedgerNode, Plan
from ppdm_flow.sdk.view import DataView, PairedView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class Question:
    """What to look at in one release: the values of ``listed`` columns, and where ``hidden`` ones are suppressed."""

    listed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contents:
    """What a candidate holds.

    ``values`` are those of the listed columns (a missing one is the empty text, a suppressed one ``⊥``); ``hidden``
    are, for each hidden column and original value, the rows that have it, and those of them where it is suppressed.
    """

    rows: int
    columns: tuple[str, ...]
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    hidden: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tried:
    """What was measured, what each release holds, and (where asked for) the steps that changed something."""

    measured: Measured
    contents: Mapping[str, Contents]
    changed: frozenset[str] = frozenset()


def attempt(
    plan: Plan,
    original: Original,
    scratch: Path,
    options: RunOptions,
    stop: Stop,
    asked: Mapping[str, Question],
    *,
    trace: bool = False,
) -> Tried:
    """Carry out ``plan`` as :func:`~ppdm_flow.engine.run.measuring.measure` does, and look at its candidates.

    ``asked`` says what to look at, by release; ``trace`` asks which steps changed something. A release ledger is
    never touched: the run is held against an empty one in ``scratch``.
    """
    seen: dict[str, Contents] = {}
    changed: set[str] = set()

    def look(candidates: Sequence[Candidate], graph: Graph) -> None:
        seen.update({c.release.name: _contents(c, asked.get(c.release.name, Question())) for c in candidates})
        if trace:
            changed.update(changed_steps(plan, graph))

    measured = measure(_without_history(plan, scratch), original, scratch, options, stop, look=look)
    return Tried(measured, seen, frozenset(changed))


def values_in(view: DataView, column: str) -> frozenset[str]:
    """Return the texts of a column: a missing one is empty, a suppressed one ``⊥``; of sets, their items."""
    kind = next(f for f in view.schema.fields if f.name == column)
    if kind.role is Role.ITEMS:
        return frozenset(view.domain(column).to_pylist())
    counts = view.counts([column])
    return frozenset(_text(counts.names(column), code) for code in counts.of(column).tolist())


def _contents(candidate: Candidate, asked: Question) -> Contents:
    subject = candidate.subject
    names = tuple(a.name for a in candidate.release.attributes)
    listed = {c: values_in(subject.candidate, c) for c in asked.listed if c in names}
    sources = {a.name: a.source for a in candidate.release.attributes}
    hidden = {c: _hidden(subject.pairs, sources[c], c) for c in asked.hidden if c in names}
    return Contents(candidate.rows, names, listed, hidden)


def _hidden(pairs: PairedView | None, original: str, released: str) -> dict[str, tuple[int, int]]:
    """Return (rows, rows where it is suppressed) of each value that a column had."""
    found: dict[str, tuple[int, int]] = {}
    if pairs is None:
        return found
    joint: Counts = pairs.joint(original, released)
    cells = zip(joint.of("original").tolist(), joint.of("released").tolist(), joint.counts.tolist(), strict=True)
    for before, after, rows in cells:  # distinct pairs of values, not rows
        text = _text(joint.names("original"), before)
        every, gone = found.get(text, (0, 0))
        found[text] = (every + rows, gone + (rows if after == SUPPRESSED else 0))
    return found


def _text(categories: pa.StringArray, code: int) -> str:
    if code == MISSING:
        return ""
    return SUPPRESSED_TEXT if code == SUPPRESSED else str(categories[code].as_py())


def _without_history(plan: Plan, scratch: Path) -> Plan:
    if plan.ledger is None:
        return plan
    place, key = scratch / "ledger", scratch / "ledger.key"
    if not place.exists():
        scratch.mkdir(parents=True, exist_ok=True)
        make_ledger(str(place), key)
    node: LedgerNode = replace(plan.ledger, place=str(place), key=str(key), server=None)
    return replace(plan, ledger=node)
