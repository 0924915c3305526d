"""What the report is told of a suppression."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.anonymizers.progressive_disclosure.outcome import Outcome
from ppdm_flow.anonymizers.progressive_disclosure.problem import Problem
from ppdm_flow.core.results import Chart, Figure, Series


def figures(outcomes: Sequence[Outcome], problem: Problem) -> dict[str, Figure]:
    """Return how much was suppressed, over all suppressible attributes."""
    cells = sum(o.cells for o in outcomes)
    every = problem.total * len(outcomes)
    return {
        "suppressed_cells": Figure(cells, "cells"),
        "suppressed_share": Figure(cells / every if every else 0.0, "share"),
        "disclosed_values": Figure(sum(o.disclosed for o in outcomes), "values"),
        "suppressed_values": Figure(sum(o.hidden for o in outcomes), "values"),
    }


def chart(outcomes: Sequence[Outcome], problem: Problem, step: str) -> Chart:
    """Return the share of suppressed cells by attribute."""
    rows = problem.total
    shares = tuple(o.cells / rows if rows else 0.0 for o in outcomes)
    return Chart(
        id=f"{step}-suppressed",
        title="Suppressed cells by attribute",
        kind="bars",
        x=tuple(o.attribute for o in outcomes),
        series=(Series("suppressed", shares),),
        y_label="share of rows",
    )
