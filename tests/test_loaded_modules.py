"""What a verb of the program imports in a process of its own: what its policy needs, and nothing heavy beside it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from ppdm_flow.cli.main import main
try:
    main()
finally:
    with open(sys.argv[0], "w", encoding="utf-8") as file:
        json.dump(sorted(sys.modules), file)
"""
DATA = {"duckdb", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn"}
BESIDE = {"jinja2", "jsonschema", "cryptography", "multiprocessing", "asyncio"}


def loaded(folder, *words: str) -> set[str]:
    """Run the program on its own and return the names of all modules that it has imported in the end."""
    told = folder / "modules.json"
    run = f"import sys; sys.argv[0] = {str(told)!r}\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", run, *words], capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(told.read_text()))


def test_a_check_imports_nothing_that_reads_data_or_makes_reports(root, tmp_path):
    modules = loaded(tmp_path, "check", str(root / "pipelines/hospital.yaml"))
    assert not modules & (DATA | BESIDE)
    assert not {m for m in modules if m.startswith(("ppdm_flow.engine", "ppdm_flow.tables"))}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("policy", "kinds"),
    [
        ("bank_credit", {"k_anonymity", "templates"}),
        ("from_inference_templates", {"k_anonymity", "templates"}),  # its template has a floor under `privacy`
        ("from_microdata_kl", {"k_anonymity", "l_diversity"}),
        ("hipaa_stays", {"k_anonymity", "l_diversity", "safe_harbor"}),
    ],
)
def test_a_check_imports_the_kinds_of_requirements_that_the_policy_has(root, tmp_path, policy, kinds):
    modules = loaded(tmp_path, "check", str(root / f"pipelines/{policy}.yaml"))
    assert {m.split(".")[2] for m in modules if m.startswith("ppdm_flow.requirements.")} == kinds


SENSITIVITIES = """version: 1
name: sensitivities
source: {path: t.csv}
attributes: {disease: {role: sensitive, domain: [flu, cold, cough]}, age: {role: quasi_identifier}}
privacy: {sensitivities: {disease: {default: {tolerance: 3}}}}
randomness: {mode: reproducible, seed: "1"}
steps: {perturb: {use: fine_grain_perturbation}}
releases: {out: {path: out.csv}}
"""


@pytest.mark.slow
def test_an_audit_of_tails_needs_special_functions_and_no_statistics(tmp_path):
    (tmp_path / "policy.yaml").write_text(SENSITIVITIES)
    (tmp_path / "t.csv").write_text("disease,age\n" + "flu,3\ncold,4\ncough,5\nflu,6\n" * 50)
    modules = loaded(tmp_path, "run", str(tmp_path / "policy.yaml"), "--out", str(tmp_path / "runs"))
    assert "scipy.special" in modules
    assert not modules & {"scipy.stats", "sklearn", "numba", "numpy.f2py.crackfortran"}


@pytest.mark.slow
def test_a_classifier_alone_has_scikit_learn_imported(root, tmp_path):
    modules = loaded(tmp_path, "run", str(root / "pipelines/hospital.yaml"), "--out", str(tmp_path / "runs"))
    assert "sklearn.tree" in modules


KEPT_AWAY = """
import sys
import pyarrow as pa
from ppdm_flow.tables.pandas_away import keep_pandas_away
keep_pandas_away()
keep_pandas_away()
table = pa.table({"a": pa.array([1, None])})
table["a"].to_numpy()
pa.scalar(3)
assert "pandas" not in sys.modules
"""
LATER = {
    "a frame is asked for": "assert len(table.to_pandas()) == 2",
    "a series is handed over": "import pandas as pd; assert pa.array(pd.Series([1.0, float('nan')])).null_count == 1",
    "a frame is handed over": "import pandas as pd; assert pa.table(pd.DataFrame({'a': ['x', None]})).num_rows == 2",
}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
def test_pandas_stays_away_until_somebody_imports_it(later):
    done = subprocess.run([sys.executable, "-c", KEPT_AWAY + later], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_verb_that_another_program_calls_leaves_pyarrow_as_it_is(root, tmp_path):
    words = ["run", str(root / "pipelines/bank_credit.yaml"), "--out", str(tmp_path / "runs"), "--quiet"]
    program = f"""
import sys
from ppdm_flow.cli.main import main
try:
    main({words!r})
except SystemExit as done:
    assert done.code == 0
import pandas as pd, pyarrow as pa
assert pa.array([pd.NA, 1], from_pandas=True).null_count == 1
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("first", ["", "import numpy.f2py\n", "import scipy.special\n"])
def test_f2py_is_loaded_when_it_is_used(first):
    program = f"""{first}
import sys
from ppdm_flow.tables.f2py_away import keep_f2py_away
keep_f2py_away()
keep_f2py_away()
from scipy import special
assert ("numpy.f2py.crackfortran" in sys.modules) is {bool(first)}
import numpy as np, numpy.f2py
from numpy import f2py
assert f2py is np.f2py is numpy.f2py is sys.modules["numpy.f2py"]
assert f2py.get_include().endswith("src")
assert "numpy.f2py.crackfortran" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
