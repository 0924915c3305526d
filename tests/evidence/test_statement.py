"""Statements: their form is closed, and what they say makes sense."""

from __future__ import annotations

import contextlib
import copy
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from signed_runs import key
from signed_statement import STATEMENT

from ppdm_flow.core.digests import canonical
from ppdm_flow.evidence.checking import Attestation
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.statement import payload, read_statement, signed_at


def at(document, *path):
    for part in path[:-1]:
        document = document[part]
    return document, path[-1]


CHANGES = {
    "another kind of statement": (("_type",), "https://in-toto.io/Statement/v0.1"),
    "another predicate": (("predicateType",), "https://slsa.dev/provenance/v1"),
    "no files": (("subject",), []),
    "files out of order": (("subject", 0, "name"), "z.csv"),
    "one file twice": (("subject", 0, "name"), "study.csv"),
    "a file outside": (("subject", 0, "name"), "../dictionary.json"),
    "an absolute file": (("subject", 0, "name"), "/etc/passwd"),
    "a weak digest": (("subject", 0, "digest"), {"md5": "1" * 32}),
    "one more digest": (("subject", 0, "digest"), {"sha256": "1" * 64, "sha512": "1" * 128}),
    "a short digest": (("predicate", "digests", "plan"), 5),
    "capitals in a digest": (("predicate", "digests", "manifest"), "A" * 64),
    "withheld": (("predicate", "run", "verdict"), "withheld"),
    "a role that is no name": (("predicate", "role"), "data owner"),
    "a role with a line break": (("predicate", "role"), "author\n"),
    "a release that is no name": (("predicate", "release"), "../study"),
    "a time of another zone": (("predicate", "signed"), "2026-03-01T10:00:00+01:00"),
    "parts of a second": (("predicate", "signed"), "2026-03-01T09:00:00.5+00:00"),
    "Z for UTC": (("predicate", "signed"), "2026-03-01T09:00:00Z"),
    "a time that does not exist": (("predicate", "signed"), "2026-02-30T09:00:00+00:00"),
    "a key that is not the one": (("predicate", "signer", "key"), key("bob").public.text),
    "a key with a comment": (("predicate", "signer", "key"), f"{key('alice').public.text} alice"),
    "another id": (("predicate", "signer", "key_id"), key("bob").public.key_id),
    "a text for a number": (("predicate", "requirements", 0, "bound"), "3"),
    "a truth for a number": (("predicate", "requirements", 0, "measured"), True),
    "a number for a truth": (("predicate", "requirements", 0, "holds"), 1),
    "one more key": (("predicate", "input"), "8" * 64),
    "one more key deep inside": (("predicate", "run", "input"), "8" * 64),
    "another tool": (("predicate", "tool", "name"), "other"),
}


def test_a_statement_goes_round(statement):
    assert read_statement(payload(statement)) == statement
    assert signed_at(statement).isoformat() == "2026-03-01T09:00:00+00:00"


@pytest.mark.parametrize("what", CHANGES)
def test_a_statement_of_another_form_is_refused(statement, what):
    path, value = CHANGES[what]
    changed = copy.deepcopy(statement)
    holder, last = at(changed, *path)
    holder[last] = value
    with pytest.raises(MalformedError) as error:
        read_statement(payload(changed))
    assert "8" * 8 not in str(error.value)
    read_statement(payload(statement))


@pytest.mark.parametrize(
    "path", [("subject",), ("predicate", "digests", "lock"), ("predicate", "waivers"), ("predicate", "run", "finished")]
)
def test_nothing_may_be_missing(statement, path):
    holder, last = at(statement, *path)
    del holder[last]
    with pytest.raises(MalformedError):
        read_statement(payload(statement))


@pytest.mark.parametrize("document", [[], 5, None, "text", {}, {"predicateType": 5}])
def test_what_is_no_statement_at_all(document):
    with pytest.raises(MalformedError):
        read_statement(canonical(document))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/.\n", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab_", max_size=3), inner, max_size=2),
    max_leaves=4,
)
PLACES = [path for path, _ in CHANGES.values()] + [("predicate",), ("subject", 0), ("predicate", "run"), ("subject", 1)]


@given(place=st.sampled_from(PLACES), value=JSON)
def test_whatever_stands_somewhere_it_is_read_or_malformed(place, value):
    """No other error comes out of a statement, and what is read is what was written."""
    document = copy.deepcopy(STATEMENT)
    public = key("alice").public
    document["predicate"]["signer"] = {"key_id": public.key_id, "key": public.text}
    holder, last = at(document, *place)
    holder[last] = value
    with contextlib.suppress(MalformedError):
        assert read_statement(payload(document)) == document


@given(data=st.binary(max_size=60))
def test_whatever_bytes_there_are_they_are_malformed(data):
    with pytest.raises(MalformedError):
        Attestation.parse(data)


def test_it_is_of_its_published_schema(statement, root):
    schema = json.loads((root / "schemas" / "statement.v1.json").read_text())
    jsonschema.validate(statement, schema)
    statement["predicate"]["ledger"] = {"key": "9" * 64, "position": 3, "chain": "abc"}
    jsonschema.validate(statement, schema)
    read_statement(payload(statement))
