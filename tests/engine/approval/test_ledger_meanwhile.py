"""What the ledger learned between a run and its release is judged with it, on hashes alone, or refused."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from held_runs import POLICY, HeldHome, files

from ppdm_flow import api
from ppdm_flow.core.errors import DataError, RefusedError, UsageError
from ppdm_flow.engine.ledger.file import LedgerFile
from ppdm_flow.engine.ledger.ledger import find_ledger

OPEN = POLICY.replace("approvals:", "#").replace("name: ward", "name: other")
DIVERSE = POLICY.replace("{k_anonymity: {k: 5}}", "{k_anonymity: {k: 5}, l_diversity: {disease: {l: 2}}}")


def codes(home: HeldHome, run: Path) -> tuple[set[str], str]:
    before = files(run)
    with pytest.raises(RefusedError) as caught:
        home.release(run, later=60)
    assert files(run) == before
    return {d.code for d in caught.value.diagnostics}, "; ".join(d.message for d in caught.value.diagnostics)


def other(home: HeldHome, people: range, split: int = 10, by: str = "zip", policy: str = OPEN) -> None:
    """Release something else of these people, by a policy that asks for no approvals."""
    home.policy(policy, "other.yaml")
    data = home.data(people, split, by, "other.csv")
    assert api.run(home.folder / "other.yaml", data=data, out=home.folder / "runs").released


@pytest.mark.slow
def test_a_release_that_collides_refuses_the_held_run(home: HeldHome) -> None:
    run = home.run().run_dir
    other(home, range(20), split=7, by="age")  # the groups of both together have 3 people
    home.approve(run, later=30)
    home.sign(run, "ana", "author", later=30)
    found, text = codes(home, run)
    assert found == {"PPF977", "PPF978"}
    assert "privacy.cumulative_k" in text
    assert "as small as 3" in text
    assert [e.policy for e in home.look().entries] == ["other"]


@pytest.mark.slow
def test_a_release_of_the_same_classes_does_not(home: HeldHome) -> None:
    run = home.run().run_dir
    other(home, range(20))
    home.approve(run, later=30)
    home.sign(run, "ana", "author", later=30)
    (home.folder / "people.csv").unlink()
    assert home.release(run, later=60).outcome.numbers == (2,)


@pytest.mark.slow
def test_who_is_missing_from_the_other_counts(home: HeldHome) -> None:
    run = home.run().run_dir
    other(home, range(3, 20))  # three people are in the held run alone
    home.approve(run, later=30)
    home.sign(run, "ana", "author", later=30)
    assert codes(home, run)[0] == {"PPF977", "PPF978"}


@pytest.mark.slow
def test_the_figures_are_those_of_a_run_that_knew_it(tmp_path: Path) -> None:
    """The twin: the same policy, run after the other release, measures what the release measures.

    A release reads no data, so what holds beside a file that shows anything else has to be run again.
    """
    draw, ends = random.Random(4), set()
    for number in range(6):
        home = HeldHome.make(tmp_path / f"h{number}")
        ran = home.run()
        split = draw.choice([3, 5, 6, 10, 15, 17])
        people = range(draw.choice([0, 0, 5, 7]), 20)
        other(home, people, split, draw.choice(["zip", "age"]), OPEN.replace("k: 5", "k: 2"))
        home.approve(ran.run_dir, later=30)
        home.sign(ran.run_dir, "ana", "author", later=30)
        again = home.run(None)  # sees the ledger as it is now
        k = again.report.metrics["privacy.cumulative_k.k"].value
        ends.add(again.verdict)
        found, text = codes(home, ran.run_dir)
        if again.verdict == "held":
            assert found == {"PPF978"}
        else:
            assert found == {"PPF977", "PPF978"}
            assert f"as small as {k}" in text
    assert ends == {"held", "withheld"}


@pytest.mark.slow
def test_people_of_whom_something_else_was_shown_need_the_data(home: HeldHome) -> None:
    home.policy(DIVERSE)
    run = home.run().run_dir
    other(home, range(20), by="age", policy=OPEN.replace("{k_anonymity: {k: 5}}", "{l_diversity: {disease: {l: 2}}}"))
    home.approve(run, later=30)
    home.sign(run, "ana", "author", later=30)
    found, text = codes(home, run)
    assert "PPF978" in found
    assert "`privacy.k_anonymity`, `privacy.l_diversity.disease`" in text


@pytest.mark.slow
def test_sensitive_values_beside_other_people_do_not(home: HeldHome) -> None:
    home.policy(DIVERSE)
    run = home.run().run_dir
    other(home, range(100, 120))
    home.approve(run, later=30)
    home.sign(run, "ana", "author", later=30)
    assert home.release(run, later=60).outcome.published


@pytest.mark.slow
def test_a_signature_is_not_older_than_the_ledgers_last_entry(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    assert home.release(run, check=True).approved
    other(home, range(20))
    found, text = codes(home, run)
    assert found == {"PPF974"}
    assert "older than the ledger's last entry" in text
    home.approve(run, later=30)
    assert codes(home, run)[0] == {"PPF974"}  # the author's is older still
    home.sign(run, "ana", "author", later=30)
    assert home.release(run, later=60).outcome.published


@pytest.mark.slow
def test_of_two_held_runs_the_second_is_judged_with_the_first(home: HeldHome) -> None:
    first = home.run().run_dir
    home.policy(POLICY.replace("name: ward", "name: wing"), "wing.yaml")
    home.data(range(20), split=7, by="age")
    second = home.run(policy="wing.yaml").run_dir
    for run in (first, second):
        home.approve(run)
    assert home.release(first).outcome.published
    for who, role in (("olga", "data-owner"), ("pia", "privacy-officer"), ("ana", "author")):
        home.sign(second, who, role, later=30)
    assert codes(home, second)[0] == {"PPF977", "PPF978"}


def test_a_ledger_in_a_database(tmp_path: Path, postgres: object) -> None:
    for name, by, split in (("same", "zip", 10), ("colliding", "age", 7)):
        url = postgres.url(postgres.database())  # type: ignore[attr-defined]
        home = HeldHome.make(tmp_path / name, place=url)
        run = home.run().run_dir
        other(home, range(20), split, by)
        home.approve(run, later=30)
        home.sign(run, "ana", "author", later=30)
        if name == "same":
            assert home.release(run, later=60).outcome.numbers == (2,)
            assert [e.state for e in home.look().entries] == ["released", "released"]
        else:
            assert codes(home, run)[0] == {"PPF977", "PPF978"}


def test_an_interrupted_release_leaves_it_held_and_repair_takes_its_entry_back(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    pending(home, run)
    assert [e.state for e in home.look().entries] == ["pending"]
    assert [e.state for e in home.look(repair=True).entries] == []
    assert api.verify(run).verdict == "held"
    assert home.release(run).outcome.numbers == (2,)  # a number is never given again


@pytest.mark.slow
def test_a_release_takes_its_own_pending_entry_back(home: HeldHome) -> None:
    run = home.run().run_dir
    home.approve(run)
    pending(home, run)
    assert home.release(run, check=True).approved
    assert [e.state for e in home.look().entries] == ["pending"]
    assert home.release(run).outcome.numbers == (2,)
    assert [(e.number, e.state) for e in home.look().entries] == [(2, "released")]


def pending(home: HeldHome, run: Path) -> None:
    """What a release that was killed after writing into the ledger leaves."""
    from ppdm_flow.core.digests import sha256
    from ppdm_flow.engine.held.private import read_private
    from ppdm_flow.engine.ledger.ledger import written_down
    from ppdm_flow.engine.machine import utc_now

    digest = json.loads((run / "manifest.json").read_text())["held"]["sha256"]
    assert sha256(run / "held.private.json") == digest
    kept = read_private(run, digest)
    store = find_ledger(home.ledger, home.folder / "releases.key")
    with store.locked():
        store.add(written_down([(r.entry, r.members) for r in kept.releases], run, utc_now()))


def test_an_older_copy_of_the_ledger_is_found_by_the_publication(home: HeldHome) -> None:
    ledger = Path(home.ledger)
    run = home.run().run_dir
    home.approve(run)
    shutil.copyfile(ledger, home.folder / "copy")
    home.release(run)
    shutil.copyfile(home.folder / "copy", ledger)
    looked = api.ledger(home.ledger, home.folder / "releases.key", runs=home.folder / "runs")
    assert [w.run for w in looked.strangers] == [run]
    with pytest.raises(DataError) as caught:
        home.run(None)
    assert caught.value.diagnostics[0].code == "PPF913"


@pytest.mark.slow
def test_a_held_run_bears_witness_to_what_it_saw(home: HeldHome) -> None:
    ledger = Path(home.ledger)
    shutil.copyfile(ledger, home.folder / "copy")
    other(home, range(20))
    run = home.run().run_dir
    home.approve(run)
    shutil.rmtree(home.folder / "runs/other")
    shutil.copyfile(home.folder / "copy", ledger)
    with pytest.raises(DataError) as caught:
        home.release(run)
    assert caught.value.diagnostics[0].code == "PPF913"


def test_a_release_that_was_interrupted_behind_its_rename_is_finished_by_the_next(
    home: HeldHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ppdm_flow.engine.candidates.unpublished import is_held

    run = home.run().run_dir
    home.approve(run)
    with monkeypatch.context() as patched:
        patched.setattr(LedgerFile, "confirm", lambda _self, _numbers: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            home.release(run)
    assert not is_held(run)
    assert (run / "held.private.json").exists()
    assert [e.state for e in home.look().entries] == ["pending"]
    with pytest.raises(UsageError, match="released already"):
        home.release(run)
    assert not (run / "held.private.json").exists()
    assert [e.state for e in home.look().entries] == ["released"]
    assert api.verify(run).holds
