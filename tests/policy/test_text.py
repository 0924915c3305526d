"""Bytes that are no policy, refused quickly and by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy import load
from ppdm_flow.policy.text.reading import SIZE_LIMIT, decode, place


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path / "none.yaml")
    assert [d.code for d in raised.value.diagnostics] == ["PPF100"]
    assert raised.value.exit_status == 2


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"PPF100.*directory"):
        load(tmp_path)


def test_a_hundred_megabytes_are_refused_by_size(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as out:
        out.truncate(100_000_000)
    loaded = load(file)
    assert [d.code for d in loaded.diagnostics] == ["PPF101"]
    assert loaded.policy is None


def test_a_pipe_is_read_up_to_the_limit(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as out:
        out.write(b"version: 1\n")
    try:
        loaded = load(Path(f"/dev/fd/{read_end}"))
    finally:
        os.close(read_end)
    assert "PPF202" in {d.code for d in loaded.diagnostics}


def test_just_below_the_limit_is_read(read, start, codes) -> None:
    filler = "# " + "x" * 97 + "\n"
    text = start + "privacy: {k_anonymity: {k: 2}}\n"
    text += filler * ((SIZE_LIMIT - len(text)) // len(filler))
    assert SIZE_LIMIT - 100 < len(text) <= SIZE_LIMIT
    assert codes(read(text)) == []
    assert codes(read(text + filler * 2)) == ["PPF101"]


def test_a_byte_order_mark_is_no_part_of_the_text(read, start, codes) -> None:
    loaded = read(b"\xef\xbb\xbf" + start.encode() + b"privacy: {k_anonymity: {k: 2}}\n")
    assert codes(loaded) == []
    assert loaded.places.key("version").column == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_other_encodings(read, codes, encoding: str) -> None:
    loaded = read(
        "\ufeffowner: Müller\n".encode(encoding) if encoding == "utf-16-le" else "owner: Müller\n".encode(encoding)
    )
    assert codes(loaded) == ["PPF102"]


def test_the_line_of_the_first_bad_byte(read) -> None:
    (fault,) = read(b"version: 1\nname: a\nowner: M\xfcller\n").diagnostics
    assert fault.span.line == 3
    assert "line 3" in fault.message


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\ufeff", "\ufffe"])
def test_control_characters(read, codes, character: str) -> None:
    loaded = read(f"version: 1\nowner: a{character}b\n")
    assert codes(loaded) == ["PPF103"]
    assert (loaded.diagnostics[0].span.line, loaded.diagnostics[0].span.column) == (2, 9)


def test_places_count_every_line_break_that_yaml_knows() -> None:
    text = "a\r\nb\rc\nd\u2028e"
    assert place(text, "f", text.index("e"), 1).line == 5


def test_decode_takes_the_mark_off() -> None:
    assert decode(b"\xef\xbb\xbfa", "f") == "a"


@pytest.mark.parametrize("place", ["/proc/self/status", "/dev/null", "/sys/kernel/notes", "link.yaml", "pipe.yaml"])
def test_templates_are_ordinary_files(tmp_path, place):
    """Some of the system's own files block their reader; none is opened."""
    (tmp_path / "link.yaml").symlink_to("/proc/self/status")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "policy.yaml").write_text(f"version: 1\nname: p\nextends: [{place}]\n")
    assert "PPF301" in {each.code for each in load(tmp_path / "policy.yaml").diagnostics}


def test_an_ordinary_template_is_read_through_a_link(tmp_path):
    (tmp_path / "house.yaml").write_text("privacy: {k_anonymity: {k: 5}}\n")
    (tmp_path / "linked.yaml").symlink_to("house.yaml")
    (tmp_path / "policy.yaml").write_text("version: 1\nname: p\nextends: [linked.yaml]\n")
    assert load(tmp_path / "policy.yaml").tree["privacy"] == {"k_anonymity": {"k": "5"}}
