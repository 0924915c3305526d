"""A run as the engine would report it, made by hand: two releases, one requirement that does not hold."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding, Report, RequirementResult, StepResult
from ppdm_flow.core.spans import Span
from ppdm_flow.report.run.document import document as to_document

FILE = "pipelines/bank_credit.yaml"
RELEASES = ("study", "partner")
JOBS = ("Cook", "Artist", "Doctor", "Trader", "Clerk")
DISEASES = ("SARS", "HIV", "H1N1", "cancer")


def result(identifier: str, measured: float | None, bound: float, holds: bool, **more: Any) -> RequirementResult:
    given = {
        "release": "study",
        "metric": f"{identifier}.confidence",
        "direction": "at_most",
        "sentence": "",
        "span": Span(FILE, 20, 3, 23, 1),
    } | more
    return RequirementResult(id=identifier, bound=bound, measured=measured, holds=holds, **given)


def requirements(failing: bool) -> tuple[RequirementResult, ...]:
    found = []
    for release in RELEASES:
        found += [
            result(
                "privacy.k_anonymity",
                7,
                5.0,
                True,
                release=release,
                metric="privacy.k_anonymity.k",
                direction="at_least",
                sentence="Every combination of job, country and child occurs in at least 7 rows.",
            ),
            result(
                "privacy.templates.no-discharged",
                2 / 3,
                0.75,
                True,
                release=release,
                sentence="In the worst group, a reader who knows job and country concludes the value with 66.7%.",
            ),
            result(
                "privacy.sensitivities.disease",
                -0.0125,
                0.0,
                True,
                release=release,
                metric="privacy.sensitivities.disease.margin",
                sentence="No prior of at most r1 becomes a posterior above r2; HIV is nearest.",
            ),
        ]
    found.append(
        result(
            "privacy.templates.no-default",
            0.5421 if failing else 0.4421,
            0.5,
            not failing,
            release="partner",
            sentence="A reader who knows job and child concludes a default with this confidence in the worst group.",
        )
    )
    return tuple(found)


GATES = (
    result(
        "gates.still-useful",
        0.0213,
        0.05,
        True,
        metric="classifier.error_increase",
        interval=(0.0131, 0.0302),
        sentence="The classifier errs 2.13 percentage points more often than on the original.",
    ),
    result(
        "gates.keeps-records",
        0.34375,
        0.3,
        True,
        metric="perturb.record_utility",
        direction="at_least",
        sentence="34.4% of the rows are expected to keep their disease.",
    ),
)


def metrics() -> dict[str, Figure]:
    found = {
        "classifier.error_increase": Figure(0.0213, "share", (0.0131, 0.0302), 24000),
        "classifier.base": Figure(0.154, "share", (0.15, 0.158)),
        "classifier.suppressed": Figure(0.1753, "share", (0.17, 0.181)),
        "perturb.record_utility": Figure(0.34375, "probability"),
        "perturbation_utility.distribution_utility": Figure(0.994, "share", (0.991, 0.997)),
        "distributions.mean_total_variation": Figure(0.083, "share"),
        "distributions.mean_association_change": Figure(None, "share", note="fewer than two attributes are left"),
        "suppress.suppressed_cells": Figure(5120, "cells"),
        "suppress.suppressed_share": Figure(0.085, "share"),
    }
    for release in RELEASES:
        found[f"{release}/privacy.templates.no-discharged.confidence"] = Figure(2 / 3, "probability")
        found[f"{release}/privacy.templates.no-discharged.confidence_before"] = Figure(0.8, "probability")
        found[f"{release}/privacy.templates.no-default.confidence"] = Figure(0.5421, "probability")
        found[f"{release}/privacy.templates.no-default.confidence_before"] = Figure(0.91, "probability")
        found[f"{release}/privacy.k_anonymity.k"] = Figure(7, "rows")
        found[f"{release}/privacy.sensitivities.disease.margin"] = Figure(-0.0125, "probability")
        found[f"{release}/reidentification_risk.prosecutor_highest"] = Figure(1 / 7, "probability")
        found[f"{release}/reidentification_risk.prosecutor_average"] = Figure(0.012, "probability")
    return found


CHARTS = (
    Chart(
        "job",
        "job",
        "bars",
        JOBS,
        (
            FigureSeries("original", (0.17, 0.17, 0.25, 0.25, 0.16)),
            FigureSeries("released", (0.17, 0.17, 0.25, 0.0, 0.0)),
        ),
        "job",
        "share of rows",
        "Total variation distance 0.41.",
        "distributions",
    ),
    Chart(
        "disease",
        "disease",
        "bars",
        ("value 1", "value 2", "value 3", "a rather long name of a disease in words"),
        (
            FigureSeries("original", (0.1, 0.2, 0.3, 0.4), (0.09, 0.18, 0.28, 0.38), (0.11, 0.22, 0.32, 0.42)),
            FigureSeries("released", (0.18, 0.22, 0.28, 0.32)),
        ),
        "disease",
        "share of rows",
        "",
        "distributions",
    ),
    Chart(
        "age",
        "age",
        "bars",
        tuple(f"[{a}, {a + 5})" for a in range(0, 90, 5)),
        (
            FigureSeries("original", tuple(math.exp(-(((a - 40) / 22) ** 2)) / 7.7 for a in range(0, 90, 5))),
            FigureSeries("released", tuple(math.exp(-(((a - 42) / 26) ** 2)) / 8.9 for a in range(0, 90, 5))),
        ),
        "age",
        "share of rows",
        "",
        "distributions",
    ),
    Chart(
        "sizes",
        "Rows by size of their equivalence class",
        "bars",
        ("1", "2-4", "5-9", "10-19", "20-49", "50-99", "100-499", "500+"),
        (
            FigureSeries("original", (820, 1900, 2600, 3100, 4200, 3000, 2800, 1580)),
            FigureSeries("released", (0, 0, 310, 900, 3400, 4800, 6100, 4490)),
        ),
        "rows in the class",
        "rows",
        "Rows on the left are easiest to find.",
        "class_sizes",
    ),
    Chart(
        "posteriors",
        "Worst posterior of each value",
        "matrix",
        DISEASES,
        tuple(
            FigureSeries(name, tuple(0.05 + 0.09 * ((i * 3 + j) % 7) for j in range(4)))
            for i, name in enumerate(DISEASES)
        ),
        "",
        "posterior probability",
        "",
        "sensitivities",
    ),
    Chart(
        "tradeoff",
        "Record utility against tolerance",
        "lines",
        ("20", "30", "40", "50"),
        (
            FigureSeries(
                "fine-grain", (0.5221, 0.6228, 0.6960, 0.7516), (0.51, 0.61, 0.68, 0.74), (0.53, 0.64, 0.71, 0.76)
            ),
            FigureSeries("uniform", (0.3660, 0.4811, 0.5709, 0.6429)),
        ),
        "tolerance",
        "probability",
        "",
        "sensitivities",
    ),
)

STEPS = (
    StepResult(
        "coarsen",
        "generalize",
        "1",
        20000,
        20000,
        0.213,
        {},
        {"attributes": {"age": {"intervals": [0, 16, 40, 65, 120]}}},
    ),
    StepResult(
        "suppress",
        "progressive_disclosure",
        "1",
        20000,
        20000,
        1.482,
        {"suppressed_cells": Figure(5120, "cells"), "rounds": Figure(14, "count")},
        {
            "attributes": {
                "job": {"disclosed_values": 3, "suppressed_values": 2, "suppressed_cells": 4200},
                "country": {"disclosed_values": 2, "suppressed_values": 2, "suppressed_cells": 920},
                "child": {"disclosed_values": 2, "suppressed_values": 0, "suppressed_cells": 0},
            }
        },
        charts=(
            Chart(
                "suppress-suppressed",
                "Suppressed cells by attribute",
                "bars",
                ("job", "country", "child"),
                (FigureSeries("suppressed", (0.21, 0.046, 0.0)),),
                y_label="share of rows",
            ),
        ),
    ),
    StepResult(
        "perturb",
        "fine_grain_perturbation",
        "1",
        20000,
        20000,
        0.087,
        {"record_utility": Figure(0.34375, "probability")},
        {"attribute": "disease", "retention": [0.0, 1 / 6, 1 / 6, 1 / 6]},
        findings=(Finding("PPF810", Severity.INFO, "SARS is never kept: its bound leaves no room.", "perturb"),),
    ),
    StepResult("shuffle-study", "shuffle_rows", "1", 20000, 20000, 0.031),
    StepResult("shuffle-partner", "shuffle_rows", "1", 20000, 20000, 0.029),
)

FINDINGS = (
    Finding("PPF780", Severity.WARNING, "The value HIV is known too well beforehand: its prior exceeds r2.", "disease"),
    Finding(
        "PPF782", Severity.INFO, "The interval of the classification error is wider than its change.", "classifier"
    ),
)


def attribute(name: str, role: str, *changes: tuple[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "type": "text",
        "source": name,
        "changes": [{"step": step, "change": change} for step, change in changes],
    }


def column(found: dict[str, Any], how: str = "value_map", *chosen_by: str) -> dict[str, Any]:
    """An attribute as a release has it."""
    steps = [change["step"] for change in found["changes"]]
    return found | {"computed_from": [found["name"]], "how": how, "chosen_by": list(chosen_by), "steps": steps}


def plan_document() -> dict[str, Any]:
    attributes = [
        attribute("job", "quasi_identifier", ("suppress", "suppressed")),
        attribute("country", "quasi_identifier", ("suppress", "suppressed")),
        attribute("age", "quasi_identifier", ("coarsen", "generalized")),
        attribute("disease", "sensitive", ("perturb", "perturbed")),
        attribute("rating", "target"),
    ]
    job, country, age, disease, rating = attributes
    columns = [
        column(job, "value_map", "country", "rating"),
        column(country, "value_map", "job", "rating"),
        column(age),
        column(disease, "drawn"),
        column(rating, "unchanged"),
    ]

    def plugin(name: str, use: str) -> dict[str, Any]:
        return {
            "name": name,
            "use": use,
            "kind": "row_wise",
            "version": "1",
            "distribution": "ppdm_flow 0.2.0",
            "parameters": {},
        }

    def step(name: str, use: str, at: str, implicit: bool = False) -> dict[str, Any]:
        return plugin(name, use) | {
            "input": at,
            "outputs": [""],
            "reads": [],
            "changes": {},
            "drops": [],
            "renames": {},
            "rows": "same",
            "serves": [],
            "guarantee": "",
            "randomized": False,
            "expands_weights": False,
            "implicit": implicit,
            "attributes": attributes,
        }

    return {
        "version": 1,
        "policy": "bank-credit",
        "policy_digest": "ab" * 32,
        "source": {
            "path": "data/bank_credit.csv",
            "format": "csv",
            "options": {},
            "columns": None,
            "missing": [""],
            "incomplete_rows": "keep",
            "undeclared": "error",
            "attributes": [attribute(a["name"], a["role"]) for a in attributes],
        },
        "steps": [
            step("coarsen", "generalize", "source"),
            step("suppress", "progressive_disclosure", "coarsen"),
            step("perturb", "fine_grain_perturbation", "suppress"),
            step("shuffle-study", "shuffle_rows", "suppress", True),
            step("shuffle-partner", "shuffle_rows", "perturb", True),
        ],
        "audits": [
            plugin(name, name) | {"release": release, "requirements": [], "implicit": True}
            for release in RELEASES
            for name in ("k_anonymity", "templates")
        ],
        "releases": [
            {
                "name": name,
                "input": f"shuffle-{name}",
                "path": "bank.csv",
                "format": "csv",
                "options": {},
                "audience": "internal",
                "description": "",
                "attributes": columns,
            }
            for name in RELEASES
        ],
        "requirements": [{"id": "privacy.k_anonymity", "kind": "k_anonymity", "k": 5, "attributes": ["job"]}],
        "gates": [{"id": "gates.still-useful", "metric": "classifier.error_increase", "min": None, "max": 0.05}],
        "nulls": "own_category",
        "randomness": "sealed",
        "report_values": "hide",
        "digest": "cd" * 32,
    }


def build(*, failing: bool = False, **changes: Any) -> Report:
    fields: dict[str, Any] = {
        "policy": "bank-credit",
        "verdict": "withheld" if failing else "released",
        "requirements": requirements(failing),
        "gates": GATES,
        "metrics": metrics(),
        "steps": STEPS,
        "findings": FINDINGS,
        "charts": CHARTS,
        "releases": {
            "study": {
                "path": "bank.csv",
                "format": "csv",
                "rows": 20000,
                "columns": 5,
                "bytes": 812345,
                "sha256": "1f" * 32,
            },
            "partner": {
                "path": "bank.parquet",
                "format": "parquet",
                "rows": 20000,
                "columns": 5,
                "bytes": 91234,
                "sha256": "2e" * 32,
            },
        },
        "plan": plan_document(),
        "run": {
            "started": "2026-11-20T09:14:03Z",
            "finished": "2026-11-20T09:14:09Z",
            "seconds": 5.82,
            "input": {"path": "bank.csv", "rows": 20000, "columns": 7, "sha256": "3d" * 32},
            "randomness": {"mode": "sealed", "commitment": "4c" * 32},
            "versions": {"ppdm_flow": "0.2.0", "python": "3.11.2", "numpy": "2.2.6", "pyarrow": "21.0.0"},
        },
    } | changes
    return Report(**fields)


@pytest.fixture
def report():
    """Make a report; keyword arguments replace its fields."""
    return build


@pytest.fixture
def document():
    """Make a report's document."""

    def make(**changes: Any) -> dict[str, Any]:
        return to_document(build(**changes))

    return make
