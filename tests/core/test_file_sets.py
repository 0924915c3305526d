"""Folders and globs: which files, in which order, and what tells them apart."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import (
    below,
    data_identity,
    data_sha256,
    file_set,
    is_file_set,
    telling_name,
)


def make(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def relative(path: Path) -> list[str]:
    return [part.relative for part in file_set(path).parts]


def fails(path: Path) -> tuple[str, str]:
    with pytest.raises(DataError) as caught:
        file_set(path)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code, diagnostic.message


HIDDEN = ("v/.crc", "v/_SUCCESS", "v/_old/c.csv", "v/.git/d.csv")


def test_a_folder_in_order_without_hidden_names(tmp_path: Path) -> None:
    make(tmp_path, "v/b.csv", "v/a.csv", "v/B.csv", *HIDDEN)
    assert relative(tmp_path / "v") == ["B.csv", "a.csv", "b.csv"]
    assert telling_name(tmp_path / "v") == "B.csv"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("v/*.csv", ["a.csv"]),
        ("v/**", ["a.csv", "x/b.csv", "x/c.txt", "y/z/d.csv"]),
        ("v/**/*.csv", ["a.csv", "x/b.csv", "y/z/d.csv"]),
        ("v/**/**/*.csv", ["a.csv", "x/b.csv", "y/z/d.csv"]),
        ("v/*/*.csv", ["x/b.csv"]),
        ("v/[!y]", ["x/b.csv", "x/c.txt"]),
        ("v/?/b.csv", ["x/b.csv"]),
        ("v/**/z/*", ["y/z/d.csv"]),
    ],
)
def test_globs(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    make(tmp_path, "v/a.csv", "v/x/b.csv", "v/x/c.txt", "v/y/z/d.csv", *HIDDEN)
    assert relative(tmp_path / pattern) == expected


def test_what_is_there_under_its_name_is_no_glob(tmp_path: Path) -> None:
    make(tmp_path, "a[1].csv", "a1.csv")
    assert not is_file_set(tmp_path / "a[1].csv")
    assert is_file_set(tmp_path / "a[12].csv")
    assert not is_file_set(tmp_path / "missing.csv")


@pytest.mark.parametrize("path", ["v", "v/*.csv", "w/*.csv", "v/_*", "v/**/x.csv"])
def test_nothing_there(tmp_path: Path, path: str) -> None:
    make(tmp_path, *HIDDEN)
    assert fails(tmp_path / path)[0] == "PPF460"


def test_partitions_are_decoded(tmp_path: Path) -> None:
    make(tmp_path, "v/a%3Db=%C3%BC%2F1/_n=__HIVE_DEFAULT_PARTITION__/p.csv", "v/a%3Db=x=y/_n=/p.csv")
    first, second = file_set(tmp_path / "v").parts
    assert first.partition == (("a=b", "ü/1"), ("_n", None))
    assert second.partition == (("a=b", "x=y"), ("_n", ""))


@pytest.mark.parametrize(
    "names",
    [
        ("v/a.csv", "v/x/b.csv"),
        ("v/y=1/a.csv", "v/y=2/x/b.csv"),
        ("v/y=1/a.csv", "v/z=2/b.csv"),
        ("v/y=1/z=1/a.csv", "v/z=1/y=1/b.csv"),
        ("v/y=1/y=2/a.csv",),
        ("v/y=%FF/a.csv",),
        ("v/y=%00/a.csv",),
    ],
)
def test_folders_that_do_not_fit(tmp_path: Path, names: tuple[str, ...]) -> None:
    make(tmp_path, *names)
    assert fails(tmp_path / "v")[0] == "PPF463"


def test_no_depth_matters_under_two_stars_but_with_partitions(tmp_path: Path) -> None:
    make(tmp_path, "v/a.csv", "v/x/b.csv", "w/y=1/a.csv", "w/y=1/x/b.csv")
    assert relative(tmp_path / "v/**/*.csv") == ["a.csv", "x/b.csv"]
    assert fails(tmp_path / "w/**/*.csv")[0] == "PPF463"


def test_values_in_names_of_folders_are_not_shown(tmp_path: Path) -> None:
    make(tmp_path, "v/town=zqcanary/a.csv", "v/town=zqcanary2/x/b.csv")
    message = fails(tmp_path / "v")[1]
    assert "zqcanary" not in message
    assert "town=…/x/b.csv (file 2 of 2)" in message


def test_links(tmp_path: Path) -> None:
    make(tmp_path, "v/a.csv", "else/b.csv")
    (tmp_path / "v/c.csv").symlink_to(tmp_path / "else/b.csv")
    assert relative(tmp_path / "v") == ["a.csv", "c.csv"]
    (tmp_path / "v/dead.csv").symlink_to(tmp_path / "nowhere")
    assert fails(tmp_path / "v") == (
        "PPF701",
        f"cannot read `{tmp_path / 'v/dead.csv'}`: it is not a regular file",
    )
    (tmp_path / "v/dead.csv").unlink()
    (tmp_path / "v/round").symlink_to(tmp_path / "v")
    assert fails(tmp_path / "v")[0] == "PPF463"
    assert fails(tmp_path / "v/**/*.csv")[0] == "PPF463"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    make(tmp_path, "v/x/a.csv", "v/y/a.csv")
    (tmp_path / "v/y").chmod(0)
    try:
        assert fails(tmp_path / "v/*/*.csv")[0] == "PPF701"
    finally:
        (tmp_path / "v/y").chmod(0o700)


def test_the_digest_is_that_of_a_list_and_travels(tmp_path: Path) -> None:
    make(tmp_path, "v/b.csv", "v/a.csv", "v/_x")
    before = data_sha256(tmp_path / "v")
    assert before == data_sha256(tmp_path / "v/*.csv")
    if shutil.which("sha256sum"):
        command = "sha256sum --zero a.csv b.csv | sha256sum"
        listed = subprocess.run(command, shell=True, cwd=tmp_path / "v", capture_output=True, check=True, text=True)
        assert listed.stdout.split()[0] == before
    (tmp_path / "v").rename(tmp_path / "w")
    assert data_sha256(tmp_path / "w") == before
    (tmp_path / "w/a.csv").rename(tmp_path / "w/c.csv")
    assert data_sha256(tmp_path / "w") != before


@pytest.mark.parametrize("change", ["write", "add", "remove", "rename"])
def test_the_identity_changes_with_the_files(tmp_path: Path, change: str) -> None:
    folder = make(tmp_path, "v/a.csv", "v/b.csv") / "v"
    before = data_identity(folder)
    assert before[1] == len("v/a.csv") + len("v/b.csv")
    assert data_identity(folder) == before
    match change:
        case "write":
            os.utime(folder / "a.csv", (1, 1))
        case "add":
            (folder / "c.csv").touch()
        case "remove":
            (folder / "b.csv").unlink()
        case _:
            (folder / "b.csv").rename(folder / "c.csv")
    assert data_identity(folder) != before


def test_hidden_files_do_not_change_it(tmp_path: Path) -> None:
    folder = make(tmp_path, "v/a.csv") / "v"
    before = data_identity(folder), data_sha256(folder)
    (folder / "_log").touch()
    assert (data_identity(folder), data_sha256(folder)) == before


def test_where_a_source_is_in_another_folder(tmp_path: Path) -> None:
    make(tmp_path, "v/a.csv", "there/v/a.csv", "flat/a.csv")
    assert below(tmp_path / "there", tmp_path / "v") == tmp_path / "there/v"
    assert below(tmp_path / "there", tmp_path / "v/*.csv") == tmp_path / "there/v/*.csv"
    assert below(tmp_path / "flat", tmp_path / "v/*.csv") == tmp_path / "flat/*.csv"
    assert below(tmp_path / "there", tmp_path / "x.csv") == tmp_path / "there/x.csv"
