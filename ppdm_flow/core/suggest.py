"""Did you mean?: the known word that was most likely meant by a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache, partial
from types import MappingProxyType

from rapidfuzz import process
from rapidfuzz.distance import OSA, Indel

from ppdm_flow.core.pages import synonyms

Aliases = Mapping[str, Sequence[str]]
NO_ALIASES: Aliases = MappingProxyType({})


_LONGEST = 60
"""Characters of a word that may be a misspelt one."""
_ALIKE = 0.6
"""How similar a word has to be that is more than a few edits away."""
_MOST_EDITS = 3
_MARGIN = 0.01
"""By which similarities may be off: `process.extract` rounds its cutoff."""


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
    candidates = frozenset(known)
    bare = _bare(word)
    name_by_bare = _name_by_bare(candidates)
    if bare in name_by_bare:
        return name_by_bare[bare]
    for alias in (*aliases.get(bare, ()), *synonyms_of(word)):
        if alias in candidates:
            return alias
    near = process.extract(bare, name_by_bare.keys(), scorer=OSA.distance, score_cutoff=_MOST_EDITS, limit=None)
    if not near:
        return None
    least = near[0][1]
    best = max((near_bare for near_bare, edits, _ in near if edits == least), key=partial(_similarity, bare))
    return name_by_bare[best] if least <= _allowed(bare, best) else None


@lru_cache(maxsize=32)
def _name_by_bare(known: frozenset[str]) -> Mapping[str, str]:
    """Return known words by their bare form, in alphabetical order; of words with one bare form the first."""
    names: dict[str, str] = {}
    for name in sorted(known):
        names.setdefault(_bare(name), name)
    return names


def _similarity(one: str, other: str) -> float:
    return Indel.normalized_similarity(one, other)


def _allowed(one: str, other: str) -> int:
    """One edit in short words, two from five letters on, three from ten on; single letters need one in common."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter <= 1:
        return 1 if longer == 2 and (one in other or other in one) else 0
    return 1 + (longer >= 5) + (longer >= 10)


def _resembling(word: str, known: Iterable[str]) -> str | None:
    """Return the known word with the highest ratio of ``difflib`` to ``word``, or None below ``_ALIKE``.

    No ratio is above the normalized Indel similarity, which is quick to compute: candidates come in its order, and
    those whose similarity is below the best ratio so far are left out.
    """
    if len(word) > _LONGEST:
        return None
    bare = _bare(word)
    name_by_bare = _name_by_bare(frozenset(known))
    matcher = SequenceMatcher()
    matcher.set_seq2(bare)
    best = (_ALIKE, "")
    for candidate, limit, _ in process.extract(
        bare, name_by_bare.keys(), scorer=Indel.normalized_similarity, score_cutoff=_ALIKE - _MARGIN, limit=None
    ):
        if limit < best[0] - _MARGIN:
            break
        matcher.set_seq1(candidate)
        best = max(best, (matcher.ratio(), candidate))
    return name_by_bare.get(best[1])


def _bare(word: str) -> str:
    return word.strip().lower().replace("-", "_").replace(" ", "_")
