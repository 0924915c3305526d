"""Policies by somebody who wants the join of linked tables to be judged on less than what others can join."""

from __future__ import annotations

import pytest

POLICY = """version: 1
name: clinic
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes:
      patient: {role: subject}
      born: {role: quasi_identifier}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes:
      hospital: {role: quasi_identifier}
      ward: {role: insensitive}
      day: {role: insensitive}
      diagnosis: {role: sensitive}
people: {known_rows: 1}
"""
NAMES = "  names: {use: pseudonymize, input: patients, with: {attributes: [patient], key_env: CLINIC_KEY}}\n"


def clinic_of(eight: str):
    """Eight people, born in two years; ``eight`` has a letter for the hospital of each."""
    names = [f"zq{i}" for i in range(8)]
    patients = [{"patient": name, "born": 1960 if i < 4 else 1970} for i, name in enumerate(names)]
    visits = [
        {"patient": n, "hospital": h, "ward": f"w{i}", "day": f"d{i}", "diagnosis": "flu" if i < 4 else "hiv"}
        for i, (n, h) in enumerate(zip(names, eight, strict=True))
    ]
    return {"patients": patients, "visits": visits}


def judged(result):
    return [r["holds"] for r in result.document["requirements"]]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("named", ["[patients, visits]", "[visits]", "[patients]"])
def test_a_requirement_that_names_releases_is_judged_on_their_join(clinic, run, named):
    """One who was born in 1960 was in the south; each table alone has two or more of everything."""
    text = (
        f"{POLICY}privacy: {{k_anonymity: {{k: 2, releases: {named}}}}}\nsteps:\n{NAMES}"
        "  bare: {use: drop, input: visits, with: {attributes: [ward, day, diagnosis]}}\n"
        "releases: {patients: {from: names, path: p.csv}, visits: {from: bare, path: v.csv}}\n"
    )
    result = run(clinic(text, **clinic_of("nnnsnnns")))
    assert not result.released
    assert False in judged(result)


@pytest.mark.slow
def test_releases_that_are_joined_over_others_belong_to_the_join(clinic, run):
    """The key stands beside the ward, the ward beside the day, and the day beside the diagnosis: all of them unique."""
    text = (
        f"{POLICY}privacy: {{alpha_k: {{visits.diagnosis: {{alpha: 0.6, attributes: [patients.born]}}}}}}\n"
        f"steps:\n{NAMES}"
        "  first: {use: drop, input: visits, with: {attributes: [hospital, day, diagnosis]}}\n"
        "  second: {use: drop, input: visits, with: {attributes: [hospital, patient, diagnosis]}}\n"
        "  third: {use: drop, input: visits, with: {attributes: [hospital, patient, ward]}}\n"
        "releases:\n  patients: {from: names, path: p.csv}\n"
        "  first: {from: first, path: 1.csv}\n  second: {from: second, path: 2.csv}\n"
        "  third: {from: third, path: 3.csv}\n"
    )
    result = run(clinic(text, **clinic_of("nnnnnnnn")))
    assert not result.released
    assert False in judged(result)


def of_three(born: str, releases: str):
    """Rare pairs: who was in the north and paid twice, and who was in the south and paid once, are one person each."""
    text = f"{TWO_MANY}releases: {releases}\n"
    people = [("n", "1"), ("n", "1"), ("n", "2"), ("s", "1"), ("s", "2"), ("s", "2")]
    names = [f"zq{i}" for i in range(6)]
    return text, {
        "patients": [{"patient": n, "born": born} for n in names],
        "visits": [{"patient": n, "hospital": h} for n, (h, _) in zip(names, people, strict=True)],
        "claims": [{"patient": n, "paid": p} for n, (_, p) in zip(names, people, strict=True)],
    }


TWO_MANY = """version: 1
name: clinic
tables:
  patients:
    source: {path: patients.csv}
    key: patient
    attributes: {patient: {role: subject}, born: {role: quasi_identifier}}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes: {hospital: {role: quasi_identifier}}
  claims:
    source: {path: claims.csv}
    refers: {patient: patients}
    attributes: {paid: {role: quasi_identifier}}
people: {known_rows: 1}
privacy: {k_anonymity: {k: 2}}
steps:
  names: {use: pseudonymize, input: visits, with: {attributes: [patient], key_env: CLINIC_KEY}}
  bare: {use: drop, input: patients, with: {attributes: [patient]}}
"""
MORE = ("", ", patients: {from: bare, path: p.csv}")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    "releases",
    [f"{{visits: {{from: names, path: v.csv}}, claims: {{from: claims, path: c.csv}}{more}}}" for more in MORE],
    ids=["no release", "no key"],
)
def test_tables_with_keys_are_joined_where_another_one_has_none(clinic, run, releases):
    text, tables = of_three("1960", releases)
    result = run(clinic(text, **tables))
    assert not result.released
    assert False in judged(result)


@pytest.mark.slow
@pytest.mark.parametrize("known", ["2", "all"])
def test_products_of_rows_hide_nobody(clinic, run, known):
    """Two visits and one claim are as many pairs as one visit and two claims; of those born in 1960, each has one."""
    people = {"P": ("60", 2, 1), "Q": ("60", 1, 2)}
    people |= {f"R{i}": ("70", 2, 1) for i in range(2)} | {f"S{i}": ("70", 1, 2) for i in range(2)}
    tables = {
        "patients": [{"patient": name, "born": born} for name, (born, _, _) in people.items()],
        "visits": [{"patient": n, "hospital": "n"} for n, (_, visits, _) in people.items() for _ in range(visits)],
        "claims": [{"patient": n, "paid": "1"} for n, (_, _, claims) in people.items() for _ in range(claims)],
    }
    text = TWO_MANY.replace("known_rows: 1", f"known_rows: {known}").replace("input: visits", "input: patients")
    text = text[: text.index("  bare:")]
    files = "patients: {from: names, path: p.csv}, visits: {from: visits, path: v.csv}"
    result = run(clinic(f"{text}releases: {{{files}, claims: {{from: claims, path: c.csv}}}}\n", **tables))
    assert not result.released
    by_row = [r["holds"] for r in result.document["requirements"] if r["release"].endswith("row by row")]
    assert by_row == [True, False]
    assert all(r["holds"] for r in result.document["requirements"] if not r["release"].endswith("row by row"))


SHARED = """version: 1
name: clinic
tables:
  patients: {source: {path: patients.csv}, key: patient, attributes: {patient: {role: subject}}}
  visits:
    source: {path: visits.csv}
    refers: {patient: patients}
    attributes: {hospital: {role: quasi_identifier}, visit: {role: insensitive}}
  tests:
    source: {path: tests.csv}
    refers: {patient: patients}
    attributes: {result: {role: sensitive}, %s: {role: insensitive}}
people: {known_rows: 1}
privacy:
  k_anonymity: {k: 2}
  alpha_k: {tests.result: {alpha: 0.5}}
releases:
  visits: {from: %s, path: v.csv}
  tests: {from: tests, path: t.csv}
"""
WITHOUT_NUMBERS = "steps:\n  bare: {use: drop, input: visits, with: {attributes: [visit]}}\nreleases:"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("named", ["visit", "number"])
def test_files_of_two_tables_are_joined_by_a_column_that_both_have(clinic, run, named):
    """Of the eight, the four in one hospital are ill: the number of the visit says so, under any name."""
    numbers = range(8)
    tables = {
        "patients": [{"patient": f"p{i}"} for i in numbers],
        "visits": [{"patient": f"p{i}", "hospital": "ns"[i // 4], "visit": f"v{i}"} for i in numbers],
        "tests": [{"patient": f"p{i}", "result": "ill" if i < 4 else "well", named: f"v{i}"} for i in numbers],
    }
    result = run(clinic(SHARED % (named, "visits"), **tables))
    assert not result.released
    figures = {r["metric"]: r["measured"] for r in result.document["requirements"] if r["release"] == "tests"}
    assert figures["privacy.alpha_k.tests.result.alpha"] == 0.5
    assert figures["privacy.alpha_k.tests.result.together_alpha"] == 1
    bare = (SHARED % (named, "bare")).replace("releases:", WITHOUT_NUMBERS)
    assert run(clinic(bare, **tables)).released
