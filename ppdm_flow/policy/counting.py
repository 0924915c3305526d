"""Whether a policy counts people or rows."""

from __future__ import annotations

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.models import Policy


def subject_attribute(policy: Policy) -> str | None:
    """Return the attribute that says whose row it is; None where no attribute has the role."""
    return next((name for name, a in policy.attributes.items() if a.role is Role.SUBJECT), None)


def people_of(policy: Policy) -> PeopleCount | None:
    """Return whom a policy counts; None where it counts rows."""
    subject = subject_attribute(policy)
    said = policy.people
    if subject is None or said is None or said.known_rows is None or said.unit == "rows":
        return None
    return PeopleCount.of(subject, said.known_rows)
