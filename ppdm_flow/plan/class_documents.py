"""Requirements on equivalence classes and sets of items in a plan's document, and their JSON Schema."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.json_schema import record
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.requirements.l_diversity.requirement import Diversity
from ppdm_flow.requirements.t_closeness.requirement import Distance

Document = dict[str, Any]


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
