"""The end of a process that is the program's own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys
EARLIER
from ppdm_flow.cli.terminal.ending import Ending

ending = Ending()
atexit.register(print, "called before the end")

class Kept:
    def __del__(self):
        print("taken apart")

kept = Kept()
print("answer")
ending.comes(STATUS)
raise SystemExit(STATUS)
"""


def ended(status: object = 0, earlier: str = "", **how) -> subprocess.CompletedProcess[str]:
    """Run a process that ends with a status."""
    code = PROGRAM.replace("STATUS", repr(status)).replace("EARLIER", earlier)
    return subprocess.run([sys.executable, "-c", code], text=True, timeout=1200, check=False, **how)


@pytest.mark.parametrize(("status", "returned"), [(0, 0), (1, 1), (4, 4), (130, 130), (None, 0), (True, 1), (256, 0)])
def test_it_ends_with_its_status_and_all_that_was_said(status, returned):
    done = ended(status, capture_output=True)
    assert done.returncode == returned
    assert done.stdout.split("\n") == ["answer", "called before the end", ""]
    assert done.stderr == ""


@pytest.mark.parametrize(("status", "returned"), [("a sentence", 1), (1.5, 1)])
def test_a_status_that_is_none_ends_in_pythons_way(status, returned):
    done = ended(status, capture_output=True)
    assert done.returncode == returned
    assert done.stdout.split("\n") == ["answer", "called before the end", "taken apart", ""]
    assert done.stderr == f"{status}\n"


def test_what_registered_earlier_is_called():
    done = ended(3, earlier='atexit.register(print, "called last")', capture_output=True)
    assert done.returncode == 3
    assert done.stdout.split("\n")[:3] == ["answer", "called before the end", "called last"]


def test_an_output_that_cannot_be_written_is_told():
    read, write = os.pipe()
    os.close(read)
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = ended(0, stdout=write, stderr=subprocess.PIPE, env=buffered)
    os.close(write)
    assert done.returncode == 120  # Python's own
    assert "BrokenPipeError" in done.stderr


def test_an_error_that_nobody_expected_is_told():
    code = PROGRAM.replace("EARLIER", "").replace("ending.comes(STATUS)\nraise SystemExit(STATUS)", "1 / 0")
    done = subprocess.run([sys.executable, "-c", code], text=True, timeout=1200, check=False, capture_output=True)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
