"""The verb ``hierarchy``: made from data, and used by a policy; held against data in counts only."""

from __future__ import annotations

import csv
import io

import pytest

AGES = ["3", "17", "18", "40", "64", "64"]
PAIN = ["none", "mild", "strong", "worst", "mild", "none"]
ZIPS = ["10115", "10117", "20095", "20095", "80331", ""]
BORN = ["2001-05-06", "1984-01-02", "1984-02-03", "1999-12-31", "1970-01-01", "1970-06-01"]


@pytest.fixture
def data(tmp_path):
    file = tmp_path / "data.csv"
    rows = zip(AGES, PAIN, ZIPS, BORN, strict=True)
    file.write_text("age,pain,zip,born\n" + "\n".join(",".join(row) for row in rows) + "\n")
    return file


def lines(done, delimiter=";"):
    assert done.returncode == 0, done.stderr
    return [row for row in csv.reader(io.StringIO(done.stdout), delimiter=delimiter) if row]


def test_intervals(here, data) -> None:
    done = here("hierarchy", data, "--attribute", "age", "--by", "intervals", "--edges", "0,18,35,65", "--then", "2")
    assert lines(done)[0] == ["17", "[0, 18)", "[0, 35)", "*"]
    assert "5 values of `age`" in done.stderr
    wide = lines(here("hierarchy", data, "--attribute", "age", "--by", "intervals", "--width", "20"))
    assert ["64", "[60, 80)", "*"] in wide


def test_prefix_date_order_and_frequency(here, data) -> None:
    prefix = lines(here("hierarchy", data, "--attribute", "zip", "--by", "prefix", "--keep", "3,1"))
    assert prefix[0] == ["10115", "101**", "1****", "*"]
    assert len(prefix) == 4  # the missing cell is no value
    dates = lines(here("hierarchy", data, "--attribute", "born", "--by", "date", "--units", "year,decade"))
    assert ["1984-01-02", "1984", "1980s", "*"] in dates
    asked = ["--by", "order", "--values", "none,mild,strong,worst", "--fanout", "2"]
    assert lines(here("hierarchy", data, "--attribute", "pain", *asked))[0] == ["mild", "none to mild", "*"]
    rare = here("hierarchy", data, "--attribute", "pain", "--by", "frequency", "--at-least", "2", "--delimiter", ",")
    assert lines(rare, ",")[2:] == [["strong", "(other)", "*"], ["worst", "(other)", "*"]]
    assert "2 values occur in fewer than 2 rows each, 2 rows together" in rare.stderr


def test_counts_by_number_or_the_most_frequent_first(here, data) -> None:
    ages = lines(here("hierarchy", data, "--attribute", "age", "--counts"))
    assert ages == [["3", "1"], ["17", "1"], ["18", "1"], ["40", "1"], ["64", "2"]]
    zips = lines(here("hierarchy", data, "--attribute", "zip", "--counts", "--delimiter", ","), ",")
    assert zips == [["10115", "1"], ["10117", "1"], ["20095", "2"], ["80331", "1"]]  # the missing cell is no value
    pain = lines(here("hierarchy", data, "--attribute", "pain", "--counts"))
    assert pain == [["mild", "2"], ["none", "2"], ["strong", "1"], ["worst", "1"]]
    both = here("hierarchy", data, "--attribute", "zip", "--counts", "--by", "prefix", "--keep", "3")
    assert both.returncode == 2
    assert "ask for one" in both.stderr


def test_a_policy_says_how_to_read_and_takes_the_file(here, data, tmp_path) -> None:
    policy = tmp_path / "p.yaml"
    policy.write_text(
        "version: 1\nname: p\nsource: {missing: [none, '']}\nattributes:\n  age: {role: quasi_identifier}\n"
        "  pain: {role: quasi_identifier, domain: [mild, strong, worst], hierarchy: {csv: pain.csv}}\n"
        "  zip: {role: insensitive}\n  born: {role: insensitive}\nprivacy: {k_anonymity: {k: 2, attributes: [pain]}}\n"
        "steps:\n  recode: {use: full_domain_recoding, with: {suppression: 0}}\n"
        "releases:\n  out: {path: out.csv}\n"
    )
    asked = ["--attribute", "pain", "--policy", policy]
    done = here("hierarchy", data, *asked, "--by", "order", "--fanout", "2", "-o", tmp_path / "pain.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pain.csv").read_text().startswith("mild;mild to strong;*\n")
    fits = here("hierarchy", data, *asked, "--check", tmp_path / "pain.csv")
    assert fits.returncode == 0
    ran = here("run", policy, "--data", data, "--out", tmp_path / "runs")
    assert ran.returncode == 0, ran.stderr


def test_check_tells_counts_and_never_a_value(here, data, tmp_path) -> None:
    file = tmp_path / "h.csv"
    file.write_text("none;a;x\nmild;a;y\nstrong;mild;x\ncanary;b;x\n")
    done = here("hierarchy", data, "--attribute", "pain", "--check", file)
    assert done.returncode == 1
    assert "NO  3 of the data's 4 values stand in it (5 of 6 rows)" in done.stdout
    assert "NO  level 2 puts values apart" in done.stdout
    assert "NO  1 labels are spelled like a value" in done.stdout
    assert "1 of its values do not occur" in done.stdout
    for value in ("strong", "worst", "canary", "mild"):
        assert value not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--attribute", "agee", "--by", "prefix", "--keep", "1"], "PPF763"),
        (["--attribute", "age"], "PPF120"),
        (["--attribute", "age", "--by", "intervals"], "PPF120"),
        (["--attribute", "age", "--by", "intervals", "--edges", "5,x"], "PPF120"),
        (["--attribute", "age", "--by", "intervals", "--edges", "9,5"], "PPF120"),
        (["--attribute", "age", "--by", "intervals", "--width", "-1"], "PPF120"),
        (["--attribute", "age", "--by", "intervals", "--width", "9", "--fanout", "2"], "PPF120"),
        (["--attribute", "age", "--by", "prefix", "--keep", "1,2"], "PPF120"),
        (["--attribute", "age", "--by", "date", "--units", "year,month"], "PPF120"),
        (["--attribute", "age", "--by", "order"], "PPF120"),
        (["--attribute", "age", "--by", "order", "--fanout", "1"], "PPF120"),
        (["--attribute", "age", "--by", "frequency"], "PPF120"),
        (["--attribute", "age", "--by", "frequency", "--at-least", "2", "--delimiter", ";;"], "PPF120"),
        (["--attribute", "age", "--by", "prefix", "--check", "x.csv"], "PPF120"),
        (["--attribute", "pain", "--by", "frequency", "--at-least", "2", "--label", "mild"], "PPF132"),
        (["--attribute", "pain", "--by", "order", "--fanout", "2", "--values", "none,mild"], "PPF132"),
        (["--attribute", "pain", "--by", "intervals", "--width", "5"], "PPF786"),
        (["--attribute", "age", "--by", "intervals", "--edges", "0,5"], "PPF789"),
        (["--attribute", "pain", "--check", "absent.csv"], "PPF788"),
    ],
)
def test_what_is_refused(here, data, words, code) -> None:
    done = here("hierarchy", data, *words)
    assert done.returncode == 2
    assert code in done.stderr
    assert done.stdout == ""
