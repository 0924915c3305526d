"""What an entry claims: a lower share of rare words is stricter, and so is a larger count, which makes more words rare."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.plugins import Order


@dataclass(frozen=True, slots=True)
class FewRare:
    """At most the share ``most`` of the cells of ``attribute`` has a word of fewer than ``rows`` rows."""

    attribute: str
    most: float
    rows: int


def says(requirement, frame):
    yield FewRare(requirement.attribute, requirement.max, requirement.min_count)


def fewer(given, asked, between):
    about = given.attribute == asked.attribute and between.same_original and between.about(given.attribute)
    if not about or given.most > asked.most or given.rows < asked.rows:
        return None
    return f"words of fewer than {asked.rows} rows are among those of fewer than {given.rows}, and {given.most:g} is at most {asked.most:g}"


ORDER = Order(
    says=says, rules=((FewRare, FewRare, fewer),), fields=frozenset(("attribute", "max", "min_count"))
)
