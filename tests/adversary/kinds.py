"""The kinds of steps whose exact posteriors are compared with what is measured: a policy of two columns for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adversary.steps import KEY
from adversary.worlds import Exact, Steps, exact, policy

SHARE = {"alpha_k": {"s": {"alpha": "0.67"}}}
TEMPLATE = {"templates": {"t": {"channel": ["a"], "sensitive": {"s": ["10", "20", "60"]}, "confidence": "0.67"}}}
K = {"k_anonymity": {"k": "2"}}
BOUND = {"sensitivities": {"s": {"default": {"r1": "0.34", "r2": "0.67"}}}}
MERGED = {"values": {"10": "x", "20": "x"}, "keep_others": "true"}

KINDS: Mapping[str, tuple[Mapping[str, Any], Steps]] = {
    "unchanged, renamed": (SHARE, [("rename", {"attributes": {"a": "b"}})]),
    "generalize, mask": (SHARE, [("generalize", {"attributes": {"a": {}}})]),
    "recode, of the secret": (SHARE, [("recode", {"attributes": {"s": MERGED}})]),
    "suppress, rare secrets": (SHARE, [("suppress", {"rare": {"s": {"count": "2"}}, "small": "keep"})]),
    "suppress, cells of small classes": (SHARE | K, [("suppress", {"attributes": ["a"], "small": "cells", "k": "2"})]),
    "suppress, rows of small classes": (SHARE | K, [("suppress", {"attributes": ["a"], "small": "rows", "k": "2"})]),
    "full_domain_recoding, for k": (
        TEMPLATE | K,
        [("full_domain_recoding", {"attributes": ["a"], "suppression": "0"})],
    ),
    "full_domain_recoding, for shares": (
        SHARE | K,
        [("full_domain_recoding", {"attributes": ["a"], "suppression": "0"})],
    ),
    "mondrian, for k": (TEMPLATE | K, [("mondrian", {"attributes": ["a"]})]),
    "mondrian, for shares": (SHARE | K, [("mondrian", {"attributes": ["a"]})]),
    "progressive_disclosure": (TEMPLATE, [("progressive_disclosure", {"score": "entropy"})]),
    "microaggregation, of the secret": (SHARE, [("microaggregation", {"attributes": ["s"], "k": "2"})]),
    "microaggregation, of what is known": (SHARE | K, [("microaggregation", {"attributes": ["a"], "k": "2"})]),
    "microaggregation, of both": (SHARE | K, [("microaggregation", {"attributes": ["a", "s"], "k": "2"})]),
    "assign_class_id, of both": (
        SHARE,
        [("assign_class_id", {"attributes": ["a", "s"]}), ("drop", {"attributes": ["s"]})],
    ),
    "assign_class_id, of the secret": (
        SHARE,
        [("assign_class_id", {"attributes": ["s"]}), ("drop", {"attributes": ["s"]})],
    ),
    "pseudonymize, of what is known": (SHARE, [("pseudonymize", {"attributes": ["a"], "key_env": KEY})]),
    "sample": (SHARE, [("sample", {"size": "3"})]),
    "swap, of the secret": (SHARE, [("swap", {"attributes": ["s"]})]),
    "fine_grain_perturbation, uniform": (
        BOUND,
        [("fine_grain_perturbation", {"attribute": "s", "operator": "uniform"})],
    ),
    "fine_grain_perturbation": (BOUND, [("fine_grain_perturbation", {"attribute": "s"})]),
}
MOST_DRAWN = 4
"""Rows of tables whose draws are all looked at."""


def fitting(kind: str, rows: int) -> int:
    """Return how many rows tables have where up to ``rows`` are asked for."""
    return min(rows, MOST_DRAWN) if KINDS[kind][1][-1][0] == "fine_grain_perturbation" else rows


def largest(kind: str, rows: int) -> Exact:
    """Return what exact posteriors come to for one kind of step, on tables of so many rows."""
    privacy, steps = KINDS[kind]
    return exact(policy(privacy, steps), fitting(kind, rows))
