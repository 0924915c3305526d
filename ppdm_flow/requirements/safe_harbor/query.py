"""The second route: the cells of the released file, grouped and looked through in SQL, check digits included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.mining.identifiers.kinds import Identifier
from ppdm_flow.mining.identifiers.patterns import BORN, CARD, GROUPED, IMEI, LONG, NO_NAMES, PATTERNS, TOKENS, VIN
from ppdm_flow.requirements.safe_harbor import labels
from ppdm_flow.requirements.safe_harbor.columns import ScannedColumn

_TRIMMED = "trim(v)"
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_ALPHABET = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ"
"""A character's place in it ends in its value."""
_PARTS = ("accounts", "devices", "vehicles")


def counted(look: ScannedColumn, areas: Iterable[str], as_of: int) -> tuple[str, tuple[Identifier, ...]]:
    """Return a SELECT of how many cells show each kind, over ``cells`` with id, v and n, and the kinds in order.

    The last two columns are the cells that show anything, and those that are alone: ``alone`` of ``cells`` says which.
    """
    conditions = dict(_conditions(look, areas, as_of))
    sums = [f"COALESCE(SUM(n) FILTER (WHERE {text}), 0)" for text in conditions.values()]
    shown = f"NOT {_found('v', labels.COVERED)}"
    sums += [f"COALESCE(SUM(n) FILTER (WHERE {shown}), 0)", f"COALESCE(SUM(n) FILTER (WHERE {shown} AND alone), 0)"]
    source = f"cells LEFT JOIN ({_checked()}) AS parts USING (id)" if look.texts else "cells"
    return f"SELECT {', '.join(sums)} FROM {source}", tuple(conditions)  # noqa: S608  # our own texts and numbers


def _conditions(look: ScannedColumn, areas: Iterable[str], as_of: int) -> Iterator[tuple[Identifier, str]]:
    """Yield each kind with the condition that a cell shows it."""
    for kind, patterns in PATTERNS.items():
        some = [_found(_NO_NAMES if kind == "names" else "v", p) for p in patterns] if look.texts else []
        if look.texts and kind == "ages":
            some.append(
                f"COALESCE(TRY_CAST(regexp_extract(v, {_quoted(BORN)}, 1) AS INTEGER) <= {as_of - labels.OLD}, FALSE)"
            )
        if look.texts and kind in _PARTS:
            some.append(f"COALESCE({kind}, FALSE)")
        some += [text for wanted, text in _of_column(look, areas, as_of) if wanted == kind]
        if kind in look.named:
            some.append("TRUE")
        yield kind, f"(NOT {_found('v', labels.COVERED)}) AND ({' OR '.join(some) or 'FALSE'})"


def _of_column(look: ScannedColumn, areas: Iterable[str], as_of: int) -> Iterator[tuple[Identifier, str]]:
    if look.zips:
        yield "zip_codes", _too_fine(areas)
    if look.ages:
        old, oldest = labels.OLD, labels.OLDEST
        plain = f" OR ({_is(labels.EXACT)} AND {_low()} = {old})" if look.coded else ""
        category = f"({_low()} = {old} AND COALESCE({_high()}, {oldest}) >= {oldest}){plain}"
        yield "ages", f"COALESCE({_low()} >= {old} AND NOT ({category}), FALSE) OR {_unread()}"
    if look.births:
        last, first = as_of - labels.OLD, as_of - labels.OLDEST
        category = f"({_high()} = {last} AND COALESCE({_low()}, {first}) <= {first})"
        yield "ages", f"COALESCE({_high()} <= {last} AND NOT {category}, FALSE) OR {_unread()}"


def _too_fine(areas: Iterable[str]) -> str:
    digits = "regexp_extract(v, '^([0-9]{1,3})', 1)"
    area = f"CASE WHEN {_found('v', '^[0-9]+$')} THEN lpad({digits}, 3, '0') ELSE {digits} END"
    return f"(NOT {_found('v', labels.ZIP)} OR {area} IN ({', '.join(map(_quoted, sorted(areas)))}))"


def _low() -> str:
    """Return the least number that a label stands for, NULL where it has none."""
    end = _group(labels.BETWEEN, 1)
    between = f"CASE WHEN {_TRIMMED}[1] = '(' THEN floor({end}) + 1 ELSE {end} END"
    since = f"COALESCE({_group(labels.FROM, 1)}, {_group(labels.FROM, 2)}, floor({_group(labels.ABOVE, 1)}) + 1)"
    return f"COALESCE({_group(labels.EXACT, 1)}, {since}, {between})"


def _high() -> str:
    """Return the greatest number that a label stands for, NULL where it has none."""
    end = _group(labels.BETWEEN, 2)
    between = f"CASE WHEN {_TRIMMED}[-1] = ')' THEN ceil({end}) - 1 ELSE {end} END"
    until = f"COALESCE({_group(labels.UP_TO, 1)}, {_group(labels.UP_TO, 2)}, ceil({_group(labels.BELOW, 1)}) - 1)"
    return f"COALESCE({_group(labels.EXACT, 1)}, {until}, {between})"


def _unread() -> str:
    """Return the condition that a cell is no label and has digits."""
    every = (labels.EXACT, labels.FROM, labels.ABOVE, labels.UP_TO, labels.BELOW, labels.BETWEEN)
    return f"({_found('v', '[0-9]')} AND NOT ({' OR '.join(map(_is, every))}))"


def _is(pattern: str) -> str:
    return _found(_TRIMMED, pattern)


def _group(pattern: str, group: int) -> str:
    return f"TRY_CAST(NULLIF(regexp_extract({_TRIMMED}, {_quoted(pattern)}, {group}), '') AS DOUBLE)"


def _checked() -> str:
    """Return a SELECT of the cells with long parts, and whether one is a card, a mobile device or a vehicle."""
    joined = "v"
    for _ in range(2):
        joined = f"regexp_replace({joined}, {_quoted(GROUPED[0])}, {_quoted(GROUPED[1])}, 'g')"
    both = f"v || ' ' || {joined}"
    parts = (
        f"SELECT id, UNNEST(string_split_regex({both}, {_quoted(TOKENS)})) AS t FROM cells WHERE {_found('v', LONG)}"  # noqa: S608  # our own texts
    )
    luhn = _luhn()
    found = {
        "accounts": f"{_found('t', CARD)} AND {luhn}",
        "devices": f"{_found('t', IMEI)} AND {luhn}",
        "vehicles": f"{_found('t', VIN)} AND {_vin()}",
    }
    each = ", ".join(f"BOOL_OR({text}) AS {kind}" for kind, text in found.items())
    return f"SELECT id, {each} FROM ({parts}) GROUP BY id"  # noqa: S608  # the same


def _luhn() -> str:
    """Return the condition that the last digit checks: the sum of all digits, every other one doubled, ends in 0."""
    digit = [f"TRY_CAST(substr(reverse(t), {i}, 1) AS INTEGER)" for i in range(1, 20)]
    plain = [f"COALESCE({d}, 0)" for d in digit[::2]]
    doubled = [f"COALESCE(({d} * 2) // 10 + ({d} * 2) % 10, 0)" for d in digit[1::2]]
    return f"({' + '.join((*plain, *doubled))}) % 10 = 0"


def _vin() -> str:
    """Return the condition that the ninth character checks: the weighted sum modulo 11, X for 10."""
    values = [f"((strpos('{_VIN_ALPHABET}', upper(substr(t, {i}, 1))) - 1) % 10)" for i in range(1, 18)]
    total = " + ".join(f"{w} * {v}" for w, v in zip(_VIN_WEIGHTS, values, strict=True))
    return f"substr('0123456789X', 1 + CAST(({total}) % 11 AS INTEGER), 1) = upper(substr(t, 9, 1))"


def _found(where: str, pattern: str) -> str:
    return f"regexp_matches({where}, {_quoted(pattern)})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_NO_NAMES = f"regexp_replace(v, {_quoted(NO_NAMES)}, ' ', 'g')"
"""A cell without what only looks like a title and a name."""
