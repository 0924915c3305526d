"""Waivers: a requirement that need not hold for a while, with a reason, an owner and a last day."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from ppdm_flow.core.spans import Span

if TYPE_CHECKING:  # `check` reads waivers too, and needs no schema
    from ppdm_flow.core.documents import WaiverDocument

PRIVACY = "privacy."
"""What the ids of requirements begin with."""
_CODE = re.compile(r"PPF[0-9]{3}\Z")
_HASH = re.compile(r"[0-9a-f]{16}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


@dataclass(frozen=True, slots=True)
class AcceptedWaiver:
    """``of`` an id, a code (``at`` a place; empty: any) or the hash of a finding; it counts until the end of ``until``.

    ``signed_by`` is the role whose signature it needs before a release, or empty.
    ``privacy`` says whether it may be about what stands under ``privacy:``. ``covers`` are the warnings about the
    policy that it covers, in words.
    """

    name: str
    of: str
    reason: str
    owner: str
    until: date
    at: str = ""
    signed_by: str = ""
    privacy: bool = False
    covers: tuple[str, ...] = field(default=(), compare=False)
    span: Span | None = field(default=None, compare=False)

    @property
    def document(self) -> WaiverDocument:
        """The JSON form, in plans and reports."""
        written: WaiverDocument = {
            "name": self.name,
            "of": self.of,
            "reason": self.reason,
            "owner": self.owner,
            "until": self.until.isoformat(),
        }
        if self.at:
            written["at"] = self.at
        if self.signed_by:
            written["signed_by"] = self.signed_by
        return written

    def expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return today > self.until

    def days_left(self, today: date) -> int:
        """Return how many days come after ``today``: 0 on its last day, below 0 where it has expired."""
        return (self.until - today).days

    def covers_finding(self, code: str, subject: str, hashes: Collection[str]) -> bool:
        """Whether it is about a finding of a run, which ``hashes`` name."""
        if not self.privacy and subject.startswith(PRIVACY):
            return False
        return self.of in hashes or (self.of == code and (not self.at or within(subject, self.at)))


def of_privacy(name: str) -> bool:
    """Whether an id, or a figure's name (perhaps with its release), is that of a requirement."""
    return name.rpartition("/")[2].startswith(PRIVACY)


def within(place: str, above: str) -> bool:
    """Whether a dotted place is ``above`` itself, or lies below it."""
    return place == above or place.startswith(f"{above}.")


def is_code(text: str) -> bool:
    """Whether it looks like a code: ``PPF`` and three digits."""
    return _CODE.match(text) is not None


def is_hash(text: str) -> bool:
    """Whether it looks like the hash of a finding."""
    return _HASH.match(text) is not None


def day(text: str) -> date | None:
    """Read an ISO date (YYYY-MM-DD); None where it is none."""
    try:
        return date.fromisoformat(text) if _DATE.match(text) else None
    except ValueError:
        return None
