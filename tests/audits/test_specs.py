"""The cards of all audits: light, complete, and with a page for each code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ppdm_flow.anonymizers
import ppdm_flow.audits
import ppdm_flow.mining
import ppdm_flow.requirements
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.pages import pages
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Directions
from ppdm_flow.core.supports import SupportBound
from ppdm_flow.engine.reading.original import CrowdSizes, RepeatCounter
from ppdm_flow.mining.populations.population import PopulationFile
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.anonymity_score.requirement import AnonymityScore
from ppdm_flow.requirements.beta_likeness.requirement import BetaLikeness
from ppdm_flow.requirements.blend.requirement import Blend
from ppdm_flow.requirements.cumulative_k.requirement import CumulativeK
from ppdm_flow.requirements.delta_disclosure.requirement import DeltaDisclosure
from ppdm_flow.requirements.dominance.requirement import Dominance
from ppdm_flow.requirements.first_draw.requirement import FirstDraw
from ppdm_flow.requirements.interval_disclosure.requirement import IntervalDisclosure, Width
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_map.requirement import KMap
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage
from ppdm_flow.requirements.safe_harbor.requirement import SafeHarbor
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.requirements.t_closeness.requirement import Distance, TCloseness
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk.anonymizer import Operator
from ppdm_flow.sdk.audit import Audit, RecheckedAudit
from ppdm_flow.sdk.registry import listed, load

NAMES = [p.name for p in listed("audits") if p.built_in]
NEEDED = {
    "analyses": {
        "analyses": {
            "x": {"table": ["p", "s"]},
            "y": {"regression": "s", "model": "logistic", "positive": "canary-s0", "on": ["p", "q"]},
        }
    },
    "complementary_release": {"other": "people.csv"},
    "individual_risk": {"sampling_fraction": 0.1},
}
"""Parameters without which an audit cannot be made."""
ROOMS = [
    Path(room.__file__).parent
    for room in (ppdm_flow.anonymizers, ppdm_flow.audits, ppdm_flow.requirements, ppdm_flow.mining)
]


def faults_of(name: str) -> Iterator[str]:
    spec = load("audits", name)
    algorithm = spec.load()(spec.params(**NEEDED.get(name, {})))
    if spec.info.kind is not Kind.AUDIT or not isinstance(algorithm, Audit):
        yield "it is no audit"
    if not spec.info.summary:
        yield "it has no summary"
    if spec.info.serves and spec.info.serves != (name,):
        yield f"it serves {spec.info.serves}"
    if spec.info.serves and not isinstance(algorithm, RecheckedAudit):
        yield "it has no second route"


def test_every_audit():
    faults = [f"{name}: {fault}" for name in NAMES for fault in faults_of(name)]
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_specs_are_light():
    heavy = ("numpy", "pandas", "pyarrow", "scipy", "sklearn", "numba", "duckdb", "networkx")
    code = (
        "import sys; from ppdm_flow.sdk.registry import load\n"
        f"for name in {NAMES!r}: load('audits', name)\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_code_has_a_page_and_every_page_a_use():
    raised = {c for room in ROOMS for file in room.rglob("*.py") for c in re.findall(r"PPF8\d\d", file.read_text())}
    raised |= {UNTOLD, RepeatCounter.code, CrowdSizes.code}  # named where the engine looks for them, and by columns
    assert raised == {c for c in pages() if c.startswith("PPF8")}
    for code in raised:
        page = pages()[code]
        assert all((page.title, page.what, page.why, page.fix))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("paired", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_no_value_is_told(name, paired, build, tmp_path):
    """Canaries in every column: none comes out, unless the policy wrote it itself."""
    rng = np.random.default_rng(1)
    table = {n: [f"canary-{n}{v}" for v in rng.integers(0, 4, 400)] for n in "pqst"}
    domain = tuple(sorted(set(table["s"])))
    written = domain[0]
    released = {**table, "p": [None if i % 9 == 0 else "⊥" if i % 7 == 0 else v for i, v in enumerate(table["p"])]}
    (tmp_path / "people.csv").write_text("p,q\ncanary-p0,canary-q1\n", encoding="utf-8")
    case = build.case(
        table,
        released,
        "qqst",
        paired=paired,
        declared={"s": frozenset([written])},
        requirements=(
            KAnonymity.of("k", k=500, attributes=("p", "q")),
            InferenceTemplate.of(
                "t", "t", channel=("p", "q"), sensitive=by_attribute((("s", written),)), confidence=0.01
            ),
            Sensitivity.of_bounds("s", (BoundOfValue(written, 0.01, 0.02),), Directions.BOTH, tolerance=2.0),
            AnonymityScore.of("a", max=0.1),
            Blend.of("b", min_support=SupportBound(count=500)),
            LDiversity.of("l", "s", l=9, attributes=("p", "q")),
            TCloseness.of("c", "s", t=0.01, attributes=("p", "q"), distance=Distance.ORDERED, order=domain),
            TCloseness.of("u", "s", t=0.01, attributes=("p", "q"), distance=Distance.ORDERED, order=domain[:2]),
            AlphaK.of("f", "s", alpha=0.01, attributes=("p", "q"), values=(written,)),
            DeltaDisclosure.of("d", "s", delta=0.01, attributes=("p", "q")),
            BetaLikeness.of("e", "s", beta=0.01, attributes=("p", "q")),
            KMap.of("m", k=500, attributes=("p", "q"), population=PopulationFile(path="people.csv")),
            LKC.of("x", l=2, k=500, attributes=("p", "q"), c=0.01, sensitive=by_attribute((("s", written),))),
            CumulativeK.of("n", k=500, attributes=("p", "q")),
            FirstDraw.of("o", attributes=("s",)),
            IntervalDisclosure.of("i", "s", width=Width(sd=0.1), max=0.1),
            Dominance.of("g", "s", share=0.1, p=10.0, contributors=500, attributes=("p", "q")),
            NumericLinkage.of("j", attributes=("s", "t"), max=0.1),
            SafeHarbor.of("h", as_of=2026, small_areas=("census_2000",), unique=0.8, cleared={}),
        ),
        home=tmp_path,
        operators={"s": Operator("s", domain, np.full(4, 0.3))},
    )
    spec = load("audits", name)
    outcome = spec.load()(spec.params(**NEEDED.get(name, {}))).measure(*case.args)
    assert outcome.figures or spec.info.sets, "no figure: `requirements` above needs one of its kind"
    assert "canary" not in repr(outcome).replace(written, "")
    for chart in outcome.charts:
        assert all(len(s.y) == len(chart.x) for s in chart.series), chart.id
        assert all(len(s.low) == len(s.high) for s in chart.series)
    json.dumps([f.value for f in outcome.figures.values()], allow_nan=False)
