"""Labels that an attack cannot read. That it finds nothing behind them proves nothing.

A label is read where it is a value of the original, stands in the policy's hierarchy, or is written like an interval, a
mask, a set or a part of a date. A value of somebody else's file is read where it is one of these. It is also read where
it is a word and the original has words: that person may just not be in the data.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.covering import LabelCover, Lines, lines
from ppdm_flow.audits.labels.forms import (
    MASK,
    SPECIAL,
    are_dates,
    between,
    everything,
    has_shape,
    numbers,
    plain_numbers,
)
from ppdm_flow.core.attributes import HierarchySpec
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.column import SPECIALS

Truths = npt.NDArray[np.bool_]

_COARSE = re.compile(rf"{SPECIAL}|^[0-9]+s$")
"""Form of a value that covers several."""
RELEASE = "the release"
FILE = "the file"


@dataclass(frozen=True, slots=True)
class UnreadableLabels:
    """So many of the labels of one column could not be read; ``where`` says in which table."""

    column: str
    labels: int
    of: int
    where: str = RELEASE

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.labels:,} of the {self.of:,} labels of `{self.column}` in {self.where}"


def of_release(
    column: str, labels: pa.StringArray, known: pa.StringArray, hierarchy: HierarchySpec | None, ctx: AuditContext
) -> UnreadableLabels | None:
    """Return what cannot be read of a release's ``labels`` where the original's values are ``known``."""
    tree = lines(hierarchy, ctx.home)
    mask = hierarchy.mask if hierarchy is not None else MASK
    strange = _strange(labels, known, tree)
    numeric, dates = _numeric(known), are_dates(known)
    read = plain_numbers(labels, dates=dates) if numeric else np.zeros(len(labels), dtype=np.bool_)
    read |= everything(labels, mask) | everything(labels)
    texts = labels.filter(pa.array(strange & ~read)).to_pylist()
    many = sum(not _has_form(t, mask, numeric=numeric, dates=dates) for t in texts)
    return UnreadableLabels(column, many, len(labels)) if many else None


def of_file(
    column: str, values: pa.StringArray, known: pa.StringArray, fits: LabelCover, hierarchy: HierarchySpec | None,
    ctx: AuditContext,
) -> UnreadableLabels | None:  # fmt: skip
    """Return what cannot be read of the ``values`` of somebody's file; ``fits`` are the labels that they fit."""
    strange = _strange(values, known, lines(hierarchy, ctx.home)) & (np.diff(fits.starts)[SPECIALS:] == 0)
    if not strange.any():
        return None
    if strange.all():
        return UnreadableLabels(column, len(values), len(values), FILE)
    numeric = _numeric(known)
    texts = values.filter(pa.array(strange))
    coarse = np.array([_COARSE.search(t) is not None and not t.isdecimal() for t in texts.to_pylist()], dtype=np.bool_)
    many = int((np.isnan(numbers(texts, dates=are_dates(known))) if numeric else coarse).sum())
    return UnreadableLabels(column, many, len(values), FILE) if many else None


def gate_nothing(
    outcome: AuditOutcome, unread: Iterable[UnreadableLabels | None], ctx: AuditContext, name: str
) -> AuditOutcome:
    """Return the outcome without its figures where something was not read: what was not found may be there."""
    unreadable = [u for u in unread if u is not None]
    if not unreadable:
        return outcome
    listing = "; ".join(u.text for u in unreadable)
    note = f"the attack could not read {listing}"
    figures: Mapping[str, Figure] = {n: Figure(None, f.unit, note=note) for n, f in outcome.figures.items()}
    finding = Finding(
        "PPF856",
        Severity.WARNING,
        f"`{name}` could not read {listing}: it has no figures, and no gate on it holds",
        ".".join(filter(None, (ctx.release, name))),
    )
    return replace(outcome, figures=figures, findings=(*outcome.findings, finding), charts=())


def _strange(labels: pa.StringArray, known: pa.StringArray, tree: Lines) -> Truths:
    """Return which labels are neither values of the original nor in the hierarchy."""
    listed: Collection[str] = {*tree, *(a for above in tree.values() for a in above)}
    readable = pc.or_(
        pc.is_in(labels, value_set=known), pc.is_in(labels, value_set=pa.array(sorted(listed), pa.string()))
    )
    strange: Truths = ~readable.to_numpy(zero_copy_only=False).astype(np.bool_)
    return strange


def _numeric(known: pa.StringArray) -> bool:
    return len(known) > 0 and not bool(np.isnan(numbers(known)).any())


def _has_form(text: str, mask: str, *, numeric: bool, dates: bool) -> bool:
    return has_shape(text, mask) or ((numeric or not text.isdecimal()) and between(text, dates=dates) is not None)
