"""What the step tells of its classes: figures, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.mondrian.values import ClassLabels, ScaledValues
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.mining.local_recoding.partition import WeightedItems
from ppdm_flow.mining.local_recoding.scales import RecodedForm

Ints = npt.NDArray[np.int64]


def released_sizes(classes: ClassLabels) -> Ints:
    """Return the records of each released class: parts with equal labels are one."""
    if not len(classes.sizes):
        return classes.sizes
    cells = np.stack([c.codes for c in classes.columns], axis=1)
    _, ids = np.unique(cells, axis=0, return_inverse=True)
    return np.bincount(ids.ravel(), classes.sizes).astype(np.int64)


def figures(values: Sequence[ScaledValues], classes: ClassLabels, people: int | None = None) -> dict[str, Figure]:
    """Return the certainty penalty (Xu et al., KDD 2006), as a mean over rows and attributes, and class sizes.

    ``people`` are those of the smallest class, where they count.
    """
    sizes = released_sizes(classes)
    records = int(sizes.sum())
    none = "" if records else "the table has no row"
    own = penalties(classes)
    out = {
        "ncp": Figure(float(own.mean()) if records else None, "share", note=none),
        "classes": Figure(len(sizes), "classes"),
        "smallest_class": Figure(int(sizes.min()) if records else None, "rows", note=none),
        "average_class_size": Figure(records / len(sizes) if records else None, "rows", note=none),
        "discernibility": Figure(float((sizes.astype(np.float64) ** 2).sum()), "squared rows"),
        "suppressed_rows": Figure(0, "rows"),
    }
    if people is not None:
        out["fewest_people"] = Figure(people, "people")
    return out | {
        f"{v.name}.ncp": Figure(float(p) if records else None, "share", note=none)
        for v, p in zip(values, own, strict=True)
    }


def penalties(classes: ClassLabels) -> npt.NDArray[np.float64]:
    """Return the certainty penalty of each attribute, averaged over records."""
    out: npt.NDArray[np.float64] = classes.sizes @ classes.costs / max(1, classes.sizes.sum())
    return out


def findings(step: str, values: Sequence[ScaledValues]) -> tuple[Finding, ...]:
    """Say where missing cells became suppressed ones."""
    joined = [f"`{v.name}`" for v in values if v.joined]
    if not joined:
        return ()
    return (Finding("PPF739", Severity.WARNING, f"`{step}` suppressed the missing cells of {', '.join(joined)}", step),)


def sharp_ends(
    step: str, items: WeightedItems, values: Sequence[ScaledValues], classes: ClassLabels, k: int
) -> tuple[Finding, ...]:
    """Say where intervals end at values that fewer than ``k`` rows, or people where people count, have."""
    told = []
    for j, own in enumerate(values):
        if own.scale.form is not RecodedForm.INTERVAL or own.ends or not len(classes.sizes):
            continue
        low, high = classes.low[:, j], classes.high[:, j]
        wide = (low < high) & (high < own.scale.size)
        ends = np.unique(np.concatenate([low[wide], high[wide]]))
        if few := int((_holders(items, j, own.scale.width)[ends] < k).sum()):
            told.append(f"{few:,} of `{own.name}`")
    if not told:
        return ()
    text = (
        f"intervals that `{step}` wrote end at values which fewer than {k} people have: {', '.join(told)}. A reader"
        " knows that somebody has such a value; `labels: {round: …}` or `{significant: …}` ends intervals at round"
        " numbers"
    )
    return (Finding("PPF946", Severity.WARNING, text, step),)


def _holders(items: WeightedItems, attribute: int, width: int) -> Ints:
    """Return how many rows, or people where people count, have each code."""
    codes = items.codes[:, attribute].astype(np.int64)
    if items.people is None:
        return np.bincount(codes, items.weights, width).astype(np.int64)
    pairs = np.unique(np.stack([codes, items.persons]), axis=1)
    return np.bincount(pairs[0], minlength=width).astype(np.int64)


def charts(step: str, values: Sequence[ScaledValues], classes: ClassLabels) -> tuple[Chart, ...]:
    """Show what each attribute lost, and how large the classes are."""
    if not classes.sizes.sum():
        return ()
    sizes = released_sizes(classes)
    ends = 2 ** np.arange(int(np.log2(sizes.max())) + 2)
    rows = np.histogram(sizes, ends, weights=sizes)[0]
    kept = np.flatnonzero(rows)
    return (
        Chart(
            id="certainty_penalty",
            title=f"Step {step}: what each attribute lost",
            kind="bars",
            x=tuple(v.name for v in values),
            series=(FigureSeries("certainty penalty", tuple(penalties(classes).tolist())),),
            y_label="share of the attribute's range",
        ),
        Chart(
            id="class_sizes",
            title=f"Step {step}: rows in classes of each size",
            kind="bars",
            x=tuple(f"{ends[i]} to {ends[i + 1] - 1}" for i in kept),
            series=(FigureSeries("rows", tuple(rows[kept].astype(float).tolist())),),
            x_label="rows of the class",
            y_label="rows",
        ),
    )
