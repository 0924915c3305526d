"""The lock as text and back, and what is said of two of them."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.api.documents import SCHEMAS
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.lock import (
    FILE,
    SIZE_LIMIT,
    Lock,
    LockFileFinder,
    Pin,
    Use,
    changes,
    drifts,
    locked,
    read,
    stale,
    text,
)

ONE, TWO = "1" * 64, "2" * 64
NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
RELEASES = st.tuples(NAMES, NAMES)
PINS = {
    "templates": st.one_of(DIGESTS.map(Pin), st.builds(lambda d, r: Pin(d, *r), DIGESTS, RELEASES)),
    "files": DIGESTS.map(Pin),
    "plugins": RELEASES.map(lambda release: Pin("", *release)),
}


@st.composite
def locks(draw) -> Lock:
    pins = {kind: draw(st.dictionaries(NAMES, pins, max_size=4)) for kind, pins in PINS.items()}
    uses = {
        policy: [
            Use(kind, name, pins[kind][name])
            for kind in pins
            for name in draw(st.lists(st.sampled_from(sorted(pins[kind])), unique=True) if pins[kind] else st.just([]))
        ]
        for policy in draw(st.lists(NAMES, max_size=3, unique=True))
    }
    return locked(uses)


@pytest.fixture
def written(tmp_path):
    def write(content: str | bytes) -> Path:
        path = tmp_path / FILE
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@given(lock=locks())
def test_it_reads_back_as_it_was(lock, tmp_path_factory):
    path = tmp_path_factory.mktemp("lock") / FILE
    path.write_text(text(lock), encoding="utf-8", newline="")
    found = read(path)
    assert found.lock == lock
    assert text(found.lock) == text(lock)
    jsonschema.validate(yaml.safe_load(text(lock)), SCHEMAS["lock"]())


@given(one=locks(), other=locks())
def test_nothing_is_told_of_the_same_and_something_of_others(one, other):
    assert list(changes(one, one)) == []
    assert list(stale(one, one)) == []
    assert bool(list(changes(one, other))) is (one != other)


def lock_of(**uses: Use) -> Lock:
    return locked({policy: [use] for policy, use in uses.items()})


def test_shared_things_are_in_it_once():
    lock = lock_of(a=Use("templates", "t", Pin(ONE)), b=Use("templates", "t", Pin(ONE)))
    assert text(lock).count(ONE) == 1
    assert lock.policies["a"]["templates"] == lock.policies["b"]["templates"] == ("t",)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (Pin(TWO), "locked is sha256 111111111111…, and this is sha256 222222222222…"),
        (Pin(ONE, "acme", "2"), "locked is a file, and this is acme 2"),
        (Pin(TWO, "acme", "2"), "locked is sha256 111111111111…, and this is acme 2, sha256 222222222222…"),
    ],
)
def test_drift_says_both(now, words):
    (found,) = drifts(lock_of(p=Use("templates", "t", Pin(ONE))), "p", [Use("templates", "t", now)], "p.yaml")
    assert found.code == "PPF339"
    assert words in found.message


def test_the_same_version_of_another_distribution_is_another():
    lock = lock_of(p=Use("plugins", "audits/x", Pin("", "acme", "1")))
    (found,) = drifts(lock, "p", [Use("plugins", "audits/x", Pin("", "evil", "1"))], "p.yaml")
    assert "locked is acme 1, and this is evil 1" in found.message


def test_what_another_policy_uses_is_not_locked_for_this_one():
    lock = lock_of(p=Use("templates", "t", Pin(ONE)), q=Use("templates", "u", Pin(TWO)))
    (found,) = drifts(lock, "p", [Use("templates", "u", Pin(TWO))], "p.yaml")
    assert found.code == "PPF320"
    assert "for this policy" in found.message


@pytest.mark.parametrize(
    ("pin", "fine"), [(Pin("", "acme", "1"), True), (Pin("", "acme", "2"), False), (Pin("", "evil", "1"), False)]
)
def test_what_the_data_asks_for_comes_from_a_locked_release(pin, fine):
    lock = lock_of(p=Use("plugins", "audits/x", Pin("", "acme", "1")))
    found = list(drifts(lock, "p", [Use("plugins", "sources/y", pin, implied=True)], "p.yaml"))
    assert (found == []) is fine
    assert list(drifts(lock, "p", [Use("plugins", "sources/y", pin)], "p.yaml"))


def test_what_drifted_is_drawn_where_it_is_asked_for():
    place = Span("p.yaml", 3, 1, 3, 5)
    lock = lock_of(p=Use("templates", "t", Pin(ONE)))
    (found,) = drifts(lock, "p", [Use("templates", "t", Pin(TWO), place)], "p.yaml")
    assert found.span == place


def test_a_lock_of_another_language():
    lock = lock_of(p=Use("templates", "t", Pin(ONE)))
    other = Lock(lock.pins, lock.policies, "2")
    assert [d.code for d in drifts(other, "p", [], "p.yaml")] == ["PPF339"]


def test_places_are_those_of_the_file(written):
    path = written(text(lock_of(p=Use("files", "f.csv", Pin(ONE)))))
    found = read(path, "shown").lock
    lines = path.read_text().splitlines()
    for place, span in found.places.items():
        assert span.file == "shown"
        assert place[-1] in lines[span.line - 1]
    assert ("policies", "p", "files", "f.csv") in found.places


@pytest.mark.parametrize("line", range(4, 16))
def test_no_line_can_be_missing(written, line):
    whole = text(locked({"p": [Use("files", "f.csv", Pin(ONE)), Use("plugins", "audits/x", Pin("", "a", "1"))]}))
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 15
    with pytest.raises(UsageError) as caught:
        read(written("".join(lines[: line - 1])))
    assert {d.code for d in caught.value.diagnostics} == {"PPF682"}


def test_too_large(written):
    with pytest.raises(UsageError) as caught:
        read(written(b"#" * (SIZE_LIMIT + 1)))
    assert "larger than 16 MB" in caught.value.diagnostics[0].message


def test_not_there(tmp_path):
    with pytest.raises(UsageError) as caught:
        read(tmp_path / FILE)
    assert caught.value.diagnostics[0].code == "PPF682"


def test_answers_agree_while_another_writer_makes_the_file(tmp_path):
    """Two policies of one repository never have different lock files because one was made in between."""
    (tmp_path / "a").mkdir()
    there = LockFileFinder()
    assert there.of(tmp_path / "p.yaml") is None
    (tmp_path / FILE).write_text("")
    assert there.of(tmp_path / "a" / "p.yaml") is None
    assert LockFileFinder().of(tmp_path / "a" / "p.yaml") == tmp_path / FILE


def test_nearest(tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert LockFileFinder().of(deep / "p.yaml") is None
    (tmp_path / FILE).write_text("")
    assert LockFileFinder().of(deep / "p.yaml") == tmp_path / FILE
    (tmp_path / "a" / FILE).symlink_to("nowhere")
    assert LockFileFinder().of(deep / "p.yaml") == tmp_path / "a" / FILE
    (deep / ".git").write_text("gitdir: elsewhere")
    assert LockFileFinder().of(deep / "p.yaml") is None
