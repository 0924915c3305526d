"""Kinds of requirements that come with other packages: their pages, and those of the keys of their clauses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from ppdm_flow.api.explain.concepts import Concept, concept_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.pages import MalformedPageError
from ppdm_flow.policy.language.kind_pages import keys_of, page_of
from ppdm_flow.policy.language.kinds import RequirementSpec, known, third_parties


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
    """Yield what the clauses of other packages say of a key of theirs, each with an example."""
    for spec in usable():
        for key in keys_of(spec):
            if key.name == name and key.description:
                text = f"`{name}` of `{spec.name}`: {key.description[:1].lower()}{key.description[1:]}"
                example = "" if key.example is None else f"\n\n```yaml\n{name}: {_yaml(key.example)}\n```"
                yield text + example


def key_names() -> Iterator[str]:
    """Yield the keys that these clauses tell of."""
    for spec in usable():
        yield from (key.name for key in keys_of(spec) if key.description)


def _yaml(value: object) -> str:
    """Write a value as YAML does on one line; JSON is YAML."""
    return value if isinstance(value, str) and value.isidentifier() else json.dumps(value, ensure_ascii=False)
