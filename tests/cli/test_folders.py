"""Folders and globs of files on the command line: runs, checks of runs, profiles, tests."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

POLICY = """version: 1
name: visits
randomness: {mode: reproducible, seed: 1}
source: {path: visits/, format: csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  ill: {role: sensitive}
  year: {role: quasi_identifier, type: integer}
privacy: {k_anonymity: {k: 2}}
releases: {study: {path: study.csv}}
"""
HEAD = "age,ill,year\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The same rows as one file, as a folder, and as partitions."""
    draw = random.Random(3)
    whole = []
    for year in ("2023", "2024"):
        rows = [f"{draw.choice([20, 30])},{draw.choice(['flu', 'cold'])}" for _ in range(60)]
        whole += [f"{row},{year}" for row in rows]
        folder = tmp_path / "parts" / f"year={year}"
        folder.mkdir(parents=True)
        (folder / "part-0.csv").write_text("\n".join(["age,ill", *rows, ""]))
    (tmp_path / "visits").mkdir()
    for number in range(4):
        part = whole[number * 30 : number * 30 + 30]
        (tmp_path / "visits" / f"{number}.csv").write_text(HEAD + "\n".join([*part, ""]))
    (tmp_path / "visits" / "_SUCCESS").touch()
    (tmp_path / "whole.csv").write_text(HEAD + "\n".join([*whole, ""]))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def place(done) -> Path:
    return Path(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_every_form_makes_one_release(home: Path, here) -> None:
    released, digests = set(), set()
    for number, data in enumerate((None, "whole.csv", "visits", "visits/*.csv", "parts", "parts/**/*.csv")):
        given = [] if data is None else ["--data", data]
        done = here("run", "policy.yaml", *given, "--out", f"out{number}", cwd=home)
        assert done.returncode == 0, done.stderr
        released.add((home / place(done) / "released/study/study.csv").read_bytes())
        digests.add(json.loads((home / place(done) / "manifest.json").read_text())["input"]["sha256"])
        assert "2023" not in str(json.loads((home / place(done) / "manifest.json").read_text())["input"])
    assert len(released) == 1
    assert len(digests) == 3


@pytest.mark.slow
def test_a_run_is_verified_with_the_folder_wherever_it_lies(home: Path, here) -> None:
    run = place(here("run", "policy.yaml", cwd=home))
    (home / "visits").rename(home / "moved")
    for data in ("moved", "moved/*.csv"):
        done = here("verify", run, "--data", data, cwd=home)
        assert done.returncode == 0, done.stderr
        assert "make the same" in done.stdout
    (home / "moved/3.csv").write_text((home / "moved/3.csv").read_text() + "20,flu,2023\n")
    assert "make the same" not in here("verify", run, "--data", "moved", cwd=home).stdout


def test_a_lock_does_not_hold_the_data(home: Path, here) -> None:
    assert here("lock", "policy.yaml", cwd=home).returncode == 0
    (home / "visits/3.csv").unlink()
    done = here("run", "policy.yaml", "--locked", cwd=home)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow(quick=2)
@pytest.mark.parametrize("data", ["visits", "visits/*.csv", "parts"])
def test_a_profile_of_a_folder_is_a_policy_for_it(home: Path, here, data: str) -> None:
    done = here("profile", data, "-o", "first.yaml", cwd=home)
    assert done.returncode == 0, done.stderr
    assert "year: {role: quasi_identifier" in (home / "first.yaml").read_text()
    done = here("plan", "first.yaml", "--data", data, cwd=home)
    assert done.returncode == 0, done.stderr
    assert "120 rows" in done.stdout
    done = here("run", "first.yaml", cwd=home)
    assert done.returncode == 0, done.stderr


def test_a_profile_without_a_header(home: Path, here) -> None:
    for year in ("2023", "2024"):
        file = home / "parts" / f"year={year}" / "part-0.csv"
        file.write_text(file.read_text().partition("\n")[2])
    done = here("profile", "parts", "--no-header", "-o", "first.yaml", cwd=home)
    assert done.returncode == 0, done.stderr
    done = here("run", "first.yaml", cwd=home)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_sweep_hierarchy_audit_and_tests_read_folders(home: Path, here) -> None:
    for words in (
        ("sweep", "policy.yaml", "--over", "privacy.k_anonymity.k=2,3", "--data", "visits"),
        ("hierarchy", "parts", "--attribute", "ill", "--by", "frequency", "--at-least", "30"),
        ("audit", "policy.yaml", "--original", "visits", "--released", "whole.csv"),
        ("test", "policy.test.yaml"),
    ):
        if words[0] == "test":
            (home / "policy.test.yaml").write_text(
                "policy: policy.yaml\ntests:\n  all: {data: {file: visits/}, expect: {verdict: released}}\n"
                "  glob: {data: {csv: 'parts/*/*.csv'}, expect: {verdict: released}}\n"
            )
        done = here(*words, cwd=home)
        assert done.returncode == 0, (words, done.stdout, done.stderr)


def test_empty_folders_say_so(home: Path, here) -> None:
    (home / "empty").mkdir()
    (home / "empty/.hidden.csv").write_text(HEAD)
    for data in ("empty", "empty/*.csv", "nowhere/*"):
        done = here("run", "policy.yaml", "--data", data, cwd=home)
        assert done.returncode == 2
        assert "PPF460" in done.stderr
    (home / "other.yaml").write_text(POLICY.replace("path: visits/, format: csv", "path: empty/"))
    assert "PPF460" in here("check", "other.yaml", cwd=home).stdout
    assert here("check", "policy.yaml", cwd=home).returncode == 0


@pytest.mark.parametrize("data", ["visits", "visits/*.csv", None])
def test_no_outcome_goes_over_a_file_of_the_folder(home: Path, here, data: str | None) -> None:
    before = (home / "visits/1.csv").read_bytes()
    words = ["check", "policy.yaml"] if data is None else ["plan", "policy.yaml", "--data", data]
    done = here(*words, "--format", "json", "--output-file", "visits/1.csv", cwd=home)
    assert done.returncode == 2
    assert "PPF664" in done.stderr
    assert (home / "visits/1.csv").read_bytes() == before
    assert here(*words, "--format", "json", "--output-file", "visits/_plan.json", cwd=home).returncode == 0


@pytest.mark.slow
def test_linked_tables_from_folders(home: Path, here) -> None:
    (home / "people").mkdir()
    (home / "stays").mkdir()
    for half in range(2):
        people = "".join(f"p{half * 20 + i},{i % 2}\n" for i in range(20))
        (home / f"people/{half}.csv").write_text("person,sex\n" + people)
        (home / f"stays/{half}.csv").write_text("person,ward\n" + "".join(f"p{half * 20 + i},w\n" for i in range(20)))
    (home / "linked.yaml").write_text(
        """version: 1
name: linked
tables:
  people:
    source: {path: people/, format: csv}
    key: person
    attributes: {person: {role: subject}, sex: {role: quasi_identifier}}
  stays:
    source: {path: "stays/*.csv"}
    refers: {person: people}
    attributes: {person: {role: subject}, ward: {role: quasi_identifier}}
privacy: {k_anonymity: {k: 2}}
people: {known_rows: 1}
releases: {people: {from: people, path: people.csv}, stays: {from: stays, path: stays.csv}}
"""
    )
    first = here("run", "linked.yaml", cwd=home)
    assert first.returncode == 0, first.stderr
    done = here("verify", place(first), "--data", ".", cwd=home)
    assert done.returncode == 0, done.stderr
