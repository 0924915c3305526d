"""Releases: where they come from, what they hold, and the shuffle before each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import networkx as nx

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.plan import flow
from ppdm_flow.plan.binding import Binder, Wiring
from ppdm_flow.plan.dag import base, flow_graph, release_key
from ppdm_flow.plan.definition import COLLAPSE, ReceivedFormat, ReleaseNode, StepNode, TableNode
from ppdm_flow.plan.flow import StepFlow
from ppdm_flow.plan.formats import choices, implied, inferred, partitions
from ppdm_flow.policy.language.models import Policy, Release
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Scope

SHUFFLE = "shuffle_rows"
INTERVAL_BOUNDS = "interval_bounds"
BOUNDS = "bounds"
_LABELS = "labels"
COUNT = "count"
"""What says of the file of another tool which column holds counts."""
_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})
_REORDERED = ("reordered", "generated")


def release_nodes(policy: Policy, state: StepFlow, wiring: Wiring, binder: Binder) -> tuple[ReleaseNode, ...]:
    """Return the releases whose origin is known, each after its shuffle."""
    nodes = []
    for name, release in policy.releases.items():
        origin = wiring.origins[name]
        arriving = state.known(origin, ("releases", name, "from")) if origin else None
        bound = _sink(name, release, binder)
        if origin is None or arriving is None or bound is None:
            continue
        facts = tuple(fact for fact in arriving.values() if not _unneeded(fact))
        if _labels(release, binder, name) == BOUNDS:
            origin, facts = _with_bounds(name, origin, facts, state, binder)
        column = _counts(name, release, facts, binder)
        if column and any(fact.role is Role.WEIGHT for fact in facts):
            facts = tuple(fact for fact in facts if fact.role is not Role.WEIGHT)
            origin = _shuffled(name, origin, facts, state, binder, expands=True)
        elif release.shuffle and not _reordered(origin, state.nodes, wiring):
            origin = _shuffled(name, origin, facts, state, binder)
        kind, options = bound
        options = {**options, COLLAPSE: column} if column else options
        spans = tuple(s for s in (state.places.key("releases", name),) if s is not None)
        about = (release.path, kind, options, release.audience, facts, release.description, spans)
        into = _table(name, release, facts, binder)
        by = _partitions(name, release, kind, facts, binder)
        received = _received(name, release, kind, binder)
        nodes.append(ReleaseNode(name, origin, *about, "", into, by, received))
    binder.diagnostics += _of_two_kinds(nodes, policy, state, binder)
    order = _orders(state.nodes.values())
    return tuple(replace(node, ordered_by=order.get(base(node.input), base(node.input))) for node in nodes)


def _table(name: str, release: Release, facts: tuple[AttributeFacts, ...], binder: Binder) -> TableNode | None:
    """Return the table that a release becomes, and say what cannot be in it (PPF481)."""
    into = release.into
    if into is None:
        return None
    columns = {fact.name for fact in facts}
    path = ("releases", name, "into")
    for number, index in enumerate(into.indexes):
        for column in index:
            if column not in columns:
                span = binder.places.value(*path, "indexes", str(number))
                binder.diagnostics.append(Diagnostic("PPF481", f"the release has no column `{column}`", span))
    for fact in facts:
        if fact.role is Role.ITEMS:
            text = f"`{fact.name}` holds sets, which have no place in a table of a database"
            binder.diagnostics.append(Diagnostic("PPF481", text, binder.places.key(*path)))
    return TableNode(into.url, into.table, into.indexes, into.grants)


def _partitions(
    name: str, release: Release, kind: str, facts: tuple[AttributeFacts, ...], binder: Binder
) -> tuple[str, ...]:
    """Return the attributes that a release is partitioned by, and say which cannot be (PPF495)."""
    path = ("releases", name, "partition_by")
    known = flow.by_name(facts)
    for number, column in enumerate(release.partition_by):
        if column not in known:
            text, hint = f"the release has no column `{column}`", "name columns that are released"
        elif known[column].role is Role.ITEMS:
            text, hint = f"`{column}` holds sets, which are no names of folders", "name another column"
        elif column in release.partition_by[:number]:
            text, hint = f"`{column}` stands there twice", "name it once"
        else:
            continue
        span = binder.places.value(*path, str(number))
        binder.diagnostics.append(Diagnostic("PPF495", text, span, help=hint))
    if release.partition_by and not partitions(kind):
        text = f"files of format `{kind}` are not read from folders again"
        hint = "`csv` and `parquet` are"
        binder.diagnostics.append(Diagnostic("PPF495", text, binder.places.key(*path), help=hint))
    if release.partition_by and known.keys() <= set(release.partition_by):
        text = "no column is left for the files"
        binder.diagnostics.append(Diagnostic("PPF495", text, binder.places.key(*path), help="leave one out"))
    return release.partition_by


def _counts(name: str, release: Release, facts: tuple[AttributeFacts, ...], binder: Binder) -> str:
    """Return the column of counts where each distinct record is released once, and say why it cannot be (PPF497)."""
    if release.collapse is None:
        return ""
    column, path = release.collapse.count, ("releases", name, "collapse")
    alike = next((fact.name for fact in facts if fact.name.casefold() == column.casefold()), None)
    sets = next((fact.name for fact in facts if fact.role is Role.ITEMS), None)
    if alike is not None:
        text, hint = f"the release has a column `{alike}` already", "name another: `collapse: {count: rows}`"
    elif sets is not None:
        text, hint = f"`{sets}` holds sets, and records with sets are not counted", "leave `collapse` out"
    elif not release.shuffle:
        text = "`shuffle: false` keeps the order of the rows, and the records that are counted are sorted"
        hint = "leave `shuffle` out"
    elif release.into is not None:
        text, hint = "a table of a database holds the rows themselves", "leave `collapse` out, or `into`"
    else:
        return column
    binder.diagnostics.append(Diagnostic("PPF497", text, binder.places.key(*path), hint=hint))
    return ""


def _of_two_kinds(
    nodes: Iterable[ReleaseNode], policy: Policy, state: StepFlow, binder: Binder
) -> Iterator[Diagnostic]:
    """Yield releases whose weighted rows are written out and counted, where others have them as they are (PPF497).

    What both tell together is measured by the numbers of the rows, and these are of two kinds.
    """

    def is_expanded(reference: str) -> bool:
        node = state.nodes.get(base(reference))
        while node is not None and not node.expands:
            node = state.nodes.get(base(node.input))
        return node is not None

    unexpanded = next((node.name for node in nodes if not is_expanded(node.input)), None)
    for node in nodes if unexpanded is not None and policy.recipients == "together" else ():
        if node.collapse and is_expanded(node.input):
            text = f"its rows are written out by their weights, and those of release `{unexpanded}` are not"
            hint = "say `collapse` of both, or of neither"
            yield Diagnostic("PPF497", text, binder.places.key("releases", node.name, "collapse"), hint=hint)


def _received(name: str, release: Release, kind: str, binder: Binder) -> ReceivedFormat | None:
    """Return how another tool writes a release, where the policy says it; options are those of the format's reader."""
    if not release.received:
        return None
    path = ("releases", name, "received")
    lists: dict[str, tuple[str, ...] | None] = {"missing": None, "columns": None}
    for key in lists:
        given = release.received.get(key)
        if given is not None and not (isinstance(given, list) and all(isinstance(text, str) for text in given)):
            text = f"`{key}` must be a list of texts"
            binder.diagnostics.append(Diagnostic("PPF203", text, binder.places.value(*path, key), path=(*path, key)))
        elif given is not None:
            lists[key] = tuple(given)
    count = release.received.get(COUNT)
    if not (count is None or isinstance(count, str)):
        text = f"`{COUNT}` must be a text"
        binder.diagnostics.append(Diagnostic("PPF203", text, binder.places.value(*path, COUNT), path=(*path, COUNT)))
    own = {key: value for key, value in release.received.items() if key not in (*lists, COUNT)}
    bound = binder.bind("sources", kind, own, path, path)
    options = {} if bound is None else {key: bound.document[key] for key in own}
    return ReceivedFormat(options, **lists, count=count if isinstance(count, str) else None)


def pruned(nodes: Mapping[str, StepNode]) -> dict[str, StepNode]:
    """Return the steps without the identifiers that no later step asks for: those go no further than the source."""
    graph = flow_graph((), {name: node.inputs for name, node in nodes.items()}, {})
    return {name: replace(node, attributes=tuple(_wanted(graph, node, nodes))) for name, node in nodes.items()}


def _wanted(graph: nx.DiGraph, node: StepNode, nodes: Mapping[str, StepNode]) -> Iterator[AttributeFacts]:
    """Yield the attributes that leave a step, but those that would not be released and no later step needs."""
    unneeded = {fact.name for fact in node.attributes if _unneeded(fact)}
    if unneeded:
        unneeded = unneeded.difference(*(nodes[name].effect.needed for name in nx.descendants(graph, node.name)))
    yield from (fact for fact in node.attributes if fact.name not in unneeded)


def _unneeded(fact: AttributeFacts) -> bool:
    """Whether it identifies people and no step has replaced it: such a column is never written."""
    return fact.role in _PERSONAL and flow.untouched(fact)


def _reordered(origin: str, nodes: Mapping[str, StepNode], wiring: Wiring) -> bool:
    """Whether the last step puts the rows in a random order of their own, which no other release shares."""
    node = nodes.get(base(origin))
    if node is None or not node.bound.info.randomized or node.effect.rows not in _REORDERED:
        return False
    below = nx.descendants(wiring.graph, node.name) if node.name in wiring.graph else ()
    return sum(release_key(name) in below for name in wiring.origins) == 1


def _orders(nodes: Iterable[StepNode]) -> dict[str, str]:
    """Return, by step, the last one on the way that put the rows in another order, or what is read."""
    order: dict[str, str] = {}
    for node in nodes:
        before = base(node.input)
        own = node.effect.rows in _REORDERED or len(node.inputs) > 1
        order[node.name] = node.name if own else order.get(before, before)
    return order


def _shuffled(
    release: str,
    origin: str,
    facts: tuple[AttributeFacts, ...],
    state: StepFlow,
    binder: Binder,
    *,
    expands: bool = False,
) -> str:
    """Put a shuffle before a release, and return its name; with ``expands`` weighted rows become single ones there."""
    path = ("releases", release)
    bound = binder.bind("anonymizers", SHUFFLE, {}, path, path)
    if bound is None:
        return origin
    name = _free(f"shuffle-{release}", state)
    effect = bound.spec.effect(bound.params, Scope(name, flow.by_name(facts), (), state.nulls))
    state.nodes[name] = StepNode(name, bound, (origin,), effect, facts, implicit=True, expands=expands)
    return name


def _labels(release: Release, binder: Binder, name: str) -> str:
    """Return how labels of numbers are released: by their names, or as bounds."""
    said = str(release.with_.get(_LABELS, "names"))
    if said not in ("names", BOUNDS):
        span = binder.places.value("releases", name, "with", _LABELS)
        text = "`labels` is `names` (as they are) or `bounds` (two columns of numbers for each column of labels)"
        binder.diagnostics.append(Diagnostic("PPF205", text, span))
    return said


def _with_bounds(
    release: str, origin: str, facts: tuple[AttributeFacts, ...], state: StepFlow, binder: Binder
) -> tuple[str, tuple[AttributeFacts, ...]]:
    """Put a step before the release that writes its labels as numbers; without labels there is nothing to do."""
    path = ("releases", release)
    before = flow.by_name(facts)
    bound = binder.bind("anonymizers", INTERVAL_BOUNDS, {}, path, path)
    if bound is None or not any(fact.type.is_numeric and fact.labels for fact in facts):
        return origin, facts
    name = _free(f"bounds-{release}", state)
    effect = bound.spec.effect(bound.params, Scope(name, before, (), state.nulls))
    if not effect.drops:
        return origin, facts
    after = tuple(flow.after(name, before, effect).values())
    state.nodes[name] = StepNode(name, bound, (origin,), effect, after, implicit=True)
    return name, after


def _free(name: str, state: StepFlow) -> str:
    while name in state.nodes:
        name += "-again"
    return name


def _options(kind: str, release: Release) -> Mapping[str, object]:
    """Return what a sink is given: a file for the public, which anybody may open in a spreadsheet, runs nothing."""
    own = {key: value for key, value in release.with_.items() if key != _LABELS}
    given = {**implied("sinks", kind, release.path), **own}
    if release.audience != "public" or "formulas" in given:
        return given
    try:
        escapes = "formulas" in registry.load("sinks", kind).params.model_fields
    except PluginError:  # reported where it is bound
        return given
    return {**given, "formulas": "escape"} if escapes else given


def _sink(name: str, release: Release, binder: Binder) -> tuple[str, Mapping[str, object]] | None:
    path = ("releases", name)
    kind = release.format or inferred("sinks", release.path)
    span = binder.places.value(*path, "path")
    if kind is None and release.path.endswith(("/", "\\")):
        return None  # that it names no file is said already
    if kind is None:
        text = f"cannot infer the format of `{release.path}` from its extension"
        binder.diagnostics.append(Diagnostic("PPF407", text, span, help=choices("sinks")))
        return None
    use = (*path, "format") if release.format else (*path, "path")
    bound = binder.bind("sinks", kind, _options(kind, release), use, (*path, "with"))
    return None if bound is None else (kind, bound.document)
