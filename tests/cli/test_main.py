"""The program as a whole: help, typos, interruptions, full disks, readers that hang up."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ppdm_flow
from ppdm_flow.cli import audit, check, doctor, explain, init, listing, plan, report, run, schema, serve, show, verify
from ppdm_flow.cli import main as program
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PolicyError, RunError

MODULES = (audit, check, doctor, explain, init, listing, plan, report, run, schema, serve, show, verify)
VERBS = (
    "audit",
    "check",
    "doctor",
    "explain",
    "init",
    "list",
    "plan",
    "report",
    "run",
    "schema",
    "serve",
    "show",
    "verify",
)


def start(*words, **how):
    return subprocess.Popen([sys.executable, "-m", "ppdm_flow", *words], text=True, **how)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_has_examples_and_exit_statuses(here, verb, flag):
    done = here(verb, flag)
    assert done.returncode == 0
    assert "Examples:\n" in done.stdout
    assert f"  ppdm-flow {verb} " in done.stdout or f"  ppdm-flow {verb}\n" in done.stdout
    assert "Exit status:" in done.stdout
    assert done.stderr == ""


def test_help_lists_every_verb(cli):
    done = cli("--help")
    assert done.returncode == 0
    for verb in VERBS:
        assert f"  {verb} " in done.stdout


def test_nothing_at_all_shows_the_help(cli):
    assert "Usage: ppdm-flow" in cli().stdout + cli().stderr


def test_version(cli):
    assert cli("--version").stdout == f"ppdm-flow {ppdm_flow.__version__}\n"


def test_a_misspelt_verb_is_suggested(cli):
    done = cli("chekc")
    assert done.returncode == 2
    assert "'check'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("example", [e for m in MODULES for e in m.EXAMPLES])
def test_examples_are_real_commands(example):
    """Their words parse: options exist, and files of the repository that they name are there."""
    words = example.replace("'", "").split()
    assert words[0] in VERBS
    for word in words[1:]:
        if word.startswith("pipelines/") and "*" not in word:
            assert (Path(__file__).parents[2] / word).exists()


@pytest.mark.slow
def test_a_reader_that_hangs_up_changes_nothing_about_the_answer(tmp_path):
    (tmp_path / "bad.yaml").write_text("version: 1\nname: x\n")
    read, write = os.pipe()
    os.close(read)
    process = start("check", str(tmp_path / "bad.yaml"), stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    _, talk = process.communicate(timeout=1200)
    assert process.returncode == 1
    assert "Traceback" not in talk
    assert "BrokenPipe" not in talk


@pytest.mark.slow(quick=1)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("words", [("explain",), ("list", "audits"), ("schema", "plan")])
def test_a_full_disk_is_the_machines_fault(words):
    with Path("/dev/full").open("w") as full:
        done = start(*words, stdout=full, stderr=subprocess.PIPE)
        _, talk = done.communicate(timeout=1200)
    assert done.returncode == 3
    assert "PPF698" in talk
    assert "the disk is full" in talk
    assert "Traceback" not in talk


@pytest.mark.slow
def test_an_encoding_without_the_letters_of_a_plan_is_no_defect(root):
    words = ("plan", str(root / "pipelines" / "bank_credit.yaml"))
    done = start(
        *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    out, talk = done.communicate(timeout=1200)
    assert done.returncode == 0, talk
    assert "`-" in out
    assert out.isascii()


@pytest.mark.slow
def test_a_closed_stdout_is_no_defect(root):
    words = f"'{sys.executable}' -m ppdm_flow check '{root / 'pipelines' / 'bank_credit.yaml'}' >&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    assert "PPF699" not in done.stderr


def test_data_on_stdin_is_refused_in_a_sentence(here, root):
    done = here("run", str(root / "pipelines" / "bank_credit.yaml"), "--data", "-")
    assert done.returncode == 2
    assert "must be a file" in done.stderr


def status(monkeypatch, error) -> int:
    def fail(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(program, "app", fail)
    with pytest.raises(SystemExit) as caught:
        program.main(["check", "x"])
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PolicyError(Diagnostic("PPF203", "bad")), 2),
        (DataError(Diagnostic("PPF700", "bad")), 2),
        (RunError(Diagnostic("PPF900", "bad")), 3),
        (KeyboardInterrupt(), 130),
        (ValueError("zqcanary is in row 3"), 3),
        (OSError(28, "No space left on device", "zqcanary"), 3),
        (MemoryError("zqcanary"), 3),
    ],
)
def test_errors_become_exit_statuses_without_their_words(monkeypatch, capsys, error, expected):
    assert status(monkeypatch, error) == expected
    out, err = capsys.readouterr()
    assert out == ""
    assert "zqcanary" not in err
    assert "Traceback" not in err


@pytest.mark.parametrize("way", ["environment", "flag"])
def test_debugging_shows_places_and_no_words(monkeypatch, capsys, way):
    secret = "zqcanary"

    def fail(*_args, **_kwargs):
        try:
            raise KeyError(secret)
        except KeyError:
            raise ValueError(secret) from None

    monkeypatch.setattr(program, "app", fail)
    if way == "environment":
        monkeypatch.setenv("PPDM_LOG", "debug")
    with pytest.raises(SystemExit) as caught:
        program.main(["run", "-vv"] if way == "flag" else ["run"])
    err = capsys.readouterr().err
    assert caught.value.code == 3
    assert "test_main.py" in err
    assert "KeyError" in err
    assert "zqcanary" not in err


def test_the_program_names_the_place_of_a_defect(monkeypatch, capsys):
    status(monkeypatch, ZeroDivisionError("x"))
    assert "ZeroDivisionError in test_main.py, line " in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["plan", "run", "show"])
def test_an_invalid_policy_is_2_for_any_verb_but_check(here, tmp_path, verb):
    (tmp_path / "p.yaml").write_text("version: 1\nname: x\nattributes: {}\n")
    done = here(verb, tmp_path / "p.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "error[PPF" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_warnings_become_errors_under_strict(here, tmp_path, verb):
    (tmp_path / "t.csv").write_text("age\n1\n1\n1\n")
    text = "version: 1\nname: x\nsource: {path: t.csv}\nattributes: {age: {role: insensitive}}\n"
    (tmp_path / "p.yaml").write_text(f"{text}releases: {{r: {{path: r.csv, shuffle: false}}}}\n")
    assert here(verb, "p.yaml", cwd=tmp_path).returncode == 0
    done = here(verb, "p.yaml", "--strict", cwd=tmp_path)
    assert done.returncode == 2
    assert "error[PPF559]" in done.stderr


@pytest.mark.slow
def test_interrupted_by_the_keyboard(root, tmp_path):
    """A run that is told to stop exits with 130 and leaves no release behind."""
    process = start(
        "run",
        str(root / "pipelines/hospital.yaml"),
        "--out",
        str(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background job ignores it
    )
    for line in process.stderr:
        if line.startswith("source"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=1200)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert out == ""
    assert not list(tmp_path.rglob("released"))


@pytest.mark.slow
def test_bars_on_a_terminal(root, tmp_path):
    """On a terminal, stages are drawn as bars; the answer still goes to stdout alone."""
    reader, terminal = pty.openpty()
    words = ("run", str(root / "pipelines/bank_credit.yaml"), "--out", str(tmp_path))
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = start(*words, stdout=subprocess.PIPE, stderr=terminal, env=env)
    os.close(terminal)
    drawn = b""
    while True:
        try:
            chunk = os.read(reader, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not chunk:
            break
        drawn += chunk
    os.close(reader)
    out, _ = process.communicate(timeout=1200)
    assert process.returncode == 0
    assert out.startswith("RELEASED  bank-credit\n")
    assert b"suppress" in drawn
    assert "━".encode() in drawn
    assert b"released\n" not in drawn
