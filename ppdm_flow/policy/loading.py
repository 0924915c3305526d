"""Reading a policy: text, inheritance and params, shape, rules; whatever is wrong is in the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.faults import UnreadableError
from ppdm_flow.policy.flatten import flatten
from ppdm_flow.policy.loaded import Loaded, Places
from ppdm_flow.policy.models import Policy
from ppdm_flow.policy.nodes import Map
from ppdm_flow.policy.parse import parse
from ppdm_flow.policy.text import forbidden, read
from ppdm_flow.policy.validate import validate


def load(path: Path, sets: Mapping[str, str] = {}) -> Loaded:
    """Read the policy at ``path``, with ``sets`` (from ``--set``) over its params. Never raises for a bad policy.

    Raises
    ------
    UsageError
        Where the file itself cannot be read (PPF100).
    """
    file = str(path)
    sources: dict[str, str] = {}
    try:
        text = read(path)
        sources[file] = text
        fault = forbidden(text, file)
        if fault is not None:
            raise UnreadableError(fault)
        root, found = parse(text, file)
    except UnreadableError as error:
        return _hopeless(file, sources, [error.diagnostic])
    if not isinstance(root, Map):
        return _hopeless(file, sources, [*found, Diagnostic("PPF116", "no map", Span(file, 1, 1, 1, 1))])
    flat = flatten(root)
    policy, faults = validate(flat, Policy)
    diagnostics = in_order([*found, *faults])
    return Loaded(
        file,
        None if has_errors(diagnostics) else policy,
        flat.tree,
        flat.places,
        sources,
        diagnostics,
        digest(flat.tree),
    )


def _hopeless(file: str, sources: Mapping[str, str], found: list[Diagnostic]) -> Loaded:
    return Loaded(file, None, {}, Places({}, {(): Span(file, 1, 1, 1, 1)}), sources, in_order(found), digest({}))
