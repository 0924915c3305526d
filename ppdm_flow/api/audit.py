"""Judging a release that any tool has made."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.arguments import reader_options
from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.loading.bindings import plan_for_data
from ppdm_flow.api.loading.policies import quote_sources
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.results import Report
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.faults import RELEASED_WITH, naming_file
from ppdm_flow.engine.reading.own_data import own_data as own_file
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.engine.verify.judge_linked_files import judge_linked
from ppdm_flow.plan.definition import Plan, ReceivedFormat, ReleaseNode
from ppdm_flow.plan.formats import inferred
from ppdm_flow.plan.releases import COUNT
from ppdm_flow.report.locations import locations
from ppdm_flow.report.run.document import document
from ppdm_flow.report.run.judgement import RunJudgement

_WORDS = ("holds", "does not hold")


@dataclass(frozen=True, slots=True, repr=False)
class AuditedRelease:
    """The report on a file that claims to be a release."""

    report: Report
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    policy: Path = Path()

    def __repr__(self) -> str:
        """Return whether all requirements hold, in one line."""
        return f"<audit: {'holds' if self.holds else 'does not hold'}>"

    @property
    def holds(self) -> bool:
        """Whether everything held."""
        return self.report.verdict == "released"

    def judgement(self, width: int) -> RunJudgement:
        """Return what every form of the outcome is made from; text for a terminal of that many columns."""
        report = document(self.report)
        return RunJudgement(report, locations(), str(self.policy), self.diagnostics, width, _WORDS)


def audit(
    path: Path,
    original: Path | None,
    released: Path,
    release: str | None = None,
    operator: Path | None = None,
    sets: Mapping[str, str] = {},
    listener: Listener = ignore_events,
    *,
    strict: bool = False,
    locked: bool = False,
    released_with: Sequence[tuple[str, str]] = (),
) -> AuditedRelease:
    """Measure the policy's requirements on ``released``, as the release of that name, against ``original``.

    Without ``original`` the policy's own data is taken. ``released_with`` are names and texts of options: how another
    tool has written the released file, if not as the policy says.

    ``operator`` is the ``operator.json`` that came with it. Raises UsageError where the policy has several releases
    and none is named. ``locked`` is as for a run. Of linked tables ``original`` is the folder with the files of all
    tables, and ``released`` that with the files of all releases. Each may be in an object store.
    """
    with copies_for() as copies:
        there = None if original is None else copies.local(original)
        released = copies.local_release(released)
        operator = None if operator is None else copies.local(operator)
        with contextlib.nullcontext() if there is None else naming_file(there):
            ready = plan_for_data(path, sets, there, strict=strict, locked=locked, copies=copies)
        with quote_sources(ready.sources, ready.plan.secrets):
            if ready.plan.tables:
                first = next(node for table in ready.plan.tables for node in table.plan.releases)
                received = _received(first, None, released_with)
                report = _of_tables(ready.plan, ready.data, released, release, operator, received, listener)
            else:
                name = chosen(ready.plan, release)
                node = next(node for node in ready.plan.releases if node.name == name)
                received = _received(node, released, released_with)
                before = ready.data or own_file(ready.plan, copies.folder("own"))
                report = judge(ready.plan, before, released, name, operator, listener=listener, received=received)
            if ready.locked_policy is not None:
                ready.locked_policy.digests.unchanged()
    return AuditedRelease(report, ready.warnings, ready.sources, path)


def _received(release: ReleaseNode, released: Path | None, words: Sequence[tuple[str, str]]) -> ReceivedFormat | None:
    """Return how words say that a file is written; None without words. Raises UsageError."""
    if not words:
        return None
    kind = release.format if released is None else inferred("sources", telling_name(released)) or release.format
    lists = {
        name: tuple(part for key, text in words if key == name for part in text.split(","))
        for name in ("missing", "columns")
        if any(key == name for key, _ in words)
    }
    own = {name: text for name, text in words if name not in lists}
    count = own.pop(COUNT, None)
    options = reader_options(kind, own, f"{RELEASED_WITH} {{name}}={{text}}")
    return ReceivedFormat(options, lists.get("missing"), lists.get("columns"), count)


def _of_tables(
    plan: Plan,
    original: Path | None,
    released: Path,
    release: str | None,
    operator: Path | None,
    received: ReceivedFormat | None,
    listener: Listener,
) -> Report:
    if release is not None or operator is not None:
        option = "--release" if release is not None else "--operator"
        text = f"`{option}` is for policies of one table, and the policy has linked ones"
        help_text = "all releases are judged together; an `operator.json` is found beside its file"
        raise UsageError(Diagnostic("PPF694", text, help=help_text))
    return judge_linked(plan, original, released, listener=listener, received=received)


def chosen(plan: Plan, release: str | None) -> str:
    """Return the release to judge by. Raises UsageError where that is not clear."""
    names = [node.name for node in plan.releases]
    if release is None:
        if len(names) == 1:
            return names[0]
        listing = ", ".join(f"`{name}`" for name in names)
        text = f"the policy has several releases: {listing}"
        raise UsageError(Diagnostic("PPF694", text, help="say which one with `--release NAME`"))
    if release not in names:
        hint = did_you_mean(release, names)
        raise UsageError(Diagnostic("PPF694", f"the policy has no release `{release}`", hint=hint))
    return release
