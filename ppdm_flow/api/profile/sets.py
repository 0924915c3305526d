"""Sets of items before there is a policy: whether a text file holds one a line, or a row for each id and item."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.mining.profiling.column import ColumnFacts
from ppdm_flow.mining.profiling.roles import Guess
from ppdm_flow.mining.profiling.table import Coded, Profile
from ppdm_flow.mining.profiling.words import named, tokens
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


_FEWEST_IDS, _FEWEST_ITEMS, _ROWS_EACH = 6, 10, 1.5
_DIFFERENT = 0.7
_OWNERS = frozenset(
    (
        *("basket", "bon", "cart", "checkout", "invoice", "order", "panier", "purchase", "receipt", "session", "tid"),
        *("transaction", "warenkorb"),
    )
)
"""Words in the names of what items belong to, beside those of people."""
_ITEMS = frozenset(
    ("article", "artikel", "code", "drug", "item", "items", "movie", "product", "produkt", "sku", "song")
)
"""Words in the names of items that are written as numbers."""


def long_form(table: Profile, columns: Mapping[str, Coded]) -> tuple[str, str] | None:
    """Return the id and the item of a table with a row for each of both; None for other tables.

    There are these two columns alone. The id has several rows on average, hardly any two of which are alike. By its
    name it says whose row it is, or what a purchase is called by; else it is a whole number that comes first, whose
    rows stand side by side, and of which there are more than items. Of items there are ten at least, so that no
    attribute of a person with few values is one, and each has several rows.
    """
    if len(table.columns) != 2 or table.rows == 0:
        return None
    pairs = np.stack([codes for codes, _ in columns.values()])
    if np.unique(pairs, axis=1).shape[1] < _DIFFERENT * table.rows:
        return None
    one, other = zip(table.columns, table.guesses, strict=True)
    for owner, item in ((one, other), (other, one)):
        if _repeats(owner[0]) and _is_owner(*owner) and _is_item(*item):
            return owner[0].name, item[0].name
    blocks = 1 + int(np.count_nonzero(np.diff(pairs[0])))
    numbers = one[0].type is AttributeType.INTEGER and blocks == one[0].distinct > other[0].distinct
    return (one[0].name, other[0].name) if numbers and _repeats(one[0]) and _is_item(*other) else None


def _repeats(column: ColumnFacts) -> bool:
    enough = column.distinct >= _FEWEST_IDS and column.rows >= _ROWS_EACH * column.distinct
    return enough and not column.missing


def _is_owner(column: ColumnFacts, guess: Guess) -> bool:
    return guess.role in (Role.SUBJECT, Role.IDENTIFIER) or not _OWNERS.isdisjoint(tokens(column.name))


def _is_item(column: ColumnFacts, guess: Guess) -> bool:
    if column.distinct < _FEWEST_ITEMS or column.rows < 2 * column.distinct or column.shape is not None:
        return False
    of_items = not _ITEMS.isdisjoint(tokens(column.name))
    if column.type is AttributeType.TEXT and column.dates is None:
        return of_items or guess.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)
    return of_items and column.type is AttributeType.INTEGER


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
