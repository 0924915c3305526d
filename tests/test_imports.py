"""Imports of our own modules stand as imports, where the contracts and readers see them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from ppdm_flow import plugins

BY_NAME = {
    "ppdm_flow/__init__.py": "functions by name (PEP 562); the block for type checkers above imports each",
    "ppdm_flow/api/__init__.py": "use cases by name (PEP 562); the block for type checkers above imports each",
    "ppdm_flow/audits/learning/classifiers.py": "classes of scikit-learn",
    "ppdm_flow/cli/program.py": "the modules of verbs",
    "ppdm_flow/python/result.py": "polars, which may be absent",
    "ppdm_flow/sdk/databases/faults.py": "drivers of databases, which may be absent",
    "ppdm_flow/sdk/spec.py": "what a plugin's card names",
    "ppdm_flow/sinks/excel/algorithm.py": "xlsxwriter, which may be absent",
    "ppdm_flow/sinks/statistical.py": "pyreadstat, which may be absent",
    "ppdm_flow/sources/excel/algorithm.py": "python_calamine, which may be absent",
    "ppdm_flow/sources/statistical.py": "pyreadstat, which may be absent",
}


@pytest.mark.slow
def test_modules_are_imported_by_name_only_where_it_must_be(root):
    found = {
        str(file.relative_to(root))
        for file in (root / "ppdm_flow").rglob("*.py")
        if any(
            (isinstance(node, ast.Attribute) and node.attr == "import_module")
            or (isinstance(node, ast.Name) and node.id in ("import_module", "__import__"))
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        )
    }
    assert found == set(BY_NAME)


def test_every_use_case_that_is_imported_by_name_is_imported_for_type_checkers(root):
    tree = ast.parse((root / "ppdm_flow/api/__init__.py").read_text(encoding="utf-8"))
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ppdm_flow.api.")
        for alias in node.names
    }
    from ppdm_flow import api

    assert imported == {name: f"ppdm_flow.api.{home}" for name, home in api._HOMES.items()}


def test_every_function_of_the_package_is_imported_for_type_checkers(root):
    tree = ast.parse((root / "ppdm_flow/__init__.py").read_text(encoding="utf-8"))
    import ppdm_flow

    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name: node.module for node in block.body for alias in node.names}
    assert imported == {name: f"ppdm_flow.{home}" for name, home in ppdm_flow._HOMES.items()}
    assert set(ppdm_flow.__all__) == {"__version__", *imported}
    assert all(callable(getattr(ppdm_flow, name)) for name in imported)


def test_every_name_for_authors_of_plugins_is_imported_for_type_checkers(root):
    tree = ast.parse((root / "ppdm_flow/plugins.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name: node.module for node in block.body for alias in node.names}
    assert imported == {name: f"ppdm_flow.{home}" for name, home in plugins._HOMES.items()}
    assert all(getattr(plugins, name) is not None for name in imported)
    with pytest.raises(AttributeError):
        plugins.Nothing  # noqa: B018  # it is looked up


def test_a_card_of_an_author_imports_nothing_heavy():
    words = "import sys\nfrom ppdm_flow.plugins import Kind, Params, PluginInfo, PluginSpec, RequirementSpec\n"
    heavy = "print(*sorted({'numpy', 'pandas', 'pyarrow', 'duckdb', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-P", "-c", words + heavy], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_processes_of_python_import_nothing_from_the_folder_where_they_are_begun(root):
    """Each is begun with ``-P`` or ``-I``: a file of that name in a repository of policies would be carried out."""
    faults, begun = [], 0
    for path in sorted((root / "ppdm_flow").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.List) or "sys.executable" not in map(ast.unparse, node.elts):
                continue
            words = list(map(ast.unparse, node.elts))
            begun += 1
            if words[words.index("sys.executable") + 1] not in ("'-P'", "'-I'"):
                faults.append(f"{path.relative_to(root)}:{node.lineno}")
    assert faults == []
    assert begun >= 4


def test_public_classes_have_names_of_their_own(root):
    """Searching for a class finds it; and the glossary names classes that there are."""
    places = defaultdict(list)
    for path in sorted((root / "ppdm_flow").rglob("*.py")):
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                places[statement.name].append(path.relative_to(root).as_posix())
    assert {name: each for name, each in places.items() if len(each) > 1} == {}
    glossary = (root / ".github/ARCHITECTURE.md").read_text().partition("## Glossary")[2]
    assert set(re.findall(r"`([A-Z]\w+)`", glossary)) <= places.keys()
