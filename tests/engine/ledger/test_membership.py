"""A person is not taken for two because an id is spelled in another way, and not for another one without need."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.run import RunResult
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.ledger.membership import spelling

ALL = ("case", "blanks", "form")
POLICY = """
version: 1
name: ward
source: {path: one.csv}
ledger: {path: releases.ledger, subject: patientIGNORE}
attributes: {patient: {role: identifier}, zip: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 5}}
releases: {public: {path: ward.csv}}
"""


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("P-17", "p-17", "case"),
        ("STRASSE", "straße", "case"),
        ("p-17", " p-17\t", "blanks"),
        ("p-17", "\ufeffp-17", "blanks"),
        ("p-17", "\u00a0\u200bp-17\u3000", "blanks"),
        ("zoë", "zoe\u0308", "form"),
        ("17", "１７", "form"),
        ("K", "\u212a", "form"),
    ],
)
def test_spellings_of_one_person(one: str, other: str, what: str) -> None:
    same = spelling(ALL)
    assert same(one) == same(other)
    assert spelling([what])(one) == spelling([what])(other)
    assert spelling([])(other) == other != spelling([])(one)


@pytest.mark.parametrize(("one", "other"), [("17", "017"), ("a b", "ab"), ("zoe", "zoë"), ("p-17", "p17"), ("0", "O")])
def test_other_people_stay_others(one: str, other: str) -> None:
    assert spelling(ALL)(one) != spelling(ALL)(other)


@pytest.mark.parametrize("text", ["\u0345α", "ǅ", "ﬃ", "İ", "ẛ̣", "Å \ufeff "])
def test_a_spelling_is_its_own(text: str) -> None:
    same = spelling(ALL)
    assert same(same(text)) == same(text)


def home(folder: Path, ids: list[str], later: list[str], ignore: str = "") -> Path:
    """Twenty people who change classes between two releases unless they are others."""
    for name, people, split in (("one", ids, 10), ("two", later, 7)):
        lines = "".join(f"{p},{'low' if i < split else 'high'}\n" for i, p in enumerate(people))
        (folder / f"{name}.csv").write_text(f"patient,zip\n{lines}")
    (folder / "policy.yaml").write_text(POLICY.replace("IGNORE", ignore))
    if not (folder / "releases.ledger").exists():
        api.create_ledger(folder / "releases.ledger")
    return folder


def run(folder: Path, data: str = "one") -> RunResult:
    return api.run(folder / "policy.yaml", data=folder / f"{data}.csv", out=folder / "runs")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("respelled", [str.upper, "{} ".format, " {}".format])
def test_people_are_found_again_under_another_spelling(tmp_path: Path, respelled) -> None:
    ids = [f"p{i}" for i in range(20)]
    folder = home(tmp_path, ids, [respelled(i) for i in ids])
    assert run(folder).released
    assert not run(folder, "two").released


@pytest.mark.slow
def test_who_says_that_spelling_tells_people_apart_is_believed(tmp_path: Path) -> None:
    ids = [f"p{i}" for i in range(20)]
    folder = home(tmp_path, ids, [i.upper() for i in ids], ", ignore: [blanks]")
    assert run(folder).released
    assert run(folder, "two").released


@pytest.mark.slow
def test_policies_with_one_ledger_say_the_same(tmp_path: Path) -> None:
    ids = [f"p{i}" for i in range(20)]
    folder = home(tmp_path, ids, ids)
    assert run(folder).released
    home(tmp_path, ids, ids, ", ignore: []")
    with pytest.raises(DataError, match="PPF914") as caught:
        run(folder)
    assert "ignores `blanks` and `case` and `form`" in caught.value.diagnostics[0].message
    home(tmp_path, ids, ids, ", ignore: [form, case, blanks, case]")
    assert run(folder).released


@pytest.mark.slow
def test_two_spellings_in_one_release_are_one_person(tmp_path: Path) -> None:
    ids = [f"p{i // 2}" if i % 2 else f"P{i // 2}" for i in range(20)]
    with pytest.raises(DataError, match="PPF932"):
        run(home(tmp_path, ids, ids))
    policy = (tmp_path / "policy.yaml").read_text()
    (tmp_path / "policy.yaml").write_text(policy.replace("path: ", "normalize: [case], path: ", 1))
    assert run(tmp_path).report.metrics["privacy.cumulative_k.k"].value == 5
    folder = tmp_path / "other"
    folder.mkdir()
    ran = run(home(folder, [f"p{i}" for i in range(20)], ids))
    assert ran.report.metrics["privacy.cumulative_k.k"].value == 10


@pytest.mark.slow
def test_an_id_of_blanks_is_nobody(tmp_path: Path) -> None:
    ids = ["\u00a0", *(f"p{i}" for i in range(19))]
    with pytest.raises(DataError, match="PPF729"):
        run(home(tmp_path, ids, ids))
    folder = tmp_path / "exact"
    folder.mkdir()
    assert run(home(folder, ids, ids, ", ignore: []")).released
