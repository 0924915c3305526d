"""One part of a run on a cluster, with what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DISTRIBUTED, DRIVER, NOT = "distributed", "driver", "not"


@dataclass(frozen=True, slots=True)
class WorkAmount:
    """What a part takes: ``passes`` over all fragments of a table, and bytes.

    ``to_driver`` and ``shuffled`` go over the network, ``held`` is what the driver holds at the most. ``bound`` says
    that only the number of rows bounds what is held, and not what is known of the values.
    """

    passes: int = 0
    to_driver: int = 0
    shuffled: int = 0
    held: int = 0
    bound: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "passes": self.passes,
            "bytes_to_driver": self.to_driver,
            "bytes_shuffled": self.shuffled,
            "bytes_held": self.held,
            "held_is_bounded_by_rows": self.bound,
        }


@dataclass(frozen=True, slots=True)
class Work:
    """``what`` is ``read``, ``step``, ``write``, ``audit``, ``join``, ``people`` or ``check``.

    ``why`` is said beside ``where``. ``whole``: a table has to be held as a whole, so that it is refused where it is
    too large.
    """

    what: str
    name: str
    use: str
    where: str
    why: str
    amount: WorkAmount
    whole: bool = False

    def within(self, limit: int) -> Work:
        """Return it as a run with ``limit`` bytes on the driver carries it out: not, where a whole table is larger."""
        if not self.whole or self.amount.held <= limit:
            return self
        return Work(self.what, self.name, self.use, NOT, self.why, self.amount, self.whole)

    @property
    def title(self) -> str:
        """What it is, and its name."""
        return f"{self.what} {self.name}".rstrip()

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "what": self.what,
            "name": self.name,
            "use": self.use,
            "where": self.where,
            "why": self.why,
            **self.amount.document,
        }
