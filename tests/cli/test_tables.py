"""Tables that only Spark reads, given to verbs and to an engine that do not."""

from __future__ import annotations

import pytest

POLICY = """version: 1
name: small
source: {path: t.csv}
attributes: {age: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 2}}
releases: {r: {path: r.csv}}
"""


@pytest.fixture
def folder(tmp_path):
    """A policy with its data."""
    (tmp_path / "p.yaml").write_text(POLICY)
    (tmp_path / "t.csv").write_text("age\n30\n30\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("run", "p.yaml", "--data"),
        ("plan", "p.yaml", "--data"),
        ("check", "p.yaml", "--data"),
        ("diff", "p.yaml", "p.yaml", "--data"),
        ("sweep", "p.yaml", "--over", "privacy.k_anonymity.k=2", "--data"),
        ("profile",),
    ],
    ids=lambda words: words[0],
)
def test_a_verb_says_that_only_spark_reads_a_table(folder, here, words) -> None:
    done = here(*words, "table:clinic.visits", cwd=folder)
    assert done.returncode == 2
    assert "PPF954" in done.stderr
    assert "`table:clinic.visits`" in done.stderr
    assert "--engine spark" in done.stderr
    assert not (folder / "runs").exists()


def test_a_file_of_that_name_is_data(folder, here) -> None:
    (folder / "t.csv").rename(folder / "table:t.csv")
    assert here("run", "p.yaml", "--data", "table:t.csv", cwd=folder).returncode == 0


def test_a_table_behind_jdbc_is_refused_without_its_password(folder, here) -> None:
    address = "jdbc:postgresql://host/db?user=me&password=hunter2"
    for words in (("run", "p.yaml", "--engine", "spark"), ("run", "p.yaml"), ("plan", "p.yaml")):
        done = here(*words, "--data", address, cwd=folder)
        assert done.returncode == 2
        assert "PPF957" in done.stderr
        assert "hunter2" not in done.stdout + done.stderr
