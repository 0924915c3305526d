"""Pages of the reference: codes, roles, requirements, plugins, figures, sections of the policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from ppdm_flow.api.explain.cards import figure_names, figure_pages, figure_topics, is_owned, parameter_page, plugin_page
from ppdm_flow.api.explain.templates import template_names, template_page
from ppdm_flow.core.diagnostics import Diagnostic, current_code
from ppdm_flow.core.errors import PluginError, UsageError
from ppdm_flow.core.pages import CodePage, MalformedPageError, MarkdownPage, Pages, pages, read
from ppdm_flow.core.suggest import closest, synonyms_of
from ppdm_flow.policy.language.kind_pages import keys_of, page_of
from ppdm_flow.policy.language.kinds import RequirementSpec, aliases, built_in, known, third_parties
from ppdm_flow.policy.language.schemas import POLICY
from ppdm_flow.sdk import registry


def explain(term: str) -> str:
    """Return the page of a term, or of a figure with its prefix, as Markdown. Raises UsageError where there is none.

    A word of papers or of other tools has the pages of ours for it, a parameter and a word that it takes a line for
    each plugin.
    """
    word = term.strip().strip("`")
    texts = _pages(word)
    if not texts:
        meant = [each for each in synonyms_of(word) if _pages(each)]
        texts = [f"Here, `{word}` is {' or '.join(f'`{each}`' for each in meant)}."] if meant else []
        texts += [page for each in meant for page in _pages(each)]
        texts += parameter_page(word.lower().replace("-", "_").replace(" ", "_"))
    if texts:
        return "\n\n".join(texts)
    near = closest(
        word,
        (*CONCEPTS, *third_parties(), *concept_names(), *_plugins(), *figure_names(), *template_names(), *pages()),
        aliases(),
    )
    hint = f"did you mean `{near}`?" if near else None
    help_ = "`ppdm-flow explain` alone lists everything that has a page"
    raise UsageError(Diagnostic("PPF692", f"there is no page about `{term}`", hint=hint, help=help_))


def _pages(word: str) -> list[str]:
    """Return the pages of one of our own words; none where it is not ours."""
    if (code := current_code(word.upper())) in pages():
        return [code_page(pages()[code], word.upper())]
    if (page := template_page(word)) is not None:
        return [page]
    metric = word.lower().replace("-", "_").replace(" ", "_")
    if "." in metric and is_owned(metric):
        return figure_pages(metric)
    name = metric.rpartition(".")[2]
    concept = CONCEPTS[name] if name in CONCEPTS else find_concept(name)
    texts = [concept.text()] if concept is not None else []
    if concept is None and name in concept_names():
        texts += [key_page(name), *parameter_page(name)]
    texts += [plugin_page(group, name) for group in registry.GROUPS if _installed(group, name)]
    texts += figure_pages(name) or figure_pages(metric)
    return texts


def topics() -> str:
    """Return everything that has a page, as Markdown."""
    groups: dict[str, list[str]] = {}
    for concept in sorted(CONCEPTS.values(), key=lambda concept: concept.place):
        groups.setdefault(concept.kind, []).append(f"- `{concept.page.topic}`: {concept.summary}")
    parts = [f"## {kind}\n\n" + "\n".join(lines) for kind, lines in groups.items()]
    others = [f"- `{spec.name}`: {spec.audit.info.summary}" for spec in usable()]
    if others:
        parts.append("## Requirements of other packages\n\n" + "\n".join(others))
    rest = ", ".join(f"`{name}`" for name in concept_names() if name not in CONCEPTS)
    parts.append(f"## Keys of a policy\n\n{rest}")
    for group in registry.GROUPS:
        names = ", ".join(f"`{plugin.name}`" for plugin in registry.listed(group))
        parts.append(f"## {group.capitalize()}\n\n{names}")
    parts += figure_topics()
    parts.append("## Templates\n\n" + ", ".join(f"`{name}`" for name in template_names()))
    codes = "\n".join(f"- `{page.code}`: {page.title}" for page in pages().values())
    return "\n\n".join([*parts, f"## Codes\n\n{codes}"])


def code_page(page: CodePage, requested: str) -> str:
    """Return the page of a diagnostic code as Markdown; ``requested`` may be a code that was merged into it."""
    renamed = f"`{requested}` is called `{page.code}` now.\n\n" if requested != page.code else ""
    return f"# {page.code}: {page.title}\n\n{renamed}{page.body}"


def _installed(group: str, name: str) -> bool:
    try:
        registry.find(group, name)
    except PluginError:
        return False
    return True


def _plugins() -> Iterator[str]:
    for group in registry.GROUPS:
        yield from (plugin.name for plugin in registry.listed(group))


# Pages of words: of the policy language and the reports, of keys, and of kinds that other packages bring.


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


def find_concept(name: str) -> Concept | None:
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
    """Yield the keys of clauses that have a description."""
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
def concept_names() -> tuple[str, ...]:
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
