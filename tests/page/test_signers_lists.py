"""Lists of signers on pages: each text is parsed once, in a process of its own, and pages wait for few of them."""

from __future__ import annotations

import pytest
from signers import key_of, signers_text

from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.engine.approval.decision import RequestedSignatures, decide
from ppdm_flow.evidence.signers import Signer, Signers
from ppdm_flow.page.services import approvals
from ppdm_flow.page.services.approvals import SignersLists
from ppdm_flow.page.services.bounded import CHECKS, BoundedCalls, LimitExceededError


@pytest.fixture
def parsed(monkeypatch):
    """Return what was parsed: the names of files, one for each call."""
    names = []
    run = BoundedCalls.run

    def noting(self, function, data, name):
        names.append(name)
        return run(self, function, data, name)

    monkeypatch.setattr(BoundedCalls, "run", noting)
    return names


def test_a_text_is_parsed_once_wherever_it_lies(tmp_path, parsed):
    lists = SignersLists()
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "signers.yaml").write_text(signers_text({"bob": "data-owner"}))
    first, second = (lists.reader()(tmp_path / place / "signers.yaml") for place in ("a", "b"))
    assert first is second
    assert [signer.name for signer in first] == ["bob"]
    (tmp_path / "b" / "signers.yaml").write_text(signers_text({"eve": "data-owner"}))
    assert [signer.name for signer in lists.reader()(tmp_path / "b" / "signers.yaml")] == ["eve"]
    assert len(parsed) == 2


def test_what_is_wrong_with_a_text_is_kept_too(tmp_path, parsed):
    lists, file = SignersLists(), tmp_path / "signers.yaml"
    file.write_text("version: 1\nsigners: []\n")
    for _ in range(3):
        with pytest.raises(PolicyError):
            lists.reader()(file)
    assert len(parsed) == 1
    with pytest.raises(UsageError, match="cannot read"):
        lists.reader()(tmp_path / "nowhere.yaml")


def test_a_page_without_time_has_the_lists_that_are_known(tmp_path, parsed):
    lists = SignersLists()
    known, other = tmp_path / "known.yaml", tmp_path / "other.yaml"
    known.write_text(signers_text({"bob": "data-owner"}))
    other.write_text(signers_text({"eve": "data-owner"}))
    lists.reader()(known)
    read = lists.reader(0.0)
    assert [signer.name for signer in read(known)] == ["bob"]
    with pytest.raises(LimitExceededError, match="not looked at"):
        read(other)
    assert [signer.name for signer in lists.reader()(other)] == ["eve"]
    assert parsed == ["known.yaml", "other.yaml"]


def test_a_text_that_takes_too_long_is_tried_again_later(tmp_path, monkeypatch):
    lists, file, calls, clock = SignersLists(), tmp_path / "signers.yaml", [], [0.0]
    file.write_text(signers_text({"bob": "data-owner"}))

    def never(*_words):
        calls.append(1)
        raise LimitExceededError([])

    monkeypatch.setattr(BoundedCalls, "run", never)
    monkeypatch.setattr(approvals.time, "monotonic", lambda: clock[0])
    for _ in range(2):
        with pytest.raises(LimitExceededError):
            lists.reader(CHECKS.seconds / 2)(file)  # who has no more time does not try it again
    for _ in range(2):
        with pytest.raises(LimitExceededError):
            lists.reader()(file)
    assert len(calls) == 2
    clock[0] = 1e6
    with pytest.raises(LimitExceededError):
        lists.reader()(file)
    assert len(calls) == 3


def test_the_kept_texts_are_bounded(tmp_path, parsed, monkeypatch):
    text = signers_text({"bob": "data-owner"})
    monkeypatch.setattr(approvals, "_MOST_BYTES", int(2.5 * len(text)))
    lists, file = SignersLists(), tmp_path / "signers.yaml"
    for name in ("bob", "eve", "ann", "eve", "bob"):
        file.write_text(signers_text({name: "data-owner"}))
        assert [signer.name for signer in lists.reader()(file)] == [name]
    assert len(parsed) == 4


class _CountedSigners(Signers):
    """A list that counts how often it is gone through."""

    asked = 0

    def in_role(self, role: str) -> tuple[Signer, ...]:
        _CountedSigners.asked += 1
        return super().in_role(role)


def test_a_decision_goes_through_a_list_once_for_each_role():
    every = tuple(Signer(f"a{n}", frozenset({"author", "data-owner"}), key_of(f"a{n}").public) for n in range(50))
    lists = (_CountedSigners(every), _CountedSigners(every[10:]))
    decision = decide(RequestedSignatures(("data-owner",), True, {}), (), ("public",), lists)
    assert [missing.able for missing in decision.missing] == [tuple(f"a{n}" for n in range(10, 50))] * 2
    assert _CountedSigners.asked == 4
