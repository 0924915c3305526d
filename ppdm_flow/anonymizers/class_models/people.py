"""Whom the rows of a step belong to, where the policy counts people."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.anonymizers.naming import changed_subject, subject_of
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
