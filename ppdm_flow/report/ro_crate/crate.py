"""`ro-crate-metadata.json` of a run: who asked for what, what was made, and how it was checked before it left.

The public form describes one release, and lies beside its file; the internal one describes the whole run, and lies in
the run's directory. Of a run that was withheld, or waits, nothing stands in it but the run and its checks.
"""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.texts.visible import json_text
from ppdm_flow.report.ro_crate import actions, parts
from ppdm_flow.report.ro_crate.terms import CONTEXT, CRATE, METADATA, PROFILE, ROOT, Entity, reference
from ppdm_flow.report.run.released import FinishedRun


def render(run: FinishedRun) -> str:
    """Return the metadata as JSON-LD. Raises UsageError where the public form has no single release to describe."""
    if run.public and run.published:
        run.only("ro-crate")
    return json_text({"@context": CONTEXT, "@graph": list(_graph(run))})


def _graph(run: FinishedRun) -> Iterator[Entity]:
    files = parts.files(run)
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
        "license": reference(parts.LICENSE["@id"]),
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
    yield dict(parts.LICENSE)
    yield from files
    yield done
    yield from checks
    yield from actions.context(run)


def _name(run: FinishedRun) -> str:
    if run.public and run.published:
        return f"{run.policy}-{run.releases[0].name}"
    return f"Run of the release policy {run.policy}"


def _description(run: FinishedRun) -> str:
    if run.published and run.public:
        text = run.releases[0].description
        return text or f"The release {run.releases[0].name} of the release policy {run.policy}."
    state = "released" if run.published else run.document["verdict"]
    return f"A run of ppdm-flow {run.tool} under the release policy {run.policy}: {state}."
