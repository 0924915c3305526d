"""The kit for requirements, as one call and as a class for pytest. Needs hypothesis, of the extra ``test``.

A plugin's own test is then::

    class TestPSensitive(RequirementConformance):
        def case(self):
            return RequirementCase(SPEC, clauses=({"p": 2, "k": 2}, {"p": 3, "k": 4}))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NotRequired, get_origin

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from typing_extensions import get_type_hints

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.pages import MalformedPageError
from ppdm_flow.core.requirement import TOLERANCE, Requirement
from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.recoding.grouping import ClassCells, RowGrouping
from ppdm_flow.policy.language.kind_pages import entry_of, page_of
from ppdm_flow.policy.language.kinds import Entries
from ppdm_flow.policy.language.shape import FixedKeys, ListOf, MapOf, Shape, shape_of
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.order.claim import OpaqueClaim, order_of_spec, rules_of
from ppdm_flow.policy.order.frame import ComparedPolicies, PolicyFrame
from ppdm_flow.policy.order.marks import Order
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.sdk.audit import RecheckedAudit
from ppdm_flow.sdk.spec import imported
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.held import Conformance, faults_of, make_test
from ppdm_flow.testing.quoting import untold
from ppdm_flow.testing.requirement_case import RequirementCase, RunOfTwo, TwoRouteOutcome, copies, retold, uneven

Check = Callable[[RequirementCase], Iterator[str]]
Look = Callable[[RequirementCase, Requirement, TwoRouteOutcome], Iterator[str]]
Codes = npt.NDArray[np.int32]


def faults(case: RequirementCase) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    return faults_of(CHECKS, case)


# What every kind of requirement must do. Each check returns faults as sentences; none means that it passes.


def two_routes_agree(case: RequirementCase) -> Iterator[str]:
    """The second route gives the figures of the first, and those that requirements are judged by among them."""
    if not isinstance(case.audit, RecheckedAudit):
        yield "the audit has no second route: give it a method `recheck`, which returns figures by the same names"
        return
    yield from _on_tables(case, _disagreements)


def weights_count_as_rows(case: RequirementCase) -> Iterator[str]:
    """A row of weight 3 counts as three rows: both routes give the same figures.

    A table is left out where the release has another number of rows.
    """

    def other(original: Table, nulls: Nulls) -> Iterator[str]:
        if len(case.released(original)) != len(original):
            return
        often = uneven(original)
        weights = Table.of({"": [str(n) for n in often]})[""]
        singly = original.take(np.repeat(np.arange(len(original)), often))
        for requirement in case.requirements[nulls]:
            rows, weighted = case.judge(requirement, singly, nulls), case.judge(requirement, original, nulls, weights)
            for name in sorted(rows.second_figures.keys() & rows.outcome.figures.keys()):
                wanted, mine = rows.outcome.figures[name].value, weighted.outcome.figures.get(name)
                for route, value in (
                    ("first", None if mine is None else mine.value),
                    ("second", weighted.second_figures.get(name)),
                ):
                    if not _same(value, wanted):
                        yield f"`{name}` is {value} with weights ({route} route), and {wanted} with the rows repeated"

    yield from _random(case, other)


def people_count_once(case: RequirementCase) -> Iterator[str]:
    """Where the policy counts people, several rows of one person, all alike, hide nobody: both routes count people.

    A table is left out where the release has another number of rows.
    """

    def hidden(original: Table, nulls: Nulls) -> Iterator[str]:
        for requirement in (r for r in case.requirements[nulls] if r.counts_people):
            several = case.judge_people(requirement, original, nulls, uneven(original))
            once = case.judge_people(requirement, original, nulls, np.ones(len(original), dtype=np.int64))
            if several is None or once is None:
                return
            yield from _disagreements(case, requirement, several)
            if several.passes and not once.passes:
                text = "fails where each person has one row, and holds where some have more of the same rows"
                yield f"`{_bounds(requirement)}` {text}"

    yield from _first_faults(case.random_tables[:_PEOPLE], hidden)


def missing_values_form_groups(case: RequirementCase) -> Iterator[str]:
    """Where rows are grouped under `nulls: own_category`, a missing value is a value like others."""
    if case.release is not None or Nulls.OWN_CATEGORY not in case.nulls:
        return

    def unlike(original: Table, nulls: Nulls) -> Iterator[str]:
        for requirement in case.requirements[nulls] if nulls is Nulls.OWN_CATEGORY else ():
            named = [name for name in requirement.grouping if name in original.columns]
            filled = original.replaced({name: retold(original[name], missing=_MISSING) for name in named})
            with_text = {m.metric: m.figure.value for m in case.judge(requirement, filled, nulls).measured}
            for measured in case.judge_once(requirement, original, nulls).measured:
                value, wanted = measured.figure.value, with_text.get(measured.metric)
                if not _same(value, wanted):
                    text = f"is {value} with missing values, and {wanted} where these are a value of their own"
                    yield f"`{measured.metric}` {text}"

    yield from _random(case, unlike)


def copies_count(case: RequirementCase) -> Iterator[str]:
    """A column under another name, or a coarser one that is computed from an attribute, tells what the attribute does.

    What fails on a column must not hold where the column is suppressed, and a copy of it is released beside.
    """

    def untold_copies(original: Table, nulls: Nulls) -> Iterator[str]:
        file = case.file(original)
        for requirement in case.requirements[nulls]:
            for name in (n for n in file.table.columns if n in requirement.attributes_concerned):
                for what, alone, beside in copies(file, name):
                    if (
                        case.judge_file(requirement, original, beside, nulls).passes
                        and not case.judge_file(requirement, original, alone, nulls).passes
                    ):
                        text = f"fails where `{name}` is released, and holds where {what} is"
                        yield f"`{_bounds(requirement)}` {text}"

    yield from _random(case, untold_copies)


def files_tell_together(case: RequirementCase) -> Iterator[str]:
    """What fails on one table must not hold on each of two files whose rows anybody can put together to that table.

    It is asked of kinds that say `of_all_files`; of others the engine releases no files that tell more together.
    """

    def untold_files(original: Table, nulls: Nulls) -> Iterator[str]:
        requirements = [r for r in case.requirements[nulls] if r.of_all_files]
        file = case.file(original)
        if not requirements or len(file.table) != len(original) or len(file.table.names) < 2:
            return
        failing = [r for r in requirements if not case.judge_file(r, original, file, nulls).passes]
        name = file.table.names[len(original) % len(file.table.names)]
        run = RunOfTwo.of(file, name, original, nulls)
        for requirement in failing:
            if all(case.judge_beside(requirement, run, at).passes for at in (0, 1)):
                text = f"fails of the whole table, and holds of two files, one with `{name}` and one with the rest"
                yield f"`{_bounds(requirement)}` {text}"

    yield from _first_faults(case.larger_tables[:_FILES], untold_files)


def figures_are_told(case: RequirementCase) -> Iterator[str]:
    """The audit's card says what each figure means."""
    yield from _on_tables(case, _untold)


def stricter_never_passes_what_weaker_fails(case: RequirementCase) -> Iterator[str]:
    """Where the order says that one clause implies another, no table keeps the one and breaks the other."""
    pairs = {nulls: list(_implied(case, nulls)) for nulls in case.nulls}

    def broken(original: Table, nulls: Nulls) -> Iterator[str]:
        clauses = {id(clause): clause for pair in pairs[nulls] for clause in pair}  # each is judged once a table
        passes = {key: case.judge_once(clause, original, nulls).passes for key, clause in clauses.items()}
        for stricter, weaker in pairs[nulls]:
            if passes[id(stricter)] and not passes[id(weaker)]:
                said = f"`{_bounds(stricter)}` implies `{_bounds(weaker)}`"
                yield f"the order says that {said}, and a table keeps the one and breaks the other"

    yield from _random(case, broken)


def order_looks_at_every_field(case: RequirementCase) -> Iterator[str]:
    """The order names no field that the requirement lacks, and some clause is stricter than another."""
    order = order_of_spec(case.spec)
    for nulls, requirements in case.requirements.items():
        strange = set(order.fields).difference(*(r.said() for r in requirements))
        if strange:
            yield f"the order looks at `{'`, `'.join(sorted(strange))}`, and the requirement has no such field"
        if len(requirements) > 1 and nulls is Nulls.OWN_CATEGORY and not list(_implied(case, nulls)):
            yield "the order calls none of the clauses stricter than another: name two of which one is"


def classes_agree_with_measure(case: RequirementCase) -> Iterator[str]:
    """Where the kind says what a class must keep, all classes of a table keep it just where the audit says so.

    A table of which a step would refuse to make classes tells nothing; there must be others.
    """
    if not case.spec.requirement.classes or Nulls.OWN_CATEGORY not in case.nulls:
        return
    facts = {n: AttributeFacts(n, role, source=n) for n, role in case.roles.items()}
    compared: set[str] = set()

    def disagreeing(original: Table, nulls: Nulls) -> Iterator[str]:
        for requirement in case.requirements[nulls] if nulls is Nulls.OWN_CATEGORY else ():
            if not requirement.groups_are_classes or case.release is not None:
                continue
            by_models = _kept(requirement, original, facts)
            measured = case.judge_once(requirement, original, nulls).passes
            if by_models is not None:
                compared.add(_bounds(requirement))
            if by_models is not None and by_models != measured:
                one, other = ("keep", "breaks") if by_models else ("break", "keeps")
                yield f"by `classes` all classes {one} `{_bounds(requirement)}`, and by `measure` the table {other} it"

    yield from _random(case, disagreeing)
    if case.release is None and not compared and any(r.groups_are_classes for r in case.requirements[case.nulls[0]]):
        yield "`classes` refuses all random tables, so nothing is known of it"


def fields_are_described(case: RequirementCase) -> Iterator[str]:
    """Every key of the clause has a sentence and an example, and the example is one that the clause takes."""
    spec = case.spec
    if spec.written:
        yield from _undescribed(shape_of(spec.requirement), "")


def page_is_there(case: RequirementCase) -> Iterator[str]:
    """The kind has a page with all sections, whose example is an entry that the clause takes."""
    spec = case.spec
    try:
        page = page_of(spec)
        if page is None:
            yield 'the kind has no page: name it in `RequirementSpec(page="package:page.md")`'
            return
        yield from (f"the page has no text under `## {h}`" for h in SECTIONS if not page.sections.get(h))
        _, example = entry_of(spec)
    except (PluginError, MalformedPageError) as error:
        yield str(error)
        return
    entries = [example] if spec.entries is Entries.ONCE else list(example.values())
    for entry in entries:
        try:
            case.entry(entry)
        except ValidationError as error:
            yield f"the clause does not take the example of the page: {_first(error)}"


def document_has_its_fields(case: RequirementCase) -> Iterator[str]:
    """The requirement in ``plan.json`` has the fields of its kind."""
    hints = get_type_hints(case.spec.requirement.document_type(), include_extras=True)
    needed = {name for name, hint in hints.items() if not _optional(hint)}
    for requirement in case.requirements[case.nulls[0]]:
        written = set(requirement.document())
        for name in sorted(written.difference(hints)):
            yield f"the document has `{name}`, and the fields do not explain it"
        for name in sorted(needed - written):
            yield f"the fields explain `{name}`, and the document lacks it"


def failures_name_what_is_wrong(case: RequirementCase) -> Iterator[str]:
    """Entries that must be refused are refused, and the message names the fault; so does the text on a broken bound."""
    for bad in case.bad:
        said = list(_refusals(case, bad.entry))
        if not said:
            yield f"an entry that is wrong in `{bad.names}` is not refused"
        elif not any(bad.names in text for text in said):
            yield f"an entry is refused, and the message does not name `{bad.names}`"
    yield from _on_tables(case, _silent)


SECTIONS = ("Why it matters", "Example", "Not so", "What to do")
_PLACES = frozenset(("id", "name", "span"))
_MISSING = "(nothing)"
"""Replaces missing values where they become values like others."""
_PEOPLE = 12
"""How many random tables are looked at with several rows of a person: two routes take long to count people."""
_FILES = 9
"""How many tables are looked at as two files: each is read as a whole run."""


def _kept(requirement: Requirement, original: Table, facts: Mapping[str, AttributeFacts]) -> bool | None:
    """Return whether all classes keep it; None where a step would refuse to make any."""
    try:
        return kept(requirement, original, facts)
    except PluginError:
        return None


def _random(case: RequirementCase, look: Callable[[Table, Nulls], Iterator[str]]) -> list[str]:
    """Return the faults on the first random table that has some."""
    return _first_faults(case.random_tables, look)


def _first_faults(tables: Iterable[tuple[Table, Nulls]], look: Callable[[Table, Nulls], Iterator[str]]) -> list[str]:
    """Return the faults on the first table that has some."""
    return next((faults for table, nulls in tables if (faults := list(look(table, nulls)))), [])


def _on_tables(case: RequirementCase, look: Look) -> list[str]:
    def looked(original: Table, nulls: Nulls) -> Iterator[str]:
        for requirement in case.requirements[nulls]:
            yield from look(case, requirement, case.judge_once(requirement, original, nulls))

    return list(dict.fromkeys(_random(case, looked)))


def _disagreements(_case: RequirementCase, _requirement: Requirement, judged: TwoRouteOutcome) -> Iterator[str]:
    figures = judged.outcome.figures
    for name, value in judged.second_figures.items():
        mine = figures[name].value if name in figures else None
        if not _same(value, mine):
            yield f"the figure `{name}` is {mine} by the first route and {value} by the second"
    for measured in judged.measured:
        if measured.verifiable and measured.metric in figures and measured.metric not in judged.second_figures:
            yield f"the second route does not give `{measured.metric}`, by which the requirement is judged"
    if not judged.measured:
        yield "the audit gives nothing that the requirement is judged by"


def _same(value: float | None, other: float | None) -> bool:
    return value is other if value is None or other is None else abs(value - other) <= TOLERANCE * max(1.0, abs(other))


def _untold(case: RequirementCase, _requirement: Requirement, judged: TwoRouteOutcome) -> Iterator[str]:
    metrics = [*judged.outcome.figures, *(m.metric for m in judged.measured)]
    yield from untold(case.spec.audit.info, dict.fromkeys(metrics))


def _silent(_case: RequirementCase, requirement: Requirement, judged: TwoRouteOutcome) -> Iterator[str]:
    for measured in judged.measured:
        if measured.requirement != requirement.id:
            yield f"the audit judges `{measured.requirement}`, and was asked for `{requirement.id}`"
        if not measured.sentence.strip():
            yield f"no sentence says what `{measured.metric}` means"


def _implied(case: RequirementCase, nulls: Nulls) -> Iterator[tuple[Requirement, Requirement]]:
    """Yield (stricter, weaker) of all clauses, as the order says."""
    frame = PolicyFrame(case.policy(nulls))
    between, order = ComparedPolicies(frame, frame), order_of_spec(case.spec)
    rules = {**rules_of(frozenset()), **{(given_, asked): rule for given_, asked, rule in order.rules}}

    def implies(given_: Any, asked: Any) -> bool:
        rule = rules.get((type(given_), type(asked)))
        return rule is not None and rule(given_, asked, between) is not None

    claims = [(r, list(_said(order, r, frame))) for r in case.requirements[nulls]]
    for one, given_ in claims:
        for other, asked in claims:
            if one is not other and all(any(implies(g, a) for g in given_) for a in asked):
                yield one, other


def _said(order: Order, requirement: Requirement, frame: PolicyFrame) -> Iterator[Any]:
    yield from order.says(requirement, frame)
    rest = [(n, v) for n, v in requirement.said().items() if n not in _PLACES.union(order.fields)]
    if rest:
        yield OpaqueClaim(requirement.kind, repr(rest))


def _undescribed(shape: Shape, place: str) -> Iterator[str]:
    if isinstance(shape, FixedKeys):
        for key in shape.keys.values():
            name = f"{place}{key.name}"
            if not key.description or key.example is None:
                lacking = "description" if not key.description else "example"
                yield f'the key `{name}` has no {lacking}: `Field(description="…", examples=[…])`'
            yield from _undescribed(key.shape, f"{name}.")
    elif isinstance(shape, MapOf):
        yield from _undescribed(shape.value, f"{place}*.")
    elif isinstance(shape, ListOf):
        yield from _undescribed(shape.item, place)


def _refusals(case: RequirementCase, entry: Any) -> Iterator[str]:
    try:
        clause = case.entry(entry)
    except ValidationError as error:
        yield from (".".join(map(str, each["loc"])) + f": {each['msg']}" for each in error.errors())
        return
    nulls = case.nulls[0]
    if case.spec.judge is not None:
        for diagnostic in case.spec.judge(Scene(case.policy(nulls), ResolvedPlaces({}, {})), {case.name: clause}):
            yield f"{'.'.join(diagnostic.path)}: {diagnostic.message}"


def _first(error: ValidationError) -> str:
    each = error.errors()[0]
    return f"`{'.'.join(map(str, each['loc']))}`: {each['msg']}"


def _bounds(requirement: Requirement) -> str:
    return ", ".join(f"{name}: {value}" for name, value in requirement.document().items())


def _optional(hint: Any) -> bool:
    return bool(get_origin(hint) is NotRequired)


# What a requirement's `classes` say of the classes of a table, without a step that makes any.


def kept(requirement: Requirement, table: Table, facts: Mapping[str, AttributeFacts]) -> bool:
    """Return whether every class of the table keeps what the requirement's models say."""
    counts = count(table, table.names)
    columns = _Columns(counts, facts)
    models: Sequence[Any] = imported(requirement.classes)(requirement, columns)
    grouping = columns.grouping(requirement.grouping)
    sizes = tuple(columns.sizes)
    return all(bool(m.keeps(grouping, grouping.base(m.attribute, sizes)).all()) for m in models)


class _Columns:
    """Implements :class:`ppdm_flow.mining.recoding.models.SensitiveColumns` over all rows of a table."""

    def __init__(self, counts: Counts, facts: Mapping[str, AttributeFacts]) -> None:
        self.counts = counts
        self.sizes: list[int] = []
        self._facts = facts
        self._codes: dict[str, Codes] = {}

    def facts(self, name: str) -> AttributeFacts | None:
        """Return what is known of an attribute."""
        return self._facts.get(name)

    def place(self, name: str) -> int:
        """Return the place of an attribute."""
        codes = self.counts.of(name) + np.int32(SPECIALS)
        return self.add(name, codes, len(self.counts.names(name)) + SPECIALS)

    def codes(self, name: str, values: Sequence[str]) -> tuple[int, ...]:
        """Return the codes of values; one that does not occur has a code that nothing has."""
        names = self.counts.names(name).to_pylist()
        return tuple(names.index(v) + SPECIALS if v in names else len(names) + SPECIALS for v in values)

    def add(self, name: str, codes: Codes, size: int) -> int:
        """Add codes below ``size``; return their place."""
        if name not in self._codes:
            self._codes[name] = codes
            self.sizes.append(size)
        return list(self._codes).index(name)

    def grouping(self, columns: Sequence[str]) -> RowGrouping:
        """Return the classes over some columns."""
        ids, size = self.counts.groups(columns)
        rows = self.counts.counts
        cells = tuple(_cells(ids, size, codes, rows) for codes in self._codes.values())
        first = np.unique(ids, return_index=True)[1].astype(np.int64)
        return RowGrouping((0,), first, np.bincount(ids, rows, size).astype(np.int64), cells)


def _cells(ids: npt.NDArray[np.int64], classes: int, codes: Codes, rows: npt.NDArray[np.int64]) -> ClassCells:
    width = int(codes.max(initial=0)) + 1
    keys, place = np.unique(ids * width + codes, return_inverse=True)
    begins = np.searchsorted(keys // width, np.arange(classes + 1)).astype(np.int64)
    return ClassCells(begins, (keys % width).astype(np.int32), np.bincount(place, rows).astype(np.int64))


class RequirementConformance(Conformance[RequirementCase]):
    """Derive a test class from it, and return in ``case`` the kind, some clauses and random tables.

    All tests of a class look at one case, which measures each clause on each table once.
    """

    one_case: ClassVar[RequirementCase]

    def shared_case(self) -> RequirementCase:
        """Return the case of this class."""
        if "one_case" not in vars(type(self)):
            type(self).one_case = self.case()
        return self.one_case

    test_two_routes_agree = make_test(two_routes_agree)
    test_weights_count_as_rows = make_test(weights_count_as_rows)
    test_people_count_once = make_test(people_count_once)
    test_missing_values_form_groups = make_test(missing_values_form_groups)
    test_copies_count = make_test(copies_count)
    test_files_tell_together = make_test(files_tell_together)
    test_figures_are_told = make_test(figures_are_told)
    test_stricter_never_passes_what_weaker_fails = make_test(stricter_never_passes_what_weaker_fails)
    test_order_looks_at_every_field = make_test(order_looks_at_every_field)
    test_classes_agree_with_measure = make_test(classes_agree_with_measure)
    test_fields_are_described = make_test(fields_are_described)
    test_page_is_there = make_test(page_is_there)
    test_document_has_its_fields = make_test(document_has_its_fields)
    test_failures_name_what_is_wrong = make_test(failures_name_what_is_wrong)


CHECKS: tuple[Check, ...] = (
    two_routes_agree,
    weights_count_as_rows,
    people_count_once,
    missing_values_form_groups,
    copies_count,
    files_tell_together,
    figures_are_told,
    stricter_never_passes_what_weaker_fails,
    order_looks_at_every_field,
    classes_agree_with_measure,
    fields_are_described,
    page_is_there,
    document_has_its_fields,
    failures_name_what_is_wrong,
)
