"""What programs call: the use cases, on data frames and on policies that are texts or maps."""

from __future__ import annotations

import errno
import html
import inspect
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ppdm_flow.api.audit import AuditedRelease
from ppdm_flow.api.audit import audit as audit_files
from ppdm_flow.api.check import CheckOutcome
from ppdm_flow.api.check import check as check_files
from ppdm_flow.api.diff.diff import DiffResult
from ppdm_flow.api.diff.diff import diff as diff_words
from ppdm_flow.api.plan import PlanResult
from ppdm_flow.api.plan import plan as plan_file
from ppdm_flow.api.profile.profile import ProfileResult
from ppdm_flow.api.profile.profile import profile as profile_file
from ppdm_flow.api.profile.questions import with_roles
from ppdm_flow.api.randomize import randomize as randomize_sets
from ppdm_flow.api.run import SparkFrame, TableData
from ppdm_flow.api.run import run as run_file
from ppdm_flow.api.sweep.points import RunDone
from ppdm_flow.api.sweep.sweep import SweepResult
from ppdm_flow.api.sweep.sweep import sweep as sweep_file
from ppdm_flow.api.where import LOCAL, SPARK, EngineChoice
from ppdm_flow.core.addresses import place_of_data
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.events import Event, RowProgress, RunFinished, StepStarted, ignore_events
from ppdm_flow.python.frames import Data, as_file, is_spark_frame
from ppdm_flow.python.policies import Policy, ReleasePolicy, as_json, as_policy, in_full, read_policy, wrong_argument
from ppdm_flow.python.result import Result

Home = str | os.PathLike[str]
_MOST_REPEATS = 1000
_KEY_BYTES = 32
P = ParamSpec("P")
R = TypeVar("R")


# Arguments of the functions that programs call: of the types that the functions name, or refused with a code.


def with_checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, which raises UsageError (PPF696) for an argument that is not of the type it names.

    The arguments go on as they are: nothing is converted or copied.
    """

    @cache
    def types() -> tuple[inspect.Signature, dict[str, TypeAdapter[Any]]]:
        signature = inspect.signature(function, eval_str=True)
        return signature, {n: TypeAdapter(p.annotation, config=_CONFIG) for n, p in signature.parameters.items()}

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, adapters = types()
        with in_full():
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                _check_argument(function, signature.parameters[name], value, adapters[name])
        return function(*args, **kwargs)

    return checked


_CONFIG = ConfigDict(strict=True, arbitrary_types_allowed=True)
_MODULES = re.compile(r"\b(?:\w+\.)+(?=\w)")


def _check_argument(
    function: Callable[..., Any], parameter: inspect.Parameter, value: Any, kind: TypeAdapter[Any]
) -> None:
    where = f"`{parameter.name}` of `{function.__name__}`"
    try:
        kind.validate_python(value)
    except ValidationError:
        wanted = _MODULES.sub("", inspect.formatannotation(parameter.annotation))
        raise wrong_argument(f"{where} is no `{wanted}`", f"got a `{type(value).__name__}`") from None
    whole_policy = function.__annotations__[parameter.name] == "Policy" and isinstance(value, str) and "\n" in value
    if isinstance(value, (str, os.PathLike)) and not whole_policy and not _may_be_path(value):
        raise wrong_argument(f"{where} is no text that can be a path")


def _may_be_path(value: str | os.PathLike[str]) -> bool:
    """Whether the system takes a text for a path: without NUL and half surrogates, and of a length that it has."""
    try:
        os.stat(value)  # noqa: PTH116  # one call for texts and paths
    except ValueError:
        return False
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG
    return True


@with_checked_arguments
def run(
    policy: Policy,
    data: Data | None = None,
    *,
    sets: Mapping[str, Any] | None = None,
    out: Home = "runs",
    home: Home = ".",
    progress: Callable[[Event], None] | None = None,
    keep_withheld: bool = False,
    strict: bool = False,
    engine: Any = None,
    master: str | None = None,
    memory: int | None = None,
    sign: Home | None = None,
) -> Result:
    """Carry out a policy on a data frame or a file: the data is released, held or withheld, in a folder below ``out``.

    Parameters
    ----------
    policy
        A path, the policy's text, or the map that its text would be.
    data
        What is read in place of the policy's own file: a path, a pandas or polars data frame, an Arrow table, record
        batch or reader. The rows of a data frame are on no disk, but for what is released. A DataFrame of Spark's is
        copied once, with the columns that the policy declares, into a private folder below ``out`` that goes with
        the run; so are ``"table:NAME"``, ``"delta:PATH"`` and ``"iceberg:NAME"``, which a session of Spark's reads.
    sets
        Values of the policy's params.
    out
        The folder of the runs.
    home
        The folder from which paths go in a policy without a file of its own.
    progress
        Called with each event of the run. Without it a notebook shows how far the run is.
    keep_withheld
        Keep the files of a release that is withheld.
    strict
        Take warnings of the policy for errors.
    engine
        What works on the rows: ``"local"``, ``"spark"``, or a session of Spark's, which stays open. Without it this
        machine; of a DataFrame of Spark's its own session.
    master
        Spark's master, or ``sc://host`` for Spark Connect, of a session that is started for the run.
    memory
        MB of coded data that this process holds at once, from 64; 768 unless said.
    sign
        The file of the key that signs what is released or held, as its author.

    Returns
    -------
    Result
        The verdict, requirements, figures and released tables. A release that is withheld or held is no error.

    Raises
    ------
    PolicyError, DataError, PluginError, RunError, UsageError
        With all ``diagnostics``; then nothing is released.

    Examples
    --------
    >>> import pandas as pd
    >>> policy = {
    ...     "version": 1,
    ...     "name": "clinic",
    ...     "source": {"path": "clinic.csv"},
    ...     "attributes": {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}},
    ...     "privacy": {"k_anonymity": {"k": 2}},
    ...     "releases": {"study": {"path": "study.parquet"}},
    ... }
    >>> frame = pd.DataFrame({"age": ["30-39", "30-39", "40-49", "40-49"], "ill": ["flu", "flu", "cold", "flu"]})
    >>> result = run(policy, frame)
    >>> result.verdict, result.figures["privacy.k_anonymity.k"], result.to_pandas().shape
    ('released', 2, (4, 2))
    >>> run(policy, frame.iloc[1:]).released
    False
    """
    with in_full():
        where = where_of(engine, master, memory, data)
    with in_full(), as_policy(policy, Path(home)) as path, as_data(data) as read, listener(progress) as event_listener:
        options: dict[str, Any] = {"keep_withheld": keep_withheld, "strict": strict, "where": where}
        options["sign"] = None if sign is None else Path(sign)
        return Result(run_file(path, as_sets(sets), read, Path(out), event_listener, **options))


@with_checked_arguments
def anonymize(
    data: Data,
    *,
    k: int = 5,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    keep: Sequence[str] = (),
    out: Home = "runs",
) -> tuple[Result, ReleasePolicy]:
    """Release a table in which each combination of quasi-identifiers is shared by at least ``k`` rows.

    Parameters
    ----------
    data
        As for :func:`run`.
    k
        How many rows have to look alike.
    quasi_identifiers
        Columns that others may know of a person: they become coarser where they must.
    sensitive
        Columns that nobody may learn of a person: rows that look alike have several values of each. A column that has
        fewer than two values is not protected.
    keep
        Columns that leave as they are, and tell nobody from others. What is named nowhere does not leave.
    out
        The folder of the runs.

    Returns
    -------
    tuple
        The result, and the policy that was drafted, to be read, changed and kept.

    Raises
    ------
    DataError, UsageError
        Where the data cannot be read, or a column is not there or named twice.

    Examples
    --------
    >>> import pandas as pd
    >>> ages, ills = [20 + i % 40 for i in range(200)], ["flu", "cold", "gout", "acne"] * 50
    >>> frame = pd.DataFrame({"age": ages, "ill": ills, "name": [f"P{i}" for i in range(200)]})
    >>> result, policy = anonymize(frame, k=5, quasi_identifiers=["age"], sensitive=["ill"])
    >>> result.released, list(result.to_pandas().columns)
    (True, ['age', 'ill'])
    """
    with in_full(), as_file(data) as file:
        if file is None:
            raise wrong_argument("`anonymize` needs `data`")
        drafted = profile_file(file)
        roles = {Role.QUASI_IDENTIFIER: quasi_identifiers, Role.SENSITIVE: sensitive, Role.INSENSITIVE: keep}
        draft = with_roles(drafted.document, roles, k)
        source = file if isinstance(data, (str, os.PathLike)) else Path(_FRAME)
        policy = read_policy(replace(drafted, document=draft, data=source).rendered("yaml", beside=Path()))
        return run(policy, data, out=out), policy


_FRAME = "data.parquet"
"""What a drafted policy calls the file of a data frame, which is on no disk."""


@with_checked_arguments
def check(
    policy: Policy, data: Data | None = None, *, sets: Mapping[str, Any] | None = None, home: Home = "."
) -> CheckOutcome:
    """Return every fault of a policy: ``passes()``, and ``diagnostics`` with places and advice.

    With data, what their rows rule out is a fault too. Raises UsageError, and DataError where the data do not match.

    >>> outcome = check({"version": 1, "name": "clinic"})
    >>> outcome.passes()
    False
    """
    with in_full(), as_policy(policy, Path(home)) as path, as_file(data) as file:
        return check_files([path], as_sets(sets), data=file)


@with_checked_arguments
def plan(
    policy: Policy, data: Data | None = None, *, sets: Mapping[str, Any] | None = None, home: Home = "."
) -> PlanResult:
    """Return what would be done, ``picture("text")`` and other forms; with data, what its rows let one expect.

    Raises PolicyError, DataError.
    """
    with in_full(), as_policy(policy, Path(home)) as path, as_file(data) as file:
        return plan_file(path, as_sets(sets), file)


@with_checked_arguments
def audit(
    policy: Policy,
    original: Data | None,
    released: Data,
    release: str | None = None,
    *,
    sets: Mapping[str, Any] | None = None,
    home: Home = ".",
    released_with: Mapping[str, str | Sequence[str]] | None = None,
) -> AuditedRelease:
    """Judge a release that any tool has made: ``holds`` is the answer. Raises UsageError, PolicyError, DataError.

    Without an original the policy's own data is taken. ``released_with`` says how another tool has written the file:
    ``{"delimiter": ";", "missing": ["", "NA"]}``.
    """
    with (
        in_full(),
        as_policy(policy, Path(home)) as path,
        as_file(original) as before,
        as_file(released) as after,
    ):
        if after is None:
            raise wrong_argument("`audit` needs `released`")
        words = [
            (name, text)
            for name, said in (released_with or {}).items()
            for text in ([said] if isinstance(said, str) else said)
        ]
        return audit_files(path, before, after, release, sets=as_sets(sets), released_with=words)


@with_checked_arguments
def sweep(
    policy: Policy,
    over: Mapping[str, Sequence[Any]],
    data: Data | None = None,
    *,
    metrics: Sequence[str] = (),
    sets: Mapping[str, Any] | None = None,
    out: Home = "sweeps",
    home: Home = ".",
    repeat: int = 1,
    workers: int | None = None,
    progress: Callable[[RunDone], None] | None = None,
) -> SweepResult:
    """Measure a policy at every combination of values; nothing is released.

    ``over`` has the values of each path: ``{"privacy.k_anonymity.k": [2, 5]}``. ``metrics`` are names of figures, with
    ``:min`` or ``:max`` behind. ``progress`` is called after each run. ``document`` of the result has all points.
    Raises UsageError, PolicyError with the faults of all points, or DataError.
    """
    with in_full(), as_policy(policy, Path(home)) as path, as_file(data) as file:
        if not 1 <= repeat <= _MOST_REPEATS:
            raise wrong_argument(f"`repeat` of `sweep` lies between 1 and {_MOST_REPEATS:,}")
        words = [f"{place}={','.join(as_text(value) for value in values)}" for place, values in over.items()]
        tell = progress or _ignore_runs
        return sweep_file(path, words, metrics, as_sets(sets), file, Path(out), tell, repeat=repeat, workers=workers)


@with_checked_arguments
def diff(
    old: Policy,
    new: Policy,
    data: Data | None = None,
    *,
    sets: Mapping[str, Any] | None = None,
    home: Home = ".",
    allow_added: bool = False,
) -> DiffResult:
    """Compare two policies, folders of them, or two runs: ``weaker`` is whether the new one is not as strict.

    A text of one line is a path or ``REVISION:PATH``, as git has it. With data, both policies are measured on it, and
    nothing is released. A policy that only the new folder has is weaker, unless ``allow_added``. Raises UsageError,
    PolicyError, DataError.
    """
    accepts = (lambda _added: True) if allow_added else None
    with (
        in_full(),
        as_policy(old, Path(home)) as before,
        as_policy(new, Path(home)) as after,
        as_file(data) as file,
    ):
        return diff_words(_word(old, before), _word(new, after), as_sets(sets), file, accepts)


@with_checked_arguments
def profile(
    data: Data,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    escape: str | None = None,
    columns: Sequence[str] | None = None,
    input_format: str | None = None,
) -> ProfileResult:
    """Measure data and guess roles: ``document`` has the columns, ``rendered("text")`` shows them. Raises DataError.

    The options say how a text file is written, and ``input_format`` is the file's format where its name does not say
    it; what is None is found out, and ``read_as`` says what was taken.
    """
    names = None if columns is None else tuple(columns)
    with in_full(), as_file(data) as file:
        if file is None:
            raise wrong_argument("`profile` needs `data`")
        return profile_file(
            file,
            header=header,
            delimiter=delimiter,
            encoding=encoding,
            escape=escape,
            names=names,
            input_format=input_format,
        )


@with_checked_arguments
def randomize(
    sets: Sequence[set[str] | frozenset[str] | Sequence[str]],
    operator: Home,
    *,
    attribute: str | None = None,
    key: bytes | None = None,
) -> list[dict[str, Any]]:
    """Randomize your own sets of items by a published ``operator.json``: what is sent of each, ready for JSON.

    Each set is drawn with a fresh key of the operating system, unless ``key`` gives 32 bytes for a test. Send each set
    once: two versions of it tell more than the operator says. ``attribute`` says whose operator, where the file has
    several. Raises UsageError, and DataError where the operator cannot randomize a set.
    """
    with in_full():
        if key is not None and len(key) != _KEY_BYTES:
            raise wrong_argument(f"`key` of `randomize` has {_KEY_BYTES} bytes")
        return randomize_sets(sets, Path(operator), attribute=attribute, key=key)


def _word(policy: Policy, path: Path) -> str:
    """Return a place as it was given, since a revision may stand before it; of a text or a map where it is."""
    return policy if isinstance(policy, str) and "\n" not in policy else str(path)


def _ignore_runs(_done: RunDone) -> None:
    """Listen to nothing."""


# What programs give, as the command line has it.


def as_sets(sets: Mapping[str, Any] | None) -> dict[str, str]:
    """Return values of params as ``--set`` has them."""
    return {name: as_text(value) for name, value in (sets or {}).items()}


def as_text(value: Any) -> str:
    """Return a value as the command line has it."""
    return value if isinstance(value, str) else as_json(value)


_LEAST_MEMORY = 64


def where_of(engine: Any, master: str | None, memory: int | None, data: Data | None) -> EngineChoice:
    """Return where to work: an engine's name, a session of Spark's, or without both where the data is.

    Raises UsageError for what is neither a name nor a session, and for less memory than a run needs.
    """
    if memory is not None and memory < _LEAST_MEMORY:
        raise wrong_argument(f"`memory` must be at least {_LEAST_MEMORY} MB, and is {memory}")
    session = None
    if engine is not None and not isinstance(engine, str):
        if not hasattr(engine, "createDataFrame"):
            raise wrong_argument("`engine` is a name or a session of Spark's", f"got a `{type(engine).__name__}`")
        engine, session = SPARK, engine
    elif is_spark_frame(data) and engine in (None, SPARK) and master is None:
        engine, session = SPARK, cast("Any", data).sparkSession
    return EngineChoice(LOCAL if engine is None else engine, master, session, memory)


@contextmanager
def as_data(data: Data | None) -> Iterator[Path | TableData | None]:
    """Yield data for a run: a path as :func:`as_file` does, or what Spark reads. Raises DataError, UsageError."""
    if is_spark_frame(data):
        yield SparkFrame(data)
    elif isinstance(data, str):
        yield place_of_data(data)
    else:
        with as_file(data) as file:
            yield file


# How far a run is: for a callback, or on the page of a notebook.


_SECONDS = 0.2


class NotebookLine:
    """One line below a cell that says what is done at the moment; it is empty once the run is over."""

    def __init__(self, show: Callable[..., Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._handle = show({"text/plain": ""}, raw=True, display_id=True)
        self._clock = clock
        self._shown = clock() - _SECONDS

    def __call__(self, event: Event) -> None:
        """Take an event; progress within a stage is shown a few times a second."""
        if isinstance(event, StepStarted):
            self._put(event.name)
        elif isinstance(event, RowProgress) and self._clock() - self._shown >= _SECONDS:
            of = f" of {event.total:,}" if event.total is not None else ""
            self._put(f"{event.name}: {event.rows:,}{of} {event.unit}")
        elif isinstance(event, RunFinished):
            self.close()

    def close(self) -> None:
        """Empty the line."""
        self._put("")

    def _put(self, text: str) -> None:
        self._shown = self._clock()
        if self._handle is not None:
            self._handle.update({"text/plain": text, "text/html": f"<code>{html.escape(text)}</code>"}, raw=True)


@contextmanager
def listener(progress: Callable[[Event], None] | None) -> Iterator[Callable[[Event], None]]:
    """Yield the listener of events: the callback, a line of the notebook that the program runs in, or none."""
    show = _display() if progress is None else None
    if show is None:
        yield progress or ignore_events
        return
    line = NotebookLine(show)
    try:
        yield line
    finally:
        line.close()


def _display() -> Callable[..., Any] | None:
    """Return what shows something in the notebook that this runs in; None where there is none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    function: Callable[..., Any] | None = getattr(sys.modules.get("IPython.display"), "display", None)
    return function
