"""Steps that count people through the kit: nothing comes from the subject, and what is claimed is counted anew."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from ppdm_flow.core.roles import Nulls
from ppdm_flow.testing.conformance import AnonymizerConformance

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from adversary.people_trials import broken, case_of, released, rows_of, standing_out, told_to


@cache
def told(step, params):
    """Return the first table that the step makes several classes of."""
    for seed in range(200):
        found = replace(told_to(step, random.Random(seed)), nulls=Nulls.OWN_CATEGORY)
        rows = released(case_of(step, dict(params), found), found)
        if len(found.requirements) > 1 and rows and len({(r["age"], r["town"]) for r in rows}) > 2:
            return found
    raise AssertionError("no table has several classes")


class TestMondrian(AnonymizerConformance):
    step = "mondrian"
    params = MappingProxyType({})

    def case(self):
        found = told(self.step, tuple(self.params.items()))

        def claim(outcome):
            rows = rows_of(outcome.released, found)
            linked = standing_out(found, rows) if self.step == "suppress" else []
            return ", ".join(broken(outcome.case, found, rows) + linked) or None

        return case_of(self.step, dict(self.params), found, claims=(claim,))


class TestRelaxed(TestMondrian):
    params = MappingProxyType({"partitioning": "relaxed"})


class TestSuppress(TestMondrian):
    step = "suppress"


class TestSuppressRows(TestSuppress):
    params = MappingProxyType({"small": "rows", "linked": "drop"})


class TestFullDomainRecoding(TestMondrian):
    step = "full_domain_recoding"
    params = MappingProxyType({"suppression": 0.5})


class TestMicroaggregation(TestMondrian):
    step = "microaggregation"


class TestProgressiveDisclosure(TestMondrian):
    step = "progressive_disclosure"
    params = MappingProxyType({"score": "entropy", "k_anonymity": True})
