"""Files that the outcome of a verb never goes over: what it reads and what that names, ledgers, keys, runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError, UsageError
from ppdm_flow.core.file_sets import file_set, is_file_set
from ppdm_flow.engine.ledger.file import is_ledger
from ppdm_flow.plan.formats import inferred
from ppdm_flow.policy import load

_POLICIES = frozenset({".yaml", ".yml"})
_KEY = re.compile(rb"[0-9a-f]{64}\s*")
_PRIVATE = b"PRIVATE KEY-----"
_ESCROW = (b'"key"', b'"commitment"')
_WORD = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|([^\s,'\"\[\]{}]+)")
_RUN = ("manifest.json", "plan.json")
"""What tells a run's directory."""
_BESIDE = ("", ".key", ".lock", "-journal", "-wal")
"""What lies beside a ledger, by the ending of its name."""


def check_output(file: Path, read: Iterable[Path], sets: Mapping[str, str] = {}) -> None:
    """Raise UsageError (PPF664) where writing ``file`` would cost something that cannot be made again.

    ``read`` are the files and folders that the verb was given, ``sets`` the values for params of a policy.
    """
    if not file.is_file():
        return
    why = _precious(file) or next((why for each in read if (why := _reads(each, file, sets))), None)
    if why is not None:
        help_ = "give the outcome a file of its own"
        raise UsageError(Diagnostic("PPF664", f"`{file}` {why}, so that it cannot be written", help=help_))


def _precious(file: Path) -> str | None:
    """Return what a file is if no verb may ever overwrite it, with any options; None if it may be overwritten."""
    with file.open("rb") as opened:
        begin = opened.read(4096)
    if is_ledger(begin):
        return "is a release ledger"
    if _KEY.fullmatch(begin) or _PRIVATE in begin or all(word in begin for word in _ESCROW):
        return "is a key"
    if any(all((folder / name).is_file() for name in _RUN) for folder in file.resolve().parents):
        return "belongs to a run"
    return None


def _reads(given: Path, file: Path, sets: Mapping[str, str]) -> str | None:
    if _is_data(given, file):
        return "is read"
    if given.is_dir():
        inside = given.resolve() in file.resolve().parents
        if inside and file.suffix in _POLICIES:
            return "is read"
        policies = (p for p in given.rglob("*") if p.suffix in _POLICIES and p.is_file())
        named = (each for p in policies for each in _mentioned(p.read_text(errors="replace"), p.parent))
        return "is named by a policy" if any(_same(each, file) for each in named) else None
    if any(_same(given.with_name(f"{given.name}{ending}"), file) for ending in _BESIDE):
        return "is read"
    if given.suffix in _POLICIES and given.is_file() and _of_policy(given, file, sets):
        return "is named by the policy"
    return None


def _of_policy(policy: Path, file: Path, sets: Mapping[str, str]) -> bool:
    named = tuple(_named(policy, sets))  # of a policy that is wrong, all words that could be paths
    if any(_same(each, file) or _holds(each, file, policy) for each in named):
        return True
    return any(_is_data(each, file) for each in _sources(policy, sets))


def _holds(folder: Path, file: Path, policy: Path) -> bool:
    """Whether a file could be one of a folder of data, which the policy is not in itself."""
    if inferred("sources", file.name) is None or not folder.is_dir():
        return False
    real = folder.resolve()
    return real in file.resolve().parents and real not in policy.resolve().parents


def _is_data(given: Path, file: Path) -> bool:
    """Whether a file belongs to a folder or a glob, by its name."""
    if inferred("sources", file.name) is None or not is_file_set(given):
        return False
    try:
        return any(_same(part.path, file) for part in file_set(given).parts)
    except DataError:
        return given.is_dir() and given.resolve() in file.resolve().parents


def _named(policy: Path, sets: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that a policy and what it extends may name: a text that is no path is that of no file."""
    try:
        loaded = load(policy, sets)
    except PpdmError:
        return
    for source, content in loaded.sources.items():
        yield Path(source)
        yield from _mentioned(content, Path(source).parent)
    if loaded.policy is not None:
        yield from _paths(_texts(loaded.policy.model_dump()), policy.parent)


def _sources(policy: Path, sets: Mapping[str, str]) -> Iterator[Path]:
    """Yield the data of a policy, which may be folders and globs."""
    try:
        loaded = load(policy, sets).policy
    except PpdmError:
        return
    if loaded is not None:
        paths = (loaded.source.path, *(table.source.path for table in loaded.tables.values()))
        yield from (policy.parent / path for path in paths if path is not None)


def _mentioned(content: str, folder: Path) -> Iterator[Path]:
    words = {path for match in _WORD.finditer(content) for path in match.groups() if path}
    yield from _paths(words, folder)


def _paths(texts: Iterable[str], folder: Path) -> Iterator[Path]:
    for text in texts:
        yield from (folder / f"{text}{ending}" for ending in _BESIDE if "\0" not in text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False
