"""What the step works for: the requirements that the search itself can enforce, and the attributes that they group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ppdm_flow.anonymizers.naming import Attributes, carried
from ppdm_flow.core.requirement import Requirement


@dataclass(frozen=True, slots=True)
class RecodingTask:
    """``attributes`` are recoded; ``enforced`` holds of every class over them; ``left`` are requirements that do not.

    Names are those that attributes have where the step reads them.
    """

    attributes: tuple[str, ...]
    enforced: tuple[Requirement, ...]
    left: tuple[Requirement, ...]

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The attributes whose values requirements are about, each once."""
        return tuple(dict.fromkeys(a for r in self.enforced for a in r.secrets))


def task(chosen: tuple[str, ...] | None, requirements: Iterable[Requirement], attributes: Attributes) -> RecodingTask:
    """Return what can be enforced over the ``chosen`` attributes, else over all that requirements group by.

    A class that keeps a requirement keeps it also together with others, so one over fewer attributes is enforced on the
    classes over all. One in a population is not: that has no more columns than the requirement names. People are
    counted of one population only.
    """
    models = [r for r in carried(Requirement, requirements, attributes) if r.classes and r.grouping]
    union = dict.fromkeys(a for r in models if r.groups_are_classes for a in r.grouping)
    recoded = tuple(union) if chosen is None else chosen
    fitting = [r for r in models if _can(r, frozenset(recoded))]
    crowd = next((r for r in fitting if r.in_population), None)
    kept = tuple(r for r in fitting if not r.in_population or r == crowd)
    return RecodingTask(recoded, kept, tuple(r for r in models if r not in kept))


def _can(requirement: Requirement, recoded: frozenset[str]) -> bool:
    own = frozenset(requirement.grouping)
    grouped = own == recoded if requirement.in_population else own <= recoded
    return grouped and requirement.groups_are_classes and recoded.isdisjoint(requirement.secrets)
