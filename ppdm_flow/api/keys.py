"""Pages of the keys of the policy language, from the words and examples that editors show as well."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from ppdm_flow.core.visible import escaped
from ppdm_flow.policy.descriptions import DESCRIPTIONS

_PLAIN = re.compile(r"[A-Za-z0-9_./+*-]+\Z")
_OWNERS = {
    "Policy": "at the top of a policy",
    "Source": "of `source`",
    "Attribute": "of an attribute",
    "Hierarchy": "of a `hierarchy`",
    "KAnonymity": "of `k_anonymity`",
    "Template": "of a template",
    "Sensitivity": "of an attribute's sensitivities",
    "AnonymityScore": "of `anonymity_score`",
    "Blend": "of `blend`",
    "ItemsetBreach": "of `itemset_breach`",
    "LDiversity": "of an attribute's `l_diversity`",
    "TCloseness": "of an attribute's `t_closeness`",
    "AlphaK": "of an attribute's `alpha_k`",
    "DeltaDisclosure": "of an attribute's `delta_disclosure`",
    "BetaLikeness": "of an attribute's `beta_likeness`",
    "KMap": "of `k_map`",
    "Population": "of a `population`",
    "LKC": "of `lkc`",
    "KmAnonymity": "of `km_anonymity`",
    "CumulativeK": "of `cumulative_k`",
    "Ledger": "of `ledger`",
    "ValueBound": "of a value's bound",
    "ValueGroup": "of a group of values",
    "DefaultBound": "of `default`",
    "Step": "of a step",
    "Audit": "of an audit",
    "Gate": "of a gate",
    "Release": "of a release",
    "Randomness": "of `randomness`",
    "ReportOptions": "of `report`",
    "Param": "of a param",
    "Extends": "of an entry of `extends`",
    "Privacy": "of `privacy`",
}


@cache
def names() -> tuple[str, ...]:
    """Return every key that has a page."""
    return tuple(dict.fromkeys(full.partition(".")[2] for full in DESCRIPTIONS))


def key_page(name: str) -> str:
    """Return the page of a key as Markdown: each place where it may stand, with an example."""
    return "\n\n".join([f"# {name}: a key of the policy language", *_entries(name)])


def _entries(name: str) -> Iterator[str]:
    for full, (text, example) in DESCRIPTIONS.items():
        owner, _, key = full.partition(".")
        if key == name:
            place = _OWNERS.get(owner, f"of {owner}")
            yield f"`{name}` {place}: {text[:1].lower()}{text[1:]}\n\n```yaml\n{name}: {_flow(example)}\n```"


def _flow(value: Any) -> str:
    """Write an example as YAML on one line, quoted only where it must be."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    text = str(value)
    return text if _PLAIN.match(text) else escaped(json.dumps(text, ensure_ascii=False))
