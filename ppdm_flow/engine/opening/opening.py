"""Opens the source for a node of a plan, from a file name and an installed reader."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import file_set, is_file_set, telling_name
from ppdm_flow.core.phrases import counted
from ppdm_flow.engine.faults import data_fault, run_fault, wrap_plugin_errors
from ppdm_flow.engine.opening.collapsed import CollapsingSink, expanded
from ppdm_flow.engine.opening.many_files import ManyFiles, check_endings
from ppdm_flow.plan.definition import COLLAPSE, COUNTS, ConfiguredPlugin, Plan, ReleaseNode, SourceNode
from ppdm_flow.plan.formats import choices, handling, inferred
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import PluginSpec
from ppdm_flow.sdk.storage import DescribingSink, NamedSource, Sink, Source


def data_path(node: SourceNode, data: Path | None) -> Path:
    """Return the file to read; of a server its name. Raises DataError where neither policy nor caller says it."""
    if data is not None:
        return data
    if node.server:
        return Path(node.server)
    if node.path is None:
        raise data_fault("PPF721", "the policy names no data file", span=node.span, advice="give one with --data")
    if is_bucket(node.path):
        text = "the policy's own data is in an object store, and is not read from there here"
        raise data_fault("PPF469", text, span=node.span, advice="give it with `--data`; of linked tables, their folder")
    return Path(node.path)


def refuse_linked(plan: Plan) -> None:
    """Raise DataError where a plan of linked tables comes to what reads one."""
    if plan.tables:
        text = "this takes a policy of one table, and the policy has linked ones"
        raise data_fault("PPF655", text, advice="judge files of linked tables with `audit`")


def open_source(node: SourceNode, path: Path) -> Source:
    """Return the reader of ``path``. Raises DataError where no format fits, PluginError where a reader is missing."""
    files = file_set(path) if not node.server and is_file_set(path) else None
    kind = node.format or inferred("sources", telling_name(path))
    if files is not None:
        check_endings(files)
    if kind is None:
        raise _formatless(path)
    if files is None and not node.server and path.exists() and not path.is_file():
        raise data_fault("PPF701", f"cannot read `{path}`: it is not a regular file")
    spec = registry.load("sources", kind)
    options = dict(node.options)
    if node.columns is not None and "header" in spec.params.model_fields:
        options["header"] = False  # `source.columns` are for files without a header
    if files is not None:
        return ManyFiles(files, kind, partial(_made, spec, options, names=node.columns))
    return _made(spec, options, path, node.columns)


def open_released(release: ReleaseNode, path: Path) -> Source:
    """Return the reader of a released file, or of the files of a partitioned release."""
    kind = release.format or inferred("sources", telling_name(path))
    if kind is None:
        raise _formatless(path)
    names = None if release.received is None else release.received.columns
    return open_as(kind, release.options, path, names)


def open_as(kind: str, options: Mapping[str, Any], path: Path, names: tuple[str, ...] | None = None) -> Source:
    """Return the reader of a released file, or of a folder of partitions, for what a sink was given.

    ``names`` are those of the columns of a file that has none itself. Collapsed records are read as their rows.
    """
    spec = registry.load("sources", kind)
    known = {k: v for k, v in options.items() if k in spec.params.model_fields}
    made = partial(_made, spec, known, names=names)
    source: Source = ManyFiles(file_set(path), kind, made) if path.is_dir() else made(path)
    return expanded(source, options[COLLAPSE]) if COLLAPSE in options else source


def released_names(release: ReleaseNode, path: Path, source: Source) -> tuple[str, ...]:
    """Return the columns of a released file; the one of a format without names has the release's own name."""
    column_names = source.names()
    if release.received is not None and release.received.columns is not None:
        named = tuple(name for name in release.received.columns if name != release.collapse)
        if len(named) != len(column_names):
            text = f"the file has {counted(len(column_names), 'column')}, and {len(release.received.columns)} are named"
            raise data_fault("PPF710", text, advice="`--released-with columns=…` takes all names, with commas between")
        return named
    kind = release.format or inferred("sources", path.name)
    if kind is not None and handling("sources", kind) == "only" and len(release.attributes) == len(column_names) == 1:
        return (release.attributes[0].name,)
    return column_names


def open_sink(release: ReleaseNode, path: Path, names: tuple[str, ...]) -> Sink:
    """Return the writer of a release."""
    spec = registry.load("sinks", release.format)
    with wrap_plugin_errors(f"sink `{release.format}`"):
        own = {key: value for key, value in release.options.items() if key != COLLAPSE}
        every = (*names, release.collapse) if release.collapse else names
        sink: Sink = spec.load()(spec.params.model_validate(own), path, every)
        if isinstance(sink, DescribingSink):
            counts = {release.collapse: COUNTS} if release.collapse else {}
            sink.describe({a.name: a.description for a in release.attributes if a.description} | counts)
    return CollapsingSink(sink, names, release.collapse, typed=spec.info.typed) if release.collapse else sink


def takes_numbers(release: ReleaseNode) -> bool:
    """Whether the writer of a release takes numbers, dates and timestamps as they are, and not as texts."""
    return registry.load("sinks", release.format).info.typed


def keeps_types(release: ReleaseNode) -> bool:
    """Whether the writer of a release takes columns in the types that the source has them in."""
    return registry.load("sinks", release.format).info.keeps_types


def import_algorithms(bound: Iterable[ConfiguredPlugin]) -> None:
    """Import the plugins of a run beforehand. One that cannot be imported is reported where it is used."""
    for each in bound:
        with contextlib.suppress(Exception):
            each.spec.load()


def make_algorithm(bound: ConfiguredPlugin) -> Any:
    """Return the algorithm of a bound plugin, made from its parameters."""
    with wrap_plugin_errors(f"plugin `{bound.info.name}`"):
        return bound.spec.load()(bound.params)


def _made(spec: PluginSpec, options: Mapping[str, Any], path: Path, names: tuple[str, ...] | None = None) -> Source:
    try:
        params = spec.params.model_validate(options)
    except ValidationError:
        raise run_fault("PPF906", f"the options of source `{spec.info.name}` are not valid") from None
    with wrap_plugin_errors(f"source `{spec.info.name}`"):
        source: Source = spec.load()(params, path)
        if names is not None and isinstance(source, NamedSource):
            source.name_columns(names)
    return source


def _formatless(path: Path) -> DataError:
    return data_fault(
        "PPF407", f"cannot infer the format of `{path.name}` from its extension", advice=choices("sources")
    )
