"""The source, and the ledger: where they are, how they are read, and what goes on from there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ppdm_flow.core.addresses.bucket import BucketAddressError, bucket_address, is_bucket
from ppdm_flow.core.addresses.server import AddressError, database_address, is_database, server_address
from ppdm_flow.core.attributes import CLIENTS, AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.lineage import CellKind, Lineage
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.definition import LedgerNode, SourceNode
from ppdm_flow.plan.formats import choices, format_of_data, handling, implied, inferred, says_itself
from ppdm_flow.policy.language.models import Policy, SourceEntry
from ppdm_flow.policy.successive import subject_of
from ppdm_flow.sdk.set_operator import SetOperator, read_set_operator

SQL = "sql"
"""The format of databases."""
SENT = "randomized_sets"
"""The format of lines that clients sent."""


def source_node(
    policy: Policy, facts: tuple[AttributeFacts, ...], home: Path, binder: Binder, data: str | None
) -> SourceNode:
    """Return the node that every step hangs from; ``policy`` is as written, ``data`` names the file read instead."""
    source = policy.source
    path = None
    if source.path is not None:
        path = _located(source.path, home, binder)
    server = "" if data is not None else _server(source)
    name, faults = (data, ()) if data is not None else _telling(path)
    kind = SQL if server else source.format or inferred("sources", name)
    operator = None
    if source.randomized_by is not None and source.operator is not None:
        operator = _published(home / source.operator, facts, binder)
    if kind == SENT or (source.randomized_by is not None and kind == "jsonl"):  # lines of JSON hold no other sets
        kind, options = SENT, {"operator": str(home / (source.operator or "")), **source.with_}
        source = source.model_copy(update={"format": SENT, "with_": options})
    if data is not None and (kind := format_of_data(source.format, data)) is not None and _other(source, path, kind):
        source = source.model_copy(update={"columns": None, "with_": {}})
    if kind is None and not is_database(source.path or ""):
        _formatless(name, faults, binder, given=data is not None)
    return SourceNode(
        path=path,
        format=kind,
        options=_options(source, kind, binder, name, given=data is not None),
        columns=source.columns or _named(kind, facts),
        missing=source.missing,
        drop_incomplete=source.incomplete_rows == "drop",
        undeclared=policy.undeclared,
        attributes=facts,
        patterns=tuple(policy.attributes),
        span=binder.places.key("source"),
        server=server,
        normalize=tuple(sorted(set(source.normalize))),
        keep_apart=tuple(sorted(set(source.keep_apart))),
        operator=operator,
        operator_file=source.operator,
    )


def randomized_by_clients(policy: Policy, facts: tuple[AttributeFacts, ...]) -> tuple[AttributeFacts, ...]:
    """Return the facts, the sets being randomized where the policy says that clients did that."""
    if policy.source.randomized_by is None:
        return facts
    return tuple(_as_drawn(fact) if fact.role is Role.ITEMS else fact for fact in facts)


def _as_drawn(fact: AttributeFacts) -> AttributeFacts:
    name = frozenset((fact.name,))
    lineage = Lineage(name, value_map=False, drawn=name, kind=CellKind.NOISY)
    return replace(fact, changes=((CLIENTS, Change.PERTURBED),), derived=lineage)


def _published(path: Path, facts: tuple[AttributeFacts, ...], binder: Binder) -> SetOperator | None:
    """Return the operator by which clients randomized the sets; say where it cannot be used."""
    sets = [fact.name for fact in facts if fact.role is Role.ITEMS]
    if len(sets) != 1:
        return None  # told elsewhere
    try:
        operator = read_set_operator(path)
        with contextlib.suppress(ModuleNotFoundError):  # a run has them, and checks it then
            from ppdm_flow.mining.transactions.randomize.clients import PublishedOperator  # noqa: PLC0415  # numerics

            PublishedOperator.of(operator)
    except DataError as error:
        span = binder.places.value("source", "operator")
        binder.diagnostics += [replace(each, span=span) for each in error.diagnostics]
        return None
    return replace(operator, attribute=sets[0], step=CLIENTS, by_clients=True)


def _other(source: SourceEntry, path: str | None, kind: str) -> bool:
    """Whether data says itself what it holds, and the policy's own is of another format: what it says is of that."""
    own = SQL if source.url is not None else source.format or inferred("sources", _telling(path)[0])
    return says_itself(kind) and own not in (None, kind)


def _server(source: SourceEntry) -> str:
    """Return the server that the data is on; none where its URL is at fault, which is told elsewhere."""
    try:
        return database_address(source.url).name if source.url is not None else ""
    except AddressError:
        return ""


def _asked(source: SourceEntry, kind: str, binder: Binder, *, given: bool) -> Mapping[str, str]:
    """Return what of a database is read; ``given`` is a file in place of the policy's own, be it a database or not."""
    asked = {} if given or source.url is None else {"url": source.url}
    asked |= {key: text for key in ("table", "query") if (text := getattr(source, key)) is not None}
    if kind == SQL:
        if not asked and (given or not source.url):
            text, hint = "a database has many tables, and `source` says none", "add `table: NAME`, or a `query:`"
            binder.diagnostics.append(Diagnostic("PPF470", text, binder.places.key("source"), hint=hint))
        return asked
    if asked and not given:
        text = f"a `{next(iter(asked))}` is read of a database, and this is one of format `{kind}`"
        binder.diagnostics.append(Diagnostic("PPF470", text, binder.places.key("source", next(iter(asked)))))
    return {}


def _located(path: str, home: Path, binder: Binder) -> str:
    """Return the path from the policy's folder, or the URL of an object store; say where that cannot be used."""
    if not is_bucket(path):
        return os.path.normpath(home / path)
    try:
        return bucket_address(path).url
    except BucketAddressError as error:
        text = f"the URL of an object store cannot be used: {error}"
        help_ = (
            "`s3://bucket/folder/file`, `gs://…` or `abfs://container/…`; credentials come from the environment only"
        )
        binder.diagnostics.append(Diagnostic("PPF465", text, binder.places.value("source", "path"), help=help_))
        return ""


def _named(kind: str | None, facts: tuple[AttributeFacts, ...]) -> tuple[str, ...] | None:
    """Return the name of the one column of a file that has only sets, and no header."""
    if kind is None or handling("sources", kind) != "only":
        return None
    sets = tuple(f.name for f in facts if f.role is Role.ITEMS)
    return sets if len(sets) == 1 else None


def _options(source: SourceEntry, kind: str | None, binder: Binder, name: str, *, given: bool) -> Mapping[str, Any]:
    """Return the reader's parameters as its own model understands them; as written where no format is known yet."""
    if kind is None:
        return source.with_
    use = ("source", "format") if source.format else ("source", "url" if source.url is not None else "path")
    asked = _asked(source, kind, binder, given=given)
    options = {**implied("sources", kind, name), **source.with_, **asked}
    bound = binder.bind("sources", kind, options, use, ("source", "with"))
    return options if bound is None else bound.document


def _telling(path: str | None) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the name that tells the format of the policy's own data, and why no file of a folder or glob does."""
    if not path:
        return "", ()
    if is_bucket(path):
        return PurePosixPath(path).name, ()
    try:
        return telling_name(Path(path)), ()
    except DataError as error:
        return Path(path).name, error.diagnostics


def _formatless(name: str, faults: tuple[Diagnostic, ...], binder: Binder, *, given: bool) -> None:
    """Say that the format is not known, or that a folder or a glob has no files that could tell it."""
    span = None if given else binder.places.value("source", "path")
    if faults:
        binder.diagnostics += [replace(fault, span=span) for fault in faults]
    elif name:
        text = f"cannot infer the format of `{name}` from its extension"
        binder.diagnostics.append(Diagnostic("PPF407", text, span, help=choices("sources")))


def ledger_node(policy: Policy, home: Path) -> LedgerNode | None:
    """Return the ledger, or None where the policy has none, or its place is at fault."""
    given = policy.ledger
    if given is None:
        return None
    subject, ignore = subject_of(policy), tuple(sorted(set(given.ignore)))
    if given.url is not None and given.key is not None:
        try:
            server = server_address(given.url).name
        except AddressError:
            return None
        return LedgerNode(given.url, str(home / given.key), subject, given.repeat, server, ignore)
    if given.path is None:
        return None
    path = home / given.path
    key = home / given.key if given.key else path.with_name(f"{path.name}.key")
    return LedgerNode(str(path), str(key), subject, given.repeat, ignore=ignore)
