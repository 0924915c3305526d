"""Signers: whose signature counts, in which role, and when. Each refusal has a harmless mirror image."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signed_runs import key, signer, signers

from ppdm_flow.evidence.checking import UNKNOWN, Attestation
from ppdm_flow.evidence.keys import Envelope
from ppdm_flow.evidence.signers import Revocation, Signers, folded
from ppdm_flow.evidence.statement import payload

NOW = datetime(2026, 3, 2, tzinfo=UTC)
"""The day after; the statement was signed on 1 March at nine, an hour after its run."""


@pytest.fixture
def signed(statement):
    """Sign, as alice, what the statement says with these parts of the predicate in it."""

    def made(by="alice", **parts):
        statement["predicate"].update(parts)
        public = key(by).public
        statement["predicate"]["signer"] = {"key_id": public.key_id, "key": public.text}
        return Attestation.parse(Envelope.signed(payload(statement), key(by)).data)

    return made


def test_a_signature_counts(signed):
    assert signed().refusal(signers(signer("alice", "data-owner", "author")), NOW) == ""


def test_a_key_of_nobody(signed):
    assert signed(by="mallory").refusal(signers(signer("alice", "data-owner")), NOW) == UNKNOWN
    assert signed().refusal(Signers(), NOW) == UNKNOWN


def test_another_role(signed):
    people = signers(signer("alice", "author"), signer("bob", "data-owner"))
    assert "has no role `data-owner`" in signed().refusal(people, NOW)
    assert signed(role="author").refusal(people, NOW) == ""


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (None, None, ""),
        (date(2026, 3, 1), date(2026, 3, 1), ""),
        (date(2026, 3, 2), None, "not valid yet"),
        (None, date(2026, 2, 28), "valid no more"),
    ],
)
def test_days_of_validity(signed, first, last, said):
    refusal = signed().refusal(signers(signer("alice", "data-owner", first=first, last=last)), NOW)
    assert said in refusal
    assert bool(refusal) == bool(said)


@pytest.mark.parametrize("time", ["00:00:00", "23:59:59"])
def test_days_are_whole_in_utc(signed, time):
    alice = signer("alice", "data-owner", first=date(2026, 3, 2), last=date(2026, 3, 2))
    later = NOW + timedelta(days=3)
    assert signed(signed=f"2026-03-02T{time}+00:00").refusal(signers(alice), later) == ""
    assert signed(signed="2026-03-03T00:00:00+00:00").refusal(signers(alice), later) != ""
    assert signed(signed="2026-03-01T23:59:59+00:00").refusal(signers(alice), later) != ""


@pytest.mark.parametrize("on", [date(2020, 1, 1), date(2026, 3, 1), date(2030, 1, 1)])
def test_a_revoked_key_counts_never(signed, on):
    """A person who has found the key can write any time, also one before it was revoked."""
    alice = signer("alice", "data-owner", revoked=Revocation(on, "laptop stolen"))
    assert "was revoked" in signed().refusal(signers(alice), NOW)


def test_older_than_its_run(signed):
    people = signers(signer("alice", "data-owner"))
    assert "older than the run" in signed(signed="2026-03-01T08:00:04+00:00").refusal(people, NOW)
    assert signed(signed="2026-03-01T08:00:05+00:00").refusal(people, NOW) == ""


def test_in_the_future(signed):
    people = signers(signer("alice", "data-owner"))
    assert "in the future" in signed(signed="2026-03-02T00:00:01+00:00").refusal(people, NOW)
    assert signed(signed="2026-03-02T00:00:00+00:00").refusal(people, NOW) == ""


def test_two_of_one_name_or_key_are_no_list():
    with pytest.raises(ValueError, match="one name, or one key"):
        signers(signer("alice", "author"), signer("Alice", "author"))
    twin = signer("alice", "author")
    with pytest.raises(ValueError, match="one name, or one key"):
        signers(twin, type(twin)("bob", frozenset({"author"}), twin.key))


def test_who_is_in_a_role():
    revoked = signer("carol", "author", revoked=Revocation(date(2026, 1, 1), "left"))
    people = signers(signer("alice", "author", "data-owner"), signer("bob", "data-owner"), revoked)
    assert [s.name for s in people.in_role("author")] == ["alice"]
    assert [s.name for s in people.in_role("data-owner")] == ["alice", "bob"]
    assert people.roles == {"author", "data-owner"}
    assert (len(people), people.of_key(key("bob").public.key_id)) == (3, people.every[1])


@given(name=st.text(min_size=1, max_size=8))
def test_folding_is_stable_and_forgets_case(name):
    assert folded(folded(name)) == folded(name)
    assert folded(name.casefold()) == folded(name)


@pytest.mark.parametrize(("one", "other"), [("Alice", "alice"), ("ａlice", "alice"), ("straße", "STRASSE"), ("é", "é")])
def test_names_that_look_alike(one, other):
    assert folded(one) == folded(other)
    assert folded(one) != folded(other + "x")
