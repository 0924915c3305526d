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
BESIDE = {"jinja2", "jsonschema", "cryptography", "multiprocessing"}


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


@pytest.mark.slow
def test_a_classifier_alone_has_scikit_learn_imported(root, tmp_path):
    modules = loaded(tmp_path, "run", str(root / "pipelines/hospital.yaml"), "--out", str(tmp_path / "runs"))
    assert "sklearn.tree" in modules
