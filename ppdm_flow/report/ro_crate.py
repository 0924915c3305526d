"""A run as an RO-Crate of the Five Safes profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ppdm_flow.core.texts import json_text
from ppdm_flow.report.croissant import BY_EXTENSION, FORMATS, OTHER
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.released import HOME, FileDigest, ReleasedFiles, ReportedRun, bound

_LICENSE: Entity = {
    "@id": "#licence-not-stated",
    "@type": "CreativeWork",
    "name": "No licence is stated",
    "description": "The release policy states no licence: ask the publisher for the conditions of use.",
}
_OF_RUN = {**BY_EXTENSION, "yaml": "application/yaml"}
Entity = dict[str, Any]


# `ro-crate-metadata.json` of a run: who asked for what, what was made, and how it was checked before it left.
#
# The public form describes one release, and lies beside its file; the internal one describes the whole run, and lies in
# the run's directory. Of a run that was withheld, or waits, nothing stands in it but the run and its checks.


def render(run: ReportedRun) -> str:
    """Return the metadata as JSON-LD. Raises UsageError where the public form has no single release to describe."""
    if run.public and run.published:
        run.only("ro-crate")
    return json_text({"@context": CONTEXT, "@graph": list(_graph(run))})


def _graph(run: ReportedRun) -> Iterator[Entity]:
    files = _files(run)
    checks = check_actions(run)
    done = run_action(run, files)
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
        "publisher": reference(HOUSE),
        "sourceOrganization": reference(PROJECT),
        "mainEntity": reference(POLICY),
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
    yield from context(run)


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


# The words of RO-Crate and of its Five Safes profile that our crates use.
#
# Source: RO-Crate 1.2 (https://w3id.org/ro/crate/1.2), and Five Safes RO-Crate profile 0.4
# (https://w3id.org/5s-crate/0.4), TRE-FX.


CRATE = "https://w3id.org/ro/crate/1.2"
CONTEXT = f"{CRATE}/context"
PROFILE = "https://w3id.org/5s-crate/0.4"
METADATA = "ro-crate-metadata.json"
ROOT = "./"

DONE = "http://schema.org/CompletedActionStatus"
FAILED = "http://schema.org/FailedActionStatus"
PENDING = "http://schema.org/PotentialActionStatus"
DISCLOSURE_CHECK = "https://w3id.org/shp#DisclosureCheck"
SIGN_OFF = "https://w3id.org/shp#SignOff"


def reference(*names: str) -> Any:
    """Return a reference to an entity; of several, a list."""
    references = [{"@id": name} for name in names]
    return references[0] if len(references) == 1 else references


# What was done: the run as a `CreateAction`, its checks as `AssessAction`, and who stands behind them.


POLICY = "#release-policy"
PROJECT = "#project"
HOUSE = "#publisher"
AGENT = "#requesting-agent"
INPUT = "#input"
_CHECK = "#disclosure-check"
_SIGNED = "#sign-off"


def run_action(run: ReportedRun, files: list[Entity]) -> Entity:
    """Return the run itself; its results are the released files, of which there are none where it was withheld."""
    facts = run.document["run"]
    return {
        "@id": f"#run-{run.identifier()}",
        "@type": "CreateAction",
        "name": f"Release under the policy {run.policy}",
        "startTime": facts["started"],
        "endTime": run.finished,
        "actionStatus": FAILED if run.document["verdict"] == "withheld" else DONE,
        "agent": reference(AGENT),
        "instrument": reference(POLICY, _software(run)),
        "object": reference(INPUT),
        "result": [{"@id": each["@id"]} for each in files if "description" in each],
    }


def check_actions(run: ReportedRun) -> list[Entity]:
    """Return the disclosure check, and the sign-off where approvals are awaited or were given."""
    results = _judged(run)
    good = all(each["holds"] or each.get("waived_by") for each in results) and run.document["verdict"] != "withheld"
    check: Entity = {
        "@id": _CHECK,
        "@type": "AssessAction",
        "additionalType": reference(DISCLOSURE_CHECK),
        "name": f"Disclosure check by the release policy {run.policy}: {'passed' if good else 'failed'}",
        "endTime": run.finished,
        "object": reference(ROOT),
        "instrument": reference(POLICY),
        "agent": reference(_software(run)),
        "actionStatus": DONE if good else FAILED,
        "result": [{"@id": _result_id(number)} for number, _ in enumerate(results, 1)],
    }
    if run.document["verdict"] in {"released", "withheld"}:
        return [check]
    state, word = (DONE, "given") if run.published else (PENDING, "awaited")
    sign_off: Entity = {
        "@id": _SIGNED,
        "@type": "AssessAction",
        "additionalType": reference(SIGN_OFF),
        "name": f"Approvals that the release policy asks for: {word}",
        "object": reference(ROOT, POLICY, PROJECT),
        "instrument": reference(POLICY),
        "agent": reference(HOUSE),
        "actionStatus": state,
    }
    return [check, sign_off]


def context(run: ReportedRun) -> Iterator[Entity]:
    """Yield policy, program, people and the input, as far as the run knows them."""
    digests = run.document["run"]["digests"]
    yield {
        "@id": POLICY,
        "@type": "Dataset",
        "name": f"Release policy {run.policy}",
        "description": "What had to hold before the data could leave, and by which steps.",
        "identifier": f"sha256:{digests['policy']}",
        "version": f"plan sha256:{digests['plan']}",
    }
    yield {
        "@id": _software(run),
        "@type": "SoftwareApplication",
        "name": "ppdm-flow",
        "softwareVersion": run.tool,
        "provider": reference(HOUSE),
    }
    yield {
        "@id": PROJECT,
        "@type": "Project",
        "name": f"Release policy {run.policy}",
        "description": "The policy names no project: put the one that the run was made for here.",
    }
    yield {
        "@id": HOUSE,
        "@type": "Organization",
        "name": "The organization that ran ppdm-flow",
        "description": "The policy names none: put it here.",
    }
    yield {
        "@id": AGENT,
        "@type": "Person",
        "name": "The person who started the run",
        "description": "A run does not record who started it; signatures beside its manifest do.",
        "memberOf": reference(PROJECT),
        "affiliation": reference(HOUSE),
    }
    yield _input(run)
    for number, result in enumerate(_judged(run), 1):
        yield _result(number, result)


def _input(run: ReportedRun) -> Entity:
    """Return the input: by name and hash in an internal crate, and as no more than there was one in a public one."""
    entity: Entity = {"@id": INPUT, "@type": "DigitalDocument", "name": "Input"}
    read = {} if run.public else run.document["run"].get("input", {})
    if "sha256" in read:
        entity |= {"name": read["name"], "contentSize": str(read["bytes"]), "sha256": read["sha256"]}
    entity["description"] = "Personal data that is not released; it is no part of this crate."
    return entity


def _judged(run: ReportedRun) -> list[ResultDocument]:
    """Return what was judged on the releases of the crate; of all, also what was judged on them together."""
    every = [*run.document["requirements"], *run.document["gates"]]
    names = {each.name for each in run.releases}
    return every if names == set(run.document["releases"]) else [each for each in every if each["release"] in names]


def _result(number: int, result: ResultDocument) -> Entity:
    state = "holds" if result["holds"] else "waived" if result.get("waived_by") else "does not hold"
    name = f"{result['id']} on {result['release']}" if result["release"] else result["id"]
    return {
        "@id": _result_id(number),
        "@type": "PropertyValue",
        "propertyID": result["metric"],
        "name": name,
        "value": state,
        "description": f"Required: {bound(result)}. {result['sentence']}",
    }


def _result_id(number: int) -> str:
    return f"#requirement-{number}"


def _software(run: ReportedRun) -> str:
    return f"{HOME}/ppdm-flow/{run.tool}"
