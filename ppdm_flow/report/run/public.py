"""The report that may be shared: what a recipient could know from the release and its policy, and no more.

This module names everything that stays; all else is removed. A figure stays where its plugin's card says that it is for
the public (``FigureInfo.audience``); it is internal by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ppdm_flow.core.card_pages import FEWEST, is_small_count
from ppdm_flow.core.diagnostics import Severity, current_code
from ppdm_flow.core.pages import pages
from ppdm_flow.core.plugin_info import FigureInfo
from ppdm_flow.core.results import HELD, RELEASED, Finding
from ppdm_flow.plan.dag import steps_before
from ppdm_flow.plan.meanings import Meanings
from ppdm_flow.report.run.checks import FEW, UNTOLD, is_public
from ppdm_flow.report.run.document import finding_document
from ppdm_flow.report.run.fields import PUBLIC, FigureDocument, FindingDocument, ReportDocument, ResultDocument

Document = dict[str, Any]

_RESULT = ("id", "release", "metric", "bound", "direction", "holds", "waived_by", "policy_span")
_RELEASE = ("path", "rows", "columns", "sha256", "bytes", "format", "audience", "description")
_RUN = ("started", "finished", "digests", "versions", "randomness")
_PLAN = ("version", "policy", "policy_digest", "releases", "gates", "nulls", "randomness", "waivers", "digest")
_TOGETHER = ("recipients", "joined_by")
_STEP = (
    *("name", "use", "kind", "version", "distribution", "input", "outputs", "reads", "changes", "drops", "renames"),
    *("rows", "serves", "guarantee", "randomized", "expands_weights", "implicit", "attributes"),
)
_AUDIT = ("name", "use", "kind", "version", "distribution", "release", "requirements", "implicit")
_REQUIREMENT = (
    *("id", "kind", "attribute", "attributes", "k", "l", "variant", "t", "distance", "alpha", "delta", "beta", "c"),
    *("m", "max", "level", "confidence", "negated", "min_support", "channel"),
    *("width", "as_of", "size", "max_share", "against", "max_excess"),
)


def public(document: ReportDocument) -> ReportDocument:
    """Return the public form of a report; of one that is public, itself."""
    if is_public(document):
        return document
    metrics = _metrics(document)
    return {
        "version": document["version"],
        "audience": PUBLIC,
        "policy": document["policy"],
        "verdict": document["verdict"],
        "requirements": [_result(each, metrics) for each in document["requirements"]],
        "gates": [_result(each, metrics) for each in document["gates"]],
        "metrics": metrics,
        "steps": [],
        "findings": _findings(document["findings"]),
        "waivers": document.get("waivers", []),
        "charts": [],
        "releases": {name: _release(about) for name, about in document["releases"].items()},
        "plan": _plan(document["plan"]),
        "run": _only(document["run"], _RUN),
    }


def of_release(document: ReportDocument, name: str) -> ReportDocument:
    """Return what a report says of one release, and nothing of others that the run made beside it."""
    others = document["releases"].keys() - {name}
    if not others:
        return document
    plan: Document = dict(document["plan"])
    if plan:
        plan["releases"] = [release for release in plan["releases"] if release["name"] == name]
        plan["audits"] = [audit for audit in plan["audits"] if audit["release"] == name]
        plan["steps"] = steps_before(plan, [name])
        for key in ("recipients", "joined_by"):
            plan.pop(key, None)
    figures = {key: figure for key, figure in document["metrics"].items() if key.partition("/")[0] == name}
    own: Document = {
        "requirements": [each for each in document["requirements"] if each["release"] == name],
        "gates": [each for each in document["gates"] if each["release"] == name],
        "findings": [each for each in document["findings"] if each.get("release", "") == name],
        "metrics": figures,
        "steps": [],
        "charts": [],
        "waivers": [],
        "releases": {name: document["releases"][name]},
        "plan": plan,
    }
    return cast("ReportDocument", {**document, **own})


def _metrics(document: ReportDocument) -> dict[str, FigureDocument]:
    """Return the figures for the public; of what was withheld there are none."""
    if document["verdict"] not in (RELEASED, HELD):
        return {}
    meanings, every = Meanings.of(document["plan"]), document["metrics"].items()
    return {name: _figure(figure) for name, figure in every if _is_public(meanings.figure(name))}


def _only(document: Mapping[str, Any], keys: tuple[str, ...]) -> Document:
    return {key: document[key] for key in keys if key in document}


def _is_public(figure: FigureInfo | None) -> bool:
    return figure is not None and figure.audience == PUBLIC


def _figure(figure: FigureDocument) -> FigureDocument:
    """Return a figure without its note, which may tell more; of a small count no more than that it is small."""
    if figure["value"] is not None and is_small_count(figure["value"], figure["unit"]):
        return {"value": None, "unit": figure["unit"], "note": FEW}
    return {"value": figure["value"], "unit": figure["unit"]}


def _result(result: ResultDocument, metrics: dict[str, FigureDocument]) -> ResultDocument:
    name = result["metric"]
    figure = metrics.get(f"{result['release']}/{name}") or metrics.get(name) or {"value": None, "unit": ""}
    waived = ", and is waived" if result.get("waived_by") else ""
    holds = "It holds" if result["holds"] else f"It does not hold{waived}"
    measured = figure["value"]
    untold = "" if measured is not None else f"; the measured figure is {figure.get('note') or UNTOLD}"
    named = {**_only(result, _RESULT), "measured": measured, "sentence": f"{holds}{untold}."}
    return cast("ResultDocument", named)


def _findings(findings: list[FindingDocument]) -> list[FindingDocument]:
    """Return one finding for each code, with the title of its page: texts and subjects reveal data."""
    known = pages()
    finding_of: dict[tuple[str, str], FindingDocument] = {}
    for each in findings:
        code, release = current_code(each["code"]), each.get("release", "")
        title = known[code].title if code in known else "a finding of a plugin"
        finding = Finding(code, Severity(each["severity"]), title, "", release)
        finding_of.setdefault((code, release), finding_document(finding, {finding.hash: each.get("waived_by", "")}))
    return list(finding_of.values())


def _release(about: Document) -> Document:
    shown = _only(about, _RELEASE)
    if isinstance(shown.get("rows"), int) and shown["rows"] < FEWEST:
        shown["rows"] = FEW
    return shown


def _sources(plan: Document) -> Document:
    """Return the source, or linked tables, without what is said of the files."""
    if "tables" not in plan:
        return {"source": _source(plan["source"])}
    return {"tables": [{**table, "source": _source(table["source"])} for table in plan["tables"]]}


def _source(source: Document) -> Document:
    hidden: Document = {"path": None, "format": None, "options": {}, "columns": None, "missing": []}
    return {
        **hidden,
        **_only(source, ("incomplete_rows", "undeclared", "attributes", "normalize", "keep_apart", "randomized_by")),
    }


def _plan(plan: Document) -> Document:
    """Return the plan without parameters, bounds on single values, and what it says of the source's file."""
    if not plan:
        return {}
    chosen = any(each.get("chosen_by") for each in plan["requirements"])
    return {
        **_only(plan, (*_PLAN, *_TOGETHER)),
        **({"releases": _without_choices(plan["releases"])} if chosen else {}),
        **_sources(plan),
        "steps": [
            {**_only(step, _STEP), **({"reads": []} if chosen else {}), "parameters": {}} for step in plan["steps"]
        ],
        "audits": [{**_only(audit, _AUDIT), "parameters": {}} for audit in plan["audits"]],
        "requirements": [_requirement(each) for each in plan["requirements"]],
        "report_values": "hide",
    }


def _without_choices(releases: list[Document]) -> list[Document]:
    """Return releases without the attributes that chose what a cell is: data says which ones a template took."""
    return [
        {**each, "attributes": [{k: v for k, v in a.items() if k != "chosen_by"} for a in each["attributes"]]}
        for each in releases
    ]


def _requirement(each: Document) -> Document:
    """Return a requirement; of a template whose values were chosen no channel, since it lacks the chosen attributes."""
    return {
        key: value
        for key, value in _only(each, _REQUIREMENT).items()
        if not (each.get("chosen_by") and key == "channel")
    }
