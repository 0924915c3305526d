"""How a change affects a policy, clause by clause and as a whole. Clauses are lines for people, with their places."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from ppdm_flow.core.diagnostics import current_code
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.demands import Demand, EqualTo, HasAll, OneOf, SubsetOf
from ppdm_flow.policy.floors.grammar import demands
from ppdm_flow.policy.language.models import (
    Attribute,
    GateEntry,
    Policy,
    Randomness,
    Release,
    ReportOptions,
    SourceEntry,
    TableEntry,
)
from ppdm_flow.policy.language.shape import key_at
from ppdm_flow.policy.linked import written_path
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading, Project
from ppdm_flow.policy.redaction import UNSHOWN


class ChangeVerdict(StrEnum):
    """What a changed clause is, compared with what it was."""

    STRONGER = "stronger"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"
    NEUTRAL = "neutral"


class PolicyRelation(StrEnum):
    """What the new policy is, compared with the old one."""

    EQUAL = "equal"
    STRICTER = "stricter"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True, slots=True)
class ClauseText:
    """A clause as one of the two policies has it: its text in one line, and where it stands."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class ComparedClause:
    """One clause that is not the same in both. A side is None where the policy has no such clause.

    ``clause`` is its path in the new policy (in the old one where it was removed), ``why`` a sentence on the rule.
    """

    clause: str
    verdict: ChangeVerdict
    why: str
    old: ClauseText | None = None
    new: ClauseText | None = None


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """The comparison of two policies. ``governance`` are floors, and who may sign: they bind people, and no release."""

    relation: PolicyRelation
    changes: tuple[ComparedClause, ...]
    governance: tuple[ComparedClause, ...] = ()


def verdict(*, forward: bool, backward: bool) -> ChangeVerdict:
    """Return the verdict where the new clause implies the old one (``forward``), and conversely (``backward``)."""
    if forward:
        return ChangeVerdict.NEUTRAL if backward else ChangeVerdict.STRONGER
    return ChangeVerdict.WEAKER if backward else ChangeVerdict.INCOMPARABLE


def stronger_word(path: PolicyPath, before: str, after: str) -> ChangeVerdict:
    """Return what a change of a word is by the mark of its key, which has the stronger words first."""
    key = key_at(path)
    words = key.words.words if key is not None and key.words is not None else ()
    ranks = words.index(before), words.index(after)
    return verdict(forward=ranks[1] <= ranks[0], backward=ranks[0] <= ranks[1])


def changed_word(path: PolicyPath, why: str, old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield the change of a word that both policies have, written or by default."""
    before, after = (_word(c.policy, path) for c in (old, new))
    if before != after:
        key = key_at(path)
        usual = "" if key is None else str(key.default)
        sides = (c.side(path) if c.has(path) else c.side(path, usual) for c in (old, new))
        yield ComparedClause(".".join(path), stronger_word(path, before, after), why, *sides)


def _word(whole: Any, path: PolicyPath) -> str:
    for name in path:
        whole = whole[name] if isinstance(whole, Mapping) else getattr(whole, name)
    return str(whole)


def relation(changes: Iterable[ComparedClause]) -> PolicyRelation:
    """Return what all changes come to."""
    return relation_of(change.verdict for change in changes)


def relation_of(every: Iterable[ChangeVerdict]) -> PolicyRelation:
    """Return what changes with these verdicts come to."""
    verdicts = {*every} - {ChangeVerdict.NEUTRAL}
    if not verdicts:
        return PolicyRelation.EQUAL
    if verdicts == {ChangeVerdict.STRONGER}:
        return PolicyRelation.STRICTER
    return PolicyRelation.WEAKER if verdicts == {ChangeVerdict.WEAKER} else PolicyRelation.INCOMPARABLE


_MOST = 120


@dataclass(frozen=True, slots=True)
class Clauses:
    """One policy's text by path. Values from the environment are never shown."""

    loaded: PolicyReading

    @property
    def policy(self) -> Policy:
        """The typed policy. Raises ValueError where it is not valid."""
        if self.loaded.policy is None:
            raise ValueError("only valid policies can be compared")
        return self.loaded.policy

    def side(self, path: PolicyPath, text: str | None = None) -> ClauseText:
        """Return what stands at ``path``, or ``text`` in its place, and the line of its key."""
        span = self._at(path)
        if text is not None and path not in self.loaded.hidden:
            shown = text
        else:
            shown = "" if span is None else self._text(span, path, top=True)
        return ClauseText(shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…", self.span(path))

    def span(self, path: PolicyPath) -> Span | None:
        """Return where the key at ``path`` stands, or the nearest above it."""
        return self.loaded.places.key(*path)

    def has(self, path: PolicyPath) -> bool:
        """Whether something stands at ``path``."""
        return self._at(path) is not None

    def hides(self, *path: str) -> bool:
        """Whether something at ``path``, or below it, comes from the environment."""
        return any(hidden[: len(path)] == path for hidden in self.loaded.hidden)

    def _at(self, path: PolicyPath) -> Any:
        tree: Any = self.loaded.tree
        for part in written_path(path, self.policy):
            if not isinstance(tree, Mapping) or part not in tree:
                return None
            tree = tree[part]
        return tree

    def _text(self, value: Any, path: PolicyPath, *, top: bool = False) -> str:
        if isinstance(value, Mapping):
            parts = [f"{key}: {self._text(item, (*path, str(key)))}" for key, item in value.items()]
            inner = ", ".join(parts)
            return inner if top else f"{{{inner}}}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(self._text(item, (*path, str(i))) for i, item in enumerate(value)) + "]"
        if path in self.loaded.hidden:
            return UNSHOWN
        return "null" if value is None else str(value) or '""'


# Floors and waivers: what binds those who extend a policy, and what need not hold for a while.


_LOST = "a policy that extends it is no longer bound"


def floors(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield floors that were added, removed or changed."""
    before, after = old.policy.floors, new.policy.floors
    for name in dict.fromkeys((*before, *after)):
        path = ("floors", name)
        if name not in after:
            yield ComparedClause(f"floors.{name}", ChangeVerdict.WEAKER, _LOST, old.side(path), None)
        elif name not in before:
            yield ComparedClause(
                f"floors.{name}", ChangeVerdict.STRONGER, "a policy that extends it is bound", None, new.side(path)
            )
        elif before[name].split() != after[name].split():
            yield ComparedClause(f"floors.{name}", *_moved(before[name], after[name]), old.side(path), new.side(path))


def project(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what changed in the project files that bind the two policies."""
    before, after = old.loaded.project, new.loaded.project
    if before is None and after is None:
        return
    demands: tuple[tuple[str, Callable[[Project], Collection[str]]], ...] = (
        ("require", lambda p: [each.name for each in p.required]),
        ("locked", lambda p: ["true"] if p.locked else []),
        ("lint.strict", lambda p: ["true"] if p.strict else []),
    )
    for key, said in demands:
        one, other = (frozenset(() if p is None else said(p)) for p in (before, after))
        if one != other:
            judged = verdict(forward=one <= other, backward=other <= one)
            yield ComparedClause(
                f"project.{key}", judged, "it binds every policy of the project", *_said(before, after, said)
            )
    files = [None if p is None or p.signers is None else p.signers.name for p in (before, after)]
    if files[0] != files[1]:
        why = "other people may sign: the reviewer has to know them"
        sides = _said(before, after, lambda p: [p.signers.name] if p.signers else [])
        yield ComparedClause("project.signers", ChangeVerdict.INCOMPARABLE, why, *sides)


def _said(
    before: Project | None, after: Project | None, said: Callable[[Project], Collection[str]]
) -> Iterator[ClauseText | None]:
    for each in (before, after):
        text = "" if each is None else ", ".join(said(each))
        yield ClauseText(text, Span(each.shown, 1, 1, 1, 1)) if each is not None and text else None


def _moved(before: str, after: str) -> tuple[ChangeVerdict, str]:
    """Compare what two floors ask: each of several demands, joined by ``and``, counts by itself."""
    one, other = ({" ".join(part.split()) for part in text.split(" and ")} for text in (before, after))
    lost, won = one - other, other - one
    if not lost and not won:
        return ChangeVerdict.NEUTRAL, "the same demands"
    if not lost:
        return ChangeVerdict.STRONGER, "another demand besides"
    if not won:
        return ChangeVerdict.WEAKER, "a demand is gone"
    if len(lost) != 1 or len(won) != 1:
        return ChangeVerdict.INCOMPARABLE, "other demands"
    (before,), (after,) = lost, won
    return _names(before, after) or _bounds(before, after)


def _names(before: str, after: str) -> tuple[ChangeVerdict, str] | None:
    """Say which of two demands on names is the harder one; None where they are no such demands, or of two kinds."""
    one, other = _wanted(before), _wanted(after)
    if one is None or other is None or one[0] is not other[0]:
        return None
    fewer = one[1] <= other[1], other[1] <= one[1]
    forward, backward = fewer if one[0] is HasAll else fewer[::-1]
    judged = verdict(forward=forward, backward=backward)
    return judged, _HARDER[judged]


_HARDER = {
    ChangeVerdict.STRONGER: "a harder demand",
    ChangeVerdict.WEAKER: "an easier demand",
    ChangeVerdict.NEUTRAL: "the same demand",
    ChangeVerdict.INCOMPARABLE: "another demand",
}


def _wanted(text: str) -> tuple[type[Demand], frozenset[str]] | None:
    """Return the kind of a demand on names, and the names; more ask for more only where all have to be there."""
    read = demands(text)
    demand = read[0] if read is not None and len(read) == 1 else None
    if isinstance(demand, HasAll | SubsetOf | OneOf):
        return type(demand), frozenset(demand.wanted)
    if isinstance(demand, EqualTo) and isinstance(demand.tree, str):
        return OneOf, frozenset((demand.tree,))
    return None


def _bounds(before: str, after: str) -> tuple[ChangeVerdict, str]:
    """Say which of two bounds with one sign is the harder one."""
    signs = {text.rstrip("0123456789.eE+- ").strip() for text in (before, after)}
    sign = signs.pop() if len(signs) == 1 else ""
    try:
        one, other = (float(text.replace(sign, "", 1)) for text in (before, after)) if sign else (0.0, 0.0)
    except ValueError:
        sign = ""
    if sign not in (">=", ">", "<=", "<"):
        return ChangeVerdict.INCOMPARABLE, "another demand"
    if one == other:
        return ChangeVerdict.NEUTRAL, "the same bound"
    harder = other > one if sign.startswith(">") else other < one
    return (ChangeVerdict.STRONGER, "a harder bound") if harder else (ChangeVerdict.WEAKER, "an easier bound")


def waived(tree: Mapping[str, Any]) -> dict[str, str]:
    """Return the last day of what is waived, by what it is; the latest, where several are about one thing."""
    last_day: dict[str, str] = {}
    given = tree.get("waivers")
    for each in given.values() if isinstance(given, Mapping) else ():
        if isinstance(each, Mapping):
            name, until = _name(each), str(each.get("until", ""))
            last_day[name] = max(last_day.get(name, ""), until)
    return last_day


def _name(waiver: Mapping[str, Any]) -> str:
    """Return what is waived: an id, or a code with the place that it is about."""
    of, at = current_code(str(waiver.get("of", ""))), waiver.get("at")
    return of if at is None else f"{of} at {at}"


def waivers(old: Clauses, new: Clauses, judged: Collection[str]) -> Iterator[ComparedClause]:
    """Yield what has changed about waivers; those of clauses in ``judged`` count there."""
    before, after = waived(old.loaded.tree), waived(new.loaded.tree)
    for of in dict.fromkeys((*before, *after)):
        days = before.get(of, ""), after.get(of, "")
        if days[0] == days[1]:
            continue
        judged_days = verdict(forward=days[1] <= days[0], backward=days[0] <= days[1])
        if of in judged:
            yield ComparedClause(
                f"waivers of {of}", ChangeVerdict.NEUTRAL, f"what it does is said at `{of}`", *_sides(of, old, new)
            )
        else:
            yield ComparedClause(f"waivers of {of}", judged_days, "what is waived may happen", *_sides(of, old, new))


def _sides(of: str, old: Clauses, new: Clauses) -> tuple[ClauseText | None, ClauseText | None]:
    return _side(of, old), _side(of, new)


def _side(of: str, clauses: Clauses) -> ClauseText | None:
    given = clauses.loaded.tree.get("waivers")
    for name, waiver in given.items() if isinstance(given, Mapping) else ():
        if isinstance(waiver, Mapping) and _name(waiver) == of:
            return clauses.side(("waivers", str(name)))
    return None


# Words of the language that no rule here knows: where they differ, nothing is proved.


KNOWN: Mapping[type[BaseModel], frozenset[str]] = {
    Policy: frozenset(
        [
            "version",
            "name",
            "description",
            "owner",
            "extends",
            "params",
            "floors",
            "source",
            "attributes",
            "undeclared",
            "tables",
            "people",
            "nulls",
            "privacy",
            "steps",
            "audits",
            "analyses",
            "gates",
            "waivers",
            "releases",
            "recipients",
            "randomness",
            "ledger",
            "approvals",
            "report",
        ]
    ),
    TableEntry: frozenset(("source", "key", "refers", "attributes", "undeclared")),
    SourceEntry: frozenset(
        (
            "path",
            "url",
            "table",
            "query",
            "format",
            "columns",
            "missing",
            "incomplete_rows",
            "normalize",
            "keep_apart",
            "randomized_by",
            "operator",
            "with_",
        )
    ),
    Attribute: frozenset(("role", "type", "domain", "hierarchy", "determines", "description")),
    GateEntry: frozenset(("metric", "min", "max", "releases", "max_width")),
    Release: frozenset(
        (
            *("from_", "path", "format", "audience", "shuffle", "description"),
            *("into", "partition_by", "collapse", "with_", "received"),
        )
    ),
    Randomness: frozenset(("mode", "seed")),
    ReportOptions: frozenset(("values",)),
}
"""The fields that the rules of this room judge; a ledger and approvals are compared as a whole."""


def unknown(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield fields beyond those, where they are not the same."""
    before, after = dict(_parts(old.policy)), dict(_parts(new.policy))
    for path in dict.fromkeys((*before, *after)):
        sides = _beyond(before.get(path)), _beyond(after.get(path))
        if sides[0] != sides[1]:
            why = "no rule of the comparison knows this word of the language"
            yield ComparedClause(
                ".".join(path) or "policy", ChangeVerdict.INCOMPARABLE, why, old.side(path), new.side(path)
            )


def _parts(policy: Policy) -> Iterator[tuple[tuple[str, ...], BaseModel]]:
    yield (), policy
    yield ("source",), policy.source
    yield ("randomness",), policy.randomness
    for name, table in policy.tables.items():
        yield ("tables", name), table
        yield ("tables", name, "source"), table.source
    yield ("report",), policy.report
    for section in ("attributes", "gates", "releases"):
        for name, part in getattr(policy, section).items():
            yield (section, name), part


def _beyond(part: BaseModel | None) -> dict[str, Any]:
    """Return the fields that nothing here judges, as far as they are not what they are by default."""
    if part is None:
        return {}
    known = next(KNOWN[model] for model in type(part).__mro__ if model in KNOWN)
    fields = type(part).model_fields
    unread = {name: getattr(part, name) for name in fields if name not in known}
    return {
        name: value for name, value in unread.items() if value != fields[name].get_default(call_default_factory=True)
    }
