"""Requirements and roles under patterns, once the columns are known: a requirement about nothing must not hold."""

from __future__ import annotations

import pytest

ATTRIBUTES = """attributes:
  id: {role: identifier}
  "q*": {role: quasi_identifier}
  "s*": {role: sensitive, domain: [flu, hiv]}
"""
RELEASE = "releases:\n  r: {path: r.csv}\n"
COLUMNS = ("id", "q1", "q2", "s1", "s2")


def requirements(compiled, privacy: str, columns=COLUMNS):
    found = compiled(ATTRIBUTES + f"privacy: {privacy}\n" + RELEASE, columns=columns)
    assert found.plan is not None, found.diagnostics
    return found.plan.requirements


@pytest.mark.parametrize("named", ["", ', attributes: ["q*"]', ', attributes: [q2, "q*", q1]'])
def test_k_anonymity_counts_every_column_that_a_pattern_fits(compiled, named):
    (found,) = requirements(compiled, f"{{k_anonymity: {{k: 3{named}}}}}")
    assert sorted(found.attributes) == ["q1", "q2"]


def test_a_template_watches_every_column_that_a_pattern_fits(compiled):
    (found,) = requirements(compiled, '{templates: {t: {channel: ["q*"], sensitive: {"s*": [hiv]}, confidence: 0.5}}}')
    assert found.channel == ("q1", "q2")
    assert found.pairs == (("s1", "hiv"), ("s2", "hiv"))


def test_sensitivities_on_a_pattern_are_one_for_each_column(compiled):
    text = '{sensitivities: {"s*": {default: {tolerance: 3}}, s2: {default: {tolerance: 2}}}}'
    found = requirements(compiled, text)
    assert [(r.id, r.attribute, r.tolerance) for r in found] == [
        ("privacy.sensitivities.s1", "s1", 3.0),
        ("privacy.sensitivities.s2", "s2", 2.0),
    ]


@pytest.mark.parametrize(
    "privacy",
    [
        "{k_anonymity: {k: 3, attributes: [q9]}}",
        "{k_anonymity: {k: 3, attributes: [q1, q9]}}",
        "{templates: {t: {channel: [q9], sensitive: {s1: [hiv]}, confidence: 0.5}}}",
        "{templates: {t: {channel: [q1], sensitive: {s9: [hiv, flu]}, confidence: 0.5}}}",
        "{sensitivities: {s9: {default: {tolerance: 3}}}}",
    ],
)
def test_a_requirement_about_no_column_at_all(codes, privacy):
    text = ATTRIBUTES + f"privacy: {privacy}\n" + RELEASE
    assert "PPF619" not in codes(text)
    assert codes(text, columns=COLUMNS).count("PPF619") == 1


def test_a_requirement_on_a_pattern_that_fits_nothing(codes):
    text = ATTRIBUTES + 'privacy: {k_anonymity: {k: 3, attributes: ["q*"]}}\n' + RELEASE
    assert "PPF619" in codes(text, columns=("id", "s1"))


@pytest.mark.parametrize(
    ("first", "later", "refused"),
    [
        ("insensitive", "identifier", True),
        ("quasi_identifier", "identifier", True),
        ("target", "sensitive", True),
        ("insensitive", "quasi_identifier", True),
        ("identifier", "insensitive", False),
        ("sensitive", "quasi_identifier", False),
    ],
)
def test_a_looser_pattern_before_a_stricter_one(codes, first, later, refused):
    text = f'attributes:\n  "*": {{role: {first}}}\n  "id*": {{role: {later}}}\n' + RELEASE
    assert ("PPF620" in codes(text, columns=("id", "x"))) is refused
    assert "PPF620" not in codes(text, columns=("x",))


def test_a_columns_own_name_goes_before_patterns(codes):
    text = 'attributes:\n  "*": {role: insensitive}\n  "id*": {role: identifier}\n  id: {role: insensitive}\n' + RELEASE
    assert "PPF620" not in codes(text, columns=("id", "x"))
