"""The fields of a release ledger as a JSON document, and the states of a release in it."""

from __future__ import annotations

from typing import Annotated

from pydantic import NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.documents import Numbers, Version, about, one_of
from ppdm_flow.core.roles import Role

PENDING, RELEASED, DROPPED, ERASED = "pending", "released", "dropped", "erased"


class LedgerColumn(TypedDict):
    """A released column."""

    name: Annotated[str, about("Its name in the release.")]
    source: Annotated[str, about("Its name in the source.")]
    role: Annotated[str, one_of(Role), about("What it is to the release.")]
    changes: Annotated[list[Annotated[str, one_of(Change)]], about("What was done to its values.")]


class LedgerRelease(TypedDict):
    """A release that is written down."""

    number: Annotated[PositiveInt, about("Given once, never again.")]
    state: Annotated[str, one_of((PENDING, RELEASED)), about("Pending: written down, and not yet said to be out.")]
    policy: Annotated[str, about("Name of the policy.")]
    release: Annotated[str, about("Name of the release in the policy.")]
    audience: Annotated[str, about("Whom it was made for.")]
    time: Annotated[str, about("When it was written down, UTC, as ISO 8601.")]
    folder: Annotated[str, about("The folder of the policy's runs, on the machine of the run.")]
    run: Annotated[str, about("The run's directory in that folder.")]
    plan: Annotated[str, about("Digest of the plan.")]
    manifest: Annotated[str, about("SHA-256 of the run's manifest.")]
    file: Annotated[str, about("SHA-256 of the released file.")]
    rows: Annotated[NonNegativeInt, about("Released rows.")]
    people: Annotated[int | None, about("Whom they are about; null where nothing tells.")]
    generated: Annotated[bool, about("Whether every row is nobody's.")]
    columns: Annotated[list[LedgerColumn], about("The released columns.")]


class LedgerErasure(TypedDict):
    """People whom a release is about, and whom the ledger has forgotten."""

    release: Annotated[PositiveInt, about("Number of the release.")]
    people: Annotated[PositiveInt, about("How many people.")]
    time: Annotated[str, about("When, UTC, as ISO 8601.")]


class UnknownRun(TypedDict):
    """A run that the ledger does not know."""

    run: Annotated[str, about("Its directory.")]
    reason: Annotated[str, about("What does not fit.")]


class LedgerDocument(TypedDict):
    """A release ledger of ppdm-flow.

    What was released so far, without the hashes of who it is about.
    """

    version: Version
    ledger: Annotated[str, about("Its path as it was given, or host and database.")]
    releases: Annotated[list[LedgerRelease], about("Every release, oldest first; pending ones count as released.")]
    confirmed: Annotated[Numbers, about("Pending releases that were found to be out just now.")]
    dropped: Annotated[Numbers, about("Pending releases that were found never to have been, just now.")]
    erased: Annotated[list[LedgerErasure], about("People who were erased, oldest first.")]
    checked: Annotated[bool, about("Whether the chain of its entries was checked with the key: it is whole then.")]
    strangers: Annotated[list[UnknownRun], about("Runs that say they used this ledger, and that it does not know.")]
