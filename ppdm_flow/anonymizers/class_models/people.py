"""Whom the rows of a step belong to, where the policy counts people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ppdm_flow.anonymizers.naming import Attributes, carried, changed_subject, subject_of
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.sdk.spec import Problem, Scope

MORE = "; rows that are seen to be one person's can tell more together"
"""What classes do not keep: a release can show which rows belong together."""


def subject_read(scope: Scope) -> tuple[str, ...]:
    """Return the attribute by which a step counts people; none where it counts rows, or none reaches the step."""
    name = None if scope.people is None else subject_of(scope.attributes)
    return () if name is None else (name,)


def of_subject(scope: Scope) -> tuple[Problem, ...]:
    """Return a problem where people are to be counted and nothing that reaches the step says whose row it is."""
    if scope.people is None:
        return ()
    if subject_of(scope.attributes) is None:
        text = f"`{scope.people.subject}` says who is counted, and does not reach this step"
        return (Problem("PPF780", text, hint="drop it after this step, which does not release it"),)
    return changed_subject(scope.attributes)


def claimed(claims: Sequence[str], scope: Scope) -> str:
    """Return what every class keeps, in words: of people where these count."""
    if not claims:
        return ""
    text = f"every class keeps {', '.join(claims)}"
    return text if scope.people is None else f"{text.replace(' rows', ' people')}, counted by people{MORE}"


# What the step works for: the requirements that the search itself can enforce, and the attributes that they group.


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
