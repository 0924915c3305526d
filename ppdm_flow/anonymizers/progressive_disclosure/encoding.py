"""From counts and requirements to the problem that the search solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.progressive_disclosure.problem import (
    Attribute,
    Channel,
    Codes,
    Problem,
    Template,
    flat,
    grown,
)
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.hierarchies.ladder import ancestors
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.templates.requirement import Template as Requirement
from ppdm_flow.tables.column import MISSING, SPECIALS
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for, in present names. ``hierarchies`` are those that suppressible attributes go down."""

    templates: Sequence[Requirement]
    suppressible: Sequence[str]
    targets: Sequence[str] = ()
    floors: Sequence[KAnonymity] = ()
    hierarchies: Mapping[str, HierarchySpec] = field(default_factory=dict)
    nulls: Nulls = Nulls.OWN_CATEGORY
    home: Path = field(default_factory=Path)


def encode(counts: Counts, task: Task) -> Problem:
    """Build the problem. Raises PluginError where missing values stand in a channel that must stay as it is.

    Under ``own_category`` a missing value is one more value, after all others; else it stays suppressed, so that all
    null semantics agree on the outcome. Cells that come suppressed stay so.
    """
    counts = _occurring(counts)
    attributes = tuple(_attribute(counts, name, task) for name in task.suppressible)
    classes = counts.groups(task.targets)[0] if task.targets else None
    return Problem(attributes, _channels(counts, task), counts.counts, classes)


def _occurring(counts: Counts) -> Counts:
    """The combinations that some row has: a weight of zero counts nowhere."""
    some = counts.counts > 0
    return counts if some.all() else Counts(counts.columns, counts.categories, counts.codes[some], counts.counts[some])


def _attribute(counts: Counts, name: str, task: Task) -> Attribute:
    codes = counts.of(name)
    width = len(counts.names(name))
    present = np.bincount(codes + SPECIALS, minlength=width + SPECIALS) > 0
    used = np.flatnonzero(present[SPECIALS:])
    number = np.full(width + SPECIALS, -1, dtype=np.int64)
    number[used + SPECIALS] = np.arange(len(used))
    values: list[str | None] = counts.names(name).take(pa.array(used)).to_pylist()
    own = task.hierarchies.get(name)
    above: list[tuple[str, ...]] = []
    if own is not None:
        above = ancestors(name, own, [v for v in values if v is not None], task.home)
    if task.nulls is Nulls.OWN_CATEGORY and present[MISSING + SPECIALS]:
        number[MISSING + SPECIALS] = len(used)
        values.append(None)
        above.append(())
    tree = flat(values) if own is None else grown(values, above)
    return Attribute(name, number[codes + SPECIALS], tree)


def _channels(counts: Counts, task: Task) -> tuple[Channel, ...]:
    """One channel for each set of attributes that something has to hold over, in order of first appearance."""
    templates: dict[tuple[str, ...], list[Template]] = {}
    floors: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for requirement in task.templates:
        key = tuple(sorted(requirement.channel))
        templates.setdefault(key, []).extend(_single(counts, requirement))
        if requirement.smallest_group > 1:
            floors.setdefault(key, []).append((requirement.id, requirement.smallest_group))
    for k in task.floors:
        floors.setdefault(tuple(sorted(k.attributes)), []).append((k.id, k.k))
    keys = dict.fromkeys((*templates, *floors))
    return tuple(_channel(counts, key, templates.get(key, []), floors.get(key, []), task) for key in keys)


def _single(counts: Counts, requirement: Requirement) -> list[Template]:
    """One template a sensitive value: a list of values is never their union."""
    templates = []
    for name, value in requirement.pairs:
        code = counts.code(name, value)
        hits = np.zeros(len(counts), dtype=np.bool_) if code is None else counts.of(name) == code
        templates.append(Template(requirement.id, ~hits if requirement.negated else hits, requirement.confidence))
    return templates


def _channel(
    counts: Counts, names: Sequence[str], templates: list[Template], floors: list[tuple[str, int]], task: Task
) -> Channel:
    place = {name: i for i, name in enumerate(task.suppressible)}
    fixed = [name for name in names if name not in place]
    for name in fixed:
        _refuse_missing(name, counts.of(name), task.nulls)
    base: Codes = counts.groups(fixed)[0]
    return Channel(
        attributes=tuple(place[name] for name in names if name in place),
        base=base,
        templates=tuple(templates),
        least=max((n for _, n in floors), default=1),
        floors=tuple(floors),
    )


def _refuse_missing(name: str, codes: npt.NDArray[np.int32], nulls: Nulls) -> None:
    if nulls is not Nulls.OWN_CATEGORY and (codes == MISSING).any():
        raise PluginError(
            Diagnostic(
                "PPF799",
                f"the column `{name}` has missing values, belongs to a channel, and may not be suppressed by this step",
                help=f"let the step suppress `{name}`, or use `nulls: own_category`",
            )
        )
