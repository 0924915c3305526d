"""Pages of the keys of the policy language, from the words and examples that editors show as well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ppdm_flow.api.explain import kinds
from ppdm_flow.core.pages import read
from ppdm_flow.policy.language.descriptions import POLICY


@cache
def names() -> tuple[str, ...]:
    """Return every key that has a page."""
    own = (full.partition(".")[2] for full in read(POLICY).sections if full)
    return tuple(dict.fromkeys((*own, *kinds.key_names())))


def key_page(name: str) -> str:
    """Return the page of a key as Markdown: each place where it may stand, with an example."""
    return "\n\n".join([f"# {name}: a key of the policy language", *_entries(name)])


def _entries(name: str) -> Iterator[str]:
    page = read(POLICY)
    places = page.entry("places")
    for full, section in page.sections.items():
        owner, _, key = full.partition(".")
        if key == name:
            yield f"`{name}` {places.get(owner, f'of {owner}')}: {section[:1].lower()}{section[1:]}"
    yield from kinds.entries(name)
