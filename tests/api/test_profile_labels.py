"""Labels of statistical files: in drafted policies as descriptions and domains, and in released files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ppdm_flow as pf
from ppdm_flow import api
from ppdm_flow.api.profile.profile import told_by_file
from ppdm_flow.policy import load
from ppdm_flow.sdk.storage import ColumnMeaning

pyreadstat = pytest.importorskip("pyreadstat", reason="the extra `statistics` is not installed")

SEX = 'Sex of the "respondent": a/b #1\n${x} - [é]'
NAMES = ("sex", "age", "region", "smoker", "wave", "rare")


@pytest.fixture(params=["sav", "zsav", "dta"])
def survey(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    chosen, n = np.random.default_rng(1), 400
    frame = pd.DataFrame(
        {
            "sex": chosen.integers(1, 3, n).astype(float),
            "age": chosen.integers(18, 80, n).astype(float),
            "region": np.repeat([1.0, 2.0, 3.0, 99.0], n // 4),
            "smoker": chosen.integers(0, 2, n).astype(float),
            "wave": chosen.integers(1, 4, n).astype(float),
            "rare": np.where(np.arange(n) < 4, 7.0, 8.0),
        }
    )
    labels = {
        "sex": {1.0: "male: #1", 2.0: "f\n\"e'${m}"},
        "age": {99.0: "zqrefused"},
        "region": {1.0: "N", 2.0: "S", 3.0: "no", 99.0: "zqrefused"},
        "smoker": {0.0: "no", 1.0: "yes", 2.0: "nobody said"},
        "wave": {1.0: "zqfirst", 2.0: "zqsecond"},
        "rare": {7.0: "zqseven", 8.0: "zqeight"},
    }
    columns = {"sex": SEX, "age": "Age", "smoker": "x" * 79 + "é"}
    words: dict[str, Any] = {"column_labels": columns, "variable_value_labels": labels}
    file = tmp_path / f"survey.{request.param}"
    if request.param == "dta":
        frame["region"] = frame["region"].replace(99.0, np.nan)
        pyreadstat.write_dta(frame, str(file), version=14, **words)
    else:
        words["missing_ranges"] = {"region": [99.0]}
        pyreadstat.write_sav(frame, str(file), compress=request.param == "zsav", **words)
    return file


def drafted(file: Path) -> Any:
    Path("p.yaml").write_text(api.profile(file).rendered("yaml"), encoding="utf-8")
    return load(Path("p.yaml")).policy


@pytest.mark.slow(quick=1)
def test_a_draft_has_descriptions_and_domains(survey: Path) -> None:
    policy = drafted(survey)
    assert {name: policy.attributes[name].description for name in NAMES[:2]} == {
        "sex": " ".join(SEX.split()),
        "age": "Age",
    }
    domains = {name: policy.attributes[name].domain for name in NAMES}
    assert set(domains["sex"]) == {"male: #1", "f\n\"e'${m}"}
    assert set(domains["smoker"]) == {"no", "yes", "nobody said"}
    assert domains["age"] is None
    assert domains["wave"] is None
    assert domains["rare"] is None
    missing = ["zqrefused"] if survey.suffix == ".dta" else []
    assert sorted(domains["region"]) == sorted(["N", "S", "no", *missing])
    assert policy.attributes["sex"].type == "text"


@pytest.mark.slow(quick=2)
def test_the_draft_runs(survey: Path) -> None:
    drafted(survey)
    assert pf.check("p.yaml", data=survey).passes(strict=False)
    done = pf.run("p.yaml", out="runs")
    assert done.released
    dictionary = json.loads(next(done.run_dir.glob("released/*/dictionary.json")).read_text("utf-8"))
    assert {a["name"]: a.get("description") for a in dictionary["attributes"]}["age"] == "Age"


def test_no_form_tells_labels_that_few_rows_have(survey: Path) -> None:
    profile = api.profile(survey)
    for form in ("yaml", "json", "text"):
        text = profile.rendered(form)
        for word in ("zqfirst", "zqsecond", "zqseven", "zqeight"):
            assert word not in text
        if survey.suffix != ".dta":
            assert "zqrefused" not in text


def test_python_has_the_same(survey: Path) -> None:
    assert pf.profile(survey).rendered("json") == api.profile(survey).rendered("json")


def coded(*values: str | None) -> Any:
    import pyarrow as pa

    array = pa.array(values, pa.string()).dictionary_encode()
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes, array.dictionary


def test_what_makes_a_domain() -> None:
    labels = ColumnMeaning("  a\n b ", {"1": "one", "2": "two", "9": "none"})

    def told(values: list[str | None], missing: tuple[str, ...] = ()) -> list[str]:
        return list(told_by_file({"c": labels}, {"c": coded(*values)}, missing)["c"].domain)

    assert told(["1"] * 5 + ["2"] * 5 + [None]) == ["1", "2", "9"]
    assert told(["1"] * 5 + ["2"] * 5, ("", "9")) == ["1", "2"]
    assert told(["1"] * 5 + ["2"] * 4) == []
    assert told(["1"] * 5 + ["3"] * 5) == []
    assert told([None] * 5) == ["1", "2", "9"]
    assert told_by_file({"c": labels}, {"c": coded("1")}, ())["c"].description == "a b"
    many = ColumnMeaning("", {str(i): "x" for i in range(101)})
    assert list(told_by_file({"c": many}, {"c": coded(*["1"] * 9)}, ())["c"].domain) == []


POLICY = """version: 1
name: study
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer, description: "DESCRIPTION"}
  town: {role: quasi_identifier}
privacy: {k_anonymity: {k: 2}}
randomness: {mode: reproducible, seed: 1}
steps: {recode: {use: mondrian}}
releases: {study: {path: study.ENDING}}
"""


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(("ending", "longest"), [("sav", 256), ("zsav", 256), ("dta", 320)])
@pytest.mark.parametrize("text", ["Age in years", "é" * 200, "x" * 255 + "é", "two\\nlines  here", "\U0001f600" * 90])
def test_descriptions_are_labels_of_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, longest: int, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 9},t{i % 2}" for i in range(80)]
    Path("people.csv").write_text("\n".join(["age,town", *rows, ""]), encoding="utf-8")
    Path("p.yaml").write_text(POLICY.replace("DESCRIPTION", text).replace("ENDING", ending), encoding="utf-8")
    done = pf.run("p.yaml", out="runs")
    reader = pyreadstat.read_dta if ending == "dta" else pyreadstat.read_sav
    _, about = reader(str(done.run_dir / "released" / "study" / f"study.{ending}"))
    label = about.column_names_to_labels["age"]
    whole = " ".join(text.replace("\\n", "\n").split())
    assert label
    assert whole.startswith(label)
    assert len(label.encode()) <= longest
    assert label == whole or len(label) == 80 or len(label.encode()) >= longest - 3
    assert not about.column_names_to_labels["town"]
    assert api.verify(done.run_dir, Path("people.csv")).holds
