"""What a finished run released, for documents that describe it to other programs: files, columns, requirements."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.phrases import listed
from ppdm_flow.plan.pictures.wording import HOWS
from ppdm_flow.report.run import public as publishing
from ppdm_flow.report.run.checks import is_public
from ppdm_flow.report.run.fields import ReportDocument, ResultDocument

HOME = "https://ppdm-flow.example"
"""Where the addresses of our own terms begin."""
_SIDES = {"at_least": "at least", "at_most": "at most"}


class FileDigest(NamedTuple):
    """Size and hash of a file, as the manifest has them."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ReportedColumn:
    """A column of a released file. ``done`` says in words what steps did, and what its cells are computed from."""

    name: str
    type: str
    role: str
    description: str
    computed_from: tuple[str, ...]
    done: str

    @property
    def text(self) -> str:
        """The policy's description, and what was done."""
        return " ".join(filter(None, (self.description and f"{self.description.rstrip('.')}.", self.done)))


@dataclass(frozen=True, slots=True)
class ReleasedFiles:
    """One release: what the report says of it (``about``), its data dictionary, and its files by relative name."""

    name: str
    about: Mapping[str, Any]
    dictionary: Mapping[str, Any]
    files: Mapping[str, FileDigest]

    @property
    def description(self) -> str:
        """What the policy says of it."""
        return str(self.dictionary.get("description") or "")

    @property
    def path(self) -> str:
        """The data file, or the folder of its parts, relative to the release's folder."""
        return str(self.about["path"]).partition("/")[2]

    @property
    def data(self) -> tuple[str, ...]:
        """The data file; where there are several, all parts."""
        return tuple(name for name in self.files if name == self.path or name.startswith(f"{self.path}/"))

    @property
    def columns(self) -> tuple[ReportedColumn, ...]:
        """The columns in their order."""
        return tuple(_column(each) for each in self.dictionary.get("attributes", ()))

    @property
    def rows(self) -> int | None:
        """How many rows it has; None where that is not told."""
        rows = self.about.get("rows")
        return rows if isinstance(rows, int) else None


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A finished run. ``document`` is its report or the public form of that; ``releases`` are those asked for.

    ``published`` says that the released files have left the run: not so where they were withheld or wait for approval.
    ``files`` are those of the run that belong to no release.
    """

    document: ReportDocument
    published: bool
    releases: tuple[ReleasedFiles, ...]
    files: Mapping[str, FileDigest]

    @property
    def public(self) -> bool:
        """Whether it holds no more than the public may know."""
        return is_public(self.document)

    def to_public(self) -> ReportedRun:
        """Return no more of it than the public may know."""
        document = publishing.public(self.document)
        releases = tuple(replace(each, about=document["releases"][each.name]) for each in self.releases)
        return replace(self, document=document, releases=releases, files={})

    @property
    def policy(self) -> str:
        """The name of the policy."""
        return self.document["policy"]

    @property
    def finished(self) -> str:
        """When it ended: UTC, ISO 8601."""
        return str(self.document["run"]["finished"])

    @property
    def tool(self) -> str:
        """The version of the program that made it."""
        return str(self.document["run"]["versions"]["ppdm_flow"])

    @property
    def version(self) -> str:
        """A version of what was released that grows with time: year, month with day, time of day (semantic)."""
        started = datetime.fromisoformat(str(self.document["run"]["started"])).astimezone(UTC)
        return f"{started.year}.{int(f'{started:%m%d}')}.{int(f'{started:%H%M%S}')}"

    def identifier(self, *parts: str) -> str:
        """Return a UUID (version 5) of the run, or of a part of it: always the same for the same run."""
        run = self.document["run"]
        seed = (run["digests"]["plan"], run["started"], run.get("randomness", {}).get("commitment", ""))
        return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join((HOME, "runs", self.policy, *map(str, seed), *parts))))

    def only(self, form: str) -> ReleasedFiles:
        """Return the one release that a document for its recipient is about.

        Raises UsageError where nothing was released (PPF985), or several releases were and none is chosen (PPF694).
        """
        if not self.published:
            why = "withheld the data" if self.document["verdict"] == "withheld" else "waits for approval"
            help_ = "`--format json` has the verdict and what did not hold"
            raise UsageError(Diagnostic("PPF985", f"the run {why}: there is no release to describe", help=help_))
        if len(self.releases) == 1:
            return self.releases[0]
        names = listed([f"`{each.name}`" for each in self.releases])
        text = f"`{form}` describes one release, and the run has {len(self.releases)}"
        raise UsageError(Diagnostic("PPF694", text, help=f"choose by `--release`: {names}"))

    def results(self, release: str) -> Iterator[ResultDocument]:
        """Yield the requirements and gates that were judged on a release."""
        yield from (each for each in self.document["requirements"] if each["release"] == release)
        yield from (each for each in self.document["gates"] if each["release"] == release)


def bound(result: ResultDocument) -> str:
    """Return what was asked for, in words: ``at least 5``."""
    return f"{_SIDES[result['direction']]} {result['bound']:g}"


def _column(attribute: Mapping[str, Any]) -> ReportedColumn:
    source = tuple(attribute.get("computed_from", ()))
    done = [f"{each['change']} by step {each['step']}" for each in attribute.get("done", ())]
    how = HOWS.get(str(attribute.get("how", "")), "")
    origin = listed(source) if source else "no attribute of the source"
    words = listed(done) or "not changed"
    text = f"{words[:1].upper()}{words[1:]}; computed from {origin}{f', {how}' if how else ''}."
    role, kind = str(attribute["role"]), str(attribute["type"])
    return ReportedColumn(str(attribute["name"]), kind, role, str(attribute.get("description", "")), source, text)
