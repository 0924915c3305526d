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
ANY_KIND = re.compile("|".join(KINDS))


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


def trees(root: Path) -> Iterator[tuple[str, ast.AST]]:
    for room in ROOMS:
        for module in (root / "ppdm_flow" / room).rglob("*.py"):
            yield str(module.relative_to(root)), ast.parse(module.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_no_room_names_or_imports_a_kind(root):
    faults = []
    for module, tree in trees(root):
        texts = [word for word in words(tree) if ANY_KIND.search(word)]
        faults += [f"{module}: {text[:60]!r} names {kind}" for text in texts for kind in KINDS if quoted(text, kind)]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
                faults += [f"{module} imports {n}" for n in names if n.startswith("ppdm_flow.requirements")]
    assert faults == []


@pytest.mark.parametrize("text", ["k_anonymity", "`k_anonymity` groups", "privacy.k_anonymity.k"])
def test_what_names_a_kind_is_seen(text):
    assert quoted(text, "k_anonymity")


@pytest.mark.parametrize("text", ["k-anonymity", "km_anonymity", "k_anonymity_of"])
def test_what_names_none_is_not(text):
    assert not quoted(text, "k_anonymity")
