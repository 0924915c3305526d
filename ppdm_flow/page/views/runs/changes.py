"""What differs between two runs, read from their reports: what must hold, and what is kept of each column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from ppdm_flow.core.amounts import amount
from ppdm_flow.page.services.policies.history import FOUND, ListedVersion
from ppdm_flow.page.services.runs.runs import ListedRun, from_report
from ppdm_flow.page.site import Site
from ppdm_flow.report.run.checks import CheckedRequirement, gates, requirements
from ppdm_flow.report.run.fields import ReportDocument, information_kept

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures of a run that two runs are compared by.

    ``checks`` are its requirements and gates, ``kept`` the shares of information by release and column (the whole
    release has the column ``""``), ``rows`` the rows of each release.
    """

    checks: tuple[CheckedRequirement, ...]
    kept: Mapping[tuple[str, str], float | None]
    rows: Mapping[str, int]


class BoundChange(StrEnum):
    """How the bound of a requirement has changed."""

    NEW = "new"
    GONE = "gone"
    STRICTER = "stricter"
    WEAKER = "weaker"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class ComparedCheck:
    """A requirement or gate in both runs; None where a run does not have it."""

    old: CheckedRequirement | None
    new: CheckedRequirement | None

    @property
    def title(self) -> str:
        """Its name, with its release."""
        check = self.new or self.old
        return "" if check is None else f"{check.title}, {check.release}" if check.release else check.title

    @property
    def bound(self) -> BoundChange:
        """Whether more or less is asked for."""
        if self.old is None or self.new is None:
            return BoundChange.NEW if self.old is None else BoundChange.GONE
        if self.old.limit == self.new.limit:
            return BoundChange.SAME
        return BoundChange.STRICTER if (self.new.limit < self.old.limit) == self.new.at_most else BoundChange.WEAKER

    @property
    def differs(self) -> bool:
        """Whether anything about it does."""
        if self.old is None or self.new is None:
            return True
        return (self.old.limit, self.old.measured, self.old.state) != (
            self.new.limit,
            self.new.measured,
            self.new.state,
        )


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure in both runs. ``name`` is a column or a release; None is a figure that was not measured."""

    name: str
    release: str
    old: float | None
    new: float | None
    unit: str

    @property
    def texts(self) -> tuple[str, str, str]:
        """The old figure, the new one, and the new one less the old one."""
        old, new = ("" if value is None else amount(value, self.unit) for value in (self.old, self.new))
        if self.old is None or self.new is None or self.old == self.new:
            return old, new, ""
        unit = "points" if self.unit == "share" else self.unit
        more = "+" if self.new > self.old else ""
        return old, new, f"{more}{amount(self.new - self.old, unit)}"

    @property
    def differs(self) -> bool:
        """Whether it is another one, as far as it is written."""
        return self.texts[0] != self.texts[1]


@dataclass(frozen=True, slots=True)
class RunChanges:
    """All that two runs are compared by: ``totals`` are what releases keep in all, ``columns`` what of each column."""

    checks: tuple[ComparedCheck, ...]
    rows: tuple[ComparedFigure, ...]
    totals: tuple[ComparedFigure, ...]
    columns: tuple[ComparedFigure, ...]

    @property
    def nothing(self) -> bool:
        """Whether no figure differs."""
        figures = (*self.rows, *self.totals, *self.columns)
        return not any(each.differs for each in self.checks) and not any(each.differs for each in figures)


def run_figures(document: ReportDocument) -> RunFigures:
    """Read from a report what runs are compared by."""
    kept: dict[tuple[str, str], float | None] = {}
    for each in information_kept(document):
        kept[each.release, ""] = each.share
        kept |= {(each.release, column.name): column.share for column in each.attributes}
    rows = {name: about["rows"] for name, about in document["releases"].items() if isinstance(about.get("rows"), int)}
    return RunFigures((*requirements(document), *gates(document)), kept, rows)


def changes_between(old: ListedRun, new: ListedRun) -> RunChanges:
    """Return what differs between two runs. Raises UsageError where a report cannot be read."""
    before, after = (from_report(run.folder, run_figures) for run in (old, new))
    checks_before, checks_after = (_by_name(each.checks) for each in (before, after))
    shares = _both(before.kept, after.kept)
    kept = [ComparedFigure(name, release, *pair, "share") for (release, name), pair in shares.items()]
    rows = _both(before.rows, after.rows)
    return RunChanges(
        tuple(ComparedCheck(*pair) for pair in _both(checks_before, checks_after).values()),
        tuple(ComparedFigure(release, release, *pair, "rows") for release, pair in rows.items()),
        tuple(each for each in kept if not each.name),
        tuple(each for each in kept if each.name),
    )


def run_before(run: ListedRun, others: Iterable[ListedRun]) -> ListedRun | None:
    """Return the last run of the policy before this one; ``others`` are newest first."""
    return next((each for each in others if (each.finished, each.name) < (run.finished, run.name)), None)


def version_of(site: Site, policy: str, run: ListedRun) -> ListedVersion | None:
    """Return the version of a policy that a run of this server was made of; None where the page has not kept it.

    It is the one that was there when the run was asked for: a run whose files change while it waits is not begun.
    """
    job = site.jobs.maker(run.key)
    return None if job is None or job.about != policy else version_at(site, policy, job.queued)


def version_at(site: Site, policy: str, moment: datetime) -> ListedVersion | None:
    """Return the version of a policy at a time; None where the page has not kept it.

    Before the first change on the page it is what that change found.
    """
    versions = site.policies.history.of(policy)
    before = next((each for each in versions if each.at <= moment), None)
    found = next((each for each in reversed(versions) if each.at > moment), None)
    return before or (found if found is not None and found.deed == FOUND else None)


def _by_name(checks: Iterable[CheckedRequirement]) -> dict[tuple[str, str, str], CheckedRequirement]:
    return {(check.id, check.release, check.metric): check for check in checks}


def _both(old: Mapping[K, V], new: Mapping[K, V]) -> dict[K, tuple[V | None, V | None]]:
    return {name: (old.get(name), new.get(name)) for name in {**new, **old}}
