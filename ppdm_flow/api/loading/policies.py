"""Finding, loading and compiling policies."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic, Severity, has_errors, in_order
from ppdm_flow.core.digests import reading_number
from ppdm_flow.core.errors import PolicyError, PpdmError, UsageError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.plan.compile import Columns, CompileResult, compile_policy
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import PolicyReading, load
from ppdm_flow.policy.files import Library, has_policy_keys, is_meant_as_policy, is_template
from ppdm_flow.policy.loaded import PolicyPath, Project
from ppdm_flow.policy.loading import NO_SETS, NOTHING_OVER
from ppdm_flow.policy.project_file import FILE as PROJECT
from ppdm_flow.policy.project_file import project_of
from ppdm_flow.policy.redaction import redacted
from ppdm_flow.policy.requirements import awaits_data, requirements_by_place
from ppdm_flow.policy.rules.gates import without_requirements
from ppdm_flow.policy.text.nodes import Map, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden

if TYPE_CHECKING:  # only `--locked` needs it
    from ppdm_flow.api.loading.locked import LockedPolicy

_ENDINGS = frozenset({".yaml", ".yml"})
TESTS = (".test.yaml", ".test.yml")
_MARK = re.compile(rb"^[\"']?(releases|extends|name)[\"']?[ \t]*:", re.MULTILINE)
_HEAD = 1 << 20
_VALID_YAML = frozenset({"PPF112", "PPF114", "PPF115"})
"""The codes of YAML that is valid and no policy: several documents, or beyond the limits of the language."""


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """Policy files, and the other YAML files in the folders searched, which :func:`is_policy` tells apart."""

    policies: tuple[Path, ...]
    others: tuple[Path, ...]
    tests: tuple[Path, ...] = ()


def project_policies() -> tuple[Path, ...]:
    """Return the places of policies that the project file above the current folder names.

    Raises UsageError where there are none, PolicyError where the project file has faults.
    """
    project = sound_project()
    if project is None or not project.policies:
        text = "no policy is named, and no project file says where they are"
        raise UsageError(Diagnostic("PPF690", text, help="give YAML files or their folder"))
    return project.policies


def sound_project() -> Project | None:
    """Return the project file above the current folder, None where there is none. Raises PolicyError for its faults."""
    project = project_of(Path(PROJECT))
    if project is not None and project.faults:
        raise PolicyError(project.faults, project.texts)
    return project


def is_test(path: Path) -> bool:
    """Whether a file's name says that it holds policy tests."""
    return path.name.endswith(TESTS)


def find_policies(words: Sequence[str | Path], *, tests: bool = False) -> FoundFiles:
    """Return the policies that files, folders and glob patterns mean, each once. Raises UsageError where none does.

    Files with policy tests are looked for where ``tests`` asks for them, and skipped otherwise.
    """
    policies: dict[Path, None] = {}
    others: dict[Path, None] = {}
    tested: dict[Path, None] = {}
    for word in words:
        for path, named in expanded(str(word)):
            if is_test(path) and (tests or not named):
                (tested if tests else others)[path] = None
            else:
                (policies if named or is_policy(path) else others)[path] = None
    if not policies and not tested:
        names = ", ".join(f"`{word}`" for word in words)
        raise UsageError(Diagnostic("PPF690", f"no policy found in {names}", help="give YAML files or their folder"))
    return FoundFiles(tuple(policies), tuple(others), tuple(tested))


def expanded(word: str) -> Iterable[tuple[Path, bool]]:
    """Yield the files that a word means, and whether it named them itself."""
    path = Path(word)
    if path.is_dir():
        files = (p for p in sorted(path.rglob("*")) if p.suffix.lower() in _ENDINGS and not p.is_dir())
        yield from ((p, False) for p in files if not _hidden(p, path) and not _of_a_run(p))
    elif not path.exists() and glob.has_magic(word):
        for match in sorted(glob.glob(word, recursive=True)):  # noqa: PTH207  # Path.glob takes no absolute pattern
            yield from ((Path(match), True),) if Path(match).is_file() else expanded(match)
    else:
        yield path, True


def _hidden(path: Path, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


def _of_a_run(path: Path) -> bool:
    """Whether the file is the copy of a policy that a run keeps."""
    return path.name == "policy.resolved.yaml" and path.with_name("manifest.json").exists()


def is_policy(path: Path) -> bool:
    """Whether a file is a policy by its keys, or could be one: what cannot be read or parsed is checked, not skipped.

    A policy has ``releases``, or it has a ``name`` and extends what has them; a template has neither. A file in the
    policy language that is no template, such as one with a misspelt key for ``releases``, is a policy with faults.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
    except OSError:
        return True
    return says_policy(data) or _is_faulty_policy(data, str(path))


def says_policy(data: bytes) -> bool:
    """Whether the keys of a text say that it is a policy."""
    keys = set(_MARK.findall(data))
    return b"releases" in keys or {b"extends", b"name"} <= keys


def _is_faulty_policy(data: bytes, file: str) -> bool:
    if len(data) == _HEAD:  # the rest is not there, so that nothing could be parsed
        return is_meant_as_policy(data.decode(errors="replace"), None)
    try:
        text = decode(data, file)
        if forbidden(text, file) is not None:
            return True
        root, _ = parse(text, file)
    except UnreadableError as error:
        return error.diagnostic.code not in _VALID_YAML
    return isinstance(root, Map) and has_policy_keys(root) and not is_template(root)


@dataclass(frozen=True, slots=True)
class ReadyPlan:
    """A valid plan with its unwaived warnings, its policy, and its entry in the lock if that was checked.

    ``data`` is what to read in place of the policy's own path: what was given, or a copy of what is elsewhere.
    """

    plan: Plan
    warnings: tuple[Diagnostic, ...]
    loaded: PolicyReading
    locked_policy: LockedPolicy | None = None
    data: Path | None = None

    @property
    def sources(self) -> Mapping[str, str]:
        """The texts of the policy's files."""
        return self.loaded.sources


@contextmanager
def quote_sources(sources: Mapping[str, str], secrets: frozenset[str] = frozenset()) -> Iterator[None]:
    """Let errors from below, which know places in the policy but not its text, quote it; but never ``secrets``."""
    try:
        yield
    except PpdmError as error:
        error.sources = {**sources, **error.sources}
        error.diagnostics = tuple(redacted(each, secrets) for each in error.diagnostics)
        raise


def ready_plan(
    path: Path,
    sets: Mapping[str, str],
    data: Path | None = None,
    *,
    strict: bool = False,
    over: Mapping[PolicyPath, str] = NOTHING_OVER,
    locked: bool = False,
    any_params: bool = False,
    clock: Clock | None = utc_today,
    choose: Callable[[PolicyReading], Mapping[PolicyPath, Any]] | None = None,
) -> ReadyPlan:
    """Return a valid plan. Raises PolicyError with everything that is wrong; with ``strict`` warnings are.

    With ``locked``, every difference from the lock file is an error, and so is a param to which ``sets`` give another
    value than the policy does, unless ``any_params`` is true. UsageError is raised where there is no lock file.
    ``clock`` tells the day on which waivers are judged; without one they are not. ``choose`` returns the fields of
    requirements that wait for data; without it they go on waiting.
    """
    since = reading_number()
    library = Library()
    loaded = load(path, sets, over, library)
    if choose is not None and awaits_data(loaded.policy):
        loaded = load(path, sets, over, library, choose(loaded))
    ready = valid_plan(loaded, None, data, strict=strict, clock=clock)
    if not (locked or loaded.locked):
        return ready
    from ppdm_flow.api.loading.locked import Locks  # noqa: PLC0415  # only `--locked` needs it

    with quote_sources(loaded.sources, loaded.secrets):
        given = NO_SETS if any_params else sets
        locked_policy = Locks().hold(loaded, ready.plan, given, library, with_data=data is not None)
    return replace(ready, locked_policy=replace(locked_policy, since=since))


ON_SPARK = "by this machine, and not where Spark reads them"
"""Why nothing is chosen from data that Spark reads."""


def unchosen(loaded: PolicyReading, why: str) -> PolicyError:
    """Return the error of a policy with requirements that wait for data of which nothing can be chosen."""
    text = f"what is protected here is chosen from the rows {why}"
    help_ = "let `ppdm-flow plan --data FILE --resolved NEW.yaml` choose from a file, and run the policy that it writes"
    waiting = [] if loaded.policy is None else [p for p, r in requirements_by_place(loaded.policy) if r.awaits_data]
    faults = [Diagnostic("PPF493", text, loaded.places.key(*path), help=help_, path=path) for path in waiting]
    return PolicyError(faults, loaded.sources)


def valid_plan(
    loaded: PolicyReading, columns: Columns | None, data: Path | None, *, strict: bool, clock: Clock | None
) -> ReadyPlan:
    """Compile a policy that was read, for data with these columns where they are known. Raises PolicyError."""
    outcome = compile_policy(loaded, columns, None if data is None else telling_name(data), clock)
    diagnostics = outcome.diagnostics
    if strict or loaded.strict:
        diagnostics = in_order((*stricter(outcome), *errors_if_strict(loaded)))
    if outcome.plan is None or has_errors(diagnostics):
        raise PolicyError(diagnostics, outcome.sources)
    return ReadyPlan(outcome.plan, tuple(d for d in outcome.diagnostics if d not in outcome.waived), loaded)


def stricter(outcome: CompileResult) -> tuple[Diagnostic, ...]:
    """Return what was found, every warning that is not waived as an error."""
    return tuple(
        replace(d, severity=Severity.ERROR) if d.severity is Severity.WARNING and d not in outcome.waived else d
        for d in outcome.diagnostics
    )


def errors_if_strict(loaded: PolicyReading) -> tuple[Diagnostic, ...]:
    """Return the faults of a policy that count under ``--strict`` alone, beside its warnings."""
    return () if loaded.policy is None else without_requirements(loaded.policy, loaded.places)
