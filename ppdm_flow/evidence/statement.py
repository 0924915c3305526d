"""What a signature says: an in-toto Statement, version 1, about one release of a run.

Its recipient learns nothing of other releases: neither their names nor hashes of their files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from ppdm_flow.core.digests import canonical
from ppdm_flow.core.documents import Day, Direction, Randomness, Sha256, about
from ppdm_flow.core.model import NAME
from ppdm_flow.evidence import malformed
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.evidence.malformed import MalformedError

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://ppdm-flow.example/attestations/release/v1"
_TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$"

_closed = with_config(ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True))
Time = Annotated[str, Field(pattern=_TIME)]
"""UTC, whole seconds, as ``isoformat`` writes it."""
Name = Annotated[str, Field(pattern=NAME)]


@_closed
class Digest(TypedDict):
    """Hashes of a file."""

    sha256: Annotated[Sha256, about("SHA-256 of the file's bytes.")]


@_closed
class StatementSubject(TypedDict):
    """A file of the release."""

    name: Annotated[str, about("Its path in the release's folder, with `/`.")]
    digest: Annotated[Digest, about("What its bytes hash to.")]


@_closed
class RunPart(TypedDict):
    """The run that made the release."""

    policy: Annotated[str, about("Name of the release policy.")]
    name: Annotated[str, about("Name of the run's directory.")]
    started: Annotated[Time, about("When the run began, UTC.")]
    finished: Annotated[Time, about("When its manifest was written, UTC.")]
    verdict: Annotated[
        Literal["released", "held"], about("`held`: it waited for approvals when its manifest was written.")
    ]


@_closed
class SignerPart(TypedDict):
    """The key that signed. Whose it is, a list of signers says."""

    key_id: Annotated[Sha256, about("SHA-256 of the 32 bytes of the public key.")]
    key: Annotated[str, about("The public key, as OpenSSH writes it.")]


@_closed
class DigestsPart(TypedDict):
    """What the run was made from and what it wrote, hashed."""

    manifest: Annotated[Sha256, about("Of `manifest.json`.")]
    report: Annotated[Sha256, about("Of `report.json`.")]
    policy: Annotated[str, about("Of the resolved policy, with its templates and params.")]
    plan: Annotated[str, about("Of the plan.")]
    lock: Annotated[Sha256 | None, about("Of the lock file that the run was held against; null without one.")]
    templates: Annotated[dict[str, Sha256], about("Of the templates that the policy extends, by reference.")]
    project: NotRequired[Annotated[Sha256, about("Of the project file that the policy is bound by.")]]


@_closed
class RequirementPart(TypedDict):
    """A requirement or gate, as measured on this release."""

    id: Annotated[str, about("Place in the policy.")]
    metric: Annotated[str, about("Name of the measured figure.")]
    bound: Annotated[float | int, about("What the policy asks for.")]
    direction: Annotated[Direction, about("The side of the bound on which `measured` must lie.")]
    measured: Annotated[float | int | None, about("The figure; null where the release's audience must not have it.")]
    holds: Annotated[bool, about("Whether it holds.")]


@_closed
class WaiverPart(TypedDict):
    """A waiver that this release rests on."""

    name: Annotated[str, about("Its name in the policy.")]
    of: Annotated[str, about("The id, code or hash of what is waived.")]
    reason: Annotated[str, about("Why.")]
    owner: Annotated[str, about("Who answers for it.")]
    until: Annotated[Day, about("Its last day, UTC.")]


@_closed
class ToolPart(TypedDict):
    """The program that ran the policy."""

    name: Literal["ppdm-flow"]
    version: Annotated[str, about("Its version.")]


@_closed
class RandomnessPart(TypedDict):
    """The key that the run's randomness came from."""

    mode: Annotated[Randomness, about("Where the key came from.")]
    commitment: Annotated[Sha256, about("A hash that proves the key later and reveals nothing of it now.")]


@_closed
class LedgerPart(TypedDict):
    """What the run saw of the ledger."""

    key: Annotated[Sha256, about("The commitment of the ledger's key, by which the ledger is known.")]
    position: Annotated[NonNegativeInt, about("The last entry of its chain when the run was judged; 0 for none.")]
    chain: Annotated[str, about("That entry's hash; empty where there was none.")]


@_closed
class Predicate(TypedDict):
    """What is said of the release."""

    run: RunPart
    release: Annotated[Name, about("Name of the release.")]
    role: Annotated[Name, about("In which role it is signed.")]
    signer: SignerPart
    signed: Annotated[Time, about("When it was signed, UTC, by the signer's clock.")]
    digests: DigestsPart
    requirements: Annotated[list[RequirementPart], about("Requirements and gates of this release.")]
    waivers: Annotated[list[WaiverPart], about("Waivers that this release rests on.")]
    tool: ToolPart
    randomness: RandomnessPart
    ledger: NotRequired[LedgerPart]


@_closed
class InTotoStatement(TypedDict):
    """What is signed of a release: an in-toto Statement.

    The payload of the envelopes in `attestations/`, which `ppdm-flow sign` writes and `ppdm-flow verify` checks.
    """

    _type: Annotated[Literal["https://in-toto.io/Statement/v1"], about("The kind of document.")]
    subject: Annotated[list[StatementSubject], Field(min_length=1), about("Every file of the release.")]
    predicateType: Annotated[  # in-toto's spelling
        Literal["https://ppdm-flow.example/attestations/release/v1"], about("The kind of predicate.")
    ]
    predicate: Predicate


def payload(statement: InTotoStatement) -> bytes:
    """Return the bytes that are signed."""
    return canonical(statement)


def read_statement(data: bytes) -> InTotoStatement:
    """Return the statement of a payload. Raises MalformedError where it is not canonical, or not of this form.

    That the key is the one that it names is part of the form; who owns it is not.
    """
    document = malformed.parse(data)
    if isinstance(document, Mapping) and document.get("predicateType", PREDICATE_TYPE) != PREDICATE_TYPE:
        raise MalformedError("is a statement of another kind, or of a version that this program does not know")
    try:
        _adapter().validate_python(document)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"][:2])
        raise MalformedError(f"is not a statement about a release: see `{_plain(where)}`") from None
    statement = cast("InTotoStatement", document)
    _require_sense(statement)
    return statement


def signed_at(statement: InTotoStatement) -> datetime:
    """Return when it says that it was signed."""
    return time_of(statement["predicate"]["signed"])


def time_of(text: str) -> datetime:
    """Return a time of a statement or a manifest. Raises MalformedError where it is none, or not of UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise MalformedError("has a time that does not exist") from None
    if time.utcoffset() is None or time.utcoffset() != UTC.utcoffset(None):
        raise MalformedError("has a time that is not of UTC")
    return time


def text_of(time: datetime) -> str:
    """Return a time as statements have it."""
    return time.astimezone(UTC).isoformat(timespec="seconds")


def _require_sense(statement: InTotoStatement) -> None:
    predicate = statement["predicate"]
    names = [subject["name"] for subject in statement["subject"]]
    if names != sorted(set(names)):
        raise MalformedError("does not list its files once each, in order")
    if any(not _inside(name) for name in names):
        raise MalformedError("names a file outside of the release's folder")
    key = PublicKey.parse(predicate["signer"]["key"])
    if key.text != predicate["signer"]["key"]:
        raise MalformedError("does not have its key as OpenSSH writes it")
    if key.key_id != predicate["signer"]["key_id"]:
        raise MalformedError("names another key than the one it has")
    for text in (predicate["signed"], predicate["run"]["started"], predicate["run"]["finished"]):
        if text_of(time_of(text)) != text:
            raise MalformedError("has a time that is not of whole seconds of UTC")


def _inside(name: str) -> bool:
    return all(part not in ("", ".", "..") for part in name.split("/"))


def _plain(where: str) -> str:
    return where if re.fullmatch(r"[A-Za-z_.]{1,60}", where) else "its keys"


@cache
def _adapter() -> TypeAdapter[InTotoStatement]:
    return TypeAdapter(InTotoStatement)
