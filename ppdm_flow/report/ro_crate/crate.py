"""`ro-crate-metadata.json` of a run: who asked for what, what was made, and how it was checked before it left.

The public form describes one release, and lies beside its file; the internal one describes the whole run, and lies in
the run's directory. Of a run that was withheld, or waits, nothing stands in it but the run and its checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report.croissant.terms import BY_EXTENSION, FORMATS, OTHER
from ppdm_flow.report.ro_crate import actions
from ppdm_flow.report.ro_crate.terms import CONTEXT, CRATE, METADATA, PROFILE, ROOT, Entity, reference
from ppdm_flow.report.run.released import FileDigest, ReleasedFiles, ReportedRun

_LICENSE: Entity = {
    "@id": "#licence-not-stated",
    "@type": "CreativeWork",
    "name": "No licence is stated",
    "description": "The release policy states no licence: ask the publisher for the conditions of use.",
}
_OF_RUN = {**BY_EXTENSION, "yaml": "application/yaml"}


def render(run: ReportedRun) -> str:
    """Return the metadata as JSON-LD. Raises UsageError where the public form has no single release to describe."""
    if run.public and run.published:
        run.only("ro-crate")
    return json_text({"@context": CONTEXT, "@graph": list(_graph(run))})


def _graph(run: ReportedRun) -> Iterator[Entity]:
    files = _files(run)
    checks = actions.checks(run)
    done = actions.run_action(run, files)
    yield {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": reference(ROOT),
        "conformsTo": reference(CRATE),
    }
    yield {
        "@id": ROOT,
        "@type": "Dataset",
        "name": _name(run),
        "description": _description(run),
        "conformsTo": reference(PROFILE),
        "identifier": f"urn:uuid:{run.identifier(*(each.name for each in run.releases if run.public))}",
        "datePublished": run.finished,
        "license": reference(_LICENSE["@id"]),
        "publisher": reference(actions.HOUSE),
        "sourceOrganization": reference(actions.PROJECT),
        "mainEntity": reference(actions.POLICY),
        "mentions": [{"@id": each["@id"]} for each in (done, *checks)],
        "hasPart": [{"@id": each["@id"]} for each in files],
    }
    yield {
        "@id": PROFILE,
        "@type": ["CreativeWork", "Profile"],
        "name": "Five Safes RO-Crate profile",
        "version": "0.4",
    }
    yield dict(_LICENSE)
    yield from files
    yield done
    yield from checks
    yield from actions.context(run)


def _name(run: ReportedRun) -> str:
    if run.public and run.published:
        return f"{run.policy}-{run.releases[0].name}"
    return f"Run of the release policy {run.policy}"


def _description(run: ReportedRun) -> str:
    if run.published and run.public:
        text = run.releases[0].description
        return text or f"The release {run.releases[0].name} of the release policy {run.policy}."
    state = "released" if run.published else run.document["verdict"]
    return f"A run of ppdm-flow {run.tool} under the release policy {run.policy}: {state}."


def _files(run: ReportedRun) -> list[Entity]:
    """Return the files of the releases, and of an internal crate those of the run as well."""
    every = [] if run.public else sorted(run.files.items())
    own = [_file(name, _OF_RUN.get(_extension(name), "text/plain"), about, "") for name, about in every]
    return [*_released(run), *own]


def _released(run: ReportedRun) -> Iterator[Entity]:
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
