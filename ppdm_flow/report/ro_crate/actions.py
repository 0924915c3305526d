"""What was done: the run as a `CreateAction`, its checks as `AssessAction`, and who stands behind them."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.report.ro_crate.terms import (
    DISCLOSURE_CHECK,
    DONE,
    FAILED,
    PENDING,
    ROOT,
    SIGN_OFF,
    Entity,
    reference,
)
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.released import HOME, ReportedRun, bound

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


def checks(run: ReportedRun) -> list[Entity]:
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
    entity["description"] = "Personal data that does not leave the house; it is no part of this crate."
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
