"""Params that the user of a policy may set: whether a value that a param takes weakens the policy."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property
from itertools import combinations, islice, product
from pathlib import Path

from ppdm_flow.api.diff.policies import LoadedPolicy, compared, read
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.inheritance.joining import same
from ppdm_flow.policy.language.kinds import Entries, kinds_among, third_parties
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading, UsedParam
from ppdm_flow.policy.order import ChangeVerdict, ClauseText, ComparedClause, PolicyComparison, PolicyRelation
from ppdm_flow.policy.order.clauses import relation_of
from ppdm_flow.policy.params import LIST, ParamLimits, number
from ppdm_flow.policy.redaction import UNSHOWN
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq
from ppdm_flow.policy.text.parse import PLACEHOLDER
from ppdm_flow.sdk import registry

Sets = Mapping[str, str]
Judgement = tuple[ChangeVerdict, str]
_LAX = {PolicyRelation.WEAKER: ChangeVerdict.WEAKER, PolicyRelation.INCOMPARABLE: ChangeVerdict.INCOMPARABLE}
_FIXED = "users of the policy can no longer set it"
_FREE = "users of the policy may set another value within its bounds and floors"
_HARMLESS = "users of the policy may set another value; no value that was tried weakens anything"
_NUMBERS = ("integer", "float")
_MOST_AT_ONCE = 6
_MOST_MORE = 1000
"""How often a diff reads policies with further values, where the first ones are refused."""
_TOO_MANY = f"a new param is one of more than {_MOST_AT_ONCE} numbers, whose ends are not tried all at once"
_UNTRIED = "users of the policy may set another value; the policy takes none of those that were tried"
_UNFINISHED = "users of the policy may set another value; too many are refused to find those that the policy takes"
_WORDS_ONLY = frozenset({"description", "owner"})


def with_params(order: PolicyComparison, old: LoadedPolicy, new: LoadedPolicy, sets: Sets) -> PolicyComparison:
    """Return the comparison with the changes that params allow users of the policies to make."""
    return replace(order, governance=(*order.governance, *_ParamTrials(order, old, new, sets).changes()))


@dataclass(slots=True)
class _Variants:
    """One policy with other values of its params. Each of its files is parsed once, and each variant is kept."""

    policy: LoadedPolicy
    sets: Sets
    library: Library = field(default_factory=Library)
    known: dict[frozenset[tuple[str, str]], LoadedPolicy | tuple[Diagnostic, ...]] = field(default_factory=dict)

    def of(self, chosen: Mapping[str, str]) -> LoadedPolicy | None:
        """Return the policy with these values; None where it does not take them."""
        variant = self._read(chosen)
        return variant if isinstance(variant, LoadedPolicy) else None

    def errors(self, chosen: Mapping[str, str], *, planned: bool) -> Iterator[Diagnostic]:
        """Yield why the policy does not take these values, or why it has no plan with them."""
        variant = self._read(chosen)
        if not isinstance(variant, LoadedPolicy):
            every = variant
        else:
            every = variant.compiled.diagnostics if planned and variant.plan is None else ()
        return (each for each in every if each.severity is Severity.ERROR)

    def _read(self, chosen: Mapping[str, str]) -> LoadedPolicy | tuple[Diagnostic, ...]:
        key = frozenset(chosen.items())
        if key not in self.known:
            library = replace(self.policy.place.library(), parsed=self.library.parsed)  # layers depend on the values
            try:
                path = Path(self.policy.loaded.file)
                self.known[key] = read(path, self.policy.place, {**self.sets, **chosen}, library)
            except PolicyError as error:
                self.known[key] = error.diagnostics
        return self.known[key]

    def written(self) -> _WrittenPolicy:
        """Return the policy as its files have it, without what is words for readers only."""
        self.of({})
        roots = (parsed.root for parsed in self.library.parsed.values() if parsed.root is not None)
        plain = (
            replace(root, entries={key: e for key, e in root.entries.items() if key not in _WORDS_ONLY})
            for root in roots
        )
        return _WrittenPolicy(self.policy.loaded, tuple(plain))


@dataclass(frozen=True, slots=True)
class _Trial:
    """Values that the new policy is read with. Where they are not ``compared``, it is only asked if it takes them."""

    chosen: Mapping[str, str]
    compared: bool = True


_Trials = Generator[_Trial, PolicyRelation | None, Judgement | None]
"""Tries values one after the other; is sent what the new policy is with each, None where it does not take it."""


class _ParamTrials:
    """Two policies that are compared with values of params other than those that they have.

    Most params of a long policy stand in an entry of their own. What a value of one does is told by that entry alone,
    so that many are tried at once; in halves, where it is not told. All others are tried one by one.
    """

    def __init__(self, order: PolicyComparison, old: LoadedPolicy, new: LoadedPolicy, sets: Sets) -> None:
        self.order = order
        self.old, self.new = _Variants(old, sets), _Variants(new, sets)
        self.before, self.after = ({p.name: p for p in policy.loaded.params} for policy in (old, new))
        self.more = _MOST_MORE

    @cached_property
    def written(self) -> tuple[_WrittenPolicy, _WrittenPolicy]:
        """Both policies as their files have them."""
        return self.old.written(), self.new.written()

    def changes(self) -> Iterator[ComparedClause]:
        """Yield params that came or went, and those that take a value with which the new policy is not as strict.

        The ends of what a param takes are tried, and each of its choices. Policies that are written alike are alike.
        """
        if not self.before and not self.after:
            return
        before, after = (written.roots for written in self.written)
        if len(before) == len(after) and all(map(same, before, after)):
            return
        every = self._worst_of_each()
        for name in dict.fromkeys((*self.before, *self.after)):
            sides = _side(self.before.get(name)), _side(self.after.get(name))
            if name not in self.after:
                yield ComparedClause(f"params.{name}", ChangeVerdict.STRONGER, _FIXED, *sides)
                continue
            worst = every[name]
            if worst is not None:
                yield ComparedClause(f"params.{name}", *worst, *sides)
            elif name not in self.before:
                yield ComparedClause(f"params.{name}", ChangeVerdict.NEUTRAL, _HARMLESS, *sides)
        if not any(every.values()) and self.order.relation not in _LAX:
            yield from self._joint()

    def _worst_of_each(self) -> dict[str, Judgement | None]:
        """Return what a value of each param does to the policy, if one does. The trials of all go on side by side."""
        worst: dict[str, Judgement | None] = {}
        trials = {name: self._worst(param) for name, param in self.after.items()}
        answers: dict[str, PolicyRelation | None] = dict.fromkeys(trials)
        while answers:
            asked: dict[str, _Trial] = {}
            for name, answer in answers.items():
                try:
                    asked[name] = trials[name].send(answer)
                except StopIteration as end:
                    worst[name] = end.value
            answers = self._answers(asked)
        return worst

    def _worst(self, param: UsedParam) -> _Trials:
        """Return what a value of the param does to the policy, if one does; none where floors or rules refuse it.

        Of a number whose end is refused, the outermost one is tried that is not. Refused choices, and all values where
        each one is refused, are tried once more together with values of another param, which they may need.
        """
        if self.order.relation in _LAX:  # so it is with any value
            return None if param.name in self.before else (ChangeVerdict.WEAKER, _FREE)
        refused: list[str] = []
        taken = 0
        for value in self._others(param):
            relation = yield _Trial({param.name: value})
            if relation in _LAX:
                return _judge_relation(relation, {param.name: value})
            refused += [value] if relation is None else []
            taken += relation is not None
        for value in refused:
            chosen = (yield from self._nearest(param, value)) if param.limits.type in _NUMBERS else None
            if chosen is None and (param.limits.choices or not taken):
                chosen = yield from self._partner(param, value)
            relation = (yield _Trial(chosen)) if chosen else None
            if chosen and relation in _LAX:
                return _judge_relation(relation, chosen)
            taken += relation is not None
        if self.more <= 0 and refused:
            return ChangeVerdict.INCOMPARABLE, _UNFINISHED
        return None if taken or not refused or self._is_unchanged(param) else (ChangeVerdict.INCOMPARABLE, _UNTRIED)

    def _others(self, param: UsedParam) -> list[str]:
        """Return the values to try but for the present one, if the old policy has that too."""
        before = self.before.get(param.name)
        present = None if before is not None and before.texts != param.texts else ", ".join(param.texts)
        return [value for value in values(param, before, self.written[1]) if value != present]

    def _nearest(
        self, param: UsedParam, end: str
    ) -> Generator[_Trial, PolicyRelation | None, Mapping[str, str] | None]:
        """Return the number nearest to a refused end that the policy takes, found by halving; None where it takes none.

        It is looked for between the present value and the end.
        """
        present = number("".join(param.texts))
        nearest, beyond = None, number(end)
        while present is not None and beyond is not None and self.more > 0:
            middle = between(present, beyond, integer=param.limits.type == "integer")
            if middle is None:
                break
            if (yield _Trial({param.name: str(middle)}, compared=False)) is not None:
                present, nearest = middle, {param.name: str(middle)}
            else:
                beyond = middle
        return nearest

    def _partner(
        self, param: UsedParam, value: str
    ) -> Generator[_Trial, PolicyRelation | None, Mapping[str, str] | None]:
        """Return a refused value with one of another param with which the policy takes it; None where there is none."""
        for other in self.after.values():
            for theirs in self._others(other) if other.name != param.name else ():
                if self.more <= 0:
                    return None
                chosen = {param.name: value, other.name: theirs}
                if (yield _Trial(chosen, compared=False)) is not None:
                    return chosen
        return None

    def _is_unchanged(self, param: UsedParam) -> bool:
        """Whether the policies mean the same, and the param is declared and used in the same way."""
        before = self.before.get(param.name)
        if before is None or before.limits != param.limits or self.order.relation is not PolicyRelation.EQUAL:
            return False
        return len({tuple(sorted(written.texts(param.name))) for written in self.written}) == 1

    def _joint(self) -> Iterator[ComparedClause]:
        """Yield what values of several params do at once: what each alone does may be made up for by another clause."""
        numbers = [p for p in self.after.values() if p.limits.type in _NUMBERS]
        names = [p.name for p in numbers]
        if len(names) > _MOST_AT_ONCE and (set(names) - set(self.before)):
            yield ComparedClause(f"params.{', '.join(names)}", ChangeVerdict.INCOMPARABLE, _TOO_MANY)
        if not 2 <= len(names) <= _MOST_AT_ONCE:
            return
        ends = [values(p, self.before.get(p.name), self.written[1]) for p in numbers]
        for corner in product(*((some[0], some[1 if len(some) > 1 else 0]) for some in ends)):
            chosen = dict(zip(names, corner, strict=True))
            relation = self._with(chosen)
            if relation in _LAX:
                yield ComparedClause(f"params.{', '.join(names)}", *_judge_relation(relation, chosen))
                return

    def _answers(self, asked: Mapping[str, _Trial]) -> dict[str, PolicyRelation | None]:
        """Return what the new policy is in each trial, by param."""
        groups: dict[tuple[object, ...], dict[str, _Trial]] = defaultdict(dict)
        for name, trial in asked.items():
            entry = self.entries.get(name) if trial.chosen.keys() == {name} else None
            groups[(name,) if entry is None else (entry[1], trial.compared)][name] = trial
        answers: dict[str, PolicyRelation | None] = {}
        for trials in groups.values():
            first = next(iter(trials.values()))
            if len(trials) == 1:
                answers[next(iter(trials))] = self._with(first.chosen) if first.compared else self._takes(first.chosen)
            else:
                chosen = {name: trial.chosen[name] for name, trial in trials.items()}
                answers |= self._together(chosen, compared=first.compared)
        return answers

    @cached_property
    def entries(self) -> dict[str, PolicyPath]:
        """The entry in which each param stands that stands in no other one, alone, and in the same one in both."""
        both = [written.entries for written in self.written]
        found = {
            name: entry for name, entry in both[1].items() if name not in self.before or both[0].get(name) == entry
        }
        shared = Counter(found.values())
        return {name: entry for name, entry in found.items() if shared[entry] == 1}

    def _together(self, chosen: Mapping[str, str], *, compared: bool) -> dict[str, PolicyRelation | None]:
        """Return what the new policy is with each of these values alone, of params with entries of their own."""
        if len(chosen) == 1:
            return {name: self._with(chosen) if compared else self._takes(chosen) for name in chosen}
        refused = self._refused(self.new, chosen)
        if refused:
            left = {name: value for name, value in chosen.items() if name not in refused}
            return {**dict.fromkeys(refused), **(self._together(left, compared=compared) if left else {})}
        if refused is not None and not compared:
            return dict.fromkeys(chosen, PolicyRelation.EQUAL)
        answers = self._compared_at_once(chosen) if refused is not None else None
        if answers is not None:
            return answers
        names, middle = list(chosen), len(chosen) // 2
        halves = ({name: chosen[name] for name in some} for some in (names[:middle], names[middle:]))
        return {name: each for half in halves for name, each in self._together(half, compared=compared).items()}

    def _refused(self, variants: _Variants, chosen: Mapping[str, str]) -> set[str] | None:
        """Return the params whose values the policy does not take; None where its errors do not tell."""
        names = {self.entries[name]: name for name in chosen}
        blamed = {names.get(each.path[:3]) for each in variants.errors(chosen, planned=variants is self.new)}
        return None if None in blamed else {name for name in blamed if name is not None}

    def _compared_at_once(self, chosen: Mapping[str, str]) -> dict[str, PolicyRelation | None] | None:
        """Return what the new policy is with each value, by the changes of its entry; None where others change too."""
        taken = self._taken_at_once(chosen)
        later = self.new.of(chosen)
        if taken is None or later is None:
            return None
        changes = compared(self.old.of(taken) or self.old.policy, later).changes
        names = {".".join(self.entries[name]): name for name in chosen}
        if _beside(changes, names) != _beside(self.order.changes, names):
            return None
        present, tried = (_verdicts_by_clause(some) for some in (self.order.changes, changes))
        every = Counter(change.verdict for change in self.order.changes)
        return {
            name: relation_of(every - Counter(present[clause]) + Counter(tried[clause]))
            for clause, name in names.items()
        }

    def _taken_at_once(self, chosen: Mapping[str, str]) -> dict[str, str] | None:
        """Return for each value what `_taken` returns for it alone; None where it is not told."""
        candidates = {
            name: [text for text in (value, *_ends(param.limits, value)) if _fits(param.limits, text)]
            for name, value in chosen.items()
            if (param := self.before.get(name)) is not None
        }
        while True:
            taken = {name: texts[0] for name, texts in candidates.items() if texts}
            refused = self._refused(self.old, taken)
            if not refused:
                return taken if refused is not None else None
            for name in refused:
                del candidates[name][0]

    def _takes(self, chosen: Mapping[str, str]) -> PolicyRelation | None:
        """Return None where the new policy does not take these values."""
        self.more -= 1
        later = self.new.of(chosen)
        return None if later is None or later.plan is None else PolicyRelation.EQUAL

    def _with(self, chosen: Mapping[str, str]) -> PolicyRelation | None:
        """Return what the new policy is with these values, beside the old one with those or the nearest that it takes.

        None where the new policy does not take them.
        """
        later = self.new.of(chosen)
        if later is None or later.plan is None:
            return None
        taken = {name: self._taken(self.before[name], value) for name, value in chosen.items() if name in self.before}
        known = {name: value for name, value in taken.items() if value is not None}
        earlier = self.old.of(known) or self.old.policy  # each alone it takes, and not all of them
        return compared(earlier, later).relation

    def _taken(self, param: UsedParam, value: str) -> str | None:
        """Return the value, or the nearest one that the old policy takes."""
        some = (value, *_ends(param.limits, value))
        return next((each for each in some if self.old.of({param.name: each}) is not None), None)


def _beside(changes: Iterable[ComparedClause], clauses: Collection[str]) -> list[ComparedClause]:
    return [change for change in changes if change.clause not in clauses]


def _verdicts_by_clause(changes: Iterable[ComparedClause]) -> Mapping[str, list[ChangeVerdict]]:
    verdicts: dict[str, list[ChangeVerdict]] = defaultdict(list)
    for change in changes:
        verdicts[change.clause].append(change.verdict)
    return verdicts


def _judge_relation(relation: PolicyRelation, chosen: Mapping[str, str]) -> Judgement:
    words = " ".join(f"--set {name}={value}" for name, value in chosen.items())
    word = "weaker" if relation is PolicyRelation.WEAKER else "not proved to be as strict"
    return _LAX[relation], f"with `{words}` the policy is {word}"


def _ends(limits: ParamLimits, value: str) -> tuple[str, ...]:
    """Return the ends of a range, the one that is nearer to a value first."""
    figure = number(value)
    ends = [text for text in (limits.low, limits.high) if text is not None]
    return tuple(sorted(ends, key=lambda text: abs((number(text) or Decimal(0)) - (figure or Decimal(0)))))


def _side(param: UsedParam | None) -> ClauseText | None:
    return None if param is None else ClauseText(", ".join(param.texts) or UNSHOWN, param.declared)


# Which values of a param are tried: its choices, both ends of a range, and what free text may mean in a policy.


_WORD = "another"
"""A text, or an item of a list, that no policy means."""
_NAMED = ("attributes", "steps", "releases", "audits", "analyses")
_SWITCHES = (
    ("internal", "partner", "public"),
    ("true", "false"),
    ("together", "apart"),
    ("sealed", "reproducible"),
    ("keep", "escape"),
    ("error", "drop"),
    ("error", "allowed"),
    ("refuse", "warn"),
)
"""Words of the language that can replace one another."""
_MOST_LISTS = 64
_FINEST = Decimal(1) / 512
"""To this share of its range an end that a policy takes is found."""


def values(param: UsedParam, before: UsedParam | None, written: _WrittenPolicy) -> tuple[str, ...]:
    """Return values to try: all choices, or both ends; where an end is open, something beyond what is known.

    Of a number the first two are its ends. For a text that is a name of the policy or a word of the language, these are
    the others of its kind; for one that is a number or a date, the next ones; where it is a part of a name in the
    policy's files, those parts that make names. Of a list, the shortest lists of choices that it takes, and the
    longest.
    """
    limits = param.limits
    if limits.type == LIST:
        some = [_written(items) for items in _lists(param, limits, written)]
    elif limits.choices:
        some = [*limits.choices]
    elif limits.type == "boolean":
        some = ["true", "false"]
    elif limits.type in _NUMBERS:
        ends = [limits.low or _beyond(param, before, up=False), limits.high or _beyond(param, before, up=True)]
        some = [*ends, *(part for part in _parts_of_names(param, written) if _within(limits, part))]
    else:
        some = [*_texts(param, before), *_others(param, written), *_parts_of_names(param, written)]
    return tuple(dict.fromkeys(some))


def between(taken: Decimal, refused: Decimal, *, integer: bool) -> Decimal | None:
    """Return a number halfway between two; None where they are too near to each other."""
    middle = (taken + refused) / 2
    if integer:
        middle = middle.to_integral_value(ROUND_HALF_EVEN)
        return None if middle in (taken, refused) else middle
    far = max(abs(taken), abs(refused)) * _FINEST
    return None if abs(taken - refused) <= far else middle.normalize()


def _lists(param: UsedParam, limits: ParamLimits, written: _WrittenPolicy) -> Iterator[tuple[str, ...]]:
    """Yield lists that are long enough, and not too long.

    Of choices: the shortest lists, those that lack one choice, and all. Else each item alone, one more, another in the
    place of all, and each other name of its kind, filled up with what is there now.
    """
    least = max(int(number(limits.low or "1") or 0), 0)
    most = int(number(limits.high or "") or 0) or None
    if limits.choices:
        every = limits.choices
        sizes = dict.fromkeys((least, max(len(every) - 1, least), min(len(every), most or len(every))))
        for size in sizes:
            yield from islice(combinations(every, size), _MOST_LISTS)
        return
    unknown = [_WORD, *(f"{_WORD}{n}" for n in range(2, least + 1))]
    others = [(name,) for name in _others(param, written)]
    for items in (*((text,) for text in param.texts), (*param.texts, _WORD), (), (_WORD,), *others):
        spare = [text for text in (*(unknown if items == (_WORD,) else param.texts), *unknown) if text not in items]
        yield (*items, *spare[: max(least - len(items), 0)])[:most]


def _written(items: tuple[str, ...]) -> str:
    """Return a list as ``--set`` takes it."""
    plain = all(item and item == item.strip() and "," not in item and item[0] != "[" for item in items)
    return ", ".join(items) if plain else json.dumps(items, ensure_ascii=False)


def _texts(param: UsedParam, before: UsedParam | None) -> tuple[str, ...]:
    """Return longer texts, numbers on both sides of one, and days on both sides of a date."""
    text = "".join(param.texts)
    near = (_beyond(param, before, up=False), _beyond(param, before, up=True)) if number(text) is not None else ()
    return (f"{text}{_WORD}", f"{_WORD}{text}", *near, *_days(text))


def _days(text: str) -> tuple[str, ...]:
    try:
        day = date.fromisoformat(text)
        return tuple(str(day + timedelta(days)) for days in (-1, 1))
    except (ValueError, OverflowError):
        return ()


def _others(param: UsedParam, written: _WrittenPolicy) -> tuple[str, ...]:
    """Return the names and words that can stand in the place of the present ones."""
    present = {*param.texts}
    return tuple(other for kind in written.kinds if kind & present for other in sorted(kind - present))


def _parts_of_names(param: UsedParam, written: _WrittenPolicy) -> Iterator[str]:
    """Yield what makes names of the policy, and words of the language, of the texts that the param is a part of."""
    for text in dict.fromkeys(written.texts(param.name)):
        before, _, after = PLACEHOLDER.sub(
            lambda match: "\0" if _name(match[1]) == param.name else written.present.get(_name(match[1]), ""), text
        ).partition("\0")
        if before or after:
            fitting = (n for n in written.names if n.startswith(before) and n.endswith(after))
            yield from (n[len(before) : len(n) - len(after)] for n in fitting if len(n) > len(before) + len(after))


@dataclass(frozen=True)
class _WrittenPolicy:
    """A policy with the trees of its files: where these refer to params, and names that can replace one another."""

    policy: PolicyReading
    roots: tuple[Map, ...]

    def texts(self, name: str) -> list[str]:
        """Return the texts in which a param is used, keys among them."""
        return [text for _, text in self.uses[name]]

    @cached_property
    def uses(self) -> Mapping[str, list[tuple[PolicyPath, str]]]:
        """The texts in which each param is used, with their paths; that of a key is the path of its map."""
        uses: dict[str, list[tuple[PolicyPath, str]]] = defaultdict(list)
        for root in self.roots:
            for path, text in _references((), root):
                for name in {_name(match[1]) for match in PLACEHOLDER.finditer(text)}:
                    uses[name].append((path, text))
        return uses

    @cached_property
    def entries(self) -> dict[str, PolicyPath]:
        """The entry of a requirement in which each param stands that is one whole value there, and nowhere else.

        Only of built-in kinds with an entry for each attribute: no entry bears on another one of the kind.
        """
        alone = {name: some[0] for name, some in self.uses.items() if len(some) == 1}
        apart = {name: path[:3] for name, (path, text) in alone.items() if path[:1] == ("privacy",) and _is_one(text)}
        specs = kinds_among({entry[1] for entry in apart.values()})
        kinds = {spec.name for spec in specs if spec.entries is Entries.BY_ATTRIBUTE} - third_parties()
        return {
            name: entry for name, entry in apart.items() if len(alone[name][0]) > len(entry) == 3 and entry[1] in kinds
        }

    @cached_property
    def present(self) -> dict[str, str]:
        """The texts of the params."""
        return {each.name: "".join(each.texts) for each in self.policy.params}

    @cached_property
    def names(self) -> list[str]:
        """All names of the policy, and words of the language."""
        return sorted(frozenset[str]().union(*self.kinds))

    @cached_property
    def kinds(self) -> tuple[frozenset[str], ...]:
        """The names and words that can replace one another."""
        return tuple(_kinds(self.policy))


def _references(path: PolicyPath, node: Node) -> Iterator[tuple[PolicyPath, str]]:
    """Yield the texts below a node that refer to params, with their paths."""
    if isinstance(node, Scalar):
        yield from ((path, node.text),) if node.text and "${" in node.text else ()
    elif isinstance(node, Seq):
        for index, item in enumerate(node.items):
            yield from _references((*path, str(index)), item)
    else:
        for key, entry in node.entries.items():
            yield from ((path, key),) if "${" in key else ()
            yield from _references((*path, key), entry.node)


def _is_one(text: str) -> bool:
    """Whether a text is a reference to a param, and nothing else."""
    return PLACEHOLDER.fullmatch(text) is not None


def _name(reference: str) -> str:
    return reference.strip().removeprefix("params.")


def _kinds(policy: PolicyReading) -> Iterator[frozenset[str]]:
    """Yield the names and words that can replace one another."""
    names: dict[str, frozenset[str]] = {}
    for section in _NAMED:
        names[section] = frozenset(path[1] for path in policy.places.keys if len(path) == 2 and path[0] == section)
        yield names[section] | ({"source"} if section == "steps" else frozenset())
    yield from map(frozenset, _SWITCHES)
    for group in ("anonymizers", "audits"):
        yield frozenset(each.name for each in registry.listed(group))


def _fits(limits: ParamLimits, text: str) -> bool:
    """Whether a text is a value of a param, but for lists."""
    if limits.choices and text not in limits.choices:
        return False
    if limits.type == "boolean":
        return text in ("true", "false")
    return limits.type not in _NUMBERS or _within(limits, text)


def _within(limits: ParamLimits, text: str) -> bool:
    """Whether a text is a number of the type and in the range of a param."""
    figure, low, high = number(text), number(limits.low or ""), number(limits.high or "")
    if figure is None or (limits.type == "integer" and figure != int(figure)):
        return False
    return (low is None or figure >= low) and (high is None or figure <= high)


def _beyond(param: UsedParam, before: UsedParam | None, *, up: bool) -> str:
    """Return a number that lies beyond the value, and beyond the end that the old param had there."""
    known = [number(text) for text in (*param.texts, *(_end(before.limits, up=up) if before else ()))]
    figures = [figure for figure in known if figure is not None] or [Decimal(1)]
    edge = max(figures) if up else min(figures)
    if param.limits.type == "integer" or (param.limits.type == "text" and edge == int(edge)):
        return str(edge + 1 if up else edge - 1)
    return str(edge + abs(edge) / 100 if up else edge - abs(edge) / 100)


def _end(limits: ParamLimits, *, up: bool) -> tuple[str, ...]:
    end = limits.high if up else limits.low
    return () if end is None else (end,)
