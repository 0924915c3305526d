"""From a statistician's file to a release that other programs open, by the command line alone."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pandas as pd
import pytest

pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("xlsxwriter")
pytest.importorskip("python_calamine")

CANARY = "zqcanary"
POLICY = """version: 1
name: p
source: {path: DATA}
attributes:
  pid: {role: identifier}
  sex: {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [20, 30, 40]}}
  income: {role: insensitive, type: float}
  seen: {role: insensitive, type: date}
  note: {role: insensitive}
privacy: {k_anonymity: {k: 3}}
steps: {recode: {use: mondrian}}
releases: {study: {path: RELEASED}}
"""
ROWS = 60
LABELS = {"sex": {1: "male", 2: "female"}}
WRITE = {
    "sav": lambda frame, path: pyreadstat.write_sav(frame, path, variable_value_labels=LABELS),
    "dta": lambda frame, path: pyreadstat.write_dta(frame, path, variable_value_labels=LABELS),
    "xpt": pyreadstat.write_xport,
}
RELEASED = pytest.mark.parametrize("released", ["study.xlsx", "study.sav", "study.zsav", "study.dta"])


def frame(note=lambda i: ["=1+1", "é", "a b"][i % 3]):
    income = [None if i == 7 else i + 0.1 for i in range(ROWS)]
    return pd.DataFrame(
        {
            "pid": [f"{CANARY}{i}" for i in range(ROWS)],
            "sex": [1.0 + i % 2 for i in range(ROWS)],
            "age": [20.0 + i % 19 for i in range(ROWS)],
            "income": np.array(income, dtype=float),
            "seen": [date(2024, 1, 1 + i % 28) for i in range(ROWS)],
            "note": [note(i) for i in range(ROWS)],
        }
    )


@pytest.fixture
def home(tmp_path):
    def make(ending, released, **more):
        WRITE[ending](frame(**more), str(tmp_path / f"data.{ending}"))
        (tmp_path / "p.yaml").write_text(POLICY.replace("DATA", f"data.{ending}").replace("RELEASED", released))
        return tmp_path

    return make


def left(home, released):
    return list(home.glob(f"runs/**/{released}"))


@pytest.mark.slow(quick=1)
@RELEASED
@pytest.mark.parametrize("ending", list(WRITE))
def test_a_file_goes_in_and_a_release_comes_out(here, home, ending, released):
    folder = home(ending, released)
    done = here("run", "p.yaml", "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    (file,) = left(folder, released)
    again = here("audit", "p.yaml", "--original", f"data.{ending}", "--released", file, "--format", "json", cwd=folder)
    assert again.returncode == 0, again.stdout + again.stderr
    assert not {f["code"] for f in json.loads(again.stdout)["findings"]} & {"PPF921", "PPF922", "PPF924"}
    table = read(file)
    assert list(table) == ["sex", "age", "income", "seen", "note"]
    assert len(table) == ROWS
    assert set(table["sex"].astype(str)) <= ({"male", "female"} if ending != "xpt" else {"1", "2"})
    assert sorted(table["income"].dropna()) == sorted(frame()["income"].dropna())
    assert sorted(pd.to_datetime(table["seen"]).dt.date) == sorted(frame()["seen"])
    assert sorted(table["note"]) == sorted(frame()["note"])


def read(file):
    if file.suffix == ".xlsx":
        return pd.read_excel(file, engine="openpyxl")
    return (pyreadstat.read_dta if file.suffix == ".dta" else pyreadstat.read_sav)(str(file))[0]


@pytest.mark.slow(quick=2)
@RELEASED
def test_what_the_format_cannot_hold_leaves_nothing(here, home, released):
    long = 33_000 if released != "study.dta" else 2_050
    folder = home("dta", released)
    rows = frame(lambda i: CANARY * (long // 8) if i == 5 else "x").astype({"sex": int, "age": int})
    rows.to_csv(folder / "data.csv", index=False)
    (folder / "p.yaml").write_text(POLICY.replace("DATA", "data.csv").replace("RELEASED", released))
    done = here("run", "p.yaml", cwd=folder)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "PPF677" in done.stderr
    assert "`note`" in done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert not left(folder, released)
    (folder / "p.yaml").write_text(POLICY.replace("DATA", "data.csv").replace("RELEASED", "study.csv"))
    assert here("run", "p.yaml", cwd=folder).returncode == 0


def test_a_source_that_is_cut_off_ends_the_run(here, home):
    for ending in ("sav", "dta"):
        folder = home(ending, "study.csv")
        whole = (folder / f"data.{ending}").read_bytes()
        (folder / f"data.{ending}").write_bytes(whole[: len(whole) // 2])
        done = here("run", "p.yaml", cwd=folder)
        assert done.returncode == 2
        assert "PPF717" in done.stderr
        assert CANARY not in done.stdout + done.stderr
        assert not left(folder, "study.csv")


@pytest.mark.parametrize("ending", list(WRITE))
def test_a_profile_of_such_a_file(here, home, ending):
    folder = home(ending, "study.csv")
    done = here("profile", f"data.{ending}", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    for line in ("age: {role: quasi_identifier, type: integer", "seen: {role:", "type: date"):
        assert line in done.stdout
