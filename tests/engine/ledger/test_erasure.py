"""People whom a ledger forgets: nothing of them is left, others stay, and later runs about them are not verified."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from ppdm_flow import api
from ppdm_flow.cli.main import main
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.engine.ledger.key import hashes_of, numbers_of, packed, read_key
from ppdm_flow.engine.ledger.ledger import find_ledger
from ppdm_flow.engine.ledger.tables import _with_strangers
from ppdm_flow.reader.earlier import UNKNOWN_HASH, unpacked
from ppdm_flow.report.run.advice import advise
from ppdm_flow.sdk.history import Membership
from tests.engine.ledger.test_cells import ALPHA, MIXED, PSEUDONYM, SECRET, drop, failed, run
from tests.engine.ledger.test_ledger import Home

ERASED = ["i3", "i4"]


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.server)])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HELD_TEST_KEY", "a long key that nobody else has 0123456789")
    place, words = str(tmp_path / "releases.ledger"), "path: releases.ledger"
    if request.param == "server":
        server = request.getfixturevalue("postgres")
        place = server.url(server.database())
        words = f"url: '{place}', key: releases.ledger.key"
    api.create_ledger(place, tmp_path / "releases.ledger.key")
    (tmp_path / "one.csv").write_text(MIXED)
    return Home(tmp_path, place, words)


def erase(home: Home, *ids: str) -> None:
    (home / "ids.txt").write_text("\n".join(ids) + "\n")
    api.ledger(home.place, home / "releases.ledger.key", erase=home / "ids.txt")


def people(home: Home, *ids: str) -> np.ndarray:
    return read_key(home / "releases.ledger.key").hashes("person", (each.encode() for each in ids))


def without(text: str, *ids: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line.partition(",")[0] not in ids)


def test_nothing_of_a_person_is_left_and_others_stay(home: Home) -> None:
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    store = find_ledger(home.place, home / "releases.ledger.key")
    entry, known = store.entries()[0], people(home, *ERASED)
    before, file = store.members(entry), unpacked("", store.packed_file(entry))
    erase(home, *ERASED, "nobody")
    store.check()
    entry = store.entries()[0]
    after, left = store.members(entry), unpacked("", store.packed_file(entry))
    assert np.isin(known, before.subjects).all()
    assert not np.isin(known, after.subjects).any()
    assert len(set(after.subjects) - set(before.subjects)) == len(ERASED)
    assert sorted(after.classes) == sorted(before.classes)
    others = dict(zip(before.subjects.tolist(), before.classes.tolist(), strict=True))
    kept = dict(zip(after.subjects.tolist(), after.classes.tolist(), strict=True))
    assert all(kept[person] == others[person] for person in kept.keys() & others.keys())
    gone = np.isin(file.people, numbers_of(known))
    assert gone.sum() == len(ERASED)
    assert not np.isin(left.people, numbers_of(known)).any()
    assert (left.people[~gone] == file.people[~gone]).all()
    for name, values in left.attributes.items():
        assert (values[gone] == UNKNOWN_HASH).all()
        assert (values[~gone] == file.attributes[name][~gone]).all()
    (erasure,) = store.erasures()
    assert sorted(erasure.people) == sorted(known.astype(str).tolist())


def test_a_run_about_erased_people_is_not_verified(home: Home) -> None:
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    erase(home, *ERASED)
    judged = run(home, "classes", ALPHA, PSEUDONYM, drop("s"))
    assert failed(judged) == dict.fromkeys(("alpha_k.s.together_alpha", "k_anonymity.together_k", "cumulative_k.k"))
    report = json.loads((judged.run_dir / "report.json").read_text())
    for result in report["requirements"]:
        if not result["holds"]:
            assert "people whom the ledger has forgotten" in result["sentence"]
            assert "Leave these people out of the source" in advise(result, {"ledger": {}} | report["plan"])


@pytest.mark.parametrize("erased", [False, True])
def test_a_run_without_erased_people_is_as_it_would_be(home: Home, erased: bool) -> None:
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    if erased:
        erase(home, *ERASED)
    (home / "one.csv").write_text(without(MIXED, *ERASED))
    assert run(home, "classes", "", PSEUDONYM, drop("s"), k=2).released
    assert failed(run(home, "again", "", PSEUDONYM, drop("s"), k=3)) == {"k_anonymity.together_k": 2}


@pytest.mark.parametrize("erased", [False, True])
def test_what_earlier_releases_tell_of_others_is_withheld_as_before(home: Home, erased: bool) -> None:
    (home / "one.csv").write_text(SECRET)
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    if erased:
        erase(home, *ERASED)
    (home / "one.csv").write_text(without(SECRET, *ERASED))
    found = failed(run(home, "classes", ALPHA, PSEUDONYM, drop("s")))
    assert found == {"alpha_k.s.together_alpha": 1, "k_anonymity.together_k": 2, "cumulative_k.k": 2}


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_an_erasure_is_listed_with_counts_alone(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    (home / "ids.txt").write_text("i3\nwho\n")
    words = ["ledger", home.place, "--key", str(home / "releases.ledger.key")]
    told = shown(capsys, *words, "--erase", str(home / "ids.txt"))
    assert "erased: 1 person of no. 1" in told
    assert "1 id of nobody here" in told
    document = shown(capsys, *words, "--format", "json")
    (erased,) = json.loads(document)["erased"]
    assert (erased["release"], erased["people"]) == (1, 1)
    assert str(people(home, "i3")[0], "ascii") not in told + document


@pytest.mark.parametrize("text", ["a7f3\n", "\n", b"\xff\xfe\x00"])
def test_ids_that_erase_nobody_are_refused(home: Home, text: str | bytes) -> None:
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    (home / "ids.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError, match="PPF687") as caught:
        api.ledger(home.place, home / "releases.ledger.key", erase=home / "ids.txt")
    assert "a7f3" not in str(caught.value)
    assert find_ledger(home.place, home / "releases.ledger.key").erasures() == ()


@pytest.fixture
def filed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HELD_TEST_KEY", "a long key that nobody else has 0123456789")
    api.create_ledger(tmp_path / "releases.ledger", tmp_path / "releases.ledger.key")
    (tmp_path / "one.csv").write_text(MIXED)
    home = Home(tmp_path, str(tmp_path / "releases.ledger"), "path: releases.ledger")
    assert run(home, "values", ALPHA, PSEUDONYM, drop("a")).released
    return home


def sql(home: Home, text: str) -> None:
    with sqlite3.connect(home.place) as opened:
        opened.executescript(text)
    opened.close()


CHANGES = [
    "DELETE FROM erasure",
    "UPDATE erasure SET people = '[]'",
    "UPDATE erasure SET time = '2020-01-01'",
    "UPDATE erasure SET members = (SELECT members FROM release)",
    "DELETE FROM event WHERE state = 'erased'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_an_erasure_that_was_changed_is_found(filed: Home, change: str) -> None:
    erase(filed, *ERASED)
    sql(filed, change)
    with pytest.raises(DataError, match="PPF912"):
        find_ledger(filed.place, filed / "releases.ledger.key")


def test_a_ledger_of_version_4_is_read_and_becomes_one_of_5(filed: Home) -> None:
    sql(filed, "DROP TABLE erasure; UPDATE ledger SET version = 4; PRAGMA user_version = 4")
    store = find_ledger(filed.place, filed / "releases.ledger.key")
    assert store.erasures() == ()
    erase(filed, *ERASED)
    assert [len(each.people) for each in store.erasures()] == [2]
    assert run(filed, "again", ALPHA, PSEUDONYM, drop("s"), k=2).report.requirements


def test_the_bytes_of_the_file_have_no_erased_person(filed: Home) -> None:
    known = people(filed, *ERASED)
    held = Path(filed.place).read_bytes()
    assert all(packed(known[i : i + 1]) in held for i in range(len(known)))
    erase(filed, *ERASED)
    held = Path(filed.place).read_bytes()
    assert not any(packed(known[i : i + 1]) in held for i in range(len(known)))


def test_strangers_stand_in_the_order_of_hashes() -> None:
    hashes = hashes_of(bytes(range(48)))
    members = Membership(hashes, hashes_of(bytes(48)))
    found = _with_strangers(members, hashes[1:2], hashes_of(b"\xff" * 16))
    assert found.subjects.tolist() == [hashes[0], hashes[2], b"f" * 32]
