"""Whether this installation can do its work."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ppdm_flow.api.run import run
from ppdm_flow.api.scaffold import DEFAULT, LINKED, init, variants
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.errors import PluginError, PpdmError
from ppdm_flow.core.texts import visible_line
from ppdm_flow.core.version import VERSION
from ppdm_flow.engine.buckets.copies import folders_of_copies
from ppdm_flow.engine.candidates.unpublished import clear_stale_runs, is_dead, may_be_in_ledger, unpublished_runs
from ppdm_flow.engine.spark.work_folders import left_folders, remove_left_folders
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.kind_pages import page_of
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.compiled import compiling_seconds
from ppdm_flow.sdk.spec import imported

_PACKAGES = (
    "numpy",
    "pyarrow",
    "pandas",
    "numba",
    "duckdb",
    "scipy",
    "networkx",
    "scikit-learn",
    "pydantic",
    "PyYAML",
)
_EXTRAS = {
    "python-calamine": "excel",
    "XlsxWriter": "excel",
    "adbc-driver-postgresql": "sql",
    "adbc-driver-sqlite": "sql",
    "adbc-driver-snowflake": "snowflake",
    "adbc-driver-bigquery": "bigquery",
    "PyMySQL": "mysql",
    "pyodbc": "mssql",
    "pyreadstat": "statistics",
    "pyspark": "spark",
    "sqlglot": "spark",
}
_LEAST_FREE = 1 << 30


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was looked at. ``fine`` is None where it is only told."""

    subject: str
    text: str
    fine: bool | None = None


def doctor(out: Path = Path("runs"), *, clean: bool = False, compiling: bool = False) -> tuple[DoctorFinding, ...]:
    """Look at versions, plugins and their algorithms, text encoding, temporary files and disk; run a small policy.

    What killed runs with this output left is named, and with ``clean`` it is removed. With ``compiling`` a policy on
    each built-in template is run, so that their kernels are compiled.
    """
    templates = [name for name in variants() if name != LINKED] if compiling else [DEFAULT]
    looks = (_versions, _plugins, _encoding, _disk, lambda: _left(out, clean=clean), lambda: map(_trial, templates))
    return tuple(finding for look in looks for finding in look())


def _versions() -> Iterator[DoctorFinding]:
    yield DoctorFinding("ppdm-flow", VERSION)
    yield DoctorFinding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in _PACKAGES:
        try:
            yield DoctorFinding(name, metadata.version(name), fine=True)
        except metadata.PackageNotFoundError:
            yield DoctorFinding(name, "is not installed: install ppdm_flow again", fine=False)
    for name, extra in _EXTRAS.items():
        try:
            yield DoctorFinding(f"extra {extra}", f"{name} {metadata.version(name)}", fine=True)
        except metadata.PackageNotFoundError:
            yield DoctorFinding(f"extra {extra}", f"not installed, if wanted: pip install 'ppdm_flow[{extra}]'")


def _plugins() -> Iterator[DoctorFinding]:
    for group in registry.GROUPS:
        for plugin in registry.listed(group):
            yield _plugin(group, plugin)
    for plugin in registry.listed(kinds.GROUP):
        yield _requirement(plugin)


def _plugin(group: str, plugin: registry.ListedPlugin) -> DoctorFinding:
    return _tried(f"{group[:-1]} {plugin.name}", plugin, lambda: registry.load(group, plugin.name).load())


def _requirement(plugin: registry.ListedPlugin) -> DoctorFinding:
    """Try a kind of requirement: what it says of itself, and its parts that are imported when they are needed."""

    def load() -> None:
        registry.find(kinds.GROUP, plugin.name)
        spec = kinds.loaded(plugin)
        for part in (spec.order, spec.foresees, spec.requirement.classes):
            if part:
                imported(part)
        spec.requirement.document_type()
        page_of(spec)

    return _tried(f"requirement {plugin.name}", plugin, load)


def _tried(subject: str, plugin: registry.ListedPlugin, load: Callable[[], object]) -> DoctorFinding:
    try:
        load()
    except PluginError as error:
        return DoctorFinding(subject, error.diagnostics[0].message, fine=False)
    except Exception as error:  # noqa: BLE001  # any error of an algorithm's import is the finding
        return DoctorFinding(subject, f"a part of it cannot be imported ({registry.import_fault(error)})", fine=False)
    return DoctorFinding(subject, f"of {plugin.distribution} {plugin.version}", fine=True)


def _encoding() -> Iterator[DoctorFinding]:
    for subject, name in (("files", sys.getfilesystemencoding()), ("output", sys.stdout.encoding or "?")):
        fine = name.lower().replace("-", "") == "utf8"
        yield DoctorFinding(f"encoding of {subject}", name if fine else f"{name}: set PYTHONUTF8=1", fine=fine)


def _disk() -> Iterator[DoctorFinding]:
    temporary = Path(tempfile.gettempdir())
    for subject, folder in (("working folder", Path.cwd()), ("temporary files", temporary)):
        yield _room(subject, folder)


def _room(subject: str, folder: Path) -> DoctorFinding:
    if not os.access(folder, os.W_OK):
        return DoctorFinding(f"disk, {subject}", "this user cannot write there", fine=False)
    free = shutil.disk_usage(folder).free
    return DoctorFinding(
        f"disk, {subject}", f"{free / (1 << 30):.1f} GiB free, of at least 1", fine=free >= _LEAST_FREE
    )


def _left(out: Path, *, clean: bool) -> Iterator[DoctorFinding]:
    for each in leftovers(out, clean=clean):
        if each.alive:
            text = "of a run that goes on, or whose folder cannot be locked here: it is not touched"
        elif each.removed:
            text = "a killed run left this: removed"
        elif each.in_ledger:
            text = "a killed run left this, not published: `ppdm-flow ledger LEDGER --repair` says so in the ledger"
        elif clean:
            text = "a killed run left this, and it cannot be removed"
        else:
            text = "a killed run left this, which was not published: `--clean` removes it, as the next run there does"
        yield DoctorFinding(
            f"folder {visible_line(str(each.path))}", text, fine=False if clean and _stays(each) else None
        )


def _stays(each: Leftover) -> bool:
    return not (each.alive or each.in_ledger or each.removed)


def _trial(template: str) -> DoctorFinding:
    """Run the policy that ``init`` writes on a template: kernels compile, files are written, audits agree."""
    subject = f"trial run of {template}"
    with tempfile.TemporaryDirectory(prefix="ppdm-flow-doctor-") as folder:
        policy = init(Path(folder) / "trial", template)[0]
        started, before = time.perf_counter(), compiling_seconds()
        try:
            released = run(policy, out=Path(folder) / "runs").released
        except PpdmError as error:
            first = error.diagnostics[0]
            return DoctorFinding(subject, f"{first.code}: {first.message}", fine=False)
    text = f"{'released' if released else 'withheld'} in {time.perf_counter() - started:.1f} s"
    if compiled := compiling_seconds() - before:
        text += f", {compiled:.1f} s of it for compiling, once only"
    return DoctorFinding(subject, text, fine=released)


# What killed runs left on this machine: named, and removed if asked to; what belongs to a live run is not touched.


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder of a run that is not published; ``alive`` is whether its run goes on, or may: its lock is not free.

    ``in_ledger`` is one that a repair of the ledger settles.
    """

    path: Path
    alive: bool = False
    in_ledger: bool = False
    removed: bool = False


def leftovers(out: Path, *, clean: bool) -> Iterator[Leftover]:
    """Yield what runs with this output left, in folders of executors of this machine too; ``clean`` removes it."""
    for parent in _parents(out):
        seen = [Leftover(path, not is_dead(path), may_be_in_ledger(path)) for path in _runs(parent)]
        if clean and any(not each.alive for each in seen):
            clear_stale_runs(parent)
        for each in seen:
            yield Leftover(each.path, each.alive, each.in_ledger, not each.path.exists())
    folders = left_folders()
    if clean:
        remove_left_folders()
    for folder in folders:
        yield Leftover(folder, removed=not folder.exists())


def _parents(out: Path) -> Iterator[Path]:
    """Yield the folders in which runs are made: one of each policy, and those for copies of objects."""
    try:
        policies = [] if is_bucket(out) else sorted(out.iterdir())
    except OSError:
        policies = []
    for parent in dict.fromkeys((*policies, *folders_of_copies(out))):
        if parent.is_dir() and not parent.is_symlink():
            yield parent


def _runs(parent: Path) -> list[Path]:
    try:
        return sorted(unpublished_runs(parent))
    except OSError:
        return []
