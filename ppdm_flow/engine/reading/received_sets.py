"""A release with sets of items, as its recipient has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.records import dataclass
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.core.texts.file_names import CONTRACT, DICTIONARY, OPERATOR
from ppdm_flow.engine.faults import wrap_plugin_errors
from ppdm_flow.engine.reading.operator_files import read_set_operators
from ppdm_flow.engine.reading.received import ReceivedRelease, released_file
from ppdm_flow.engine.streams.rebatching import partitions
from ppdm_flow.sdk.anonymizer import SetOperator
from ppdm_flow.sdk.storage import Source
from ppdm_flow.tables.sets import SetColumn
from ppdm_flow.tables.sets.arrow import holds_sets

_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class ReceivedSets:
    """The column of a released file that holds sets, and what came with it.

    ``operator`` is None where nothing randomized the sets, as far as the release says. ``rows`` is what the data
    dictionary says, ``lowest`` k -> lowest discoverable support as the mining contract has it.
    """

    file: Path
    column: str
    source: Source
    operator: SetOperator | None
    rows: int | None
    lowest: Mapping[int, float]

    def partitions(self) -> Iterator[SetColumn]:
        """Yield the sets a partition at a time. Raises DataError where the file cannot be read."""
        with wrap_plugin_errors(f"`{self.file.name}`"):
            for table in partitions(self.source.batches((self.column,)), (self.column,), _ROWS):
                yield table.sets[self.column]


def received_sets(path: Path, attribute: str | None = None, operator: Path | None = None) -> ReceivedSets:
    """Find the release that ``path`` names and its sets.

    ``path`` is a run's directory, the folder of a release or its data file; ``operator`` an ``operator.json`` from
    elsewhere. Raises UsageError where there is no such release, or no such column; DataError where a file cannot be
    read.
    """
    if path.name == OPERATOR and path.is_file():
        path, operator = path.parent, path
    without = UsageError(Diagnostic("PPF135", f"no release in `{path}` holds sets of items"))
    file, about = released_file(path, _has_sets, without, given=operator is not None)
    options = about.get("options")
    source = ReceivedRelease(
        file, (), str(about.get("format", "")), options if isinstance(options, dict) else None
    ).open()
    place = file.parent / OPERATOR if operator is None else operator
    operators = read_set_operators(place) if operator is not None or place.is_file() else []
    with wrap_plugin_errors(f"`{file.name}`"):
        column = _column(file, source, attribute)
    chosen = _operator(operators, column, source)
    if operator is not None and chosen is None:
        raise DataError(Diagnostic("PPF136", f"`{operator}` has no operator on the sets of `{column}`"))
    rows = about.get("rows")
    return ReceivedSets(
        file, column, source, chosen, rows if isinstance(rows, int) else None, _lowest(file.parent / CONTRACT, column)
    )


def _has_sets(folder: Path) -> bool:
    """Whether the dictionary of a release names an attribute with sets, or its operator is on sets."""
    try:
        document = json.loads((folder / DICTIONARY).read_text(encoding="utf-8"))
        return any(a["role"] == Role.ITEMS.value for a in document["attributes"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        operator = folder / OPERATOR
        return operator.is_file() and bool(read_set_operators(operator))


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
        raise UsageError(Diagnostic("PPF135", f"`{file.name}` holds no sets of items"))
    listing = ", ".join(f"`{name}`" for name in sets)
    raise UsageError(
        Diagnostic(
            "PPF135", f"several columns of `{file.name}` hold sets", help=f"say which with `--attribute`: {listing}"
        )
    )


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
        raise DataError(Diagnostic("PPF136", f"`{path}` is not a mining contract")) from None
