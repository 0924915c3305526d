"""Drafts of hierarchies: so many of one person, none where the disk is full, none for ever."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.hierarchies import drafts
from ppdm_flow.page.services.hierarchies.drafts import HierarchyDrafts, Workplace
from ppdm_flow.page.services.hierarchies.grouping import ValueGrouping
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.uploads.uploads import Upload

SUE, OMAR = (User(number, name, frozenset({PageRole.STEWARD})) for number, name in ((1, "sue"), (2, "omar")))
SMALL = ValueGrouping(({"a": "letter"},))
LARGE = ValueGrouping(({f"value {n}": "word" for n in range(50)},))


@pytest.fixture
def uploads(tmp_path) -> Path:
    (tmp_path / "uploads" / "u1").mkdir(parents=True)
    return tmp_path / "uploads"


@pytest.fixture
def home(tmp_path, uploads) -> HierarchyDrafts:
    return HierarchyDrafts(tmp_path / "hierarchies", uploads)


def _place(home: HierarchyDrafts, user: User = SUE, attribute: str = "age", upload: str = "") -> Workplace:
    of = Upload(upload, "x.csv", "csv", 1, Path("x.csv"), None) if upload else None
    return home.workplace(user, "p.yaml", ("attributes", attribute), of)


def test_one_person_keeps_so_many_bytes_with_and_without_uploads(home, monkeypatch):
    _place(home).write(LARGE)
    monkeypatch.setattr(drafts, "_MOST_OF_PERSON", int(1.5 * _place(home).draft.stat().st_size))
    _place(home).write(LARGE)  # the same one anew
    _place(home, upload="u1").write(SMALL)
    for place in (_place(home, attribute="zip"), _place(home, attribute="zip", upload="u1")):
        with pytest.raises(RefusalError, match="many_drafts"):
            place.write(LARGE)
        assert place.read() is None
    _place(home, OMAR, "zip").write(LARGE)
    _place(home).forget()
    _place(home, attribute="zip").write(LARGE)
    assert _place(home, attribute="zip").read() == LARGE


def test_a_draft_leaves_the_disk_its_room(tmp_path, uploads):
    with pytest.raises(RefusalError, match="no_room"):
        _place(HierarchyDrafts(tmp_path / "h", uploads, free_bytes=2**62)).write(SMALL)
    place = _place(HierarchyDrafts(tmp_path / "h", uploads, free_bytes=1))
    place.write(SMALL)
    assert place.read() == SMALL


def test_drafts_go_with_their_upload_or_when_nobody_changes_them(home, uploads):
    old, new, of_upload = _place(home), _place(home, attribute="zip"), _place(home, upload="u1")
    for place in (old, new, of_upload):
        place.write(SMALL)
    of_upload.counts.write_text("a;1\n")
    past = time.time() - 31 * 86_400
    for place in (old, of_upload):
        os.utime(place.draft, (past, past))
    home.tidy()
    assert [place.read() is not None for place in (old, new, of_upload)] == [False, True, True]
    (uploads / "u1").rmdir()
    home.tidy()
    assert [place.read() is not None for place in (new, of_upload)] == [True, False]
    assert not of_upload.counts.exists()


def test_changes_of_one_person_wait_for_each_other_and_for_nobody_else(home):
    with home.changing(SUE):
        assert not home.changing(SUE).acquire(blocking=False)
        with home.changing(OMAR):
            pass
    with home.changing(SUE):
        pass
