"""The entry of a policy as a requirement."""

from __future__ import annotations

from acme_requirements.rare_words.requirement import RareWords


def bind(entry, place):
    return RareWords(place.id, place.name, entry.max, entry.min_count, place.span)
