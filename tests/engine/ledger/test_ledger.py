"""The release ledger: what several releases tell together, and that it neither loses nor invents one."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ppdm_flow import api
from ppdm_flow.api.run import RunResult
from ppdm_flow.cli.main import main
from ppdm_flow.core.errors import DataError, PolicyError, RunError, UsageError
from ppdm_flow.engine.candidates.directory import RunDirectory
from ppdm_flow.engine.ledger.fields import PENDING, RELEASED
from ppdm_flow.engine.ledger.ledger import store_at
from ppdm_flow.engine.ledger.repair import LedgerContents
from ppdm_flow.engine.ledger.tables import LedgerStore

POLICY = """
version: 1
name: ward
source: {path: one.csv}
ledger: {LEDGER, subject: patient}
attributes:
  patient: {role: identifier}
  zip: {role: quasi_identifier}
  age: {role: quasi_identifier}
  disease: {role: sensitive}
privacy:
  k_anonymity: {k: 5}
  l_diversity: {disease: {l: 2}}
releases:
  public: {path: ward.csv, audience: public}
"""
PERTURBED = """
version: 1
name: survey
source: {path: one.csv}
ledger: {LEDGER, subject: patient}
attributes:
  patient: {role: identifier}
  zip: {role: insensitive}
  age: {role: insensitive}
  disease: {role: sensitive, domain: [flu, cold, hiv, ulcer]}
privacy:
  sensitivities: {disease: {default: {r1: 0.3, r2: 0.7}}}
steps:
  perturb: {use: fine_grain_perturbation, with: {attributes: [disease]}}
releases:
  public: {from: perturb, path: survey.csv}
"""
DISEASES = ("flu", "cold", "hiv", "ulcer")
Row = tuple[str, str, str, str]


def rows(people: Iterable[int], split: int = 10, by: str = "zip") -> list[Row]:
    """Two classes: those with a number below ``split``, and the others."""
    found = []
    for i in people:
        side = "low" if i < split else "high"
        found.append((f"patient-{i}", side if by == "zip" else "any", side if by == "age" else "any", DISEASES[i % 4]))
    return found


def write(path: Path, found: Iterable[Row]) -> Path:
    path.write_text("patient,zip,age,disease\n" + "".join(",".join(r) + "\n" for r in found))
    return path


@dataclass(frozen=True)
class Home:
    """A folder with two tables of the same people, and a ledger at ``place``, as policies name it by ``words``."""

    folder: Path
    place: str
    words: str

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def policy(self, text: str, name: str = "policy.yaml") -> None:
        (self.folder / name).write_text(text.replace("LEDGER", self.words))


def _home(folder: Path, place: str, words: str) -> Home:
    home = Home(folder, place, words)
    api.create_ledger(place, folder / "releases.ledger.key")
    home.policy(POLICY)
    write(folder / "one.csv", rows(range(20)))
    write(folder / "two.csv", rows(range(20), split=7, by="age"))
    return home


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.server)])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    if request.param == "file":
        return _home(tmp_path, str(tmp_path / "releases.ledger"), "path: releases.ledger")
    server = request.getfixturevalue("postgres")
    url = server.url(server.database())
    return _home(tmp_path, url, f"url: '{url}', key: releases.ledger.key")


@pytest.fixture
def filed(tmp_path: Path) -> Home:
    return _home(tmp_path, str(tmp_path / "releases.ledger"), "path: releases.ledger")


def run(home: Home, data: str = "one.csv", policy: str = "policy.yaml") -> RunResult:
    return api.run(home / policy, data=home / data, out=home / "runs")


def figure(ran: RunResult, name: str) -> float | int | None:
    return ran.report.metrics[f"privacy.cumulative_k.{name}"].value


def entries(home: Home) -> list[tuple[int, str]]:
    return [(e.number, e.state) for e in store_at(home.place).entries()]


def look(home: Home, **words: object) -> LedgerContents:
    return api.ledger(home.place, home / "releases.ledger.key", **words)


def published(home: Home) -> list[Path]:
    return list((home / "runs").glob("ward/*/released")) if (home / "runs").exists() else []


@pytest.mark.slow
def test_the_second_of_two_anonymous_releases_is_withheld(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(home).released
    ran = run(home, "two.csv")
    assert not ran.released
    by_id = {r.id: r for r in reversed(ran.report.requirements)}
    assert by_id["privacy.k_anonymity"].holds
    assert by_id["privacy.k_anonymity"].measured == 7
    assert not by_id["privacy.cumulative_k"].holds
    assert by_id["privacy.cumulative_k"].measured == 3  # 7, 8 and 9 are `low` by zip and `high` by age
    assert figure(ran, "people_below") == 3
    assert "no. 1, `public` of policy `ward` for public" in by_id["privacy.cumulative_k"].sentence
    assert entries(home) == [(1, RELEASED)]
    with pytest.raises(SystemExit) as status:
        main(["run", str(home / "policy.yaml"), "--data", str(home / "two.csv"), "--out", str(home / "runs"), "-q"])
    assert status.value.code == 1
    assert "narrows 3 people down" in capsys.readouterr().out


@pytest.mark.slow
def test_diverse_releases_that_together_tell_a_disease_are_one_too_many(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten people in each class of either release, and five in each group, whose disease is then the same."""
    for name, by in (("one.csv", "zip"), ("two.csv", "age")):
        people = [
            (i, f"{i % 4 // 2}" if by == "zip" else "any", f"{i % 2}" if by == "age" else "any") for i in range(20)
        ]
        write(home / name, [(f"patient-{i}", z, a, "hiv" if i % 4 in (0, 3) else "flu") for i, z, a in people])
    assert run(home).released
    ran = run(home, "two.csv")
    assert not ran.released
    held = {r.metric: (r.measured, r.holds) for r in ran.report.requirements}
    assert held["privacy.k_anonymity.k"] == (10, True)
    assert held["privacy.cumulative_k.k"] == (5, True)
    assert held["privacy.l_diversity.disease.l"] == (2, True)
    assert held["privacy.l_diversity.disease.cumulative_l"] == (1, False)
    (broken,) = (r for r in ran.report.requirements if not r.holds)
    assert "It collides with: no. 1, `public` of policy `ward` for public" in broken.sentence
    with pytest.raises(SystemExit):
        main(["run", str(home / "policy.yaml"), "--data", str(home / "two.csv"), "--out", str(home / "runs"), "-q"])
    shown = capsys.readouterr().out
    assert "privacy.l_diversity.disease, all releases" in shown
    assert "Form the classes by the same steps as the earlier releases" in shown


def test_the_second_one_alone_is_released(home: Home) -> None:
    assert run(home, "two.csv").released


@pytest.mark.slow
def test_the_same_classes_again_tell_nothing_new(home: Home) -> None:
    assert run(home).released
    assert run(home).released
    assert entries(home) == [(1, RELEASED), (2, RELEASED)]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("people", [range(2, 20), range(22)], ids=["two left", "two came"])
def test_who_came_or_left_is_found_by_difference(home: Home, people: range) -> None:
    assert run(home).released
    write(home / "later.csv", rows(people))
    ran = run(home, "later.csv")
    assert not ran.released
    assert figure(ran, "k") == 2
    assert figure(ran, "k_gone" if len(people) < 20 else "k_present") == 2


@pytest.mark.slow
def test_other_people_do_not_collide(home: Home) -> None:
    assert run(home).released
    write(home / "others.csv", rows(range(100, 120), split=107))
    assert run(home, "others.csv").released


@pytest.mark.slow
def test_two_releases_of_one_run_are_held_against_each_other(home: Home) -> None:
    text = POLICY.replace("  public: {path: ward.csv, audience: public}\n", "").replace("k: 5", "k: 7")
    steps = "steps:\n  less: {use: drop, input: source, with: {attributes: [age]}}\n"
    steps += "  other: {use: drop, input: source, with: {attributes: [zip]}}\n"
    out = "  left: {path: l.csv, from: less}\n  right: {path: r.csv, from: other}\n"
    home.policy(text.replace("releases:\n", steps + "releases:\n") + out)
    both = [(p, z, a, d) for (p, z, _, d), (_, _, a, _) in zip(rows(range(20)), rows(range(20), 7, "age"), strict=True)]
    write(home / "one.csv", both)
    ran = run(home)
    held = {(r.release, r.id): r.holds for r in ran.report.requirements if "together" not in r.metric}
    assert held["left", "privacy.k_anonymity"]
    assert held["right", "privacy.k_anonymity"]
    assert held["left", "privacy.cumulative_k"]
    assert not held["right", "privacy.cumulative_k"]


def test_several_rows_of_a_person_are_one_person(home: Home) -> None:
    """Ten rows a class, of two people each: what counts is people."""
    write(home / "one.csv", [(f"p{i % 4}", "a" if i % 4 < 2 else "b", "any", DISEASES[i % 3]) for i in range(20)])
    ran = run(home)
    assert not ran.released
    assert figure(ran, "k") == 2


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(5))
def test_people_are_told_apart_by_all_their_rows_and_all_that_others_may_know(filed: Home, seed: int) -> None:
    """Against plain Python: one to three rows a person, and a requirement that names `zip` alone."""
    dice = random.Random(seed)
    found = [
        (f"p{i}", dice.choice("ab"), dice.choice("xy"), DISEASES[i % 4])
        for i in range(400)
        for _ in range(dice.choice((1, 1, 2, 3)))
    ]
    write(filed / "one.csv", found)
    text = POLICY.replace("k: 5", "k: 2, attributes: [zip]").replace(
        "  public: {path: ward.csv, audience: public}\n", ""
    )
    steps = "steps:\n  less: {use: drop, input: source, with: {attributes: [age]}}\n"
    filed.policy(
        text.replace("releases:\n", f"{steps}releases:\n")
        + "  one: {path: o.csv, from: less}\n  all: {path: a.csv, from: source}\n"
    )
    told: dict[str, list[tuple[str, str]]] = {}
    for person, area, age, _ in found:
        told.setdefault(person, []).append((area, age))
    first = Counter(tuple(sorted(a for a, _ in each)) for each in told.values())
    both = Counter((tuple(sorted(a for a, _ in each)), tuple(sorted(each))) for each in told.values())
    measured = {r.release: r.measured for r in run(filed).report.requirements if r.id == "privacy.cumulative_k"}
    assert measured == {"one": min(first.values()), "all": min(both.values())}


def test_a_row_of_nobody_stops_the_run(home: Home) -> None:
    write(home / "one.csv", [("", "low", "any", "flu"), *rows(range(20))])
    with pytest.raises(DataError, match="PPF729"):
        run(home)
    assert not published(home)


@pytest.mark.slow
def test_the_ledger_holds_no_values(filed: Home) -> None:
    run(filed)
    content = (filed / "releases.ledger").read_bytes()
    for value in (b"patient-", b"low", b"high", b"ulcer"):
        assert value not in content
    assert (filed / "releases.ledger.key").stat().st_mode & 0o777 == 0o600
    assert (filed / "releases.ledger").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_withheld_run_leaves_no_entry(home: Home) -> None:
    write(home / "one.csv", rows(range(20), split=3))
    assert not run(home).released
    assert entries(home) == []


def _lose(home: Home) -> None:
    (home / "releases.ledger").unlink()


def _lose_key(home: Home) -> None:
    (home / "releases.ledger.key").unlink()


def _other_key(home: Home) -> None:
    (home / "releases.ledger.key").write_text("00" * 32 + "\n")


def _open_key(home: Home) -> None:
    (home / "releases.ledger.key").chmod(0o644)


def _cut(home: Home) -> None:
    file = home / "releases.ledger"
    file.write_bytes(file.read_bytes()[:5000])


def _text(home: Home) -> None:
    (home / "releases.ledger").write_text("this is no database\n" * 300)


def _newer(home: Home) -> None:
    with sqlite3.connect(home / "releases.ledger") as opened:
        opened.execute("PRAGMA user_version = 9")
    opened.close()


def _fewer(home: Home) -> None:
    _change(home, "UPDATE member SET people = SUBSTR(people, 17)")


def _others(home: Home) -> None:
    _change(home, "UPDATE member SET classes = ZEROBLOB(LENGTH(classes))")


def _tables(home: Home) -> None:
    _change(home, "DROP TABLE member")


def _change(home: Home, statement: str) -> None:
    with sqlite3.connect(home / "releases.ledger") as opened:
        opened.execute(statement)
    opened.close()


BROKEN = [_lose, _lose_key, _other_key, _open_key, _cut, _text, _newer, _fewer, _others, _tables]


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("break_it", BROKEN)
def test_without_a_whole_ledger_nothing_is_released(filed: Home, break_it) -> None:
    assert run(filed).released
    before = published(filed)
    break_it(filed)
    with pytest.raises(DataError, match="PPF920" if break_it is _open_key else r"PPF735|PPF91[12]"):
        run(filed, "two.csv")
    assert published(filed) == before


@pytest.mark.slow
def test_a_ledger_that_cannot_be_written_stops_the_release(filed: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(filed).released

    def full(*_arguments: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr("ppdm_flow.engine.ledger.tables._write", full)
    with pytest.raises(RunError, match="PPF730"):
        run(filed)
    assert len(published(filed)) == 1
    assert entries(filed) == [(1, RELEASED)]


def test_a_run_that_fails_before_it_is_out_leaves_no_entry(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunDirectory, "publish", lambda *_: (_ for _ in ()).throw(OSError(5, "no")))
    with pytest.raises(RunError):
        run(home)
    assert entries(home) == []
    assert not published(home)


@pytest.mark.slow
def test_a_run_that_dies_once_it_is_out_stays_in_the_ledger(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real = RunDirectory.publish

    def dies(self: RunDirectory, *arguments: object) -> Path:
        real(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(RunDirectory, "publish", dies)
    with pytest.raises(KeyboardInterrupt):
        run(home)
    monkeypatch.undo()
    assert entries(home) == [(1, PENDING)]
    assert not run(home, "two.csv").released  # a pending release counts
    with pytest.raises(UsageError, match="its run is there"):
        look(home, forget=[1])
    assert look(home, repair=True).confirmed == (1,)
    assert entries(home) == [(1, RELEASED)]
    with pytest.raises(UsageError, match="not pending"):
        look(home, forget=[1])


@pytest.mark.slow
def test_a_pending_release_that_never_was_can_be_dropped(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunDirectory, "publish", lambda *_: (_ for _ in ()).throw(OSError(5, "no")))
    monkeypatch.setattr(LedgerStore, "drop", lambda *_: (_ for _ in ()).throw(RunError(())))
    with pytest.raises(RunError):
        run(home)
    monkeypatch.undo()
    assert entries(home) == [(1, PENDING)]
    assert look(home, repair=True).confirmed == ()
    assert entries(home) == [(1, PENDING)]  # only its owner knows that it was not moved away
    assert look(home, forget=[1]).dropped == (1,)
    assert run(home, "two.csv").released


@pytest.mark.slow
def test_of_two_runs_at_once_one_sees_the_other(home: Home) -> None:
    found: list[bool] = []
    threads = [threading.Thread(target=lambda d=d: found.append(run(home, d).released)) for d in ("one.csv", "two.csv")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False, True]


@pytest.mark.slow
def test_a_second_draw_of_the_same_people_is_refused(home: Home) -> None:
    home.policy(PERTURBED, "survey.yaml")
    assert run(home, policy="survey.yaml").released
    ran = run(home, policy="survey.yaml")
    assert [r.id for r in ran.report.requirements if not r.holds] == ["ledger.repeat"]
    write(home / "others.csv", rows(range(100, 120)))
    assert run(home, "others.csv", "survey.yaml").released


@pytest.mark.slow
def test_a_draw_after_the_truth_is_refused(home: Home) -> None:
    home.policy(PERTURBED, "survey.yaml")
    assert run(home).released
    assert not run(home, policy="survey.yaml").released


@pytest.mark.slow
def test_randomized_releases_without_people_are_all_of_the_same(home: Home) -> None:
    home.policy(PERTURBED.replace(", subject: patient", ""), "survey.yaml")
    assert run(home, policy="survey.yaml").released
    write(home / "others.csv", rows(range(100, 120)))
    assert not run(home, "others.csv", "survey.yaml").released


@pytest.mark.slow
def test_a_release_of_unknown_people_makes_cumulative_k_unknown(home: Home) -> None:
    home.policy(PERTURBED.replace(", subject: patient", ""), "survey.yaml")
    assert run(home, policy="survey.yaml").released
    ran = run(home)
    unknown = {
        "k_anonymity.together_k",
        "l_diversity.disease.together_l",
        "l_diversity.disease.cumulative_l",
        "cumulative_k.k",
    }
    failed = {r.metric.removeprefix("privacy."): r.measured for r in ran.report.requirements if not r.holds}
    assert failed == dict.fromkeys(unknown)


def test_cumulative_k_needs_a_ledger(home: Home) -> None:
    text = POLICY.replace("ledger: {LEDGER, subject: patient}\n", "")
    home.policy(text.replace("  k_anonymity", "  cumulative_k: {k: 5}\n  k_anonymity"))
    with pytest.raises(PolicyError, match="PPF590"):
        run(home)


@pytest.mark.slow
def test_verify_and_audit_know_that_only_the_run_has_the_ledger(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifying carries out the steps, and neither reads the ledger nor writes to it."""
    ran = run(home)
    monkeypatch.setattr("ppdm_flow.engine.ledger.ledger.find_ledger", lambda *_: pytest.fail("the ledger was opened"))
    outcome = api.verify(ran.run_dir, home / "one.csv")
    assert outcome.holds
    assert "privacy.cumulative_k on public" in outcome.text
    assert "privacy.l_diversity.disease on public" in outcome.text
    assert outcome.remeasured is not None
    assert outcome.remeasured.made["public"][0] is True


def test_the_verb_shows_what_was_released(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run(home)
    with pytest.raises(SystemExit) as status:
        main(["ledger", home.place])
    assert status.value.code == 0
    assert "ward/public (public)  20 rows of 20 people: zip, age, disease" in capsys.readouterr().out
