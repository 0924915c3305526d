"""Pages of words: of the policy language and the reports, of keys, and of kinds that other packages bring."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.pages import MalformedPageError, MarkdownPage, Pages, read
from ppdm_flow.policy.language.kind_pages import keys_of, page_of
from ppdm_flow.policy.language.kinds import RequirementSpec, built_in, known, third_parties
from ppdm_flow.policy.language.schemas import POLICY

KINDS = (
    "Risks of re-identification",
    "Sections of a policy",
    "Roles",
    "Requirements",
    "Sharing policies",
    "Comparing policies",
    "In CI",
    "Starting",
    "Policies as code",
    "Plugins",
    "Using a release",
)
"""The kinds of terms, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A term: what it is in a line (``summary``), and its ``page``; it is the ``order``-th of its ``kind``.

    Pages of roles and requirements say why it matters, have an example of each side and say what to do; those of
    other terms have what makes sense.
    """

    kind: str
    order: int
    summary: str
    page: MarkdownPage

    def text(self) -> str:
        """Return the whole page as Markdown."""
        head = f"# {self.page.topic}\n\n{self.summary[:1].upper()}{self.summary[1:]}."
        return f"{head}\n\n{self.page.body}" if self.page.body else head

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in the list of all."""
        return KINDS.index(self.kind), self.order


def concept_of(page: MarkdownPage) -> Concept:
    """Return the term that a page is about. Raises MalformedPageError where its kind is unknown."""
    kind = page.entry("kind")
    if kind not in KINDS:
        raise MalformedPageError(page.name, f"there is no kind of terms `{kind}`")
    return Concept(kind, page.entry("order"), page.entry("summary"), page)


CONCEPTS: Mapping[str, Concept] = Pages("concepts", "requirements", "roles", made=concept_of)
"""By the name that ``explain`` takes."""


_PLAIN = re.compile(r"[\w.][\w./-]*")


def usable() -> Iterator[RequirementSpec]:
    """Yield the kinds of other packages that can be loaded; `doctor` names the others."""
    specs = (known(name) for name in sorted(third_parties()))
    yield from (spec for spec in specs if spec is not None)


def concept(name: str) -> Concept | None:
    """Return the page of a kind of another package; None where it is none, or has no page. Raises PluginError."""
    spec = known(name) if name in third_parties() else None
    page = page_of(spec) if spec is not None and spec.page else None
    if page is None:
        return None
    try:
        return concept_of(replace(page, name=f"requirements/{name}"))
    except MalformedPageError as error:
        raise PluginError(Diagnostic("PPF403", f"the page of the requirement `{name}` is wrong: {error}")) from error


def entries(name: str) -> Iterator[str]:
    """Yield what clauses say of a key of theirs, each with an example; kinds that say the same are named together."""
    owners: dict[str, list[str]] = {}
    for spec in _all():
        for key in keys_of(spec):
            if key.name == name and key.description:
                example = "" if key.example is None else f"\n\n```yaml\n{name}: {_yaml(key.example)}\n```"
                text = f"{key.description[:1].lower()}{key.description[1:]}{example}"
                owners.setdefault(text, []).append(f"`{spec.name}`")
    for text, named in owners.items():
        yield f"`{name}` of {', '.join(dict.fromkeys(named))}: {text}"


def key_names() -> Iterator[str]:
    """Yield the keys that clauses tell of."""
    for spec in _all():
        yield from (key.name for key in keys_of(spec) if key.description)


def _all() -> Iterator[RequirementSpec]:
    yield from built_in()
    yield from usable()


def _yaml(value: object) -> str:
    """Write a value on one line of YAML; texts without quotes where they need none."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_yaml(key)}: {_yaml(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    return str(value) if _PLAIN.fullmatch(str(value)) else json.dumps(value, ensure_ascii=False)


@cache
def names() -> tuple[str, ...]:
    """Return every key that has a page."""
    own = (full.partition(".")[2] for full in read(POLICY).sections if full)
    return tuple(dict.fromkeys((*own, *key_names())))


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
    yield from entries(name)
