"""Whether a file is meant as a policy (or template, or policy test): of anything else no line and no key is quoted.

A table of data or a key, given by mistake, would otherwise stand in the log of a build.
"""

from __future__ import annotations

import re

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.text.nodes import Map, Node, Scalar

_OWN = frozenset(
    ("extends", "params", "floors", "attributes", "undeclared", "nulls", "privacy", "steps", "audits", "gates")
) | frozenset(
    ("analyses", "waivers", "releases", "recipients", "people", "tables", "randomness", "ledger", "approvals", "tests")
)
"""Keys that hardly a table, a record or a settings file has at its top."""
_MAPS = frozenset(("source", "report"))
"""Keys that are its own where maps stand at them."""
_SHARED = frozenset(("version", "name", "description", "owner", "policy", "set", "data"))
_OF_TEMPLATES = _OWN | _MAPS | {"version", "description", "owner"}
_KEY = r"""["']?([^\s"'{}\[\],:]+)["']?[ \t]*:(?=[\s"'\[{]|$)[ \t]*([{\n]?)"""
_AT_LINE = re.compile(rf"^(?:-[ \t]+)?{_KEY}", re.MULTILINE)
_IN_FLOW = re.compile(rf"[{{,]\s*{_KEY}")
_VERSION = re.compile(
    r"""^(?:-[ \t]+|\{[ \t]*)?["']?version["']?[ \t]*:[ \t]*["']?1["']?[ \t]*([#,].*)?$""", re.MULTILINE
)


def is_meant_as_policy(text: str, root: Map | None, *, template: bool = False) -> bool:
    """Return whether the keys at the top are a policy's: at least half of them, and one that is its own.

    ``version: 1`` is its own, too; a ``template`` that another file extends may say nothing but who its owner is.
    ``root`` is None where the text cannot be parsed; then its keys are those that begin a line.
    """
    keys = _keys(text) if root is None else {key: _is_own(key, e.node) for key, e in root.entries.items()}
    known = keys.keys() & (_OWN | _MAPS | _SHARED)
    own = any(keys.values()) or _VERSION.search(text) is not None
    return (own and 2 * len(known) >= len(keys)) or (template and root is not None and keys.keys() <= _OF_TEMPLATES)


def is_template(root: Map) -> bool:
    """Return whether a file has only keys that a template has: neither a policy's ``name`` nor its ``releases``."""
    return not root.entries.keys() & {"name", "releases"} and root.entries.keys() <= Policy.model_fields.keys()


def has_policy_keys(root: Map) -> bool:
    """Return whether a file that nobody named is in the policy language, so that its faults are worth telling.

    Files of other tools share a key with it now and then (``steps``, ``extends``): ``version: 1`` and a key of its own
    say so, or two of its own, and at least half of the keys must be known. Policy tests are no policies.
    """
    keys = root.entries.keys()
    version = root.entries["version"].node if "version" in keys else None
    own = sum(_is_own(key, entry.node) for key, entry in root.entries.items())
    own += isinstance(version, Scalar) and version.text == "1"
    known = keys & (_OWN | _MAPS | _SHARED)
    return own >= 2 and 2 * len(known) >= len(keys) and not keys & {"tests", "policy"}


def _is_own(key: str, node: Node) -> bool:
    if key == "policy":
        return isinstance(node, Scalar) and (node.text or "").endswith((".yaml", ".yml"))
    return key in _OWN or (key in _MAPS and isinstance(node, Map))


def _keys(text: str) -> dict[str, bool]:
    pattern = _IN_FLOW if text.lstrip("\ufeff \t\r\n").startswith("{") else _AT_LINE
    return {key: key in _OWN or (key in _MAPS and begins in ("{", "\n")) for key, begins in pattern.findall(text)}


def is_empty(text: str) -> bool:
    """Return whether a text holds nothing but comments."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def no_policy(file: str, *, broken: bool = False) -> Diagnostic:
    """Return the fault of a file that is none, of ``broken`` YAML perhaps; it points to no line."""
    keys = "its top-level keys are not those of a policy"
    return Diagnostic(
        "PPF595",
        f"`{file}` is not a policy: {'it is no valid YAML, and ' if broken else ''}{keys}",
        Span(file, 1, 1, 1, 1),
        help="nothing of it is shown, since it may be data or a key; `ppdm-flow init` writes a policy",
    )
