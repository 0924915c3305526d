"""The texts of figures, findings, charts and documents: all that somebody may read in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.results import Chart, Figure, Finding


def texts(document: Any) -> Iterator[str]:
    """Yield every text of a JSON document, keys too."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, Mapping):
        for key, value in document.items():
            yield str(key)
            yield from texts(value)
    elif isinstance(document, Sequence):
        for value in document:
            yield from texts(value)


def of_figures(figures: Mapping[str, Figure]) -> Iterator[str]:
    """Yield the names, units and notes of figures."""
    for name, figure in figures.items():
        yield from (name, figure.unit, figure.note)


def of_finding(finding: Finding) -> tuple[str, ...]:
    """Return what a finding says."""
    return finding.text, finding.subject, finding.code


def of_chart(chart: Chart) -> tuple[str, ...]:
    """Return what stands in a chart, labels and names of series too."""
    words = (chart.id, chart.title, chart.kind, chart.x_label, chart.y_label, chart.note, chart.group)
    return *words, *map(str, chart.x), *(series.name for series in chart.series)
