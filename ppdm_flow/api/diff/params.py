"""Params that the user of a policy may set: whether a value that a param takes weakens the policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import chain, combinations, islice, product
from pathlib import Path

from ppdm_flow.api.diff.policies import LoadedPolicy, compared, read
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.inheritance.joining import same
from ppdm_flow.policy.loaded import PolicyReading, UsedParam
from ppdm_flow.policy.order import ChangeVerdict, ClauseText, ComparedClause, PolicyComparison, PolicyRelation
from ppdm_flow.policy.params import LIST, ParamLimits, number
from ppdm_flow.policy.redaction import UNSHOWN
from ppdm_flow.policy.text.nodes import Map, Node, Scalar, Seq
from ppdm_flow.policy.text.parse import PLACEHOLDER
from ppdm_flow.sdk import registry

Sets = Mapping[str, str]
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
    known: dict[frozenset[tuple[str, str]], LoadedPolicy | None] = field(default_factory=dict)

    def of(self, chosen: Mapping[str, str]) -> LoadedPolicy | None:
        """Return the policy with these values; None where it does not take them."""
        key = frozenset(chosen.items())
        if key not in self.known:
            library = replace(self.policy.place.library(), parsed=self.library.parsed)  # layers depend on the values
            try:
                path = Path(self.policy.loaded.file)
                self.known[key] = read(path, self.policy.place, {**self.sets, **chosen}, library)
            except PolicyError:
                self.known[key] = None
        return self.known[key]

    def roots(self) -> tuple[Map, ...]:
        """Return the trees of the policy's files as they are written, without what is words for readers only."""
        self.of({})
        roots = (parsed.root for parsed in self.library.parsed.values() if parsed.root is not None)
        return tuple(
            replace(root, entries={key: e for key, e in root.entries.items() if key not in _WORDS_ONLY})
            for root in roots
        )


class _ParamTrials:
    """Two policies that are compared with values of params other than those that they have."""

    def __init__(self, order: PolicyComparison, old: LoadedPolicy, new: LoadedPolicy, sets: Sets) -> None:
        self.order = order
        self.old, self.new = _Variants(old, sets), _Variants(new, sets)
        self.before, self.after = ({p.name: p for p in policy.loaded.params} for policy in (old, new))
        self.roots: tuple[tuple[Map, ...], tuple[Map, ...]] = ((), ())
        self.more = _MOST_MORE

    def changes(self) -> Iterator[ComparedClause]:
        """Yield params that came or went, and those that take a value with which the new policy is not as strict.

        The ends of what a param takes are tried, and each of its choices. Policies that are written alike are alike.
        """
        if not self.before and not self.after:
            return
        before, after = self.roots = self.old.roots(), self.new.roots()
        if len(before) == len(after) and all(map(same, before, after)):
            return
        harmless = True
        for name in dict.fromkeys((*self.before, *self.after)):
            sides = _side(self.before.get(name)), _side(self.after.get(name))
            if name not in self.after:
                yield ComparedClause(f"params.{name}", ChangeVerdict.STRONGER, _FIXED, *sides)
                continue
            worst = self._worst(self.after[name])
            if worst is not None:
                yield ComparedClause(f"params.{name}", *worst, *sides)
            elif name not in self.before:
                yield ComparedClause(f"params.{name}", ChangeVerdict.NEUTRAL, _HARMLESS, *sides)
            harmless = harmless and worst is None
        if harmless and self.order.relation not in _LAX:
            yield from self._joint()

    def _worst(self, param: UsedParam) -> tuple[ChangeVerdict, str] | None:
        """Return what a value of the param does to the policy, if one does; none where floors or rules refuse it.

        Of a number whose end is refused, the outermost one is tried that is not. Refused choices, and all values where
        each one is refused, are tried once more together with values of another param, which they may need.
        """
        if self.order.relation in _LAX:  # so it is with any value
            return None if param.name in self.before else (ChangeVerdict.WEAKER, _FREE)
        refused: list[str] = []
        taken = 0
        for value in self._others(param):
            relation = self._with({param.name: value})
            if relation in _LAX:
                return _judge_relation(relation, {param.name: value})
            refused += [value] if relation is None else []
            taken += relation is not None
        for value in refused:
            chosen = self._nearest(param, value) if param.limits.type in _NUMBERS else None
            if chosen is None and (param.limits.choices or not taken):
                chosen = self._partner(param, value)
            relation = self._with(chosen) if chosen else None
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
        some = values(param, before, self.new.policy.loaded, self.roots[1])
        return [value for value in some if value != present]

    def _nearest(self, param: UsedParam, end: str) -> dict[str, str] | None:
        """Return the number nearest to a refused end that the policy takes, found by halving; None where it takes none.

        It is looked for between the present value and the end.
        """
        present = number("".join(param.texts))
        nearest, beyond = None, number(end)
        while present is not None and beyond is not None and self.more > 0:
            middle = between(present, beyond, integer=param.limits.type == "integer")
            if middle is None:
                break
            self.more -= 1
            if self._takes({param.name: str(middle)}):
                present, nearest = middle, {param.name: str(middle)}
            else:
                beyond = middle
        return nearest

    def _partner(self, param: UsedParam, value: str) -> dict[str, str] | None:
        """Return a refused value with one of another param with which the policy takes it; None where there is none."""
        for other in self.after.values():
            for theirs in self._others(other) if other.name != param.name else ():
                chosen = {param.name: value, other.name: theirs}
                self.more -= 1
                if self.more < 0:
                    return None
                if self._takes(chosen):
                    return chosen
        return None

    def _is_unchanged(self, param: UsedParam) -> bool:
        """Whether the policies mean the same, and the param is declared and used in the same way."""
        before = self.before.get(param.name)
        if before is None or before.limits != param.limits or self.order.relation is not PolicyRelation.EQUAL:
            return False
        return sorted(uses(param.name, self.roots[0])) == sorted(uses(param.name, self.roots[1]))

    def _joint(self) -> Iterator[ComparedClause]:
        """Yield what values of several params do at once: what each alone does may be made up for by another clause."""
        numbers = [p for p in self.after.values() if p.limits.type in _NUMBERS]
        names = [p.name for p in numbers]
        if len(names) > _MOST_AT_ONCE and (set(names) - set(self.before)):
            yield ComparedClause(f"params.{', '.join(names)}", ChangeVerdict.INCOMPARABLE, _TOO_MANY)
        if not 2 <= len(names) <= _MOST_AT_ONCE:
            return
        loaded, roots = self.new.policy.loaded, self.roots[1]
        ends = [values(p, self.before.get(p.name), loaded, roots) for p in numbers]
        for corner in product(*((some[0], some[1 if len(some) > 1 else 0]) for some in ends)):
            chosen = dict(zip(names, corner, strict=True))
            relation = self._with(chosen)
            if relation in _LAX:
                yield ComparedClause(f"params.{', '.join(names)}", *_judge_relation(relation, chosen))
                return

    def _takes(self, chosen: Mapping[str, str]) -> bool:
        """Whether the new policy takes these values."""
        later = self.new.of(chosen)
        return later is not None and later.plan is not None

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


def _judge_relation(relation: PolicyRelation, chosen: Mapping[str, str]) -> tuple[ChangeVerdict, str]:
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


def values(
    param: UsedParam, before: UsedParam | None, policy: PolicyReading, roots: Sequence[Map] = ()
) -> tuple[str, ...]:
    """Return values to try: all choices, or both ends; where an end is open, something beyond what is known.

    Of a number the first two are its ends. For a text that is a name of the policy or a word of the language, these are
    the others of its kind; for one that is a number or a date, the next ones; where it is a part of a name in the files
    ``roots``, those parts that make names. Of a list, the shortest lists of choices that it takes, and the longest.
    """
    limits = param.limits
    if limits.type == LIST:
        some = [_written(items) for items in _lists(param, limits, policy)]
    elif limits.choices:
        some = [*limits.choices]
    elif limits.type == "boolean":
        some = ["true", "false"]
    elif limits.type in ("integer", "float"):
        ends = [limits.low or _beyond(param, before, up=False), limits.high or _beyond(param, before, up=True)]
        some = [*ends, *(part for part in _parts_of_names(param, policy, roots) if _within(limits, part))]
    else:
        some = [*_texts(param, before), *_others(param, policy), *_parts_of_names(param, policy, roots)]
    return tuple(dict.fromkeys(some))


def between(taken: Decimal, refused: Decimal, *, integer: bool) -> Decimal | None:
    """Return a number halfway between two; None where they are too near to each other."""
    middle = (taken + refused) / 2
    if integer:
        middle = middle.to_integral_value(ROUND_HALF_EVEN)
        return None if middle in (taken, refused) else middle
    far = max(abs(taken), abs(refused)) * _FINEST
    return None if abs(taken - refused) <= far else middle.normalize()


def uses(name: str, roots: Iterable[Map]) -> Iterator[str]:
    """Yield the texts of files in which a param is used, keys among them."""
    for text in chain.from_iterable(map(_references, roots)):
        if name in _named(text):
            yield text


def _lists(param: UsedParam, limits: ParamLimits, policy: PolicyReading) -> Iterator[tuple[str, ...]]:
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
    others = [(name,) for name in _others(param, policy)]
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


def _others(param: UsedParam, policy: PolicyReading) -> tuple[str, ...]:
    """Return the names and words that can stand in the place of the present ones."""
    present = {*param.texts}
    return tuple(other for kind in _kinds(policy) if kind & present for other in sorted(kind - present))


def _parts_of_names(param: UsedParam, policy: PolicyReading, roots: Iterable[Map]) -> Iterator[str]:
    """Yield what makes names of the policy, and words of the language, of the texts that the param is a part of."""
    names = sorted(frozenset[str]().union(*_kinds(policy)))
    present = {each.name: "".join(each.texts) for each in policy.params}
    for text in dict.fromkeys(uses(param.name, roots)):
        before, _, after = PLACEHOLDER.sub(
            lambda match: "\0" if _name(match[1]) == param.name else present.get(_name(match[1]), ""), text
        ).partition("\0")
        if before or after:
            fitting = (n for n in names if n.startswith(before) and n.endswith(after))
            yield from (n[len(before) : len(n) - len(after)] for n in fitting if len(n) > len(before) + len(after))


def _references(node: Node) -> Iterator[str]:
    """Yield the texts below a node that refer to params."""
    if isinstance(node, Scalar):
        yield from (node.text,) if node.text and "${" in node.text else ()
    elif isinstance(node, Seq):
        yield from chain.from_iterable(map(_references, node.items))
    else:
        for key, entry in node.entries.items():
            yield from (key,) if "${" in key else ()
            yield from _references(entry.node)


def _named(text: str) -> set[str]:
    """Return the params that a text refers to."""
    return {_name(match[1]) for match in PLACEHOLDER.finditer(text)}


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
