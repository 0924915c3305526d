"""Texts that people may read, and what of them may be a value of the data: runs of words that no figure looks like."""

from __future__ import annotations

import re
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


LONGEST = 64
"""Characters that are compared at once; of a longer value its beginning is looked for first."""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_LETTER = re.compile(r"[^\W\d_]")
_PLAIN = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_DIGITS = 6
"""How many digits a value without letters must have to be told from figures, beside a sign between them."""


def spans(text: str) -> Iterator[str]:
    """Yield each run of words in a text that may be a value, up to ``LONGEST`` characters long.

    >>> sorted(spans("most: Rome, 7"))
    ['Rome', 'Rome,', 'Rome, 7', 'most', 'most:', 'most: Rome', 'most: Rome,', 'most: Rome, 7']
    """
    tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(text)]
    for place, (start, _) in enumerate(tokens):
        for _, end in tokens[place:]:
            if end - start > LONGEST:
                break
            if is_telling(text[start:end]):
                yield text[start:end]
        if len(text) - start > LONGEST:
            yield text[start : start + LONGEST]


def is_telling(value: str) -> bool:
    """Whether a value can be told from figures and signs: it has a letter, or is a date, a number with signs in it.

    >>> [is_telling(v) for v in ("HIV", "F", "1,234,567", "2024-01-31", "37")]
    [True, False, False, True, False]
    """
    if _LETTER.search(value):
        return len(value) > 1
    return sum(map(str.isdigit, value)) >= _DIGITS and _PLAIN.fullmatch(value) is None
