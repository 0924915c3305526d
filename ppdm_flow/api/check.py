"""Checking policies without data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.api.buckets import local_data
from ppdm_flow.api.drafts.check import asked_of_templates
from ppdm_flow.api.loading.policies import FoundFiles, errors_if_strict, find_policies, project_policies, stricter
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic, Severity, in_order
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.policy import load
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.rules.gates import NOTHING_REQUIRED
from ppdm_flow.report.check import CheckResult, WaiverNote
from ppdm_flow.report.locations import locations

if TYPE_CHECKING:
    from ppdm_flow.api.loading.locked import Locks
    from ppdm_flow.policy.test import LoadedTests as Cases

_OF_POLICIES = frozenset(("name", "source", "releases"))
_OF_TEMPLATES = frozenset(("floors", "privacy"))


@dataclass(frozen=True, slots=True, repr=False)
class CheckOutcome:
    """What is wrong with the policies and policy tests ``files``, in all and for ``each``.

    ``skipped`` are YAML files in folders that are neither; ``tests`` are the files with tests, and ``templates`` those
    of which nothing was asked that only a policy has to say. ``waived`` are the warnings that waivers cover.
    ``if_strict`` are errors, for each file, that count where warnings do.
    """

    files: tuple[Path, ...]
    skipped: tuple[Path, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    each: tuple[tuple[Diagnostic, ...], ...] = ()
    tests: tuple[Path, ...] = ()
    templates: tuple[Path, ...] = ()
    waived: Mapping[Diagnostic, WaiverNote] = field(default_factory=dict)
    if_strict: tuple[tuple[Diagnostic, ...], ...] = ()

    def __repr__(self) -> str:
        """Return whether it passes, and how many faults there are, in one line."""
        verb = "passes" if self.passes() else "does not pass"
        return f"<{counted(len(self.files), 'file')}, {verb}: {counted(len(self.diagnostics), 'diagnostic')}>"

    def strictly(self) -> CheckOutcome:
        """Return the outcome with the errors that count where warnings do."""
        pairs = zip(self.each, self.if_strict, strict=True)
        each = tuple(in_order((*diagnostics, *more)) for diagnostics, more in pairs)
        more = tuple(d for named in self.if_strict for d in named)
        return replace(self, diagnostics=in_order((*self.diagnostics, *more)), each=each)

    @property
    def without_requirements(self) -> int:
        """The number of policies that require nothing, or nothing on one of their releases."""
        pairs = zip(self.each, self.if_strict, strict=True)
        return sum(any(d.code == NOTHING_REQUIRED for d in (*diagnostics, *more)) for diagnostics, more in pairs)

    def count(self, severity: Severity) -> int:
        """Return how many diagnostics have this severity and are not waived."""
        return sum(d.severity is severity and d not in self.waived for d in self.diagnostics)

    def passes(self, *, strict: bool = False) -> bool:
        """Whether there are no errors; with ``strict``, no warnings either."""
        bad = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
        if strict and any(self.if_strict):
            return False
        return not any(d.severity in bad and d not in self.waived for d in self.diagnostics)

    def result(self, *, strict: bool = False, color: bool = False) -> CheckResult:
        """Return what every form of the outcome is made from."""
        each = self.strictly().each if strict else self.each
        files = {str(file): diagnostics for file, diagnostics in zip(self.files, each, strict=True)}
        return CheckResult(files, self.sources, locations(), self.waived, strict=strict, color=color)


def check(
    paths: Sequence[str | Path],
    sets: Mapping[str, str] = {},
    clock: Clock = utc_today,
    *,
    locked: bool = False,
    data: Path | None = None,
) -> CheckOutcome:
    """Load and compile every policy in ``paths`` (files, folders, glob patterns), and hold policy tests against theirs.

    ``clock`` tells the day, for waivers. With ``locked``, differences from the policies' lock files are faults, too.
    With ``data``, so is what this file rules out or lacks; every policy of ``paths`` is held against it.
    Where ``paths`` is empty, the policies are those that the project file names.
    Raises UsageError where nothing is found or a file (or a lock) cannot be read, DataError where the data cannot be
    read or does not match.
    """
    policy_files = find_policies(paths or project_policies(), tests=True)
    waivers = _Waivers()
    sources: dict[str, str] = {}
    each: list[tuple[Diagnostic, ...]] = []
    if_strict: list[tuple[Diagnostic, ...]] = []
    are_templates: list[bool] = []
    with local_data(data) as there:
        for outcome, strict, is_template in _outcomes(
            policy_files, sets, clock, there, locked=locked
        ):  # no more is kept: a plan is large
            sources |= outcome.sources
            each.append(outcome.diagnostics)
            if_strict.append(strict)
            are_templates.append(is_template)
            waivers.take(outcome.diagnostics, outcome.waived if isinstance(outcome, CompileResult) else {})
    diagnostics = in_order(d for named in each for d in named)
    files, waived = (*policy_files.policies, *policy_files.tests), waivers.waived
    others, tests = policy_files.others, policy_files.tests
    templates = tuple(compress(files, are_templates))
    return CheckOutcome(files, others, diagnostics, sources, tuple(each), tests, templates, waived, tuple(if_strict))


def _outcomes(
    files: FoundFiles, sets: Mapping[str, str], clock: Clock, data: Path | None, *, locked: bool
) -> Iterator[tuple[CompileResult | Cases, tuple[Diagnostic, ...], bool]]:
    """Yield what is found in each policy, with what they share read once, then in each test.

    Beside it stand the errors that count where warnings do, and whether the file is a template.
    """
    library = Library()
    locks: Locks | None = None
    for path in files.policies:
        loaded = load(path, sets, library=library)
        outcome = compile_policy(loaded, digested=False, clock=clock)
        if data is not None:
            from ppdm_flow.api.loading.bindings import held_against  # noqa: PLC0415  # only `--data` needs the engine

            outcome = held_against(loaded, outcome, data, clock, sets)
        if locked or loaded.locked:
            locks = locks or _locks()
            outcome = locks.judged(loaded, outcome, sets, library)
        if is_template := not _OF_POLICIES & loaded.tree.keys() and bool(_OF_TEMPLATES & loaded.tree.keys()):
            outcome = replace(outcome, diagnostics=asked_of_templates(outcome.diagnostics, loaded.tree))
        if loaded.strict:
            outcome = replace(outcome, diagnostics=stricter(outcome))
        yield outcome, errors_if_strict(loaded), is_template
    if files.tests:
        from ppdm_flow.api.test.files import CompiledPolicies, examined  # noqa: PLC0415  # only tests need it

        policies = CompiledPolicies()
        yield from ((examined(path, policies), (), False) for path in files.tests)


def _locks() -> Locks:
    from ppdm_flow.api.loading.locked import Locks  # noqa: PLC0415  # only `--locked` needs it

    return Locks()


class _Waivers:
    """What waivers cover in all policies: a template's warning counts where one of its policies does not waive it."""

    def __init__(self) -> None:
        self._covered: dict[Diagnostic, AcceptedWaiver] = {}
        self._open: set[Diagnostic] = set()

    def take(self, diagnostics: Sequence[Diagnostic], covered: Mapping[Diagnostic, AcceptedWaiver]) -> None:
        """Take in what was found in one policy, and what of it is covered."""
        self._covered |= covered
        self._open |= {d for d in diagnostics if d not in covered}

    @property
    def waived(self) -> dict[Diagnostic, WaiverNote]:
        """What every policy that has it waives."""
        covered = ((d, w) for d, w in self._covered.items() if d not in self._open)
        return {d: WaiverNote(w.name, w.reason, w.owner, w.until.isoformat()) for d, w in covered}
