"""``ppdm-flow reconstruct`` of numbers to which noise was added: from policy to run to the recipient."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

POLICY = """version: 1
name: wages
source: {path: wages.csv}
attributes:
  wage: {role: insensitive, type: integer}
  hired: {role: insensitive, type: date}
  rate: {role: insensitive, type: float}
  sex: {role: insensitive}
privacy: none
randomness: {mode: reproducible, seed: wages}
steps:
  noise: {use: add_noise, with: {attributes: [wage, hired], sd: 40}}
  relative: {use: add_noise, with: {attributes: [rate], scale: 0.5, keep_moments: true, publish: true}}
releases:
  study: {path: study.csv}
"""
ROWS = 4000


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(1)
    wage = np.where(rng.random(ROWS) < 0.6, rng.integers(100, 200, ROWS), rng.integers(400, 450, ROWS))
    hired = np.datetime64("2020-01-01") + rng.integers(0, 300, ROWS)
    return wage, hired, np.round(rng.normal(5, 1, ROWS), 2), np.where(np.arange(ROWS) % 2, "m", "f")


@pytest.fixture(scope="module")
def study(tmp_path_factory, cli, truth):
    home = tmp_path_factory.mktemp("wages")
    lines = [",".join(map(str, row)) for row in zip(*truth, strict=True)]
    (home / "wages.csv").write_text("wage,hired,rate,sex\n" + "\n".join(lines) + "\n")
    (home / "p.yaml").write_text(POLICY)
    done = cli("run", "p.yaml", "--out", "runs", "-q", cwd=home)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (home / "runs/wages").iterdir()
    return run / "released/study"


def estimated(here, study, *words):
    done = here("reconstruct", study, *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_whole_numbers(here, study, truth):
    found = estimated(here, study, "--attribute", "wage", "--cells", "8")
    assert found["noise"] == {"distribution": "normal", "sd": 40.0, "estimated": False}
    held = 0
    for each in found["cells"]:
        begin, end = map(int, each["cell"].split(" to "))
        true = int(((truth[0] >= begin) & (truth[0] <= end)).sum())
        assert each["low"] <= each["estimate"] <= each["high"]
        assert abs(each["estimate"] - true) < 0.15 * ROWS
        held += each["low"] <= true <= each["high"]
    assert held >= len(found["cells"]) - 2
    assert sum(each["estimate"] for each in found["cells"]) == pytest.approx(ROWS)


@pytest.mark.slow
def test_dates_floats_and_moments_that_were_kept(here, study):
    dates = estimated(here, study, "--attribute", "hired")
    assert dates["cells"][0]["cell"].startswith("2019-")
    published = estimated(here, study, "--attribute", "rate")
    assert published["noise"]["sd"] == pytest.approx(0.5, abs=0.05)
    edges = [tuple(map(float, each["cell"].split(" to "))) for each in published["cells"]]
    middle = np.array([(a + b) / 2 for a, b in edges])
    share = np.array([each["estimate"] for each in published["cells"]]) / ROWS
    mean = float(middle @ share)
    assert mean == pytest.approx(5, abs=0.1)
    assert float((middle - mean) ** 2 @ share) == pytest.approx(1, abs=0.3)


@pytest.mark.slow
def test_conditions_and_forms(here, study):
    half = estimated(here, study, "--attribute", "wage", "--where", "sex=f")
    assert sum(each["released"] for each in half["cells"]) == ROWS / 2
    text = here("reconstruct", study, "--attribute", "wage", "--cells", "5")
    assert text.stdout.startswith("wage in study.csv: 4,000 released rows\nnoise: normal, standard deviation 40\n")
    lines = list(
        csv.DictReader(io.StringIO(here("reconstruct", study, "--attribute", "wage", "--format", "csv").stdout))
    )
    assert sum(float(line["estimate"]) for line in lines) == pytest.approx(ROWS)
    alone = here("reconstruct", study / "study.csv", "--operator", study / "noise.json", "--attribute", "wage")
    assert alone.returncode == 0
    assert alone.stdout == here("reconstruct", study, "--attribute", "wage").stdout


def document(**changes):
    entry = {"attribute": "x", "type": "integer", "rounded_to_decimals": 0, "sd": 2.0}
    whole = {
        "distribution": "normal",
        "relative_scale": None,
        "correlated": False,
        "keep_moments": False,
        "bounds": None,
    }
    return whole | {"attributes": [entry]} | changes


def made(folder, said) -> None:
    rng = np.random.default_rng(2)
    z = np.rint(np.repeat([10, 30], 500) + rng.normal(0, 2, 1000)).astype(int)
    (folder / "r.csv").write_text("x,g\n" + "\n".join(f"{n},a" for n in z) + "\n")
    (folder / "noise.json").write_text(json.dumps(said))


def test_noise_that_is_relative_is_estimated_from_the_release(here, tmp_path):
    entry = {"attribute": "x", "type": "integer", "rounded_to_decimals": 0}
    made(tmp_path, document(relative_scale=0.2, attributes=[entry]))
    found = estimated(here, tmp_path)
    assert found["noise"]["estimated"]
    assert found["noise"]["sd"] == pytest.approx(2, abs=0.1)


FORGED = {
    "sd": (10**400, 1e300, float("inf"), True, "5"),
    "rounded_to_decimals": (-400, 10**9, True, "x"),
    "type": ("text",),
    "multiplied_by": (True, "2", 10**400),
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in FORGED.items() for value in values], ids=str
)
def test_forged_noise_is_refused(here, tmp_path, key, value):
    made(tmp_path, document(attributes=[document()["attributes"][0] | {key: value}]))
    done = here("reconstruct", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "PPF447" in done.stderr


@pytest.mark.parametrize(
    ("done", "code"),
    [
        (("noise", "coded"), 2),
        (("noise", "more-noise"), 2),
        (("coded", "noise"), 0),
        (("noise",), 0),
        (("other", "coded"), 0),  # nothing says which of them added the noise
    ],
)
def test_what_was_changed_after_its_noise_is_refused(here, tmp_path, done, code):
    made(tmp_path, document(step="noise"))
    column = {"name": "x", "role": "insensitive", "done": [{"step": step, "change": "changed"} for step in done]}
    about = {"file": "r.csv", "format": "csv", "attributes": [column]}
    (tmp_path / "dictionary.json").write_text(json.dumps(about))
    answer = here("reconstruct", tmp_path)
    assert (answer.returncode, "PPF447" in answer.stderr) == (code, code == 2)


@pytest.mark.parametrize("decimals", [-1, 0, 1])
def test_rounding_may_be_coarser_than_the_noise(here, tmp_path, decimals):
    entry = {"attribute": "x", "type": "float", "rounded_to_decimals": decimals, "sd": 0.4}
    made(tmp_path, document(attributes=[entry]))
    assert sum(each["estimate"] for each in estimated(here, tmp_path)["cells"]) == pytest.approx(1000)


@pytest.mark.parametrize(
    ("low", "high", "code"),
    [("50", "1", 2), ("1", "1", 2), ("0", "1", 2), ("0", "100", 0), ("-1000", None, 0)],
)
def test_bounds_that_released_numbers_are_within(here, tmp_path, low, high, code):
    made(tmp_path, document(bounds={"min": low, "max": high, "outside": "reflect"}))
    done = here("reconstruct", tmp_path)
    assert done.returncode == code
    assert "nan" not in done.stdout
    assert ("PPF447" in done.stderr) is (code == 2)


def test_numbers_near_the_largest_are_refused(here, tmp_path):
    made(tmp_path, document(attributes=[document()["attributes"][0] | {"type": "float"}]))
    (tmp_path / "r.csv").write_text("x,g\n1e308,a\n-1e308,a\n3,a\n")
    done = here("reconstruct", tmp_path)
    assert (done.returncode, "PPF447" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("said", "words", "code"),
    [
        (document(distribution="cauchy"), (), "PPF447"),
        (document(distribution="laplace", correlated=True), (), "PPF447"),
        (document(attributes=[{"attribute": "x"}]), (), "PPF447"),
        (
            document(
                relative_scale=0.2,
                bounds={"min": "0", "max": None, "outside": "reflect"},
                attributes=[{"attribute": "x", "type": "integer", "rounded_to_decimals": 0}],
            ),
            (),
            "PPF447",
        ),
        (document(keep_moments=True), (), "PPF447"),
        (document(), ("--by", "g"), "PPF763"),
        (document(), ("--where", "x=3"), "PPF763"),
        (document(), ("--where", "g=b"), "PPF714"),
        (document(), ("--cells", "1"), "PPF120"),
        (document(attributes=2 * document()["attributes"]), (), "PPF694"),
        (document(attributes=[document()["attributes"][0] | {"attribute": "g"}]), (), "PPF765"),
        (document(), ("--attribute", "g"), "PPF760"),
    ],
)
def test_what_cannot_be_estimated_is_refused(here, tmp_path, said, words, code):
    made(tmp_path, said)
    done = here("reconstruct", tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert code in done.stderr
