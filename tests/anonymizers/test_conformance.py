"""Every built-in passes through the kit that third parties use."""

from __future__ import annotations

import numpy as np
import pytest

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.requirement_families import by_attribute
from ppdm_flow.core.roles import Directions, Nulls, Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.sensitivities.requirement import BoundOfValue, Sensitivity
from ppdm_flow.requirements.templates.requirement import InferenceTemplate
from ppdm_flow.sdk import registry
from ppdm_flow.tables.table import Table
from ppdm_flow.testing import claims
from ppdm_flow.testing.case import BadInput, Case
from ppdm_flow.testing.conformance import AnonymizerConformance


def spec(name):
    return registry.load("anonymizers", name)


def people(rows: int = 3000, **columns: list[str | None]) -> Table:
    """A table with dependence between the columns, and missing values; every text is a canary for the account."""
    rng = np.random.default_rng(2)
    job = rng.integers(0, 5, rows)
    country = (job + rng.integers(0, 3, rows)) % 6
    disease = np.where(rng.random(rows) < 0.3, job % 4, rng.integers(0, 4, rows))
    missing = rng.random(rows) < 0.05
    return Table.of(
        {
            "job": [None if m else f"job-{j}-canary" for j, m in zip(job, missing, strict=True)],
            "country": [f"country-{c}-canary" for c in country],
            "disease": [f"disease-{d}-canary" for d in disease],
            "age": [str(a) for a in rng.integers(18, 90, rows)],
            "class": [f"class-{c}-canary" for c in (disease + rng.integers(0, 2, rows)) % 2],
            **columns,
        }
    )


ROLES = {"job": Role.QUASI_IDENTIFIER, "country": Role.QUASI_IDENTIFIER, "disease": Role.SENSITIVE}


class TestDrop(AnonymizerConformance):
    def case(self):
        bad = BadInput("jbo", params={"attributes": ["jbo"]})
        return Case(spec("drop"), {"attributes": ["job", "c*"]}, people(), bad=(bad,))


class TestRename(AnonymizerConformance):
    def case(self):
        bad = (
            BadInput("x", params={"attributes": {"job": "x", "age": "x"}}),
            BadInput("z", params={"attributes": {"z": "y"}}),
        )
        names = {"job": "age", "age": "job", "class": "rating"}
        return Case(spec("rename"), {"attributes": names}, people(), bad=bad)


class TestGeneralize(AnonymizerConformance):
    def case(self):
        decades = {f"[{a}, {a + 10})" for a in range(10, 90, 10)}
        return Case(
            spec("generalize"),
            {"attributes": {"age": {"intervals": [str(a) for a in range(10, 91, 10)]}, "country": {"prefix": "8"}}},
            people(),
            domains={"age": frozenset(decades), "country": frozenset(f"country-{'*' * 8}" for _ in range(1))},
            claims=(claims.is_function("age"), claims.is_function("country")),
            bad=(BadInput("age", people(3, age=["1", "x", "2"])), BadInput("age", people(3, age=["11", "12", "90"]))),
        )


class TestPseudonymize(AnonymizerConformance):
    @pytest.fixture(autouse=True)
    def key(self, monkeypatch):
        monkeypatch.setenv("PPDM_TEST_KEY", "a key for tests only: 0123456789")
        monkeypatch.setenv("PPDM_OTHER_KEY", "another key for tests: 0123456789")

    def case(self):
        return Case(
            spec("pseudonymize"),
            {"attributes": ["job"], "key_env": "PPDM_TEST_KEY"},
            people(),
            claims=(claims.is_function("job", one_to_one=True),),
            bad=(BadInput("jbo", params={"attributes": ["jbo"], "key_env": "PPDM_TEST_KEY"}),),
            other_key={"attributes": ["job"], "key_env": "PPDM_OTHER_KEY"},
        )


class TestSampleByFraction(AnonymizerConformance):
    def case(self):
        return Case(spec("sample"), {"fraction": "0.25"}, people(), claims=(claims.share_is_kept(0.25),))


class TestSampleBySize(AnonymizerConformance):
    def case(self):
        return Case(spec("sample"), {"size": "700"}, people(), claims=(claims.exactly(700),))


class TestLimitRows(AnonymizerConformance):
    def case(self):
        table = people(who=[f"who-{i * 7 % 1000}-canary" for i in range(3000)])
        nobody = people(3, who=["a", None, "b"])
        return Case(
            spec("limit_rows"),
            {"rows": "2"},
            table,
            {**ROLES, "who": Role.SUBJECT},
            claims=(claims.exactly(2000),),
            bad=(BadInput("who", nobody),),
        )


class TestOneRowEach(AnonymizerConformance):
    def case(self):
        table = people(who=[f"who-{i * 7 % 1000}-canary" for i in range(3000)])
        nobody = people(3, who=["a", None, "b"])
        return Case(
            spec("one_row_each"),
            {},
            table,
            {**ROLES, "who": Role.SUBJECT},
            claims=(claims.exactly(1000),),
            bad=(BadInput("who", nobody),),
        )


class TestShuffleRows(AnonymizerConformance):
    def case(self):
        return Case(spec("shuffle_rows"), {}, people(), claims=(claims.order_is_random(), claims.exactly(3000)))


def diseases(*values: BoundOfValue, directions=Directions.BOTH, **rest) -> Sensitivity:
    return Sensitivity.of_bounds("disease", values, directions, **rest)


class TestFineGrainPerturbation(AnonymizerConformance):
    requirements = (
        diseases(BoundOfValue("disease-0-canary", 0.2, 0.6), default=(0.3, 0.8)),
        Sensitivity.of_bounds("job", (), Directions.UPWARD, tolerance=3.0),
    )

    def case(self):
        table = people()
        return Case(
            spec("fine_grain_perturbation"),
            {},
            table,
            ROLES,
            self.requirements,
            domains={n: frozenset(table[n].categories.to_pylist()) for n in ("disease", "job")},
            claims=(claims.channels_are_true(), claims.exactly(3000)),
            bad=(
                BadInput("disease", people(3, disease=["⊥", "a", "b"])),
                BadInput("age", params={"attribute": "age"}),
                BadInput("disease", requirements=(diseases(default=(0.3, 0.8), domain=("other",)),)),
            ),
        )


class TestUniformPerturbation(TestFineGrainPerturbation):
    def case(self):
        known = super().case()
        return Case(known.spec, {"operator": "uniform"}, known.table, ROLES, self.requirements, claims=known.claims)


class TestPramUnderBounds(TestFineGrainPerturbation):
    def case(self):
        known = super().case()
        return Case(spec("pram"), {}, known.table, ROLES, self.requirements, claims=known.claims)


class TestPram(AnonymizerConformance):
    """Stated shares, on an attribute with missing cells and on one without, under any requirement."""

    params = {"attributes": ["disease", "job"], "retain": "0.6"}  # noqa: RUF012  # a constant

    def case(self):
        table = people()
        return Case(
            spec("pram"),
            self.params,
            table,
            ROLES,
            domains={n: frozenset(table[n].categories.to_pylist()) for n in ("disease", "job")},
            claims=(claims.channels_are_true(), claims.exactly(3000)),
            bad=(
                BadInput("disease", people(3, disease=["⊥", "a", "b"])),
                BadInput("jbo", params={"attribute": "jbo", "retain": "0.5"}),
            ),
        )


class TestInvariantPram(TestPram):
    params = {**TestPram.params, "invariant": "true"}  # noqa: RUF012  # a constant


class TestStatedPram(AnonymizerConformance):
    def case(self):
        table = people()
        names = table["disease"].categories.to_pylist()
        rows = {v: {v: "0.7", names[0]: "0.3"} if v != names[0] else {v: "1"} for v in names}
        return Case(
            spec("pram"),
            {"attribute": "disease", "matrix": rows},
            table,
            ROLES,
            domains={"disease": frozenset(names)},
            claims=(claims.channels_are_true(), claims.exactly(3000)),
            bad=(BadInput("disease", params={"attribute": "disease", "matrix": {"other": {"other": "1"}}}),),
        )


class TestProgressiveDisclosure(AnonymizerConformance):
    nulls = Nulls.OWN_CATEGORY
    templates = (
        InferenceTemplate.of(
            "privacy.templates.a",
            "a",
            channel=("job", "country"),
            sensitive=by_attribute((("disease", "disease-0-canary"),)),
            confidence=0.5,
        ),
        InferenceTemplate.of(
            "privacy.templates.b",
            "b",
            channel=("country",),
            sensitive=by_attribute((("disease", "disease-1-canary"), ("class", "class-1-canary"))),
            confidence=0.7,
        ),
    )

    def case(self):
        table = people()
        alone = InferenceTemplate.of(
            "privacy.templates.c",
            "c",
            channel=("job", "country"),
            sensitive=by_attribute((("disease", "disease-0-canary"),)),
            confidence=0.5,
        )
        bad = BadInput("job", params={"attributes": ["country"]}, requirements=(alone,))
        return Case(
            spec("progressive_disclosure"),
            {},
            table,
            {**ROLES, "class": Role.TARGET},
            self.templates,
            nulls=self.nulls,
            domains={n: frozenset(table[n].categories.to_pylist()) for n in ("job", "country")},
            claims=(claims.templates_hold(*self.templates),),
            bad=() if self.nulls is Nulls.OWN_CATEGORY else (bad,),
        )


class TestProgressiveDisclosureWithWildcards(TestProgressiveDisclosure):
    nulls = Nulls.WILDCARD


class TestProgressiveDisclosureBeyondThePaper(AnonymizerConformance):
    """Down a hierarchy, with a support, a negated template and k-anonymity, by a beam."""

    requirements = (
        InferenceTemplate.of(
            "privacy.templates.a",
            "a",
            channel=("job", "country"),
            sensitive=by_attribute((("disease", "disease-0-canary"),)),
            confidence=0.5,
            min_support=9,
        ),
        InferenceTemplate.of(
            "t.b",
            "b",
            channel=("job",),
            sensitive=by_attribute((("disease", "disease-1-canary"),)),
            confidence=0.97,
            negated=True,
        ),
        KAnonymity.of("privacy.k_anonymity", k=12, attributes=("job", "country")),
    )

    def case(self):
        table = people()
        jobs = table["job"].categories.to_pylist()
        above = tuple((job, (f"half-{place % 2}", "*")) for place, job in enumerate(jobs))
        facts = {"job": AttributeFacts("job", Role.QUASI_IDENTIFIER, hierarchy=HierarchySpec(levels=above))}
        every = InferenceTemplate.of(
            "",
            "every",
            channel=("job", "country"),
            sensitive=by_attribute((("disease", "disease-0-canary"),)),
            confidence=0.999999,
            min_support=12,
        )
        return Case(
            spec("progressive_disclosure"),
            {"search": "beam", "width": "2"},
            table,
            {**ROLES, "class": Role.TARGET},
            self.requirements,
            facts,
            domains={
                "job": frozenset((*jobs, "half-0", "half-1")),
                "country": frozenset(table["country"].categories.to_pylist()),
            },
            claims=(claims.templates_hold(*self.requirements[:2], every),),
        )


PATIENTS = {**ROLES, "patient": Role.SUBJECT}


class TestFineGrainPerturbationOfPeople(TestFineGrainPerturbation):
    """Each row is of a person of its own, so that the channel's frequencies can be counted by rows."""

    def case(self):
        known = super().case()
        table = people(patient=[f"patient-{i}-canary" for i in range(3000)])
        return Case(known.spec, {}, table, PATIENTS, self.requirements, domains=known.domains, claims=known.claims)


class TestPramOfPeople(TestFineGrainPerturbationOfPeople):
    def case(self):
        known = super().case()
        return Case(spec("pram"), {}, known.table, PATIENTS, self.requirements, claims=known.claims)
