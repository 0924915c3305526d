"""What a step turned a sensitive value into: a new name for it must not hide the inference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import Change
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView


def foreign_values(attribute: str, column: str, original: DataView, candidate: DataView, ctx: AuditContext) -> set[str]:
    """Return the released values of ``column`` that ``attribute`` has nowhere in the original, nor in its domain."""
    if attribute not in original.schema:
        return set()
    facts = ctx.original_attributes.get(attribute)
    known = pa.array((facts.domain if facts else None) or (), pa.string())
    domain = candidate.domain(column)
    new = pc.invert(pc.or_(pc.is_in(domain, original.domain(attribute)), pc.is_in(domain, known)))
    return set(domain.filter(new).to_pylist())


def images(
    attribute: str, values: tuple[str, ...], column: str, foreign: set[str], ctx: AuditContext
) -> Mapping[str, frozenset[str]]:
    """Return, for each sensitive value, the released values that may stand for it: itself, and what it became.

    Where steps recoded the attribute, every value that it became counts, also one that the original has: merging it
    into a harmless value hides nothing from who knows the recoding. Perturbed values count as new names only. Where
    rows cannot be paired, each new value may be anything: the confidence that follows is then an upper bound.
    """
    recoded = _recoded(column, ctx)
    if ctx.pairs is None:
        return {v: frozenset((v, *foreign)) for v in values}
    if not foreign and not recoded:
        return {v: frozenset((v,)) for v in values}
    joint = ctx.pairs.joint(attribute, column)
    names = joint.names("released")
    found: dict[str, frozenset[str]] = {}
    for value in values:
        code = joint.code("original", value)
        rows = np.zeros(len(joint), dtype=np.bool_) if code is None else joint.of("original") == code
        became = np.unique(joint.of("released")[rows & (joint.of("released") >= 0)])
        now = set(names.take(pa.array(became)).to_pylist())
        found[value] = frozenset((value, *(now if recoded else foreign & now)))
    return found


def _recoded(column: str, ctx: AuditContext) -> bool:
    """Whether steps gave its values other names, each always the same one."""
    facts = ctx.attributes.get(column)
    if facts is None or facts.was(Change.PERTURBED):
        return False
    return facts.was(Change.GENERALIZED, Change.PSEUDONYMIZED, Change.OTHER)
