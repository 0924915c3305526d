"""What a ledger keeps of the cells of releases, and runs that are held against them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.run import RunResult
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.ledger.ledger import store_at
from tests.engine.ledger.test_ledger import Home

POLICY = """version: 1
name: NAME
source: {path: one.csv}
ledger: {LEDGER, subject: id}
attributes:
  id: {role: identifier}
  a: {role: quasi_identifier}
  s: {role: sensitive, domain: [A, B, C, D]}
privacy:
  k_anonymity: {k: 5}
  REQUIREMENT
steps:
  STEPS
releases:
  r: {path: r.csv}
"""
PSEUDONYM = "p: {use: pseudonymize, with: {attributes: [id], key_env: HELD_TEST_KEY}}"
ALPHA, DISTINCT = "alpha_k: {s: {alpha: 0.5}}", "l_diversity: {s: {l: 2}}"
ONE, OTHER = "{A: one, B: one, C: two, D: two}", "{A: one, B: two, C: one, D: two}"


def told(pairs: Sequence[str], number: int = 20) -> str:
    """Return a table in which people have these values of ``a`` and ``s``."""
    rows = [f"i{n},{a},{s}" for n, (a, s) in enumerate(pair for pair in pairs for _ in range(number))]
    return "\n".join(["id,a,s", *rows]) + "\n"


SECRET = told(["xA", "yB", "zC", "uD"])
MIXED = told([a + s for a in "xyzu" for s in "ABCD"], 5)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HELD_TEST_KEY", "a long key that nobody else has 0123456789")
    api.create_ledger(str(tmp_path / "releases.ledger"), tmp_path / "releases.ledger.key")
    (tmp_path / "one.csv").write_text(SECRET)
    return Home(tmp_path, str(tmp_path / "releases.ledger"), "path: releases.ledger")


def run(home: Home, name: str, requirement: str, *steps: str, k: int = 5, shuffle: str = "true") -> RunResult:
    text = POLICY.replace("k: 5", f"k: {k}").replace("r.csv", f"r.csv, shuffle: {shuffle}")
    text = text.replace("NAME", name).replace("REQUIREMENT", requirement).replace("STEPS", "\n  ".join(steps))
    home.policy(text.replace("steps:\n  \n", ""), f"{name}.yaml")
    return api.run(home / f"{name}.yaml", out=home / "runs")


def failed(ran: RunResult) -> dict[str, float | int | None]:
    return {r.metric.removeprefix("privacy."): r.measured for r in ran.report.requirements if not r.holds}


def drop(attribute: str) -> str:
    return f"d: {{use: drop, with: {{attributes: [{attribute}]}}}}"


def recode(labels: str) -> str:
    return f"g: {{use: recode, with: {{attributes: {{s: {{values: {labels}}}}}}}}}"


def test_values_first_and_classes_later(home: Home) -> None:
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    assert failed(run(home, "classes", ALPHA, PSEUDONYM, drop("s"))) == {"alpha_k.s.together_alpha": 1}


@pytest.mark.slow
def test_classes_first_and_values_later(home: Home) -> None:
    assert run(home, "classes", ALPHA, PSEUDONYM, drop("s")).released
    assert failed(run(home, "values", ALPHA, PSEUDONYM, drop("a")))["alpha_k.s.together_alpha"] == 1


@pytest.mark.slow
def test_what_nobody_can_join_is_released(home: Home) -> None:
    """Without a pseudonym the files have nothing in common."""
    for name, dropped in (("values", "a"), ("classes", "s")):
        assert not failed(run(home, name, ALPHA, drop(dropped)))


@pytest.mark.slow
def test_what_is_joined_and_tells_nobodys_value_is_released(home: Home) -> None:
    (home / "one.csv").write_text(MIXED)
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    assert run(home, "classes", ALPHA, PSEUDONYM, drop("s")).released


RARE = told(["xA"], 2) + told(["xB", "yC"]).partition("\n")[2].replace("i", "j")
TEMPLATE = "templates: {t: {channel: [a], sensitive: {s: [A]}, confidence: 0.5}}"
NONE_RARE = "q: {use: suppress, with: {small: rows, k: 5, attributes: [s]}}"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("second", ["all", "some", "missing"])
def test_who_is_missing_for_a_value(home: Home, second: str) -> None:
    (home / "one.csv").write_text(RARE)
    made = {"some": (PSEUDONYM, NONE_RARE, drop("s, a")), "all": (PSEUDONYM, drop("s"))}
    first = "all" if second == "some" else "some"
    assert run(home, first, TEMPLATE, *made[first], k=2).released
    if second == "missing":
        (home / "one.csv").write_text(told(["xA"], 2))
    assert failed(run(home, second, TEMPLATE, *made.get(second, made["all"]), k=2)) == {
        "templates.t.together_confidence": 1
    }


@pytest.mark.slow
def test_who_is_missing_again_tells_nothing(home: Home) -> None:
    (home / "one.csv").write_text(RARE)
    for name in ("one", "again"):
        assert run(home, name, TEMPLATE, PSEUDONYM, NONE_RARE, k=2).released


@pytest.mark.slow
@pytest.mark.parametrize("shuffled", ["false", "true"])
def test_rows_in_the_order_of_the_source(home: Home, shuffled: str) -> None:
    template = TEMPLATE.replace("[A]", "[A, B, C, D]")
    header, *rows = SECRET.splitlines()
    (home / "one.csv").write_text("\n".join([header, *(row for n in range(20) for row in rows[n::20])]) + "\n")
    assert run(home, "values", template, drop("a"), k=2, shuffle=shuffled).released
    ran = run(home, "classes", template, drop("s"), k=2, shuffle=shuffled)
    assert failed(ran) == ({} if shuffled == "true" else {"templates.t.together_confidence": 1})


@pytest.mark.slow
def test_two_coarse_maps_of_one_secret(home: Home) -> None:
    assert run(home, "one", DISTINCT, recode(ONE)).released
    assert run(home, "again", DISTINCT, recode(ONE)).released
    ran = run(home, "other", DISTINCT, recode(OTHER))
    assert failed(ran) == {"l_diversity.s.together_l": 1}
    (sentence,) = (r.sentence for r in ran.report.requirements if not r.holds)
    assert "`one/r (no. 1)`" in sentence


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("moved", [True, False])
def test_who_has_moved_hides_nobody_else(home: Home, moved: bool) -> None:
    """Half of those who live in x today have value A, and all who lived there before the others moved in."""
    now = told(["xA", "xB", "yC", "yD"], 2)
    (home / "one.csv").write_text(now.replace("x,B", "y,B") if moved else now)
    assert run(home, "classes", TEMPLATE, PSEUDONYM, drop("s"), k=2).released
    (home / "one.csv").write_text(now)
    ran = run(home, "values", TEMPLATE, PSEUDONYM, drop("a"), k=2)
    assert failed(ran) == ({"templates.t.together_confidence": 1} if moved else {})


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("first", ["ids", "classes"])
@pytest.mark.parametrize("secret", [True, False])
def test_a_class_id_made_of_a_secret_is_the_secret(home: Home, secret: bool, first: str) -> None:
    (home / "one.csv").write_text(SECRET if secret else MIXED)
    number = "c: {use: assign_class_id, with: {name: group, attributes: [s]}}"
    made = {"ids": (PSEUDONYM, number, drop("s, a")), "classes": (PSEUDONYM, drop("s"))}
    assert run(home, first, ALPHA, *made.pop(first)).released
    second, steps = made.popitem()
    ran = run(home, second, ALPHA, *steps)
    assert ran.released != secret
    assert failed(ran).get("alpha_k.s.together_alpha") == (1 if secret else None)


@pytest.mark.slow
def test_other_people_are_not_held_against_each_other(home: Home) -> None:
    assert run(home, "one", DISTINCT, recode(ONE)).released
    (home / "one.csv").write_text(SECRET.replace("\ni", "\nj"))
    assert run(home, "other", DISTINCT, recode(OTHER)).released


def test_cells_that_were_changed_end_a_run(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(home, "one", DISTINCT, recode(ONE)).released
    store = store_at(home.place)
    with store.session(writing=True) as ask:  # type: ignore[attr-defined]  # a ledger in a file
        ask("UPDATE cell SET cells = :cells", cells=b"others")
    with pytest.raises(DataError, match="PPF912"):
        run(home, "other", DISTINCT, recode(OTHER))


def test_no_value_is_in_a_ledger(home: Home) -> None:
    (home / "one.csv").write_text(SECRET.replace("A", "Aconspicuous").replace("\ni", "\nidconspicuous"))
    policy = POLICY.replace("[A, B", "[Aconspicuous, B")
    home.policy(policy.replace("NAME", "one").replace("REQUIREMENT", DISTINCT).replace("steps:\n  STEPS\n", ""))
    assert api.run(home / "policy.yaml", out=home / "runs").verdict
    (entry,) = store_at(home.place).entries() or (None,)
    assert entry is None or b"conspicuous" not in store_at(home.place).packed_file(entry)
