"""``held.private.json``: the private facts for the later release of a held run, which reads no data again.

It has the places of the ledger, of its key and of the list of signers. For each release it has the people's classes, as
the keyed hashes that the ledger would hold. These are worth nothing without the ledger's key. The file is readable by
its owner only, is listed in the manifest by its hash alone, is never published, and is removed at the release.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from ppdm_flow.core.digests import sha256
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.candidates.unpublished import PRIVATE as NAME
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.fields import PENDING
from ppdm_flow.engine.ledger.key import FIELDS, LedgerRecord, from_row, hashes_of, packed, to_columns
from ppdm_flow.engine.ledger.ledger import RunLedger
from ppdm_flow.engine.reading.original import Original
from ppdm_flow.plan.definition import LedgerNode, Plan
from ppdm_flow.sdk.history import Membership

_VERSION = 1


class PeopleDocument(TypedDict):
    """The people of a release and their classes, as base64 of packed hashes.

    ``file`` is base64 of what the ledger will keep of its cells.
    """

    subjects: str
    classes: str
    columns: list[str]
    rows: int
    cells: int
    file: NotRequired[str]


class ReleaseDocument(TypedDict):
    """A held release: its entry in the ledger to be, and its people where it has any that are known."""

    entry: dict[str, Any]
    people: PeopleDocument | None


class HeldLedgerDocument(TypedDict):
    """The place of the ledger, and its releases that the run was judged with."""

    place: str
    key: str
    subject: str | None
    repeat: str
    server: str | None
    ignore: list[str]
    known: list[int]
    releases: list[ReleaseDocument]


class PrivateDocument(TypedDict):
    """What a held run keeps for its release."""

    version: int
    home: str
    columns: dict[str, list[str]]
    signers: str
    ledger: NotRequired[HeldLedgerDocument]


@dataclass(frozen=True, slots=True, eq=False)
class WaitingRelease:
    """A release that waits."""

    entry: LedgerRecord
    members: Membership | None = None


@dataclass(frozen=True, slots=True, eq=False)
class HeldRunData:
    """``home`` is the policy's folder, ``columns`` those of the data by table.

    ``known`` are the numbers of the releases that the ledger had; ``releases`` are empty without a ledger.
    """

    home: Path
    columns: Mapping[str, tuple[str, ...]]
    signers: Path
    ledger: LedgerNode | None = None
    known: frozenset[int] = frozenset()
    releases: tuple[WaitingRelease, ...] = ()


def private_text(
    plan: Plan,
    signers: str,
    originals: Mapping[str, Original],
    candidates: Sequence[Candidate],
    ledger: RunLedger | None,
) -> str:
    """Return what a held run has to keep, as JSON."""
    document: PrivateDocument = {
        "version": _VERSION,
        "home": str(Path(plan.home).absolute()),
        "columns": {name: list(original.columns) for name, original in originals.items()},
        "signers": signers,
    }
    node = plan.ledger
    if ledger is not None and node is not None:
        document["ledger"] = {
            "place": node.place,
            "key": node.key,
            "subject": node.subject,
            "repeat": node.repeat,
            "server": node.server,
            "ignore": list(node.ignore),
            "known": [entry.number for entry in ledger.store.entries()],
            "releases": [_release(ledger, candidate) for candidate in candidates],
        }
    return json.dumps(document, ensure_ascii=False)


def _release(ledger: RunLedger, candidate: Candidate) -> ReleaseDocument:
    name = candidate.release.name
    own = ledger.members[name]
    entry = dict(to_columns(ledger.entry(candidate)))
    if own is None:
        return {"entry": entry, "people": None}
    people: PeopleDocument = {
        "subjects": _text(packed(own.subjects)),
        "classes": _text(packed(own.classes)),
        "columns": list(own.columns),
        "rows": own.rows,
        "cells": own.cells,
        "file": _text(own.packed_file),
    }
    return {"entry": entry, "people": people}


def read_private(run_dir: Path, digest: str) -> HeldRunData:
    """Return a held run's private facts. Raises DataError (PPF972) if they are missing or not those of the manifest."""
    path = run_dir / NAME
    try:
        same = not path.is_symlink() and sha256(path) == digest
        document = json.loads(path.read_text(encoding="utf-8")) if same else {}
        if document.get("version") == _VERSION:
            return _private(cast("PrivateDocument", document))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    text = f"`{NAME}` of run `{run_dir.name}` is not there, or not as the run left it"
    raise data_fault("PPF972", text, advice="put it back, or run the policy again")


def _private(document: PrivateDocument) -> HeldRunData:
    columns = {name: tuple(names) for name, names in document["columns"].items()}
    base = (Path(document["home"]), columns, Path(document["signers"]))
    said = document.get("ledger")
    if said is None:
        return HeldRunData(*base)
    node = LedgerNode(
        said["place"], said["key"], said["subject"], said["repeat"], said["server"], tuple(said["ignore"])
    )
    return HeldRunData(*base, node, frozenset(said["known"]), tuple(_waiting_releases(said["releases"])))


def _waiting_releases(releases: Sequence[ReleaseDocument]) -> Iterable[WaitingRelease]:
    for each in releases:
        entry = from_row([each["entry"][name] for name in FIELDS], PENDING)
        people = each["people"]
        if people is None:
            yield WaitingRelease(entry)
            continue
        subjects, classes = (hashes_of(base64.b64decode(text)) for text in (people["subjects"], people["classes"]))
        own = Membership(
            subjects,
            classes,
            tuple(people["columns"]),
            people["rows"],
            people["cells"],
            packed_file=base64.b64decode(people.get("file", "")),
        )
        yield WaitingRelease(entry, own)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
