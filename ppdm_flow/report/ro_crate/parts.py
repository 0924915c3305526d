"""The files of a crate, with their hashes and media types."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from ppdm_flow.report.croissant.terms import BY_EXTENSION, FORMATS, OTHER
from ppdm_flow.report.ro_crate.terms import Entity
from ppdm_flow.report.run.released import FileDigest, FinishedRun, ReleasedFiles

LICENSE: Entity = {
    "@id": "#licence-not-stated",
    "@type": "CreativeWork",
    "name": "No licence is stated",
    "description": "The release policy states no licence: ask the publisher for the conditions of use.",
}
_OF_RUN = {**BY_EXTENSION, "yaml": "application/yaml"}


def files(run: FinishedRun) -> list[Entity]:
    """Return the files of the releases, and of an internal crate those of the run as well."""
    every = [] if run.public else sorted(run.files.items())
    own = [_file(name, _OF_RUN.get(_extension(name), "text/plain"), about, "") for name, about in every]
    return [*_released(run), *own]


def _released(run: FinishedRun) -> Iterator[Entity]:
    if run.published:
        for release in run.releases:
            home = "" if run.public else f"released/{release.name}/"
            for name, about in release.files.items():
                yield _file(f"{home}{name}", _of_release(release, name), about, _about(release, name))


def _about(release: ReleasedFiles, name: str) -> str:
    if name in release.data:
        return f"Data of the release {release.name}."
    return f"What a recipient of the release {release.name} needs to use the data."


def _of_release(release: ReleasedFiles, name: str) -> str:
    if name in release.data:
        return FORMATS.get(str(release.dictionary["format"]), OTHER)
    return BY_EXTENSION.get(_extension(name), OTHER)


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _file(name: str, media: str, digest: FileDigest, about: str) -> Entity:
    return {
        "@id": quote(name),
        "@type": "File",
        "name": name,
        **({"description": about} if about else {}),
        "encodingFormat": media,
        "contentSize": str(digest.bytes),
        "sha256": digest.sha256,
    }
