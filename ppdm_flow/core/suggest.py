"""Did you mean?: the known word that a misspelt one most likely stands for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

ALIASES: Mapping[str, tuple[str, ...]] = {
    "qi": ("quasi_identifier",),
    "qid": ("quasi_identifier",),
    "quasi": ("quasi_identifier",),
    "quasi_id": ("quasi_identifier",),
    "quasi_identifiers": ("attributes", "quasi_identifier"),
    "id": ("identifier",),
    "pii": ("identifier",),
    "direct_identifier": ("identifier",),
    "class": ("target",),
    "label": ("target",),
    "outcome": ("target",),
    "secret": ("sensitive",),
    "sa": ("sensitive",),
    "sensitive_attribute": ("sensitive",),
    "public": ("insensitive",),
    "other": ("insensitive",),
    "non_sensitive": ("insensitive",),
    "count": ("weight",),
    "frequency": ("weight",),
    "survey_weight": ("sampling_weight",),
    "sample_weight": ("sampling_weight",),
    "design_weight": ("sampling_weight",),
    "expansion_factor": ("sampling_weight",),
    "person": ("subject",),
    "int": ("integer",),
    "double": ("float",),
    "number": ("float", "integer"),
    "numeric": ("float", "integer"),
    "str": ("text",),
    "string": ("text",),
    "category": ("text",),
    "categorical": ("text",),
    "bool": ("boolean",),
    "datetime": ("date",),
    "min_support": ("minsup",),
    "h": ("confidence",),
    "threshold": ("confidence", "max"),
    "max_confidence": ("confidence",),
    "ic": ("channel",),
    "inference_channel": ("channel",),
    "pi": ("sensitive",),
    "columns": ("attributes", "columns"),
    "fields": ("attributes",),
    "schema": ("attributes",),
    "requirements": ("privacy",),
    "guarantees": ("privacy",),
    "anonymizer": ("use",),
    "plugin": ("use",),
    "algorithm": ("use",),
    "params": ("with",),
    "parameters": ("with",),
    "args": ("with",),
    "options": ("with",),
    "separator": ("delimiter",),
    "sep": ("delimiter",),
    "na": ("missing",),
    "na_values": ("missing",),
    "null": ("missing",),
    "missing_values": ("missing",),
    "outputs": ("releases",),
    "output": ("releases", "path"),
    "release": ("releases",),
    "pipeline": ("steps",),
    "transforms": ("steps",),
    "type": ("format", "role"),
    "kind": ("role", "use"),
    "file": ("path", "csv"),
    "filename": ("path",),
    "uri": ("path",),
    "input": ("from", "source"),
    "from": ("input",),
    "data": ("source",),
    "dataset": ("source",),
    "title": ("name",),
    "base": ("extends",),
    "inherit": ("extends",),
    "inherits": ("extends",),
    "vars": ("params",),
    "variables": ("params",),
    "theta": ("tolerance",),
    "rho1": ("r1",),
    "rho2": ("r2",),
    "prior": ("r1",),
    "posterior": ("r2",),
    "minimum": ("min",),
    "maximum": ("max",),
    "at_most": ("max",),
    "at_least": ("min",),
    "bins": ("intervals",),
    "breaks": ("intervals",),
    "random_state": ("seed",),
    "levels_of": ("levels",),
    "hide_values": ("values",),
    "thresholds": ("gates",),
    "checks": ("audits",),
    "metrics": ("audits",),
    "values": ("domain", "values"),
    "emd": ("distance",),
    "variant": ("kind",),
    "hierarchical": ("ordered",),
    "numerical": ("ordered",),
    "minsup": ("min_support",),
    "up": ("upward",),
    "upwards": ("upward",),
    "two_sided": ("both",),
}
"""Words that people bring from other tools, and ours for them, the likeliest first."""

Aliases = Mapping[str, Sequence[str]]
NO_ALIASES: Aliases = MappingProxyType({})


def closest(word: str, known: Iterable[str], aliases: Aliases = NO_ALIASES) -> str | None:
    """Return the known word that ``word`` most likely meant, or None; ``aliases`` are more words of other tools."""
    return confident(word, known, aliases) or _resembling(word, known)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the question after the known word that ``word`` most likely meant, or None."""
    near = closest(word, known)
    return f"did you mean `{near}`?" if near else None


def confident(word: str, known: Iterable[str], aliases: Aliases = NO_ALIASES) -> str | None:
    """Return the known word that is but a few edits away, or that other tools write so; None without one."""
    candidates = sorted(set(known))
    bare = _bare(word)
    for name in candidates:
        if _bare(name) == bare:
            return name
    for alias in (*aliases.get(bare, ()), *ALIASES.get(bare, ())):
        if alias in candidates:
            return alias
    ranked = sorted((distance(bare, _bare(c)), -_ratio(bare, _bare(c)), c) for c in candidates)
    if ranked and ranked[0][0] <= _allowed(bare, _bare(ranked[0][2])):
        return ranked[0][2]
    return None


def distance(one: str, other: str) -> int:
    """Edits that turn one word into the other: insert, delete, replace, or swap two neighbours."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def _allowed(one: str, other: str) -> int:
    """One edit in short words, two from five letters on, three from ten on; single letters need one in common."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter <= 1:
        return 1 if longer == 2 and (one in other or other in one) else 0
    return 1 + (longer >= 5) + (longer >= 10)


def _resembling(word: str, known: Iterable[str]) -> str | None:
    bare = _bare(word)
    candidates = {_bare(c): c for c in sorted(set(known), reverse=True)}
    near = difflib.get_close_matches(bare, candidates, n=1, cutoff=0.6)
    return candidates[near[0]] if near else None


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _bare(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")
