"""What the figures say that all audits of sensitive values in classes have. Imported by specs: light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ppdm_flow.core.plugin_info import FigureInfo

PREFIX = "cumulative_"
"""Begins the names of figures on the groups of people that all releases of the ledger leave together."""

TOGETHER = "together_"
"""Begins the names of figures on what all releases of a run leave of possible values."""

_CLASSES: Mapping[str, FigureInfo] = {
    "classes": FigureInfo("the equivalence classes over the quasi-identifiers", better="higher"),
    "classes_beyond": FigureInfo("the classes that break the bound, or have no figure at all", better="lower"),
    "rows_beyond": FigureInfo("the rows in such classes", better="lower"),
}
LEFT_OUT = FigureInfo(
    "the rows that belong to no class because a quasi-identifier is missing (`nulls: exclude`); 0 otherwise",
    better="lower",
)
REPEATED: Mapping[str, FigureInfo] = {
    "repeated": FigureInfo(
        "the original rows that generated ones repeat, in the columns that form classes; where rows are generated, it"
        " is these that are counted",
        better="lower",
    ),
    "rows_of_nobody": FigureInfo(
        "the generated rows in classes that repeat no original row: they are not judged", better="higher"
    ),
}
UNRELEASED = FigureInfo(
    "the released columns with the attribute; given as 0 where none has it, so that nothing can be learned of it here",
    better="lower",
)


def measures(metric: str, own: FigureInfo, further: Mapping[str, FigureInfo] | None = None) -> dict[str, FigureInfo]:
    """Return what the figures say of an audit whose requirement bounds ``metric``; ``further`` are its alone."""
    classes = {metric: own, **_CLASSES}
    together = {f"{PREFIX}{name}": _together(name, figure) for name, figure in classes.items()}
    together |= {f"{TOGETHER}{name}": _intersected(name, figure) for name, figure in classes.items()}
    return {**classes, "rows_left_out": LEFT_OUT, "columns": UNRELEASED, **(further or {}), **together}


def _intersected(name: str, figure: FigureInfo) -> FigureInfo:
    """Say what a figure is where the other releases of the run restrict the values of a class."""
    what = f"`{name}` where the values of each class are those that all releases of the run leave possible"
    formula = f"{figure.formula}; each C is a combination of classes that some person has" if figure.formula else ""
    return replace(figure, what=what, formula=formula)


def _together(name: str, figure: FigureInfo) -> FigureInfo:
    """Say what a figure is where groups of people take the place of classes."""
    what = f"`{name}` of the groups of people that this release and all others of the ledger leave together"
    formula = f"{figure.formula}; each C is such a group" if figure.formula else ""
    return replace(figure, what=what, formula=formula)


LACKING = FigureInfo(
    "the fewest rows of this release that another one of the run lacks because of what their cells are", better="higher"
)
