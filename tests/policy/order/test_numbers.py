"""What weakens a policy about numbers is called weaker, its mirror image stricter, and a floor holds it."""

from __future__ import annotations

import pytest

from ppdm_flow.policy.order import compare

HEAD = """version: 1
name: p
attributes:
  age: {role: quasi_identifier, type: integer}
  sex: {role: quasi_identifier}
  wage: {role: sensitive, type: float}
  size: {role: sensitive, type: float}
  stands_for: {role: sampling_weight, type: float}
"""
TAIL = "releases: {one: {path: one.csv}}\n"
NEAR = "  interval_disclosure: {wage: {width: {%s}, max: %s}}\n"
LINK = "  numeric_linkage: {attributes: [%s], max: %s, candidates: %s, sample: %s}\n"
BEYOND = LINK.replace("}\n", ", max_excess: %s}\n")
SUDA = "  special_uniques: {size: %s, max_share: %s, attributes: [%s]}\n"
SUMS = "  dominance: {wage: {%s}}\n"
K = "  k_anonymity: {k: 5, attributes: [age, sex]}\n"


def policy(entry: str, more: str = "", head: str = HEAD) -> str:
    if "dominance" in entry + more:  # of totals of a sample nothing can be asked
        head = head.replace("  stands_for: {role: sampling_weight, type: float}\n", "")
    return f"{head}privacy:\n{K}{entry}{more}{TAIL}"


WEAKER = {
    "no interval_disclosure": (NEAR % ("sd: 0.1", 0.1), ""),
    "a larger max": (NEAR % ("sd: 0.1", 0.1), NEAR % ("sd: 0.1", 0.2)),
    "a smaller width in deviations": (NEAR % ("sd: 0.1", 0.1), NEAR % ("sd: 0.05", 0.1)),
    "a smaller absolute width": (NEAR % ("absolute: 50", 0.1), NEAR % ("absolute: 49", 0.1)),
    "a smaller relative width": (NEAR % ("relative: 0.05", 0.1), NEAR % ("relative: 0", 0.1)),
    "a smaller width in ranks": (NEAR % ("rank: 0.05", 0.1), NEAR % ("rank: 0.01", 0.1)),
    "no numeric_linkage": (LINK % ("wage, size", 0.1, 2, 1000), ""),
    "more found": (LINK % ("wage, size", 0.1, 2, 1000), LINK % ("wage, size", 0.2, 2, 1000)),
    "fewer candidates": (LINK % ("wage, size", 0.1, 2, 1000), LINK % ("wage, size", 0.1, 1, 1000)),
    "more found beyond chance": tuple(BEYOND % ("wage", 0.5, 2, 1000, most) for most in (0.1, 0.2)),
    "no bound beyond chance": (BEYOND % ("wage", 0.5, 2, 1000, 0.1), LINK % ("wage", 0.5, 2, 1000)),
    "fewer candidates beyond chance": tuple(BEYOND % ("wage", 0.5, most, 1000, 0.1) for most in (2, 1)),
    "no control group": tuple(BEYOND % ("wage", 0.5, 2, 1000, most) for most in ("0.1, control: a.csv", 0.1)),
    "more found beyond the control group": tuple(
        BEYOND % ("wage", 0.1, 2, 1000, f"{most}, control: a.csv") for most in (0.1, 0.2)
    ),
    "more people of a file": tuple(LINK % ("wage", m, 2, "1000, against: a.csv, key: age") for m in (0.1, 0.2)),
    "all may be found, but few beyond chance": (LINK % ("wage", 0.1, 2, 1000), BEYOND % ("wage", 0.5, 2, 1000, 0.1)),
    "no dominance": (SUMS % "p: 10", "  # no dominance\n"),
    "one rule less": (SUMS % "p: 10, contributors: 5", SUMS % "p: 10"),
    "a larger share": (SUMS % "share: 0.7", SUMS % "share: 0.8"),
    "fewer of the largest": (SUMS % "n: 3, share: 0.7", SUMS % "n: 2, share: 0.7"),
    "a smaller p": (SUMS % "p: 10", SUMS % "p: 5"),
    "a larger q": (SUMS % "p: 10, q: 50", SUMS % "p: 10, q: 80"),
    "a larger p, and a q that is larger still": (SUMS % "p: 10, q: 50", SUMS % "p: 15, q: 100"),
    "fewer contributors": (SUMS % "contributors: 5", SUMS % "contributors: 3"),
    "totals of larger groups": (SUMS % "p: 10, attributes: [age, sex]", SUMS % "p: 10, attributes: [age]"),
    "no special_uniques": (SUDA % (2, 0.1, "age, sex"), ""),
    "fewer attributes known": (SUDA % (2, 0.1, "age, sex"), SUDA % (1, 0.1, "age, sex")),
    "more uniques": (SUDA % (2, 0.1, "age, sex"), SUDA % (2, 0.2, "age, sex")),
    "fewer attributes": (SUDA % (2, 0.1, "age, sex"), SUDA % (2, 0.1, "age")),
}
NO_ORDER = {
    "another total": (SUMS % "p: 10", (SUMS % "p: 10").replace("wage", "size")),
    "more of the largest, and a larger share": (SUMS % "n: 1, share: 0.5", SUMS % "n: 2, share: 0.6"),
    "another form of width": (NEAR % ("sd: 0.1", 0.1), NEAR % ("rank: 0.1", 0.1)),
    "another attribute": (NEAR % ("sd: 0.1", 0.1), (NEAR % ("sd: 0.1", 0.1)).replace("wage", "size")),
    "fewer in all, more beyond chance": (BEYOND % ("wage", 0.5, 2, 1000, 0.1), LINK % ("wage", 0.2, 2, 1000)),
    "another control group": tuple(BEYOND % ("wage", 0.1, 2, 1000, f"0.1, control: {n}.csv") for n in "ab"),
    "another sample": (LINK % ("wage, size", 0.1, 2, 1000), LINK % ("wage, size", 0.1, 2, 10)),
    "fewer numbers known": (LINK % ("wage, size", 0.1, 2, 1000), LINK % ("wage", 0.1, 2, 1000)),
    "a wider interval, more often": (NEAR % ("sd: 0.1", 0.1), NEAR % ("sd: 0.2", 0.2)),
}
GATE = "gates: {g: {metric: %s, %s: %s}}\n"
GATES = {
    "linkage found": ("information_loss.mean_il1s", "max", 1, 2),
    "propensity": ("propensity.logistic.ratio", "max", 3, 4),
    "marginals": ("marginals.two_way.mean_total_variation", "max", 0.1, 0.2),
    "overlap": ("analyses.worst_overlap", "min", 0.6, 0.5),
    "risk by weights": ("individual_risk.global_risk", "max", 0.01, 0.02),
}


@pytest.mark.parametrize("name", WEAKER)
def test_weaker_and_its_mirror_image(written, name):
    strict, loose = (written(policy(e), f"{i}.yaml") for i, e in enumerate(WEAKER[name]))
    assert compare(strict, loose).relation.value == "weaker"
    assert compare(loose, strict).relation.value == "stricter"


@pytest.mark.parametrize("name", NO_ORDER)
def test_no_order(written, name):
    one, other = (written(policy(e), f"{i}.yaml") for i, e in enumerate(NO_ORDER[name]))
    assert compare(one, other).relation.value == "incomparable"
    assert compare(other, one).relation.value == "incomparable"


@pytest.mark.parametrize("name", GATES)
def test_gates_on_new_audits(written, name):
    metric, end, tight, wide = GATES[name]
    analyses = "analyses: {w: {mean: wage}}\n" if metric.startswith("analyses") else ""
    strict, loose, none = (
        written(policy("", analyses + gate), f"{i}.yaml")
        for i, gate in enumerate((GATE % (metric, end, tight), GATE % (metric, end, wide), ""))
    )
    assert compare(strict, loose).relation.value == compare(loose, none).relation.value == "weaker"
    assert compare(loose, strict).relation.value == compare(none, loose).relation.value == "stricter"


def changed(old, new):
    return {(c.clause, c.verdict.value) for c in compare(old, new).changes}


def test_less_noise_is_a_change_and_no_requirement(written):
    near = NEAR % ("sd: 0.1", 0.1)
    steps = [f"steps: {{n: {{use: add_noise, with: {{attributes: [wage], sd: {sd}}}}}}}\n" for sd in (0.5, 0.1)]
    old, new = (written(policy(near, each), f"{i}.yaml") for i, each in enumerate(steps))
    assert {verdict for _, verdict in changed(old, new)} == {"neutral"}
    assert any(clause.startswith("steps.n") for clause, _ in changed(old, new))


def test_another_form_of_labels_is_a_change(written):
    old = written(policy(""), "old.yaml")
    new = written(policy("").replace("{path: one.csv}", "{path: one.csv, with: {labels: bounds}}"), "new.yaml")
    assert changed(old, new)


def test_a_sampling_weight_that_becomes_another_column_is_a_change(written):
    old = written(policy(""), "old.yaml")
    for role in ("insensitive", "weight", "quasi_identifier", "identifier"):
        new = written(
            policy("", head=HEAD.replace("sampling_weight, type: float", f"{role}, type: integer")), f"{role}.yaml"
        )
        assert changed(old, new), role
