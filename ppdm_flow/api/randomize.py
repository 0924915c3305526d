"""What a client does with a published operator: it randomizes its own sets, and sends nothing else."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.mining.transactions.randomize.clients import PublishedOperator, sent_documents
from ppdm_flow.sdk.key_file import refuse_shared

LineFormat = Literal["baskets", "transactions"]
_KEY_BYTES = 32
_NEARLY_SURELY = 1.0 - 1e-6


def randomize(
    sets: Iterable[Iterable[str]], operator: Path, *, attribute: str | None = None, key: bytes | None = None
) -> list[dict[str, Any]]:
    """Randomize sets of items by a published operator, and return what is sent of each, JSON-ready.

    Parameters
    ----------
    sets : the items of each set, as texts
    operator : an ``operator.json``, as a run with ``randomize_transactions`` writes it
    attribute : whose operator, where the file has several on sets
    key : 32 bytes that the draws follow from, for tests; a fresh key of the operating system unless given

    Raises
    ------
    DataError
        Where the operator is damaged or lacks its items, or cannot randomize one of the sets.
    """
    published = PublishedOperator.read(operator, attribute)
    return list(sent_documents(published.randomized(list(sets), published.draws(key))))


def randomize_lines(
    lines: Iterable[bytes],
    operator: Path,
    form: LineFormat = "baskets",
    *,
    attribute: str | None = None,
    key: bytes | None = None,
    at_once: int = 1,
) -> Iterator[str]:
    """Yield a line of JSON for each line with a set, ``at_once`` lines after another.

    ``form``: names with commas between (``baskets``), or item numbers with blanks between (``transactions``). Raises
    DataError like :func:`randomize`, with the line's number.
    """
    published = PublishedOperator.read(operator, attribute)
    draws, first, rest = published.draws(key), 0, iter(lines)
    while some := list(islice(rest, at_once)):
        sets = [_items(line, number, form) for number, line in enumerate(some, first + 1)]
        for document in sent_documents(published.randomized(sets, draws, first)):
            yield json.dumps(document, ensure_ascii=False)
        first += len(some)


def changes_nothing(operator: Path, attribute: str | None = None) -> bool:
    """Whether an operator leaves sets of some length as they are, surely or nearly so: then it protects nobody."""
    published = PublishedOperator.read(operator, attribute).operator
    return any(published.staying(size) > _NEARLY_SURELY for size in published.sizes if size)


def adds_little(operator: Path, attribute: str | None = None) -> bool:
    """Whether most sets of some length get no item of others: then each item that is sent is surely an own one."""
    published = PublishedOperator.read(operator, attribute).operator
    return any(published.adding_nothing(size) > 0.5 for size in published.sizes if size)


def read_draw_key(path: Path) -> bytes:
    """Return the 32 bytes of a key file. Raises DataError where it is none, or where others may read it."""
    refuse_shared(path, "the key")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise DataError(Diagnostic("PPF701", f"cannot read `{path}`: {reason}")) from None
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise DataError(Diagnostic("PPF443", f"`{path}` holds no key: 64 hexadecimal digits are expected"))
    return key


def _items(line: bytes, number: int, form: LineFormat) -> list[str]:
    """Return the items of a line, as the readers of both formats have them."""
    try:
        text = line.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(Diagnostic("PPF704", f"line {number} is not UTF-8 text")) from None
    if form == "transactions":
        words = text.split()
        if not all(word.isascii() and word.isdigit() for word in words):
            text = f"line {number} has something else than item numbers with blanks between"
            raise DataError(Diagnostic("PPF755", text, help="names of items are `--input-format baskets`"))
        return [word.lstrip("0") or "0" for word in words]
    try:
        (cells,) = list(csv.reader([text], strict=True)) or [[]]
    except (csv.Error, ValueError):
        raise DataError(Diagnostic("PPF755", f"line {number} has a quote that is not closed in it")) from None
    return [cell for cell in cells if cell]
