"""The waivers of a report document: what need not hold for a while, why, who answers for it, and how long still."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.phrases import counted
from ppdm_flow.report.run.fields import ReportDocument, ReportWaiver


@dataclass(frozen=True, slots=True)
class ReportedWaiver:
    """One waiver. ``until`` is its last day (ISO date), ``days_left`` are counted from the day of the verdict.

    ``covers`` says in words what it was needed for; empty where nothing needed it, or where it had expired.
    ``signed_by`` is the role that has to sign it, or empty.
    """

    name: str
    of: str
    reason: str
    owner: str
    until: str
    days_left: int
    covers: tuple[str, ...] = ()
    signed_by: str = ""

    @property
    def left(self) -> str:
        """How long it counts still: ``12 days left``."""
        if self.days_left < 0:
            return "expired"
        return f"{counted(self.days_left, 'day')} left" if self.days_left else "its last day"

    @property
    def terms(self) -> str:
        """Name, owner and time in one line."""
        signed = f", and `{self.signed_by}` signs it" if self.signed_by else ""
        return f"waived by `{self.name}` until {self.until} ({self.left}), {self.owner} answers for it{signed}"


def waivers(document: ReportDocument) -> tuple[ReportedWaiver, ...]:
    """Return the waivers: those that were needed first, then by how long they count still."""
    every = [_waiver(each) for each in document.get("waivers", ())]
    return tuple(sorted(every, key=lambda waiver: (not waiver.covers, waiver.days_left, waiver.name)))


def _waiver(each: ReportWaiver) -> ReportedWaiver:
    of = f"{each['of']} at {each['at']}" if each.get("at") else each["of"]
    words = each["reason"], each["owner"], each["until"]
    return ReportedWaiver(each["name"], of, *words, each["days_left"], tuple(each["covers"]), each.get("signed_by", ""))
