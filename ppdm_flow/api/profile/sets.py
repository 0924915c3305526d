"""Sets of items before there is a policy: whether a text file holds one a line, and how a reader takes them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.errors import PluginError
from ppdm_flow.mining.profiling.words import named
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.storage import MergingSource, Source

_DELIMITERS = ",;\t| "
_LINES = 200
_FEWEST_LINES = 5
_WIDTHS = 3
_COMMON = 0.7
_NUMBERS = re.compile(r"[0-9]{1,18}([ \t]+[0-9]{1,18})*")
MERGE = {"repeated": "merge"}
"""The option with which a reader leaves out an item that its set already has."""


@dataclass(frozen=True, slots=True)
class SetTextForm:
    """A text with one set a line: the ``format`` that reads it, and its options where they are not the default."""

    format: str
    options: Mapping[str, Any]


def set_lines(text: str, delimiter: str = "") -> SetTextForm | None:
    """Return how the beginning of a text, in whole lines, holds one set a line; None for a table.

    Lines of sets have very different numbers of cells, as those of no damaged table have: at least three numbers, none
    of which most lines have, and the longest three times the shortest. Item numbers with blanks between are
    transactions. Where half of the cells of the first line are words that columns are called by, it is a header.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()][:_LINES]
    if len(lines) < _FEWEST_LINES:
        return None
    if delimiter in ("", " ") and all(map(_NUMBERS.fullmatch, lines)) and _is_ragged([len(x.split()) for x in lines]):
        return SetTextForm("transactions", {})
    for mark in (delimiter,) if delimiter else _DELIMITERS:
        cells = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=mark))
        is_header = 2 * sum(named(cell) is not None for cell in cells[0]) >= len(cells[0])
        if is_header or not _is_ragged([len(row) for row in cells]):
            continue
        if mark == " ":  # words of sentences are parted by blanks, too
            return None
        options: dict[str, Any] = {} if mark == "," else {"delimiter": mark}
        later = [cell for row in cells for cell in row[1:] if cell]
        if mark != "\t" and 2 * sum(cell[:1] in " \t" for cell in later) > len(later):
            options["strip"] = True
        return SetTextForm("baskets", options)
    return None


def _is_ragged(sizes: Sequence[int]) -> bool:
    counts = Counter(sizes)
    return len(counts) >= _WIDTHS and max(counts.values()) <= _COMMON * len(sizes) and 3 * min(counts) <= max(counts)


def merging(kind: str | None, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with which a reader of sets leaves out repeated items, where it can."""
    try:
        known = kind is not None and "repeated" in registry.load("sources", kind).params.model_fields
    except PluginError:
        known = False
    return {**options, **MERGE} if known else options


def has_repeated(source: Source) -> bool:
    """Whether the last pass over a source left out items that their sets already had."""
    return isinstance(source, MergingSource) and source.repeated > 0
