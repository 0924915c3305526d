"""The verdict in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.people import BY_PSEUDONYMS
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.plan.together import SIGN
from ppdm_flow.report.run.checks import CheckedRequirement, gates, requirements
from ppdm_flow.report.run.fields import ReportDocument, ReportedWaiver, waivers
from ppdm_flow.report.run.wording import listed

_IN_COMMON = "PPF845"
"""The finding that several releases leave groups of too few people."""
_TAKES_AWAY = frozenset({"PPF857"})
"""Findings without which no figure can be read: they stand beside the verdict."""
_LITTLE_USE = {"PPF926": "Of little use", "PPF927": "Much is lost"}
"""Findings that a released column has one value or hides most of its cells, and that sets lost most of their items."""
_PERSONAL = "PPF649"
"""The finding that a released column shows personal data which the policy does not declare."""


def caution(document: ReportDocument) -> str:
    """Return the sentences, or nothing."""
    return " ".join(
        (
            *_nothing_asked(document),
            *_taken_away(document),
            *_personal(document),
            *_as_they_are(document),
            *_by_pseudonyms(document),
            *_apart(document),
            *_in_common(document),
            *(text for code in _LITTLE_USE for text in _hidden(document, code)),
        )
    )


def _nothing_asked(document: ReportDocument) -> list[str]:
    if not document["requirements"]:
        return ["The policy states no privacy requirement, so this verdict says nothing of privacy."]
    bare = listed([f"`{name}`" for name in _without_requirements(document)])
    return [f"No requirement was judged on {bare}, so this verdict says nothing of privacy there."] if bare else []


def _without_requirements(document: ReportDocument) -> tuple[str, ...]:
    """Return the releases on which no requirement was judged, neither alone nor joined to others."""
    judged = {name for result in document["requirements"] for name in result["release"].split(SIGN)}
    return () if "" in judged else tuple(name for name in document["releases"] if name not in judged)


def _taken_away(document: ReportDocument) -> list[str]:
    return [f"{f['text']}." for f in document["findings"] if f["code"] in _TAKES_AWAY]


def _personal(document: ReportDocument) -> list[str]:
    findings = [f for f in document["findings"] if f["code"] == _PERSONAL and not f.get("waived_by")]
    subjects: dict[str, list[str]] = {}
    for finding in findings:
        subjects.setdefault(finding["text"], []).append(f"`{finding['subject']}`")
    return [f"Undeclared personal data ({_PERSONAL}) in {listed(where)}: {text}." for text, where in subjects.items()]


def _as_they_are(document: ReportDocument) -> list[str]:
    of = list(dict.fromkeys(f["subject"] for f in document["findings"] if f["code"] == UNTOLD))
    figures = f"the figures of {listed(of)}" if all(of) else "some figures"
    text = f"Rows cannot be paired with their originals here: {figures} take the cells of the release as they are."
    return [f"{text} What is behind them is told by the run alone that made it ({UNTOLD})."] if of else []


def _by_pseudonyms(document: ReportDocument) -> list[str]:
    of = [f"`{f['subject']}`" for f in document["findings"] if f["code"] == BY_PSEUDONYMS]
    text = (
        f"People are counted by the pseudonyms in {listed(of)}: that all rows of a person have one there is taken from"
    )
    return [f"{text} the {'files' if len(of) > 1 else 'file'} ({BY_PSEUDONYMS})."] if of else []


def _apart(document: ReportDocument) -> list[str]:
    if document["plan"].get("recipients") != "apart":
        return []
    number = len(document["releases"])
    return [
        (
            f"The policy says that nobody sees two of the {number:,} releases (`recipients: apart`), so each was"
            " judged by itself, and nothing measured what they tell together."
        )
    ]


def _in_common(document: ReportDocument) -> list[str]:
    return [
        f"Release {f['release']}: {f['text']}" if f.get("release") else f["text"]
        for f in document["findings"]
        if f["code"] == _IN_COMMON and not f.get("waived_by")
    ]


def _hidden(document: ReportDocument, code: str) -> list[str]:
    """Say which released columns say next to nothing, and what helps: once for all that the same helps."""
    findings = [f for f in document["findings"] if f["code"] == code and not f.get("waived_by")]
    releases_of: dict[str, dict[str, list[str]]] = {}
    for finding in findings:
        what, _, advice = finding["text"].partition(". ")
        releases_of.setdefault(advice, {}).setdefault(what, []).append(finding["subject"].partition(".")[0])
    several = len(document["releases"]) > 1
    texts = []
    for advice, columns in releases_of.items():
        named = [f"{what} ({listed(of)})" if several and all(of) else what for what, of in columns.items()]
        texts.append(f"{'; '.join(named)}.{f' {advice}.' if advice else ''}")
    return [f"{_LITTLE_USE[code]} ({code}): {' '.join(texts)}"] if texts else []


@dataclass(frozen=True, slots=True)
class CheckTally:
    """How many checks of one release hold, those that are about no release in particular included."""

    release: str
    holding: int
    total: int
    waived: int = 0

    @property
    def holds(self) -> bool:
        """Whether all of them do."""
        return self.holding == self.total

    @property
    def state(self) -> str:
        """``fails``, ``waived`` or ``holds``: the worst of them; ``unasked`` where there is none."""
        if not self.total:
            return "unasked"
        if self.holding + self.waived < self.total:
            return "fails"
        return "waived" if self.waived else "holds"


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What the page says first. ``contradiction`` is set where the document's verdict and checks disagree.

    ``released`` is whether nothing withholds the data; ``held`` whether it waits for approvals all the same. ``manner``
    is the part of ``word`` that says how: `` without requirements``, `` under waivers``, both or neither.
    ``bare_releases`` are those on which no requirement was judged.
    """

    released: bool
    word: str
    sentence: str
    contradiction: str
    caution: str
    requirements: tuple[CheckedRequirement, ...]
    gates: tuple[CheckedRequirement, ...]
    releases: tuple[CheckTally, ...]
    waivers: tuple[ReportedWaiver, ...] = ()
    held: bool = False
    manner: str = ""
    bare_releases: tuple[str, ...] = ()

    @property
    def without_requirements(self) -> bool:
        """Whether the data may leave and no requirement was judged, on all of it or on some releases."""
        return self.released and (not self.requirements or bool(self.bare_releases))

    @property
    def failing(self) -> tuple[CheckedRequirement, ...]:
        """All checks that do not hold and are not waived."""
        return self._in("fails")

    @property
    def waived(self) -> tuple[CheckedRequirement, ...]:
        """All checks that do not hold and need not."""
        return self._in("waived")

    @property
    def state(self) -> str:
        """``fails``, ``waived`` or ``holds``."""
        if not self.released:
            return "fails"
        return "waived" if self.waived else "holds"

    def _in(self, state: str) -> tuple[CheckedRequirement, ...]:
        return tuple(check for check in (*self.requirements, *self.gates) if check.state == state)


def verdict(document: ReportDocument, words: tuple[str, str] | None = None) -> PageVerdict:
    """Return the verdict. A document that lets data go over a failed check is shown as withheld, with a warning.

    ``words`` replace "released" and "withheld" where others have made the file, so that nothing leaves or stays here.
    """
    checks, gated = tuple(requirements(document)), tuple(gates(document))
    every = (*checks, *gated)
    claimed, held = document["verdict"] in (RELEASED, HELD), document["verdict"] == HELD
    failing = [check for check in every if check.state == "fails"]
    waived = any(check.state == "waived" for check in every)
    released = claimed and not failing
    bare = _without_requirements(document)
    partly = f" on {len(bare):,} of {counted(len(document['releases']), 'release')}" if checks else ""
    manner = f"{'' if checks and not bare else f' without requirements{partly}'}{' under waivers' if waived else ''}"
    word = f"{'Held' if held else 'Released'}{manner}" if released else "Withheld"
    sentence = _sentence(released, checks, gated, list(document["releases"]), held=held)
    if words is not None:
        word = f"{words[not released].capitalize()}{manner if released else ''}"
        sentence = sentence.partition(". ")[0].rstrip(".") + "."
    sentence = " ".join((sentence, *_known_beforehand(document)))
    return PageVerdict(
        released=released,
        word=word,
        sentence=sentence,
        contradiction=_contradiction(document["verdict"] if claimed else "", len(failing), len(every), waived=waived),
        caution=caution(document),
        requirements=checks,
        gates=gated,
        releases=tuple(_tallies(list(document["releases"]), every)),
        waivers=waivers(document),
        held=released and held,
        manner=manner if released else "",
        bare_releases=bare,
    )


def _known_beforehand(document: ReportDocument) -> list[str]:
    """Say how many rows of a person somebody may know, where people are counted: requirements hold for no more."""
    people = document["plan"].get("people")
    if not people or not document["requirements"]:
        return []
    known = str(people["known_rows"])
    rows = {"1": "one row", "all": "all rows"}.get(known, f"{known} rows")
    beyond = "" if known == "all" else " Nothing was measured about somebody who knows more."
    return [
        (
            f"People are counted, by `{people['subject']}`, and somebody may know {rows} of a person beforehand"
            f" (`known_rows: {known}`).{beyond}"
        )
    ]


def _sentence(
    released: bool,
    checks: tuple[CheckedRequirement, ...],
    gated: tuple[CheckedRequirement, ...],
    releases: list[str],
    *,
    held: bool,
) -> str:
    total = len(checks) + len(gated)
    failing = sum(check.state == "fails" for check in (*checks, *gated))
    waived = sum(check.state == "waived" for check in (*checks, *gated))
    beside = f" {waived:,} more {'does' if waived == 1 else 'do'} not hold and {_are(waived)} waived." if waived else ""
    where = f" ({listed(releases)})" if releases else ""
    if released:
        what = f"{len(releases):,} releases{where}" if len(releases) > 1 else listed(releases) or "asked"
        when = " once people have approved it: `publication.json` says whether and when they did" if held else ""
        leave = f"The data may leave as {what}{when}."
        holding = [sum(check.holds for check in part) for part in (checks, gated)]
        return f"{_write_holding(*holding, waived=waived)} {leave}"
    if failing:
        verb = "does" if failing == 1 else "do"
        return f"{failing:,} of {counted(total, 'check')} {verb} not hold.{beside} No release has left{where}."
    return f"No release has left{where}."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _write_holding(total: int, gated: int, *, waived: int) -> str:
    parts = [counted(count, noun) for count, noun in ((total, "requirement"), (gated, "gate")) if count]
    but = f"{counted(waived, 'check')} {'does' if waived == 1 else 'do'} not hold and {_are(waived)} waived."
    if not parts:
        return but[0].upper() + but[1:] if waived else "Nothing was asked, so nothing failed."
    verb = "holds" if total + gated == 1 else "hold"
    text = f"{listed(parts)} {verb}, measured on the released files themselves"
    return f"{text}; {but}" if waived else f"{text}."


def _contradiction(claimed: str, failing: int, total: int, *, waived: bool) -> str:
    """Return what is wrong; ``claimed`` is the verdict that lets data go, or empty."""
    if claimed and failing:
        return (
            f"This document contradicts itself: it says `{claimed}`, but not every check in it holds."
            " Treat the data as withheld and verify the run."
        )
    if not claimed and not failing and total:
        every = "Every check holds or is waived" if waived else "Every check holds"
        return f"{every}, and yet the data was withheld: the findings say why."
    return ""


def _tallies(releases: list[str], every: Iterable[CheckedRequirement]) -> Iterable[CheckTally]:
    checks = list(every)
    for name in dict.fromkeys((*releases, *(check.release for check in checks if check.release))):
        own = [check for check in checks if check.release in {name, ""}]
        waived = sum(check.state == "waived" for check in own)
        yield CheckTally(name, sum(check.holds for check in own), len(own), waived)
