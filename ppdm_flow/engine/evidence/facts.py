"""The facts in a run's documents about each release, as a statement. A signature has to state the same."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from ppdm_flow.core.results import RELEASED
from ppdm_flow.engine import manifest as manifests
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.evidence.malformed import MalformedError, parse_once
from ppdm_flow.evidence.statement import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    InTotoStatement,
    LedgerPart,
    RequirementPart,
    StatementSubject,
    WaiverPart,
    text_of,
    time_of,
)

REPORT = "report.json"
Shown = Callable[[str, Mapping[str, Any]], bool]
"""Whether a requirement's measured figure may be told to the recipient of a release: its name, and the result."""


def show_all(_release: str, _result: Mapping[str, Any]) -> bool:
    """Tell every figure."""
    return True


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run's manifest and report, with the hashes of their bytes."""

    folder: str
    manifest: manifests.Manifest
    report: Mapping[str, Any]
    manifest_digest: str
    report_digest: str

    @classmethod
    def read(cls, run_dir: Path) -> RunFacts:
        """Read both documents, each once. Raises MalformedError where one is missing, damaged, or has a key twice."""
        manifest, manifest_digest = _document(run_dir / manifests.NAME)
        report, report_digest = _document(run_dir / REPORT)
        facts = cls(run_dir.name, cast("manifests.Manifest", manifest), report, manifest_digest, report_digest)
        try:
            for release in facts.releases:
                facts._parts(release)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise MalformedError(f"`{manifests.NAME}` and `{REPORT}` are not as a run writes them") from None
        return facts

    @property
    def releases(self) -> tuple[str, ...]:
        """The run's releases whose files the manifest lists."""
        names = (name.split("/") for name in self.manifest["files"])
        return tuple(sorted({parts[1] for parts in names if parts[0] == RELEASED and len(parts) > 2}))

    @property
    def name(self) -> str:
        """The name that the run's directory was given, wherever a copy of it lies now."""
        return self.folder if self._is_name(self.folder) else self._base

    @property
    def _base(self) -> str:
        started = time_of(self.manifest["started"]).strftime("%Y%m%dT%H%M%SZ")
        return f"{started}-{self.manifest['digests']['plan'][:12]}"

    def _is_name(self, name: str) -> bool:
        """Whether a run of that start and plan is called so; of several in one second, the later ones have a number."""
        rest = name.removeprefix(self._base)
        return rest != name and re.fullmatch(r"(-[0-9]+)?", rest) is not None

    @property
    def finished(self) -> datetime:
        """When the manifest was written."""
        return time_of(self.manifest["finished"])

    def statement(
        self, release: str, role: str, key: PublicKey, signed: datetime, shown: Shown = show_all
    ) -> InTotoStatement:
        """Return what ``key`` signs of a release in a role at that time."""
        parts = self._parts(release)
        requirements = [
            part if shown(release, result) else {**part, "measured": None}
            for part, result in zip(parts["requirements"], self._results(release), strict=True)
        ]
        predicate = {
            **parts,
            "role": role,
            "signer": {"key_id": key.key_id, "key": key.text},
            "signed": text_of(signed),
            "requirements": requirements,
        }
        document = {
            "_type": STATEMENT_TYPE,
            "subject": self.subjects(release),
            "predicateType": PREDICATE_TYPE,
            "predicate": predicate,
        }
        return cast("InTotoStatement", document)

    def difference(self, statement: InTotoStatement) -> str:
        """Return the first thing in which a statement is not about this run as it is; empty where there is none.

        A measured figure may be left out, for the release's audience; a stated one has to be that of the report.
        """
        said = statement["predicate"]
        release = said["release"]
        if said["digests"]["manifest"] != self.manifest_digest:
            return "it is about another run, or the manifest was changed"
        if release not in self.releases:
            return "it is about a release that this run does not have"
        if statement["subject"] != self.subjects(release):
            return "it is about other files"
        expected = self._parts(release)
        untold = [{**each, "measured": None} for each in expected["requirements"]]
        if [{**each, "measured": None} for each in said["requirements"]] != untold:
            return _SAYS_OTHERWISE.format("requirements")
        for stated, known in zip(said["requirements"], expected["requirements"], strict=True):
            if stated["measured"] is not None and not _same(stated["measured"], known["measured"]):
                return _SAYS_OTHERWISE.format("requirements")
        if not self._is_name(said["run"]["name"]):
            return "it is about another run"
        expected["run"]["name"] = said["run"]["name"]
        rest = {key: value for key, value in said.items() if key not in _OF_SIGNER}
        wanted = {key: value for key, value in expected.items() if key not in _OF_SIGNER}
        differing = sorted(key for key in rest.keys() | wanted.keys() if rest.get(key) != wanted.get(key))
        return _SAYS_OTHERWISE.format(differing[0]) if differing else ""

    def subjects(self, release: str) -> list[StatementSubject]:
        """Return the files of a release, by their paths in its folder."""
        before = f"{RELEASED}/{release}/"
        files = self.manifest["files"].items()
        return [
            {"name": name.removeprefix(before), "digest": {"sha256": about["sha256"]}}
            for name, about in sorted(files)
            if name.startswith(before)
        ]

    def _parts(self, release: str) -> dict[str, Any]:
        """Return what the predicate says but for its signer, all figures told."""
        known, lock = self.manifest, self.manifest.get("lock")
        parts: dict[str, Any] = {
            "run": {
                "policy": known["policy"],
                "name": self.name,
                "started": text_of(time_of(known["started"])),
                "finished": text_of(self.finished),
                "verdict": known["verdict"],
            },
            "release": release,
            "digests": {
                "manifest": self.manifest_digest,
                "report": self.report_digest,
                "policy": known["digests"]["policy"],
                "plan": known["digests"]["plan"],
                "lock": None if lock is None else lock["sha256"],
                "templates": dict(known.get("templates", {})),
                **({"project": project["sha256"]} if (project := known.get("project")) is not None else {}),
            },
            "requirements": [_requirement(result) for result in self._results(release)],
            "waivers": self._waivers(release),
            "tool": {"name": "ppdm-flow", "version": known["versions"]["ppdm_flow"]},
            "randomness": {key: known["randomness"][key] for key in ("mode", "commitment")},
        }
        testimony = known.get("ledger")
        if testimony is not None:
            parts["ledger"] = _ledger(testimony)
        return parts

    def _results(self, release: str) -> list[Mapping[str, Any]]:
        """Return the results on this release alone: those on joins would reveal the names of other releases."""
        return [r for key in ("requirements", "gates") for r in self.report[key] if r["release"] == release]

    def _waivers(self, release: str) -> list[WaiverPart]:
        """Return the waivers that this release rests on."""
        judged = [*self._results(release), *(f for f in self.report["findings"] if f.get("release", "") == release)]
        used = {each["waived_by"] for each in judged if each.get("waived_by")}
        waivers = self.report.get("waivers", [])
        return [
            {"name": w["name"], "of": w["of"], "reason": w["reason"], "owner": w["owner"], "until": w["until"]}
            for w in waivers
            if w["name"] in used
        ]


_SAYS_OTHERWISE = "what it says of the {} is not what the run's documents say"
_OF_SIGNER = ("role", "signer", "signed", "requirements")


def _requirement(result: Mapping[str, Any]) -> RequirementPart:
    measured = result["measured"]
    if isinstance(measured, float) and not math.isfinite(measured):
        measured = None
    return {
        "id": result["id"],
        "metric": result["metric"],
        "bound": result["bound"],
        "direction": result["direction"],
        "measured": measured,
        "holds": result["holds"],
    }


def _ledger(testimony: manifests.LedgerTestimony) -> LedgerPart:
    return {"key": testimony["key"], "position": testimony["position"], "chain": testimony["chain"]}


def _same(stated: float, known: float | None) -> bool:
    return type(stated) is type(known) and stated == known


def _document(path: Path) -> tuple[Any, str]:
    try:
        data = path.read_bytes()
        document = parse_once(data)
    except OSError:
        raise MalformedError(f"`{path.name}` cannot be read") from None
    except MalformedError as error:
        raise MalformedError(f"`{path.name}` {error}") from None
    return document, hashlib.sha256(data).hexdigest()
