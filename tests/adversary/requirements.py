"""Random requirements, most of them mild, so that about as much is released as is withheld."""

from __future__ import annotations

from random import Random
from typing import Any

from adversary.tables import INCOMES, VALUES

Clauses = dict[str, Any]


def privacy(draw: Random, known: list[str], secret: list[str], domains: dict[str, list[str]]) -> Clauses:
    """Choose one to three requirements. ``domains`` are the values that the data has: others are an error."""
    kinds = ("k_anonymity", "templates", "l_diversity", "t_closeness", "alpha_k", "delta_disclosure")
    kinds += ("beta_likeness", "lkc", "k_anonymity", "l_diversity", "templates")
    found: Clauses = {}
    for kind in draw.sample(kinds, draw.choice((1, 1, 2, 2, 3))):
        attribute = draw.choice(secret)
        if kind == "k_anonymity":
            found[kind] = {"k": draw.choice("2223"), **_by(draw, known)}
        elif kind == "templates":
            found.setdefault(kind, {})[f"t{len(found.get(kind, {}))}"] = _template(draw, known, secret, domains)
        elif kind == "lkc":
            found[kind] = _lkc(draw, known, secret, domains)
        else:
            found.setdefault(kind, {})[attribute] = _sensitive(draw, kind, attribute, domains) | _by(draw, known)
    return found


def _by(draw: Random, known: list[str]) -> Clauses:
    """Group by some attributes only, now and then."""
    return {"attributes": draw.sample(known, draw.randint(1, len(known)))} if draw.random() < 0.2 else {}


def _sensitive(draw: Random, kind: str, attribute: str, domains: dict[str, list[str]]) -> Clauses:
    if kind == "l_diversity":
        variant = draw.choice(("distinct", "distinct", "entropy", "recursive"))
        more = {"c": draw.choice(("1", "2", "3"))} if variant == "recursive" else {}
        return {
            "l": draw.choice(("2", "2", "3") if variant != "entropy" else ("1.5", "2", "2.5")),
            "kind": variant,
            **more,
        }
    if kind == "t_closeness":
        distance = draw.choice(("equal", "ordered"))
        ordered = distance == "ordered" and attribute not in ("income", "age")
        values = domains[attribute] or list(VALUES[attribute])
        order = {"order": draw.sample(values, len(values))} if ordered else {}
        return {"t": draw.choice(("0.2", "0.35", "0.5", "0.6")), "distance": distance, **order}
    if kind == "alpha_k":
        values = {"values": _some(draw, domains[attribute])} if draw.random() < 0.6 and domains[attribute] else {}
        return {"alpha": draw.choice(("0.3", "0.5", "0.6", "0.75")), **values}
    if kind == "delta_disclosure":
        return {"delta": draw.choice(("0.7", "1.2", "2"))}
    return {"beta": draw.choice(("0.5", "1", "2", "3"))}


def _some(draw: Random, values: list[str]) -> list[str]:
    return draw.sample(values, draw.randint(1, max(1, len(values) - 1)))


def _template(draw: Random, known: list[str], secret: list[str], domains: dict[str, list[str]]) -> Clauses:
    meant = draw.sample(secret, draw.randint(1, len(secret)))
    clause: Clauses = {
        "channel": draw.sample(known, draw.randint(1, len(known))),
        "sensitive": {a: _some(draw, domains[a] or list(INCOMES)) for a in meant},
        "confidence": draw.choice(("0.4", "0.5", "0.6", "0.75", "0.9")),
    }
    if draw.random() < 0.2:
        clause |= {"negated": "true", "confidence": draw.choice(("0.75", "0.9", "0.95"))}
    if draw.random() < 0.2:
        clause["min_support"] = draw.choice(("2", "3"))
    return clause


def _lkc(draw: Random, known: list[str], secret: list[str], domains: dict[str, list[str]]) -> Clauses:
    by = _by(draw, known)
    most = min(draw.choice((1, 2, 2)), len(by.get("attributes", known)))
    clause: Clauses = {"l": str(most), "k": draw.choice(("2", "2", "3")), **by}
    if draw.random() < 0.7:
        meant = draw.sample(secret, draw.randint(1, len(secret)))
        clause["c"] = draw.choice(("0.5", "0.6", "0.75", "0.9"))
        clause["sensitive"] = {a: _some(draw, domains[a] or list(INCOMES)) for a in meant}
    return clause
