"""The kinds of requirements that are installed: found by entry point, each with its entry under ``privacy:``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, wraps
from typing import Any, TypeVar

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.policy.language.wording import Wording
from ppdm_flow.sdk.registry import ListedPlugin, find, listed, load_listed_entry, unfit
from ppdm_flow.sdk.spec import PluginSpec

GROUP = "requirements"
LAST = 1000
"""The rank of kinds that come with other packages: after the built-in ones, by name."""
F = TypeVar("F", bound=Callable[..., Any])


class Entries(StrEnum):
    """The form of a kind under ``privacy:``: once, a clause for each attribute, by a name, or not at all."""

    ONCE = "once"
    BY_ATTRIBUTE = "by_attribute"
    BY_NAME = "by_name"
    IMPLIED = "implied"


@dataclass(frozen=True, slots=True)
class RequirementSpec:
    """A kind of requirement: all that the policy, the comparison of policies and the reports know of it.

    ``requirement`` is the model of an entry, and what is made of one at its place in a policy. ``judge`` yields what is
    wrong with the entries of a policy, given by name. ``implied`` yields the requirements that other parts of a policy
    imply, after all that are written.

    ``order`` is the dotted path of what its clauses claim and imply (``package.module:ORDER``), which is loaded only to
    compare policies; without it the marks of the model's fields say so. ``audit`` is the card of the audit that
    measures it, which has its name. ``noun`` is what an entry is called, ``place_name``
    what places below are, from the entry's name on. ``files`` are places below an entry that have the path of a file.
    ``needs_people``: it has to find people again. ``implied_by``: the kind that it follows where it has no clause of
    its own. ``id`` is that of its only requirement, where it does not stand under ``privacy:``.

    ``measured_on``: its audit also runs, without a bound, on releases with a column of which that was done.
    ``conflicts`` yields which requirements of the kind no table can satisfy together (requirements, released sources,
    null semantics, places). ``foresees`` is the dotted path of what yields that a requirement cannot hold of the
    original under any steps (requirement, view, people). ``chooses`` is the dotted path of what returns the fields of
    an entry that waits for data, as text (requirement, attributes, view).

    ``value_places`` and ``value_keys`` are places below an entry at which values of the data stand, as values or as
    keys (``*`` for any name). ``aliases`` are other words for the kind. ``mixes``: what holds of groups holds of unions
    of them. ``holds_by_rows``: whether an entry, as it is written, that holds where people are counted also holds where
    rows are. So do counts of people, and confidences, which are the larger share of both; other shares and
    distributions of people may be better than those of rows.

    ``page`` is the Markdown file that `explain` shows (``package:file``), in the form of the pages of built-in kinds,
    which are found by name.
    """

    name: str
    requirement: type[Requirement]
    entries: Entries
    audit: PluginSpec
    wording: Wording
    order: str = ""
    judge: Callable[[Any, Mapping[str, Any]], Iterator[Diagnostic]] | None = None
    implied: Callable[[Any, Any, Any], Iterator[Requirement]] | None = None
    rank: int = LAST
    noun: str = ""
    place_name: Callable[[tuple[str, ...]], str] | None = None
    files: tuple[tuple[str, ...], ...] = ()
    needs_people: bool = False
    implied_by: str = ""
    id: str = ""
    measured_on: Change | None = None
    conflicts: Callable[[Any, Any, Any, Any], Iterator[Diagnostic]] | None = None
    foresees: str = ""
    chooses: str = ""
    value_places: tuple[tuple[str, ...], ...] = ()
    value_keys: tuple[tuple[str, ...], ...] = ()
    aliases: tuple[str, ...] = ()
    mixes: bool = True
    holds_by_rows: Callable[[Mapping[str, Any]], bool] = lambda _entry: False
    page: str = ""

    @property
    def written(self) -> bool:
        """Whether a policy can ask for it."""
        return self.entries is not Entries.IMPLIED


@cache
def spec_of(name: str) -> RequirementSpec:
    """Return the kind of that name. Raises PluginError where none is installed, or more than one."""
    return loaded(find(GROUP, name))


def known(name: str) -> RequirementSpec | None:
    """Return the kind of that name; None where none is installed that can be loaded."""
    if name not in installed():
        return None  # no error is made, which would say what name is near
    try:
        return spec_of(name)
    except PluginError:
        return None


def faults(names: Iterable[str]) -> Mapping[str, Diagnostic]:
    """Return why installed kinds cannot be used, by name: they clash with others, or cannot be imported."""
    diagnostics = {}
    for name in sorted(installed().intersection(names)):
        try:
            spec_of(name)
        except PluginError as error:
            diagnostics[name] = error.diagnostics[0]
    return diagnostics


@cache
def built_in() -> tuple[RequirementSpec, ...]:
    """Return the kinds that come with ppdm_flow, in the order of reports."""
    return ranked(loaded(each) for each in listed(GROUP) if each.built_in)


@cache
def installed() -> frozenset[str]:
    """Return the names of all kinds; none of them is imported."""
    return frozenset(each.name for each in listed(GROUP))


@cache
def third_parties() -> frozenset[str]:
    """Return the names of the kinds that come with other packages; none of them is imported."""
    own = {each.name for each in listed(GROUP) if each.built_in}
    return installed() - own


def kinds_of(names: Iterable[str]) -> tuple[RequirementSpec, ...]:
    """Return the built-in kinds, and those of other packages that are among the names, in the order of reports.

    Of other packages those that can be loaded: `faults` says why one cannot.
    """
    return ranked((*built_in(), *kinds_among(third_parties().intersection(names))))


def kinds_among(names: Iterable[str]) -> tuple[RequirementSpec, ...]:
    """Return the kinds of these names that can be loaded, in the order of reports; no others are imported."""
    own = {each.name: each for each in listed(GROUP) if each.built_in}
    wanted = sorted(installed().intersection(names))
    specs = (loaded(own[name]) if name in own else known(name) for name in wanted)
    return ranked(spec for spec in specs if spec is not None)


def kind_of(identifier: str) -> RequirementSpec | None:
    """Return the kind of a requirement by its id (``privacy.KIND`` or ``privacy.KIND.NAME``); None of anything else."""
    first, _, rest = identifier.partition(".")
    if first == "privacy":
        return known(rest.partition(".")[0])
    return next((spec for spec in built_in() if spec.id and spec.id == identifier), None)


def written_once(name: str) -> bool:
    """Whether a policy has one clause of a kind, or a list of clauses with names."""
    return any(spec.entries is Entries.ONCE for spec in kinds_among((name,)))


def places_below(spec: RequirementSpec, below: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the places of a policy at which something of an entry stands (``*`` for any name), named or not."""
    if spec.entries is Entries.ONCE:
        yield ("privacy", spec.name, *below)
    yield ("privacy", spec.name, "*", *below)


def measured_on(change: Change) -> tuple[str, ...]:
    """Return the built-in kinds whose audit also runs, without a bound, on releases with a column so changed."""
    return tuple(spec.name for spec in built_in() if spec.measured_on is change)


def over_releases() -> RequirementSpec:
    """Return the kind on several releases together that a policy can ask for."""
    specs = (loaded(each) for each in listed(GROUP) if each.built_in)  # one after the other: few have to be imported
    return next(spec for spec in specs if spec.requirement.successive and spec.written)


def is_over_releases(names: Iterable[str]) -> bool:
    """Whether the built-in kind of :func:`over_releases` is among these names; no kind beside them is imported."""
    own = {each.name for each in listed(GROUP) if each.built_in}
    return any(spec.requirement.successive and spec.written for spec in kinds_among(own.intersection(names)))


def with_operators(*, on_sets: bool) -> str:
    """Return the name of the kind that bounds what a randomized attribute tells, or randomized sets."""
    bounding = (s for s in built_in() if s.requirement.needs_operator and s.requirement.on_sets is on_sets)
    return next(spec.name for spec in bounding)


def aliases() -> Mapping[str, tuple[str, ...]]:
    """Return the kinds by other words for them."""
    return {alias: (spec.name,) for spec in built_in() for alias in spec.aliases}


def loaded(each: ListedPlugin) -> RequirementSpec:
    """Return the kind that an entry point names, whether or not another has its name. Raises PluginError."""
    spec: RequirementSpec = load_listed_entry(each, RequirementSpec)
    if each.built_in:
        return spec
    for why in _misfits(spec):
        raise unfit(each, why)
    return _guarded(spec)


def _misfits(spec: RequirementSpec) -> Iterator[str]:
    """Yield what a kind of another package lacks, so that no policy could ask for it."""
    given: object = spec.requirement
    if not (isinstance(given, type) and issubclass(given, Requirement)):
        yield "its `requirement` is no model that is derived from `Requirement`"
    elif getattr(given, "kind", None) != spec.name:
        yield "its requirement has another `kind`"
    if spec.audit.info.name != spec.name:
        yield "its audit has another name"
    if not spec.written:
        yield "it must have entries: only built-in kinds are implied by other parts of a policy"


def _guarded(spec: RequirementSpec) -> RequirementSpec:
    """Return a kind whose functions do not raise but what the program knows how to tell."""
    uses = {
        "judge": "judge its clauses",
        "implied": "say what follows from a policy",
        "conflicts": "compare its requirements",
        "place_name": "name a place in its clause",
        "holds_by_rows": "compare people with rows",
    }
    functions = {n: guarded(spec.name, does, f) for n, does in uses.items() if (f := getattr(spec, n)) is not None}
    wording = replace(
        spec.wording,
        clause=guarded(spec.name, "say what it bounds", spec.wording.clause),
        advice=guarded(spec.name, "give advice", spec.wording.advice),
    )
    guarded_spec: RequirementSpec = replace(spec, wording=wording, **functions)
    return guarded_spec


def ranked(specs: Iterable[RequirementSpec]) -> tuple[RequirementSpec, ...]:
    """Return kinds in the order of reports."""
    return tuple(sorted(specs, key=lambda spec: (spec.rank, spec.name)))


def guarded(kind: str, does: str, function: F) -> F:
    """Return the function of a kind so that what it raises becomes a PluginError (PPF405).

    ``does`` says what it is there for, in words that follow on "cannot". A generator is run to its end.
    """
    runs = inspect.isgeneratorfunction(function)

    @wraps(function)
    def called(*args: Any, **more: Any) -> Any:
        try:
            result = function(*args, **more)
            return tuple(result) if runs else result
        except PpdmError:
            raise
        except Exception as error:  # an exception of a third party's code must not look like our own fault
            text = f"the requirement `{kind}` cannot {does}: its code raised {type(error).__name__}"
            raise PluginError(Diagnostic("PPF405", text)) from error

    guarded_function: Any = called
    return guarded_function  # type: ignore[no-any-return]
