"""A release with sets of items, as its recipient has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.texts import CONTRACT, DICTIONARY, OPERATOR
from ppdm_flow.engine.faults import naming_file, wrap_plugin_errors
from ppdm_flow.engine.opening.opening import open_as
from ppdm_flow.engine.reading.received import ReceivedRelease, read_set_operators, released_file
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.plan.formats import handling, implied, inferred
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.storage import Source
from ppdm_flow.tables.column import union
from ppdm_flow.tables.sets import Baskets, SetColumn, gathered
from ppdm_flow.tables.sets.arrow import holds_sets
from ppdm_flow.tables.sets.baskets import placed
from ppdm_flow.tables.table import Table

INPUT_WITH = "--input-with"
"""The option that says how a file is written."""

SENT = "randomized_sets"
"""The format of lines that clients sent."""

_ROWS = 1 << 16
_OWN_NAME = "rows"
"""What the sets are called that the rows of a table are."""


@dataclass(frozen=True, slots=True)
class InputFormat:
    """The format of a file: the reader's format, and its options as the reader has them."""

    format: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReceivedSets:
    """The column of a released file that holds sets, and what came with it.

    ``operator`` is None where nothing randomized the sets, as far as the release says. ``rows`` is what the data
    dictionary says, ``lowest`` k -> lowest discoverable support as the mining contract has it. ``cells``: the columns
    of a table whose rows are the sets; then the items are pairs of column and value, as ``age=30``.
    """

    file: Path
    column: str
    source: Source
    operator: SetOperator | None
    rows: int | None
    lowest: Mapping[int, float]
    cells: tuple[str, ...] = ()

    def partitions(self) -> Iterator[SetColumn]:
        """Yield the sets a partition at a time. Raises DataError where the file cannot be read."""
        names = self.cells or (self.column,)
        with wrap_plugin_errors(f"`{self.file.name}`"), naming_file(self.file, INPUT_WITH):
            for table in partitions(self.source.batches(names), names, _ROWS):
                yield _sets_of_rows(table, names) if self.cells else table.sets[self.column]


def received_sets(
    path: Path, attribute: str | None = None, operator: Path | None = None, written: InputFormat | None = None
) -> ReceivedSets:
    """Find the release that ``path`` names and its sets.

    ``path`` is a run's directory, the folder of a release or its data file; ``operator`` an ``operator.json`` from
    elsewhere; ``written`` how the file is written, where neither its name nor the release says so. Raises UsageError
    where there is no such release, or no such column; DataError where a file cannot be read.
    """
    if path.name == OPERATOR and path.is_file():
        path, operator = path.parent, path
    without = UsageError(Diagnostic("PPF135", f"no release in `{path}` holds sets of items"))
    file, about = released_file(path, _has_sets, without, given=operator is not None)
    place = file.parent / OPERATOR if operator is None else operator
    source = _opened(file, about, _sent(file, written, place, attribute))
    operators = read_set_operators(place) if operator is not None or place.is_file() else []
    cells: tuple[str, ...] = ()
    with wrap_plugin_errors(f"`{file.name}`"), naming_file(file, INPUT_WITH):
        if written is not None and not handling("sources", written.format):
            cells, column = source.names(), _OWN_NAME
        else:
            column = _column_with_sets(file, source, attribute, written)
    chosen = _operator(operators, column, source)
    if operator is not None and chosen is None:
        raise DataError(Diagnostic("PPF736", f"`{operator}` has no operator on the sets of `{column}`"))
    rows = about.get("rows")
    count = rows if isinstance(rows, int) else None
    return ReceivedSets(file, column, source, chosen, count, _lowest(file.parent / CONTRACT, column), cells)


def _opened(file: Path, about: Mapping[str, Any], written: InputFormat | None) -> Source:
    if written is None:
        options = about.get("options")
        known = options if isinstance(options, dict) else None
        if not about.get("format") and inferred("sources", file.name) is None:
            text = f"cannot infer the format of `{file.name}` from its extension"
            raise DataError(Diagnostic("PPF407", text, help=f"say what it is: {_FORMATS_OF_SETS}"))
        return ReceivedRelease(file, (), str(about.get("format", "")), known).open()
    return open_as(written.format, {**implied("sources", written.format, file.name), **written.options}, file)


def _sent(file: Path, written: InputFormat | None, operator: Path, attribute: str | None) -> InputFormat | None:
    """Return how lines that clients sent are read: by their operator. JSON lines hold no other sets."""
    kind = inferred("sources", file.name) if written is None else written.format
    if kind != SENT and not (kind == "jsonl" and written is None and operator.is_file()):
        return written
    options = {} if written is None else dict(written.options)
    return InputFormat(SENT, {"operator": str(operator), "attribute": attribute, **options})


def _sets_of_rows(table: Table, names: Sequence[str]) -> Baskets:
    """Return each row as the set of its cells, ``column=value``; missing and empty cells are no items.

    Raises DataError PPF135 where two cells of different columns would be one item.
    """
    codes, places = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    texts: list[str] = []
    for name in names:
        column = table[name]
        empty = [i for i, value in enumerate(column.categories.to_pylist()) if not value]
        here = np.flatnonzero((column.codes >= 0) & ~np.isin(column.codes, empty))
        places.append(here)
        codes.append(column.codes[here].astype(np.int64) + len(texts))
        texts += [f"{name}={value}" for value in column.categories.to_pylist()]
    if len(set(texts)) < len(texts):
        text = "two columns have values that are one item, as `column=value`: the name of a column holds `=`"
        raise DataError(Diagnostic("PPF135", text, help="rename that column"))
    alphabet = union([pa.array(texts, pa.string())])
    into = placed(pa.array(texts, pa.string()), alphabet)
    rows, items = np.concatenate(places), into[np.concatenate(codes)]
    return gathered(rows, items, len(table), alphabet)[0]


def _has_sets(folder: Path) -> bool:
    """Whether the dictionary of a release names an attribute with sets, or its operator is on sets."""
    try:
        document = json.loads((folder / DICTIONARY).read_text(encoding="utf-8"))
        return any(a["role"] == Role.ITEMS.value for a in document["attributes"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        operator = folder / OPERATOR
        return operator.is_file() and bool(read_set_operators(operator))


def _column_with_sets(file: Path, source: Source, attribute: str | None, written: InputFormat | None) -> str:
    """Return the column. Lines of unequal length in a file that nobody called CSV are sets, and no damaged CSV."""
    try:
        return _column(file, source, attribute)
    except DataError as error:
        if written is None and error.diagnostics[0].code == "PPF703":
            raise _no_sets(file) from None
        raise


def _column(file: Path, source: Source, attribute: str | None) -> str:
    """Return the one column that holds sets, or the one that is named."""
    names = source.names()
    sets = [name for name in names if _holds_sets(source, name)]
    if attribute is not None and attribute not in names and len(names) > 1:
        hint = did_you_mean(attribute, names)
        raise UsageError(Diagnostic("PPF135", f"`{file.name}` has no column `{attribute}`", hint=hint))
    if attribute in names and attribute not in sets:
        raise UsageError(Diagnostic("PPF135", f"`{attribute}` in `{file.name}` holds single values, no sets of items"))
    if attribute in sets:
        return attribute
    if len(sets) == 1:
        return sets[0]
    if not sets:
        raise _no_sets(file)
    listing = ", ".join(f"`{name}`" for name in sets)
    raise UsageError(
        Diagnostic(
            "PPF135", f"several columns of `{file.name}` hold sets", help=f"say which with `--attribute`: {listing}"
        )
    )


_FORMATS_OF_SETS = (
    "`--input-format baskets` (names with commas between), `transactions` (item numbers) or `long` (a row for each"
    " item); with `csv` each row is the set of its `column=value` pairs"
)


def _no_sets(file: Path) -> UsageError:
    text = f"`{file.name}` holds no sets of items"
    kind = inferred("sources", file.name)
    if kind is None or handling("sources", kind):
        return UsageError(Diagnostic("PPF135", text))
    advice = f"by its name it is {kind}; if it is not, say what it is: {_FORMATS_OF_SETS}"
    return UsageError(Diagnostic("PPF135", text, help=advice))


def _holds_sets(source: Source, name: str) -> bool:
    """Look at the first block of rows."""
    try:
        block = next(iter(source.batches((name,))), None)
    except DataError as error:
        if error.diagnostics[0].code == "PPF719":  # nested values that are no sets: another column may hold some
            return False
        raise
    return block is not None and holds_sets(block.column(0).type)


def _operator(operators: list[SetOperator], column: str, source: Source) -> SetOperator | None:
    """Return the operator on a column; files of sets alone have no name for their column."""
    named = [each for each in operators if each.attribute == column]
    if not named and len(source.names()) == 1:
        named = operators
    if len(named) > 1:
        raise DataError(Diagnostic("PPF736", "the operator file has two operators for one attribute"))
    return named[0] if named else None


def _lowest(path: Path, column: str) -> Mapping[int, float]:
    """Return the supports of a mining contract. Raises DataError where it is none."""
    if not path.is_file():
        return {}
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        lowest = {int(k): s for k, s in document["lowest_discoverable_support"].items() if s is not None}
        if not all(isinstance(s, int | float) and 0.0 < s <= 1.0 for s in lowest.values()):
            raise ValueError("lowest_discoverable_support must hold shares in (0, 1]")
        return {k: float(s) for k, s in lowest.items()} if document["attribute"] in (column, None) else {}
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise DataError(Diagnostic("PPF701", f"cannot read `{path}`: {reason}")) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(Diagnostic("PPF736", f"`{path}` is not a mining contract")) from None
