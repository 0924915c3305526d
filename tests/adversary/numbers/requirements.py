"""Random requirements on numbers, most of them mild."""

from __future__ import annotations

from random import Random
from typing import Any

Clauses = dict[str, Any]
KINDS = ("interval_disclosure", "numeric_linkage", "special_uniques", "dominance")


def privacy(draw: Random, known: list[str], numbers: list[str], dates: list[str]) -> Clauses:
    """Choose one or two requirements; ``numbers`` and ``dates`` are attributes of the table."""
    found: Clauses = {}
    for kind in draw.sample(KINDS, draw.choice((1, 1, 2))):
        if kind == "interval_disclosure":
            attribute = draw.choice([*numbers, *dates])
            found[kind] = {attribute: _near(draw, attribute in dates)}
        elif kind == "numeric_linkage":
            every = [*numbers, *dates]
            found[kind] = _linkage(draw, draw.sample(every, draw.randint(1, len(every))))
        elif kind == "special_uniques":
            found[kind] = _uniques(draw, known)
        else:
            attribute = draw.choice(numbers)
            found[kind] = {
                attribute: _dominance(draw, [k for k in known if k != attribute], is_known=attribute in known)
            }
    return found


def _near(draw: Random, is_date: bool) -> Clauses:
    forms = [{"absolute": draw.choice(("0", "3", "10"))}, {"sd": draw.choice(("0.1", "0.5"))}]
    forms += [{"rank": draw.choice(("0.01", "0.1", "0.3"))}]
    forms += [] if is_date else [{"relative": draw.choice(("0.05", "0.25"))}]
    return {"width": draw.choice(forms), "max": draw.choice(("0.2", "0.5", "0.8", "0.9"))}


def _linkage(draw: Random, attributes: list[str]) -> Clauses:
    clause: Clauses = {"attributes": attributes, "max": draw.choice(("0.3", "0.5", "0.7", "0.9"))}
    if draw.random() < 0.3:
        clause["candidates"] = draw.choice("23")
    if draw.random() < 0.3:
        clause["max_excess"] = draw.choice(("0.3", "0.5", "0.8"))
    return clause


def _uniques(draw: Random, known: list[str]) -> Clauses:
    clause: Clauses = {"size": draw.choice("1123"), "max_share": draw.choice(("0.1", "0.3", "0.6", "0.9"))}
    if draw.random() < 0.3:
        clause["attributes"] = draw.sample(known, draw.randint(1, len(known)))
    return clause


def _dominance(draw: Random, others: list[str], *, is_known: bool) -> Clauses:
    rules: Clauses = {}
    if draw.random() < 0.5:
        rules |= {"n": draw.choice("12"), "share": draw.choice(("0.8", "0.9", "0.95"))}
    if draw.random() < 0.4:
        rules |= {"p": draw.choice(("1", "5", "20"))} | ({"q": "80"} if draw.random() < 0.4 else {})
    if not rules or draw.random() < 0.3:
        rules["contributors"] = draw.choice("223")
    if others and (is_known or draw.random() < 0.3):
        rules["attributes"] = draw.sample(others, draw.randint(1, len(others)))
    return rules
