"""The figures that all audits of sensitive values in classes have. Light, since specs import it."""

from __future__ import annotations

from dataclasses import replace

from ppdm_flow.core.plugin_info import FigureInfo, Figures, figures_of

PREFIX = "cumulative_"
"""Begins the names of figures on the groups of people that all releases of the ledger leave together."""

TOGETHER = "together_"
"""Begins the names of figures on what all releases of a run leave of possible values."""

PAGE = "figures/classes"
"""The page of the figures that such audits share."""


def measures(own: Figures) -> Figures:
    """Return the figures of an audit whose requirement bounds the first of ``own``; the others are its alone."""
    metric, shared = next(iter(own)), figures_of(PAGE)
    classes = {metric: own[metric]} | {name: shared[name] for name in ("classes", "classes_beyond", "rows_beyond")}
    together = {f"{PREFIX}{name}": _together(name, figure) for name, figure in classes.items()}
    together |= {f"{TOGETHER}{name}": _intersected(name, figure) for name, figure in classes.items()}
    return {**classes, "rows_left_out": shared["rows_left_out"], "columns": shared["columns"], **own, **together}


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
