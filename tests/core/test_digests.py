"""Files that say what a policy means are read as they were when somebody looked at them, or not at all."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from ppdm_flow.anonymizers.full_domain_recoding import algorithm as full_domain
from ppdm_flow.audits.labels import covering as attacked
from ppdm_flow.audits.labels.file import KnownTable, known_columns, read
from ppdm_flow.core.digests import EXPECTED, marks_of, open_definition, read_definition
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.mining.hierarchies.ladder import read_csv
from ppdm_flow.mining.populations import profiles
from ppdm_flow.mining.populations.profiles import PeopleFile
from ppdm_flow.policy.project_file import read_project
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.policy.text.reading import read as read_text

PEOPLE = "age,zip\n20,10\n30,20\n"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
SIGNERS = f"version: 1\nsigners:\n  bob: {{roles: [data-owner], key: {KEY}}}\n"


def _population(path: Path):
    file = PeopleFile(path, ",", "file", "is no table")
    return file.header(), file.cells(["age"]).to_pydict()


def _known(path: Path):
    known = KnownTable(path, ",", {})
    return read(known, known_columns(known, [("age", "age")])).columns


def _project(path: Path):
    project = read_project(path)
    if project.faults:
        raise PpdmError(list(project.faults))
    return project


READERS = {
    "signers": (read_signers, SIGNERS, SIGNERS.replace("data-owner", "author")),
    "population": (_population, PEOPLE, PEOPLE + "40,30\n"),
    "known table": (_known, PEOPLE, PEOPLE + "40,30\n"),
    "full domain": (lambda path: full_domain._read(path, ",", ("age",)), PEOPLE, PEOPLE + "40,30\n"),
    "hierarchy of a population": (lambda path: profiles._read(path, ";", "age"), "1;x\n", "1;y\n"),
    "hierarchy of an audit": (lambda path: attacked._read(path, ";"), "1;x\n", "1;y\n"),
    "hierarchy": (lambda path: read_csv(path, ";", "age"), "1;x\n", "1;y\n"),
    "text": (read_text, "version: 1\n", "version: 2\n"),
    "project": (_project, "version: 1\n", "version: 1\n# another\n"),
}


@pytest.fixture
def looked_at(tmp_path, monkeypatch):
    """Return a function that has files read as they are now, in the name of somebody who looked at them."""

    def look(*files: Path) -> None:
        marks = tmp_path / "expected.json"
        marks.write_text(json.dumps({str(path): mark for path, mark in marks_of(files).items()}))
        monkeypatch.setenv(EXPECTED, str(marks))

    return look


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_was_changed_since_somebody_looked_is_not_read(tmp_path, looked_at, reader: str):
    readers, text, other = READERS[reader]
    file = tmp_path / "definition.txt"
    file.write_text(text)
    looked_at(file)
    file.write_text(other)
    with pytest.raises(PpdmError):
        readers(file)


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_as_somebody_looked_at_it_is_read(tmp_path, looked_at, monkeypatch, reader: str):
    readers, text, other = READERS[reader]
    file = tmp_path / "definition.txt"
    file.write_text(text)
    looked_at(file)
    assert readers(file) is not None
    file.write_text(other)
    monkeypatch.delenv(EXPECTED)  # nobody looked: it is read as it is
    assert readers(file) is not None


def test_a_file_that_nobody_looked_at_is_not_read(tmp_path, looked_at):
    file, other = tmp_path / "one.csv", tmp_path / "other.csv"
    file.write_text("1;x\n")
    other.write_text("1;x\n")
    looked_at(file)
    with pytest.raises(OSError, match="looked at"):
        read_definition(other)
    assert read_definition(file) == b"1;x\n"


def test_what_was_opened_stays_though_the_file_is_written_to_meanwhile(tmp_path, looked_at):
    file = tmp_path / "one.csv"
    file.write_text("1;x\n")
    looked_at(file)
    with open_definition(file) as opened:
        file.write_text("1;y\n")
        assert opened.read() == b"1;x\n"


def test_a_large_file_is_known_by_size_and_time(tmp_path, looked_at, monkeypatch):
    monkeypatch.setattr("ppdm_flow.core.digests._HASHED", 3)
    file = tmp_path / "one.csv"
    file.write_text("1;x\n")
    looked_at(file)
    assert read_definition(file) == b"1;x\n"
    file.write_text("1;xx\n")
    with pytest.raises(OSError, match="looked at"):
        read_definition(file)


def test_a_packed_population_is_read_as_before(tmp_path, looked_at):
    file = tmp_path / "people.csv.gz"
    file.write_bytes(gzip.compress(PEOPLE.encode()))
    plain = tmp_path / "people.csv"
    plain.write_text(PEOPLE)
    looked_at(file, plain)
    assert _population(file) == _population(plain)


def test_definitions_are_ordinary_files_or_pipes(tmp_path):
    ordinary, link, pipe = tmp_path / "a.csv", tmp_path / "link.csv", tmp_path / "pipe"
    ordinary.write_text("a")
    link.symlink_to("/proc/self/environ")
    os.mkfifo(pipe)
    for refused in (link, Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match=r"ordinary|directory"):
            open_definition(refused)
    with pytest.raises(OSError, match="ordinary"):
        open_definition(pipe, pipes=False)  # nobody waits for who would write into it
    with open_definition(ordinary) as opened:
        assert opened.read() == b"a"
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"b")
    with open_definition(pipe) as opened:
        assert opened.read(1) == b"b"
    os.close(writer)


def test_pipes_of_other_processes_are_not_read():
    """What somebody else reads of them would be lost: the lines of a server's log, of a job."""
    with subprocess.Popen([sys.executable, "-c", "print('one'); input()"], stdin=PIPE, stdout=PIPE) as other:
        with pytest.raises(OSError, match="ordinary"):
            open_definition(Path(f"/proc/{other.pid}/fd/1"))
        assert other.stdout.readline() == b"one\n"
        other.communicate(b"\n")
    reading, writing = os.pipe()
    os.write(writing, b"own")
    with open_definition(Path(f"/dev/fd/{reading}")) as opened:
        assert opened.read(3) == b"own"
    os.close(reading)
    os.close(writing)


def test_a_text_that_is_no_path_is_no_file():
    with pytest.raises(OSError, match="no path"):
        open_definition(Path("a\0b"))
