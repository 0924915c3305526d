"""Checks whether the people of a release can be counted at all."""

from __future__ import annotations

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.phrases import counted
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.sdk.audit import AuditContext


class UncountedPeopleError(UnmeasuredError):
    """Nobody can say whose rows were released."""

    code = "PPF900"


def require_people(people: PeopleCount, ctx: AuditContext) -> None:
    """Raise UncountedPeopleError where released rows have no people that could be counted."""
    if ctx.generation is not None:
        raise UncountedPeopleError(
            f"Generated rows belong to nobody, so the people of `{people.subject}` cannot be counted in this release."
        )
    if ctx.owners is None:
        raise UncountedPeopleError(
            f"People are counted by `{people.subject}`, and nothing says whose the rows of this release are: a run"
            " can tell, or a pseudonym in the file."
        )


def require_one_known(linked: int, most: int, people: PeopleCount, untold: str) -> None:
    """Raise UncountedPeopleError where several linked rows of one person may be known: nobody counts what they tell.

    ``linked`` are the linked rows, ``most`` those of one person; ``untold`` is what is not counted then.
    """
    if most > 1 and people.known_rows != 1:
        raise UncountedPeopleError(
            f"{counted(linked, 'row')} {'is' if linked == 1 else 'are'} seen to be one person's, and `known_rows` is"
            f" {people.written}: {untold} is not counted. Drop what links rows, or bring the table to a row for each"
            " person with `one_row_each`."
        )
