"""The machine at fault: exit status 3, nothing released, nothing left behind."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ppdm_flow.core.errors import RunError, UsageError

SCRIPT = """
import json, resource, sys
sys.dont_write_bytecode = True  # Python 3.11 would keep what fits of a module's cache, and stumble over it later
from pathlib import Path
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.reading.binding import columns
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.run.finishing import execute
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load
loaded = load(Path(sys.argv[1]))
plan = compile_policy(loaded, columns(compile_policy(loaded).plan, None)).plan
for limit in json.loads(sys.argv[3]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        execute(plan, None, Path(sys.argv[2]), RunOptions(memory_limit=1000 if limit % 2 else 1 << 29))
        print(json.dumps([0, "", ""]), flush=True)
    except PpdmError as error:
        print(json.dumps([error.exit_status, error.diagnostics[0].code, str(error)]), flush=True)
"""


@pytest.mark.slow
def test_files_that_may_not_grow(bench, tools):
    bench.data(tools.rows(4_000))
    bench.plan()
    limits = [0, 1, 100, 1_000, 3_000, 10_000, 30_001, 100_000, 120_001]
    words = [sys.executable, "-c", SCRIPT, str(bench.folder / "policy.yaml"), str(bench.out), json.dumps(limits)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(limits), done.stderr
    assert [f[:2] for f in found] == [[3, "PPF730"]] * len(limits)
    assert tools.CANARY not in done.stdout + done.stderr
    assert tools.left(bench.out) == []


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
@pytest.mark.parametrize("size", ["64k", "256k", "900k"])
def test_a_full_disk(bench, tools, size):
    bench.data(tools.rows(20_000))
    plan = bench.plan()
    bench.out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", bench.out], check=False)
    if mounted.returncode:
        pytest.skip("this container may not mount")
    try:
        error = bench.fails(plan)
        assert isinstance(error, RunError)
        assert error.exit_status == 3
        assert error.diagnostics[0].code == "PPF730"
    finally:
        subprocess.run(["umount", bench.out], check=True)


def test_a_place_where_nothing_can_be_written(bench, tools):
    bench.data(tools.rows(10))
    plan = bench.plan()
    bench.out.write_text("a file")
    with pytest.raises(RunError) as caught:
        bench.run(plan)
    assert caught.value.diagnostics[0].code == "PPF693"
    assert bench.out.read_text() == "a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(bench, tools):
    bench.data(tools.rows(10))
    plan = bench.plan()
    bench.out.mkdir(mode=0o500)
    assert bench.fails(plan).diagnostics[0].code == "PPF693"


@pytest.mark.slow
def test_everything_is_private_while_it_is_made_and_afterwards(bench, tools):
    bench.data(tools.rows(300))
    modes = []

    def look(_event) -> None:
        modes.extend(oct(p.stat().st_mode & 0o777) for p in bench.out.glob("*/.tmp-*"))

    old = os.umask(0)
    try:
        run = bench.run(bench.plan(), listener=look).run_dir
    finally:
        os.umask(old)
    assert set(modes) == {"0o700"}
    assert oct(run.stat().st_mode & 0o777) == "0o700"


@pytest.mark.slow
def test_the_key_goes_to_the_escrow_file_and_nowhere_else(bench, tools, tmp_path):
    bench.data(tools.rows(300))
    path = tmp_path / "key.json"
    run = bench.run(bench.plan(), escrow=path).run_dir
    kept = json.loads(path.read_text())
    assert kept["key"] == tools.KEY.secret.hex()
    assert kept["commitment"] == tools.manifest(run)["randomness"]["commitment"] == tools.KEY.commitment
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    for file in run.rglob("*"):
        if file.is_file():
            assert tools.KEY.secret not in file.read_bytes()
            assert tools.KEY.secret.hex().encode() not in file.read_bytes()


def test_an_escrow_file_is_never_overwritten(bench, tools, tmp_path):
    bench.data(tools.rows(10))
    plan = bench.plan()
    path = tmp_path / "key.json"
    path.write_text("precious")
    for escrow, code in ((path, "PPF673"), (tmp_path / "nowhere" / "key.json", "PPF693")):
        with pytest.raises(UsageError) as caught:
            bench.run(plan, escrow=escrow)
        assert caught.value.diagnostics[0].code == code
    assert path.read_text() == "precious"
    assert tools.left(bench.out) == []


def test_a_report_that_cannot_be_made_withholds_everything(bench, tools):
    bench.data(tools.rows(100))

    def broken(_report):
        raise ValueError("zqcanary")

    error = bench.fails(bench.plan(), documents=broken)
    assert error.exit_status == 3
    assert error.diagnostics[0].code == "PPF901"


@pytest.mark.slow
def test_descriptors_are_given_back(bench, tools):
    bench.data(tools.rows(100))
    plan = bench.plan()
    bench.run(plan)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(4):
        bench.run(plan)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0
