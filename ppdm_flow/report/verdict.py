"""The verdict in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ppdm_flow.report.amounts import plural
from ppdm_flow.report.checks import Check, gates, requirements
from ppdm_flow.report.wording import listed


@dataclass(frozen=True, slots=True)
class Tally:
    """How many checks of one release hold, those that are about no release in particular included."""

    release: str
    held: int
    total: int

    @property
    def holds(self) -> bool:
        """Whether all of them do."""
        return self.held == self.total


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the page says first. ``contradiction`` is set where the document's verdict and checks disagree."""

    released: bool
    word: str
    sentence: str
    contradiction: str
    caution: str
    requirements: tuple[Check, ...]
    gates: tuple[Check, ...]
    releases: tuple[Tally, ...]

    @property
    def failing(self) -> tuple[Check, ...]:
        """All checks that do not hold."""
        return tuple(check for check in (*self.requirements, *self.gates) if not check.holds)


def verdict(document: dict[str, Any]) -> Verdict:
    """Return the verdict. A document that says `released` over a failed check is shown as withheld, with a warning."""
    asked, gated = tuple(requirements(document)), tuple(gates(document))
    every = (*asked, *gated)
    claimed = document["verdict"] == "released"
    failing = [check for check in every if not check.holds]
    released = claimed and not failing
    return Verdict(
        released=released,
        word="Released" if released else "Withheld",
        sentence=_sentence(released, asked, gated, list(document["releases"])),
        contradiction=_contradiction(claimed, len(failing), len(every)),
        caution="" if asked else "The policy states no privacy requirement, so this verdict says nothing of privacy.",
        requirements=asked,
        gates=gated,
        releases=tuple(_tallies(list(document["releases"]), every)),
    )


def _sentence(released: bool, asked: tuple[Check, ...], gated: tuple[Check, ...], releases: list[str]) -> str:
    total = len(asked) + len(gated)
    failing = sum(not check.holds for check in (*asked, *gated))
    where = f" ({listed(releases)})" if releases else ""
    if released:
        what = f"{len(releases):,} releases{where}" if len(releases) > 1 else listed(releases) or "asked"
        leave = f"The data may leave as {what}."
        return f"{_held(len(asked), len(gated))} {leave}"
    if failing:
        verb = "does" if failing == 1 else "do"
        return f"{failing:,} of {plural(total, 'check')} {verb} not hold. No release has left{where}."
    return f"No release has left{where}."


def _held(asked: int, gated: int) -> str:
    parts = [plural(count, noun) for count, noun in ((asked, "requirement"), (gated, "gate")) if count]
    if not parts:
        return "Nothing was asked, so nothing failed."
    verb = "holds" if asked + gated == 1 else "hold"
    return f"{listed(parts)} {verb}, measured on the released files themselves."


def _contradiction(claimed: bool, failing: int, total: int) -> str:
    if claimed and failing:
        return (
            "This document contradicts itself: it says `released`, but not every check in it holds."
            " Treat the data as withheld and verify the run."
        )
    if not claimed and not failing and total:
        return "Every check holds, and yet the data was withheld: the findings say why."
    return ""


def _tallies(releases: list[str], every: Iterable[Check]) -> Iterable[Tally]:
    checks = list(every)
    for name in dict.fromkeys((*releases, *(check.release for check in checks if check.release))):
        own = [check for check in checks if check.release in {name, ""}]
        yield Tally(name, sum(check.holds for check in own), len(own))
