"""Requirements on equivalence classes and sets of items in a plan's document, and their JSON Schema."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.anonymity import (
    LKC,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    Distance,
    Diversity,
    KmAnonymity,
    KMap,
    LDiversity,
    OnClasses,
    TCloseness,
)
from ppdm_flow.core.json_schema import record
from ppdm_flow.core.requirements import Sensitivity, Template
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.successive import CumulativeK, FirstDraw, Successive

Document = dict[str, Any]


def class_document(requirement: OnClasses | KmAnonymity | Successive) -> Document:
    """Return what a requirement asks, without its id."""
    match requirement:
        case LDiversity():
            c = {} if requirement.c is None else {"c": requirement.c}
            return _on(requirement) | {"l": requirement.l, "variant": requirement.variant.value} | c
        case TCloseness():
            order = {"order": list(requirement.order)} if requirement.order else {}
            distance = {"t": requirement.t, "distance": requirement.distance.value}
            return _on(requirement) | distance | order | absent(requirement)
        case AlphaK():
            values = {"values": list(requirement.values)} if requirement.values else {}
            return _on(requirement) | {"alpha": requirement.alpha} | values | absent(requirement)
        case DeltaDisclosure():
            return _on(requirement) | {"delta": requirement.delta}
        case BetaLikeness():
            return _on(requirement) | {"beta": requirement.beta}
        case KMap():
            told = requirement.population
            columns = dict(sorted(told.columns))
            people = {"path": told.path, "columns": columns, "delimiter": told.delimiter}
            return {"k": requirement.k, "attributes": list(requirement.attributes), "population": people}
        case LKC():
            c = {} if requirement.c is None else {"c": requirement.c}
            pairs = [list(pair) for pair in requirement.sensitive]
            known = list(requirement.attributes)
            sizes = {"l": requirement.l, "k": requirement.k, "attributes": known, "sensitive": pairs}
            return sizes | c | absent(requirement)
        case CumulativeK():
            return {"k": requirement.k, "attributes": list(requirement.attributes)}
        case FirstDraw():
            return {"attributes": list(requirement.attributes)}
        case KmAnonymity():
            return {"attribute": requirement.attribute, "k": requirement.k, "m": requirement.m}


def absent(requirement: TCloseness | AlphaK | LKC | Template | Sensitivity) -> Document:
    """Return what becomes of values that neither the domain nor the data has, where that is not an error."""
    said = requirement.values_absent
    return {} if said is ValuesAbsent.ERROR else {"values_absent": said.value}


def _on(requirement: LDiversity | TCloseness | AlphaK | DeltaDisclosure | BetaLikeness) -> Document:
    return {"attribute": requirement.attribute, "attributes": list(requirement.attributes)}


ABSENT: Document = {
    "const": ValuesAbsent.ALLOWED.value,
    "description": "Values that it names may be missing from the domain and from the data.",
}
OPTIONAL = {
    "l_diversity": ("c",),
    "t_closeness": ("order", "values_absent"),
    "alpha_k": ("values", "values_absent"),
    "lkc": ("c", "values_absent"),
}
"""Keys that not every such requirement has."""


def class_schemas() -> dict[str, Document]:
    """Return the properties of each kind of requirement."""
    text, number, texts = {"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string"}}
    attributes = texts | {"description": "What forms the classes."}
    on = {"attribute": text | {"description": "The sensitive attribute."}, "attributes": attributes}
    whole = {"type": "integer", "minimum": 1}
    pair = {"type": "array", "items": text, "minItems": 2, "maxItems": 2}
    people = {"path": text, "columns": {"type": "object", "additionalProperties": text}, "delimiter": text}
    return {
        "l_diversity": on | {"l": number, "variant": {"enum": [v.value for v in Diversity]}, "c": number},
        "t_closeness": on
        | {"t": number, "distance": {"enum": [d.value for d in Distance]}, "order": texts, "values_absent": ABSENT},
        "alpha_k": on | {"alpha": number, "values": texts, "values_absent": ABSENT},
        "delta_disclosure": on | {"delta": number},
        "beta_likeness": on | {"beta": number},
        "k_map": {"k": whole, "attributes": attributes, "population": record(people)},
        "lkc": {
            "l": whole | {"description": "How many attributes may be known."},
            "k": whole,
            "attributes": texts | {"description": "What may be known."},
            "sensitive": {"type": "array", "description": "(attribute, value), not to be inferred.", "items": pair},
            "c": number,
            "values_absent": ABSENT,
        },
        "km_anonymity": {"attribute": text, "k": whole, "m": whole},
        "cumulative_k": {"k": whole, "attributes": attributes},
        "first_draw": {"attributes": texts | {"description": "The randomized attributes."}},
    }
