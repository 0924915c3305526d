"""One line of JSON as a row of texts."""

from __future__ import annotations

import codecs
import json
from typing import Any, NoReturn

from ppdm_flow.core.errors import DataError
from ppdm_flow.sources.faults import fault, nul, undecodable

Record = dict[str, str | None]


class _RefusedError(ValueError):
    """Something that JSON or a flat table does not have; carries words of our own."""


def record(line: bytes, number: int) -> Record:
    """Return key and text. Raises DataError with the line's number; the text of a number is the one in the file."""
    try:
        text = line.removeprefix(codecs.BOM_UTF8).decode() if number == 1 else line.decode()
        found = _DECODER.decode(text.strip())
    except UnicodeDecodeError:
        raise undecodable(f"line {number}", "utf-8") from None
    except _RefusedError as error:
        raise fault("PPF718", f"line {number} {error}") from None
    except (ValueError, RecursionError):
        raise fault("PPF718", f"line {number} is not JSON") from None
    if not isinstance(found, dict):
        raise fault("PPF718", f"line {number} is JSON, but no object")
    return {key: _text(key, value, number) for key, value in found.items()}


def _text(key: str, value: Any, number: int) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return _plain(value, number)
    if isinstance(value, bool):
        return "true" if value else "false"
    raise fault(
        "PPF719",
        f"line {number}: the value of `{_shown(key)}` is nested, so no cell of a table",
        help="flatten the file beforehand",
    )


def _plain(text: str, number: int) -> str:
    if text.isascii() and "\0" not in text:
        return text
    if "\0" in text:
        raise nul(f"line {number}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _surrogate(number) from None
    return text


def _surrogate(number: int) -> DataError:
    return fault("PPF704", f"line {number} has half of a surrogate pair, which is no character")


def _shown(key: str) -> str:
    return key.encode(errors="replace").decode()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RefusedError("has one key twice")
    return found


def _constant(_name: str) -> NoReturn:
    raise _RefusedError("has NaN or Infinity, which JSON does not know")


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_constant, object_pairs_hook=_pairs)
