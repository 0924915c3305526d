"""The page of a kind of requirement, and the descriptions of its clause's keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.pages import MalformedPageError, MarkdownPage, exists, read, read_of_package
from ppdm_flow.policy.language.kinds import RequirementSpec
from ppdm_flow.policy.language.shape import FixedKeys, Key, ListOf, MapOf, Shape, shape_of

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def page_of(spec: RequirementSpec) -> MarkdownPage | None:
    """Return the page of a kind; None where it has none. Raises PluginError where it cannot be read (PPF403)."""
    name = f"requirements/{spec.name}"
    if not spec.page:
        return read(name) if exists(name) else None
    try:
        return read_of_package(spec.page)
    except MalformedPageError as error:
        raise _unreadable(spec, str(error)) from error
    except (OSError, ImportError) as error:
        raise _unreadable(spec, f"{spec.page}: {type(error).__name__}") from error


def entry_of(spec: RequirementSpec) -> tuple[str, Any]:
    """Return a sentence on a kind and an example of its entry, from its page; its values are all text.

    Raises PluginError.
    """
    page = page_of(spec)
    if page is None:
        return (spec.requirement.__doc__ or "").strip(), None
    try:
        summary, example = page.entry("summary"), yaml.load(page.example("Example"), Loader=_Loader)  # noqa: S506  # it makes nothing but texts, lists and maps
        return f"{summary[:1].upper()}{summary[1:]}.", example["privacy"][spec.name]
    except (MalformedPageError, yaml.YAMLError, KeyError, TypeError) as error:
        raise _unreadable(spec, f"it needs a `summary` and under `Example` an entry `privacy: {spec.name}`") from error


def keys_of(spec: RequirementSpec) -> Iterator[Key]:
    """Yield the keys of an entry, and those of the maps in it."""
    if spec.written:
        yield from _below(shape_of(spec.requirement))


def _below(shape: Shape) -> Iterator[Key]:
    if isinstance(shape, FixedKeys):
        for key in shape.keys.values():
            yield key
            yield from _below(key.shape)
    elif isinstance(shape, MapOf):
        yield from _below(shape.value)
        if shape.instead is not None:
            yield from _below(shape.instead)
    elif isinstance(shape, ListOf):
        yield from _below(shape.item)


def _unreadable(spec: RequirementSpec, why: str) -> PluginError:
    return PluginError(Diagnostic("PPF403", f"the page of the requirement `{spec.name}` cannot be read: {why}"))
