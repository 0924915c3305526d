"""Did you mean?: the known word that a misspelt one most likely stands for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rapidfuzz.distance import OSA, Indel

from ppdm_flow.core.pages import synonyms

Aliases = Mapping[str, Sequence[str]]
NO_ALIASES: Aliases = MappingProxyType({})


_LONGEST = 60
"""Characters of a word that may be a misspelt one."""
_ALIKE = 0.6
"""How similar a word has to be that is more than a few edits away."""


def synonyms_of(word: str) -> Sequence[str]:
    """Return our words for one of other tools or papers; none where it has none."""
    return synonyms().get(_bare(word), ())


def closest(word: str, known: Iterable[str], aliases: Aliases = NO_ALIASES) -> str | None:
    """Return the known word that ``word`` most likely meant, or None; ``aliases`` are more words of other tools."""
    return confident(word, known, aliases) or _resembling(word, known)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the question after the known word that ``word`` most likely meant, or None."""
    near = closest(word, known)
    return f"did you mean `{near}`?" if near else None


def confident(word: str, known: Iterable[str], aliases: Aliases = NO_ALIASES) -> str | None:
    """Return the known word that is but a few edits away, or that other tools write so; None without one."""
    if len(word) > _LONGEST:
        return None
    candidates = sorted(set(known))
    bare = _bare(word)
    for name in candidates:
        if _bare(name) == bare:
            return name
    for alias in (*aliases.get(bare, ()), *synonyms_of(word)):
        if alias in candidates:
            return alias
    edits = {name: OSA.distance(bare, _bare(name)) for name in candidates}
    least = min(edits.values(), default=0)
    near = [name for name, number in edits.items() if number == least]
    best = max(near, key=lambda name: Indel.normalized_similarity(bare, _bare(name)), default=None)
    return best if best is not None and least <= _allowed(bare, _bare(best)) else None


def _allowed(one: str, other: str) -> int:
    """One edit in short words, two from five letters on, three from ten on; single letters need one in common."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter <= 1:
        return 1 if longer == 2 and (one in other or other in one) else 0
    return 1 + (longer >= 5) + (longer >= 10)


def _resembling(word: str, known: Iterable[str]) -> str | None:
    if len(word) > _LONGEST:
        return None
    bare = _bare(word)
    candidates = {_bare(c): c for c in sorted(set(known), reverse=True)}
    near = difflib.get_close_matches(bare, candidates, n=1, cutoff=_ALIKE)
    return candidates[near[0]] if near else None


def _bare(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")
