"""Kernels compile, say so once, and do without a cache that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ppdm_flow.sdk.compiled import compiled

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import kernels
print(kernels.twice(21))
"""
KERNEL = """
from ppdm_flow.sdk.compiled import compiled

@compiled
def twice(x):
    return 2 * x
"""
NOTE = "compiling the kernels"


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "kernels.py").write_text(KERNEL)
    here = {**{k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}, **environment}
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    return subprocess.run(command, env=here, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles_and_the_second_does_not(tmp_path):
    first = run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    second = run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (first.stdout, second.stdout) == ("42\n", "42\n")
    assert first.stderr.count(NOTE) == 1
    assert second.stderr == ""


@pytest.mark.slow
def test_without_a_place_for_the_cache_it_compiles_every_time(tmp_path):
    """A file where each of the folders should be that numba would try: nobody can write there, not even root."""
    blocked = tmp_path / "blocked"
    for file in (blocked, tmp_path / "__pycache__"):
        file.write_text("")
    nowhere = str(blocked / "cache")
    for _ in range(2):
        done = run(tmp_path, NUMBA_CACHE_DIR=nowhere, XDG_CACHE_HOME=nowhere, HOME=nowhere)
        assert done.stdout == "42\n"
        assert NOTE in done.stderr


def test_a_cache_that_fails_while_saving_costs_nothing_but_time(monkeypatch):
    calls = []

    def kernel(x: int) -> int:
        calls.append(x)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        return 2 * x

    patient = compiled(kernel)
    monkeypatch.setattr(patient, "_dispatcher", kernel)
    assert patient(21) == 42
    assert calls == [21, 21]


def test_an_error_of_the_kernel_itself_comes_through():
    @compiled
    def broken(x):
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        broken(1)


IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
import kernels
before = "numba" in sys.modules
print(before, kernels.twice(21), "numba" in sys.modules)
"""


@pytest.mark.slow
def test_numba_is_imported_by_the_first_call_of_a_kernel(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    command = [sys.executable, "-c", IMPORTS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "42", "True"]


@compiled
def factorial(n):
    """Of n."""
    return 1 if n < 2 else n * factorial(n - 1)


@compiled
def binomial(n, k):
    return factorial(n) // (factorial(k) * factorial(n - k))


def test_a_kernel_calls_itself_and_others():
    assert binomial(5, 2) == binomial.py_func(5, 2) == 10
    assert (factorial.__name__, factorial.__doc__, factorial.py_func(4)) == ("factorial", "Of n.", 24)


def test_the_first_calls_may_come_from_several_threads():
    @compiled
    def thrice(x):
        return 3 * x

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(thrice, range(64))) == [3 * x for x in range(64)]


@pytest.mark.slow
def test_a_file_that_changes_before_the_first_call_leaves_no_code_behind(tmp_path):
    """The machine code on disk would be that of a source which is no longer there."""
    for name, source in PARTS.items():
        (tmp_path / name).write_text(source)
    changed = PARTS["parts.py"].replace("FACTOR * x", "FACTOR * x + 1")
    program = "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import kernels\n{}\nprint(kernels.twice(21))"
    edit = f"pathlib.Path(sys.argv[1], 'parts.py').write_text({changed!r})"
    here = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    results = []
    for what in (edit, ""):
        command = [sys.executable, "-c", program.format(what), str(tmp_path)]
        results.append(subprocess.run(command, env=here, capture_output=True, text=True, check=True).stdout)
    assert results == ["42\n", "43\n"]


PARTS = {
    "constants.py": "FACTOR = 2\n",
    "parts.py": """
from constants import FACTOR
from ppdm_flow.sdk.compiled import compiled

@compiled
def times(x):
    return FACTOR * x
""",
    "kernels.py": """
from parts import times
from ppdm_flow.sdk.compiled import compiled

@compiled
def twice(x):
    return times(x)
""",
    "unrelated.py": "",
}
CHANGES = [
    ("unrelated.py", "VALUE = 1\n", "42", False),
    ("parts.py", PARTS["parts.py"].replace("FACTOR * x", "FACTOR * x + 1"), "43", True),
    ("constants.py", "FACTOR = 3\n", "63", True),
]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "text", "result", "anew"), CHANGES)
def test_kernels_are_compiled_anew_where_a_part_of_them_changed(tmp_path, file, text, result, anew):
    def ran() -> tuple[str, bool]:
        here = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        done = subprocess.run(command, env=here, capture_output=True, text=True, check=True)
        return done.stdout.strip(), NOTE in done.stderr

    for name, source in PARTS.items():
        (tmp_path / name).write_text(source)
    assert [ran(), ran()] == [("42", True), ("42", False)]
    (tmp_path / file).write_text(text)
    assert ran() == (result, anew)


PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    one: int
    other: int
"""
OF_PAIRS = """
from MODULE import Pair
from ppdm_flow.sdk.compiled import compiled

@compiled
def added(pair):
    return pair.one + pair.other

def twice(x):
    return added(Pair(x, x))
"""


@pytest.mark.slow
def test_machine_code_for_a_class_that_has_moved_is_passed_over(tmp_path):
    here = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for module in ("pairs", "moved"):
        (tmp_path / "pairs.py").unlink(missing_ok=True)
        (tmp_path / f"{module}.py").write_text(PAIR)
        (tmp_path / "kernels.py").write_text(OF_PAIRS.replace("MODULE", module))
        command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        done = subprocess.run(command, env=here, capture_output=True, text=True, check=True)
        assert (done.stdout, NOTE in done.stderr) == ("42\n", True)
