"""Checking a policy while somebody writes it: a text that stands in no file yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppdm_flow.api.loading.kinds import FileKind, identity_of
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic, has_errors, in_order
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.floors.strength import MISSING, value
from ppdm_flow.policy.text.nodes import UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import forbidden

_LACKING, _OPEN_PARAM, _FLOOR = "PPF202", "PPF305", "PPF308"
"""The codes of what only a policy has to say: sections of its own, a value for each param, and what floors ask for."""


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """What a text is and what is wrong with it. ``loaded`` and ``plan`` are there as far as it came.

    Diagnostics name the file by its whole path; ``waived`` are those that a waiver covers.
    """

    kind: FileKind
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    waived: Mapping[Diagnostic, AcceptedWaiver] = field(default_factory=dict)
    loaded: PolicyReading | None = None
    plan: Plan | None = None

    @property
    def valid(self) -> bool:
        """Whether there are no errors."""
        return not has_errors(self.diagnostics)


def check_draft(path: Path, text: str, clock: Clock = utc_today) -> DraftCheck:
    """Check a text as if it stood at ``path``, beside the templates and tables that it names. No data is read.

    Of a template nothing is asked that only a policy has to say; of other YAML, that it can be read.
    """
    kind = identity_of(path, text.encode(errors="replace")).kind
    library = Library(texts={path: text})
    if kind is FileKind.OTHER:
        return DraftCheck(kind, _unreadable(path, text), {str(path): text})
    if kind is FileKind.TESTS:
        return _tests(path, library)
    loaded = load(path, library=library)
    outcome = compile_policy(loaded, digested=False, clock=clock)
    diagnostics = outcome.diagnostics
    if kind is FileKind.TEMPLATE:
        diagnostics = asked_of_templates(diagnostics, loaded.tree)
    return DraftCheck(kind, diagnostics, outcome.sources, outcome.waived, loaded, outcome.plan)


def asked_of_templates(diagnostics: Iterable[Diagnostic], tree: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a template: not that it lacks what only a policy has to say."""
    return tuple(each for each in diagnostics if not _of_policies_alone(each, tree))


def _of_policies_alone(each: Diagnostic, tree: Mapping[str, Any]) -> bool:
    if each.code == _FLOOR:
        return value(tree, each.path) is MISSING
    return each.code == _OPEN_PARAM or (each.code == _LACKING and len(each.path) == 1)


def _tests(path: Path, library: Library) -> DraftCheck:
    from ppdm_flow.api.test.files import CompiledPolicies, beside_policy  # noqa: PLC0415  # only tests need it
    from ppdm_flow.policy.test import load as load_tests  # noqa: PLC0415  # the same

    examined = beside_policy(load_tests(path, library), CompiledPolicies())
    return DraftCheck(FileKind.TESTS, examined.diagnostics, examined.sources)


def _unreadable(path: Path, text: str) -> tuple[Diagnostic, ...]:
    file = str(path)
    fault = forbidden(text, file)
    if fault is not None:
        return (fault,)
    try:
        _, faults = parse(text, file)
    except UnreadableError as error:
        return (error.diagnostic,)
    return in_order(faults)
