"""A sentence and an example for every key of the language, for editors; ``explain`` shows the same pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from ppdm_flow.core.pages import MalformedPageError, MarkdownPage, read

Described = tuple[str, Any]
POLICY = "keys/policy"
"""The page on the keys of a policy."""
TESTS = "keys/tests"
"""The page on the keys of a test file."""
_KEY = re.compile(r"(?P<text>.+)\n\n```yaml\n(?P<example>.+\n)```", re.DOTALL)
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@cache
def descriptions(name: str) -> Mapping[str, Described]:
    """Return what a page says of each key, by ``Model.key``: a sentence, and an example whose values are all text."""
    return described(read(name))


def described(page: MarkdownPage) -> Mapping[str, Described]:
    """Return the same of a page that was read. Raises MalformedPageError."""
    return {full: _described(page.name, full, section) for full, section in page.sections.items() if full}


def _described(name: str, full: str, section: str) -> Described:
    parts, key = _KEY.fullmatch(section), full.rpartition(".")[2]
    if parts is None:
        raise MalformedPageError(name, f"`{full}` needs a sentence and an example in YAML")
    example = yaml.load(parts["example"], Loader=_Loader)  # noqa: S506  # it makes nothing but texts, lists and maps
    if not isinstance(example, dict) or list(example) != [key]:
        raise MalformedPageError(name, f"the example of `{full}` must say what `{key}` is, and nothing else")
    return parts["text"], example[key]
