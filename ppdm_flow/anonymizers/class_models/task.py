"""What the step works for: the requirements that the search itself can enforce, and the attributes that they group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ppdm_flow.anonymizers.carrying import OnClasses, k_anonymity, on_classes
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.requirement import OnSensitive, Requirement
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.lkc.requirement import LKC

Enforced = KAnonymity | OnClasses


@dataclass(frozen=True, slots=True)
class Task:
    """``attributes`` are recoded; ``enforced`` holds of every class over them; ``left`` are requirements that do not.

    Names are those that attributes have where the step reads them.
    """

    attributes: tuple[str, ...]
    enforced: tuple[Enforced, ...]
    left: tuple[Enforced, ...]

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The attributes whose values requirements are about, each once."""
        return tuple(dict.fromkeys(a for r in self.enforced for a in _sensitive(r)))

    @property
    def least(self) -> int:
        """The smallest number of rows that a class may have."""
        return max((r.k for r in self.enforced if isinstance(r, KAnonymity | LKC)), default=1)


def task(
    chosen: tuple[str, ...] | None, requirements: Iterable[Requirement], attributes: Mapping[str, AttributeFacts]
) -> Task:
    """Return what can be enforced over the ``chosen`` attributes, else over all that requirements group by.

    A class that keeps a requirement keeps it also together with others, so one over fewer attributes is enforced on the
    classes over all. k-map is not: its population has no more columns than it names. LKC is about small parts of its
    attributes; only where ``l`` is all of them are these the classes.
    """
    every = tuple(requirements)
    found: list[Enforced] = [*k_anonymity(every, attributes), *on_classes(every, attributes)]
    found = [r for r in found if r.attributes]
    union = dict.fromkeys(a for r in found if not _beyond_classes(r) for a in r.attributes)
    recoded = tuple(union) if chosen is None else chosen
    kept = tuple(r for r in found if _can(r, recoded))
    return Task(recoded, kept, tuple(r for r in found if r not in kept))


def _can(requirement: Enforced, recoded: tuple[str, ...]) -> bool:
    if not set(requirement.attributes) <= set(recoded) or not set(recoded).isdisjoint(_sensitive(requirement)):
        return False
    if isinstance(requirement, KMap):
        return set(requirement.attributes) == set(recoded)
    return not _beyond_classes(requirement)


def _beyond_classes(requirement: Enforced) -> bool:
    return isinstance(requirement, LKC) and requirement.l < len(requirement.attributes)


def _sensitive(requirement: Enforced) -> tuple[str, ...]:
    if isinstance(requirement, OnSensitive):
        return (requirement.attribute,)
    return tuple(a for a, _ in requirement.sensitive) if isinstance(requirement, LKC) else ()
