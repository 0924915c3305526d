"""No room above names a kind of requirement: each is a folder of its own, reached by its entry point."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppdm_flow.policy.language.kinds import built_in

ROOMS = ("core", "tables", "sdk", "policy", "mining", "plan", "engine", "report", "api", "cli")
KINDS = tuple(spec.name for spec in built_in())
FEATURES = frozenset({"templates", "blend", "sensitivities"})
"""Kinds that are also words for something else: policies to extend, a parameter, the plural of a bound."""


def modules(root: Path) -> Iterator[Path]:
    for room in ROOMS:
        yield from (root / "ppdm_flow" / room).rglob("*.py")


def words(tree: ast.AST) -> Iterator[str]:
    """Yield every name and every text of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def quoted(text: str, kind: str) -> bool:
    before = r"privacy\." if kind in FEATURES else ""
    return re.search(rf"(?<!\w){before}{kind}(?!\w)", text) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_no_room_names_a_kind(root, kind):
    naming = [
        f"{module.relative_to(root)}: {word[:60]!r}"
        for module in modules(root)
        for word in words(ast.parse(module.read_text(encoding="utf-8")))
        if quoted(word, kind)
    ]
    assert naming == []


def test_no_room_imports_a_kind(root):
    importing = [
        str(module.relative_to(root))
        for module in modules(root)
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ppdm_flow.requirements"))
        or (isinstance(node, ast.Import) and any(a.name.startswith("ppdm_flow.requirements") for a in node.names))
    ]
    assert importing == []


@pytest.mark.parametrize("text", ["k_anonymity", "`k_anonymity` groups", "privacy.k_anonymity.k"])
def test_what_names_a_kind_is_seen(text):
    assert quoted(text, "k_anonymity")


@pytest.mark.parametrize("text", ["k-anonymity", "km_anonymity", "k_anonymity_of"])
def test_what_names_none_is_not(text):
    assert not quoted(text, "k_anonymity")
