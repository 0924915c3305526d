"""The comparison of two policies, clause by clause."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import get_args

from ppdm_flow.core.people import KnownRows
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.models import Attribute, Policy, SourceEntry
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.loaded import PolicyReading
from ppdm_flow.policy.order.claim import MetricReader, bounds_of
from ppdm_flow.policy.order.clauses import (
    ChangeVerdict,
    Clauses,
    ClauseText,
    ComparedClause,
    PolicyComparison,
    changed_word,
    floors,
    project,
    relation,
    unknown,
    verdict,
    waivers,
)
from ppdm_flow.policy.order.frame import ComparedPolicies, Contents, PolicyFrame, unread
from ppdm_flow.policy.order.releases import Canon, as_written, means, paired, releases
from ppdm_flow.policy.order.required import ClaimComparison, asked_of, choices, claims_of

Judged = tuple[ChangeVerdict, str]
_RECIPIENTS = "`together` judges the releases of a run as one table as well, `apart` only each by itself"


def compare(
    old: PolicyReading,
    new: PolicyReading,
    canon: Canon = as_written,
    contents: tuple[Contents, Contents] = (unread, unread),
) -> PolicyComparison:
    """Return what ``new`` is compared with ``old``.

    Parameters
    ----------
    canon
        Gives one text to all spellings of a plugin's parameters.
    contents
        Tell the contents of files that the old and the new policy name, such as a population.

    Raises ValueError where a policy is not valid.
    """
    before, after = Clauses(old), Clauses(new)
    frames = PolicyFrame(before.policy, contents[0]), PolicyFrame(after.policy, contents[1])
    between = ComparedPolicies(frames[1], frames[0])
    chosen = list(choices(before, after, between))
    required = _required(before, after, between, canon, {change.clause for change in chosen})
    judged = {".".join(path) for path in (*required.before, *required.after)}
    changes: list[ComparedClause] = [
        *attributes(before, after),
        *reading(before, after, between),
        *chosen,
        *required.changes(),
        *releases(before, after, paired(before.policy, after.policy, canon)),
        *changed_word(("recipients",), _RECIPIENTS, before, after),
        *conduct(before, after, between),
        *waivers(before, after, judged),
        *approvals(before, after),
        *unknown(before, after),
        *means(before, after, canon),
    ]
    governance = (*project(before, after), *floors(before, after), *signers(before, after, between))
    return PolicyComparison(relation(changes), tuple(changes), governance)


def _required(
    before: Clauses, after: Clauses, between: ComparedPolicies, canon: Canon, chosen: Collection[str]
) -> ClaimComparison:
    """Return the claims of both; not those of clauses that are compared as ``chosen``."""
    names = paired(before.policy, after.policy, canon)
    old = MetricReader(before.policy, asked_of(before), {}, canon, bounds_of)
    new = MetricReader(after.policy, asked_of(after), {later: name for name, later in names.items()}, canon, bounds_of)
    claims = claims_of(before, between.asked, old), claims_of(after, between.given, new)
    kept = [{path: own for path, own in every.items() if ".".join(path) not in chosen} for every in claims]
    return ClaimComparison(before, after, kept[0], kept[1], between)


# Attributes: which columns there are, who may see them, and which values they may have.


_PERSONAL = frozenset({Role.IDENTIFIER, Role.SUBJECT})
_PLAIN = frozenset({Role.INSENSITIVE, Role.TARGET})
_STRUCTURAL = frozenset({Role.WEIGHT, Role.ITEMS})
_RANK = {Role.QUASI_IDENTIFIER: 1, Role.SENSITIVE: 1, Role.INSENSITIVE: 0, Role.TARGET: 0}


def attributes(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about attributes."""
    before, after = old.policy.attributes, new.policy.attributes
    shuffled = [n for n in before if n in after] != [n for n in after if n in before]
    if shuffled and any(is_pattern(name) for name in (*before, *after)):
        why = "of several patterns that fit a column the first one counts, and their order is another"
        sides = [c.side(("attributes",), "order of patterns") for c in (old, new)]
        yield ComparedClause("attributes", ChangeVerdict.INCOMPARABLE, why, *sides)
    for name in dict.fromkeys((*before, *after)):
        path = ("attributes", name)
        there = [c.side(path) if name in c.policy.attributes else None for c in (old, new)]
        if name not in after or name not in before:
            yield ComparedClause(
                f"attributes.{name}", ChangeVerdict.INCOMPARABLE, _declared(name, added=name in after), *there
            )
        else:
            yield from _each(name, before[name], after[name], old, new)


def _declared(name: str, *, added: bool) -> str:
    which = ("only the new", "the old") if added else ("only the old", "the new")
    what = "columns that fit it" if is_pattern(name) else "data with this column, which may leave"
    return f"{which[0]} policy takes {what}; {which[1]} one never released it, and takes other data"


def _each(name: str, before: Attribute, after: Attribute, old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    changed: dict[str, Judged] = {}
    if before.role is not after.role:
        changed["role"] = role(before.role, after.role)
    if before.type is not after.type:
        changed["type"] = _type(before.type, after.type)
    if before.domain != after.domain:
        changed["domain"] = _domain(before.domain, after.domain)
    if before.hierarchy != after.hierarchy:
        changed["hierarchy"] = (
            ChangeVerdict.NEUTRAL,
            "a means of steps; requirements that read labels by it are judged apart",
        )
    if before.determines != after.determines:
        one, other = frozenset(before.determines or ()), frozenset(after.determines or ())
        why = "a reader who sees it is taken to know what it determines"
        changed["determines"] = verdict(forward=one <= other, backward=other <= one), why
    if before.description != after.description:
        changed["description"] = ChangeVerdict.NEUTRAL, "words for readers"
    for field, (judged, why) in changed.items():
        path = ("attributes", name, field)
        sides = [c.side(path) if c.has(path) else None for c in (old, new)]
        yield ComparedClause(".".join(path), judged, why, *sides)


def role(before: Role, after: Role) -> Judged:
    """Return what a change of role does by itself; classes that form otherwise are judged where they are required."""
    roles = {before, after}
    if Role.SAMPLING_WEIGHT in roles:
        return ChangeVerdict.INCOMPARABLE, "risks are estimated for another population, and other data is refused"
    if roles & _STRUCTURAL:
        return ChangeVerdict.INCOMPARABLE, "rows count, or cells are read, otherwise"
    if roles <= _PERSONAL:
        return ChangeVerdict.INCOMPARABLE, "both stay behind, but a subject tells whose rows are whose"
    if roles & _PERSONAL:
        judged = verdict(forward=after in _PERSONAL, backward=before in _PERSONAL)
        return judged, f"the values of an attribute with the role `{(roles & _PERSONAL).pop()}` never leave"
    if roles <= _PLAIN:
        return ChangeVerdict.NEUTRAL, "neither role protects anything"
    if _RANK[before] == _RANK[after]:
        return (
            ChangeVerdict.INCOMPARABLE,
            "what others know of a person, and what they must not learn, are different things",
        )
    judged = verdict(forward=_RANK[after] > _RANK[before], backward=_RANK[after] < _RANK[before])
    protected = before if _RANK[before] else after
    return judged, f"`{protected}` protects: what is required of such attributes is required of this one"


def _type(before: AttributeType, after: AttributeType) -> Judged:
    text = AttributeType.TEXT
    if text not in (before, after):
        return ChangeVerdict.INCOMPARABLE, "each type takes values that the other refuses"
    return verdict(forward=before is text, backward=after is text), "`text` takes any value, the other refuses some"


def _domain(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Judged:
    if before is None or after is None:
        judged = verdict(forward=before is None, backward=after is None)
        return judged, "with a domain, data with any other value is refused"
    one, other = frozenset(before), frozenset(after)
    why = "data with a value beyond the domain is refused" if one != other else "the same values in another order"
    return verdict(forward=other <= one, backward=one <= other), why


# Reading and running: which data is taken, what becomes of what nobody declared, and how a run behaves.


_HOW = {
    "format": "format",
    "columns": "columns",
    "missing": "missing",
    "incomplete_rows": "incomplete_rows",
    "normalize": "normalize",
    "with_": "with",
    "query": "query",
    "randomized_by": "randomized_by",
}
"""Fields of a source that say which table a file is, with their names in the policy."""
_UNDECLARED = "`error` refuses data with a column that nobody declared, `drop` releases the rest of it"
_WHERE = ("path", "url", "table")
"""Fields that say where the data is."""


def reading(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield what has changed about the source, undeclared columns and null semantics."""
    one, other = old.policy.source, new.policy.source
    for field in _WHERE:
        if getattr(one, field) != getattr(other, field):
            why = "which data it is, and not what must hold of it"
            yield _change(("source", field), ChangeVerdict.NEUTRAL, why, old, new)
    if between.given.reading != between.asked.reading:
        for field, label in _HOW.items():
            if _value(one, field) != _value(other, field):
                why = "the same file is another table, so that no release of the one is one of the other"
                yield _change(("source", label), ChangeVerdict.INCOMPARABLE, why, old, new)
    if not between.same_operator:
        why = "sets that clients randomized by another operator, or by one that cannot be read, tell something else"
        yield _change(("source", "operator"), ChangeVerdict.INCOMPARABLE, why, old, new)
    elif one.operator != other.operator:
        yield _change(("source", "operator"), ChangeVerdict.NEUTRAL, "the same content under another name", old, new)
    yield from _kept_apart(("source", "keep_apart"), one, other, old, new)
    yield from changed_word(("undeclared",), _UNDECLARED, old, new)
    if old.policy.nulls is not new.policy.nulls:
        why = "what it does is said at each requirement that counts groups"
        yield _change(("nulls",), ChangeVerdict.NEUTRAL, why, old, new, "own_category")
    yield from _tables(old, new)
    yield from _people(old, new)


def _tables(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about linked tables: which there are, how they hang together, and how they are read."""
    before, after = old.policy.tables, new.policy.tables
    for name in dict.fromkeys((*before, *after)):
        path, one, other = ("tables", name), before.get(name), after.get(name)
        if one is None or other is None:
            why = "with another table the releases are others, and so are their joins"
            yield _change(path, ChangeVerdict.INCOMPARABLE, why, old, new)
            continue
        for key in ("key", "refers"):
            if getattr(one, key) != getattr(other, key):
                why = "whose a row is, and so how many people there are, is told in another way"
                yield _change((*path, key), ChangeVerdict.INCOMPARABLE, why, old, new)
        yield from _kept_apart((*path, "source", "keep_apart"), one.source, other.source, old, new)
        if one.source.model_copy(update={"keep_apart": other.source.keep_apart}) != other.source:
            where = {field: getattr(other.source, field) for field in (*_WHERE, "keep_apart")}
            same = one.source.model_copy(update=where) == other.source
            judged = ChangeVerdict.NEUTRAL if same else ChangeVerdict.INCOMPARABLE
            yield _change((*path, "source"), judged, "which data it is, and how it is read", old, new)
        yield from changed_word((*path, "undeclared"), _UNDECLARED, old, new)


def _value(source: SourceEntry, field: str) -> object:
    """Return what a source says, words without their order."""
    value = getattr(source, field)
    return frozenset(value) if field == "normalize" else value


def _kept_apart(
    path: tuple[str, ...], one: SourceEntry, other: SourceEntry, old: Clauses, new: Clauses
) -> Iterator[ComparedClause]:
    """Yield what has changed about the spellings that are two people, or two sensitive values."""
    before, after = frozenset(one.keep_apart), frozenset(other.keep_apart)
    if before != after:
        judged = verdict(forward=after <= before, backward=before <= after)
        why = "two spellings of one person or of one value that are kept apart count as two"
        yield _change(path, judged, why, old, new, "[]")


def _people(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about who is counted, where both have a subject."""
    before, after = old.policy.people, new.policy.people
    if before is None or after is None:
        if before != after:
            why = "with a subject people are counted, else rows: each takes other data"
            yield _change(("people",), ChangeVerdict.INCOMPARABLE, why, old, new)
        return
    if before.unit != after.unit:
        why = "several rows of one person are no crowd where people are counted, and shares of people are others"
        yield _change(("people", "unit"), ChangeVerdict.INCOMPARABLE, why, old, new, "people")
    elif before.known_rows != after.known_rows:
        order = get_args(KnownRows)
        ranks = [order.index(p.known_rows) if p.known_rows else -1 for p in (before, after)]
        judged = verdict(forward=ranks[1] >= ranks[0], backward=ranks[0] >= ranks[1])
        why = "a reader who knows more of a person's rows finds fewer people who have them all"
        yield _change(("people", "known_rows"), judged, why, old, new)


def _change(
    path: tuple[str, ...], judged: ChangeVerdict, why: str, old: Clauses, new: Clauses, default: str = ""
) -> ComparedClause:
    sides = [c.side(path) if c.has(path) else c.side(path, default) if default else None for c in (old, new)]
    return ComparedClause(".".join(path), judged, why, *sides)


_LEDGER = ("ledger",)


def conduct(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield what has changed about the conduct of runs."""
    if old.policy.randomness.mode != new.policy.randomness.mode:
        why = "a reader who has the seed can draw again and take the randomness away; a sealed key nobody has"
        yield from changed_word(("randomness", "mode"), why, old, new)
    elif old.policy.randomness != new.policy.randomness:
        why = "another seed draws otherwise, and is as public"
        path = ("randomness", "seed")
        yield ComparedClause("randomness.seed", ChangeVerdict.NEUTRAL, why, old.side(path), new.side(path))
    yield from changed_word(("report", "values"), "a report that shows values shows people's values", old, new)
    yield from _ledger(old, new, between)


def _ledger(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    before, after = old.policy.ledger, new.policy.ledger
    if before is None and after is None:
        return
    if before is None or after is None:
        judged = verdict(forward=before is None, backward=after is None)
        why = "with a ledger, what was released before is remembered, and counts"
        yield ComparedClause("ledger", judged, why, *(c.side(_LEDGER) if c.policy.ledger else None for c in (old, new)))
    elif between.given.ledger != between.asked.ledger:
        why = "another ledger, or other people in it: it remembers another history"
        yield ComparedClause("ledger", ChangeVerdict.INCOMPARABLE, why, old.side(_LEDGER), new.side(_LEDGER))
    else:
        why = "`refuse` withholds a second draw of values that were randomized before, `warn` lets it go"
        yield from changed_word(("ledger", "repeat"), why, old, new)


# Approvals: who has to sign before anything is released, and which file says who may.


_PLACE = ("approvals",)
_ROLES = (*_PLACE, "roles")
_DISTINCT = (*_PLACE, "distinct")
_SIGNERS = (*_PLACE, "signers")
_DIGITS = 12
_NONE = "without approvals a run that holds is released at once"
_SIGNED = "each role is a signature that a release needs"
_PEOPLE = "where it is `true` each role takes another person"
_WAIVED = "what is waived needs the signature of this role before anything is released"


def approvals(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about who has to sign: roles, other people for each, and the roles that sign waivers."""
    before, after = old.policy.approvals, new.policy.approvals
    if (before is None) is not (after is None):
        judged = verdict(forward=before is None, backward=after is None)
        yield ComparedClause(
            "approvals", judged, _NONE, *(c.side(_PLACE) if c.policy.approvals else None for c in (old, new))
        )
    elif before is not None and after is not None:
        one, other = set(before.roles), set(after.roles)
        if one != other:
            judged = verdict(forward=one <= other, backward=other <= one)
            yield ComparedClause("approvals.roles", judged, _SIGNED, old.side(_ROLES), new.side(_ROLES))
        if before.distinct is not after.distinct:
            judged = verdict(
                forward=after.distinct or len(_needed(old.policy)) < 2,  # one role takes one person anyway
                backward=before.distinct or len(_needed(new.policy)) < 2,
            )
            texts = (str(each.distinct).lower() for each in (before, after))
            sides = (c.side(_DISTINCT, text) for c, text in zip((old, new), texts, strict=True))
            yield ComparedClause("approvals.distinct", judged, _PEOPLE, *sides)
    yield from _signed_waivers(old, new)


def _needed(policy: Policy) -> frozenset[str]:
    """Return every role that has to sign a release."""
    roles = policy.approvals.roles if policy.approvals else ()
    return frozenset((*roles, *(w.signed_by for w in policy.waivers.values() if w.signed_by)))


def _signed_waivers(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what is waived in both, and has to be signed otherwise: a role that signs every release signs it too."""
    before, after = _roles(old.policy), _roles(new.policy)
    for of, (name, role) in after.items():
        if of not in before or before[of][1] == role:
            continue
        was, earlier = before[of]
        signing = [
            {r, *(c.policy.approvals.roles if c.policy.approvals else ())} for c, r in ((old, earlier), (new, role))
        ]
        judged = verdict(forward=earlier in {"", *signing[1]}, backward=role in {"", *signing[0]})
        sides = (
            c.side(("waivers", each, "signed_by")) if r else None
            for c, each, r in ((old, was, earlier), (new, name, role))
        )
        yield ComparedClause(f"waivers of {of} signed by", judged, _WAIVED, *sides)


def _roles(policy: Policy) -> dict[str, tuple[str, str]]:
    """Return the name of each waiver and the role that signs it, by what is waived."""
    return {
        (w.of if w.at is None else f"{w.of} at {w.at}"): (name, w.signed_by or "") for name, w in policy.waivers.items()
    }


def signers(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield another list of signers, or another content of it: no rule knows whether these people are as careful."""
    before, after = old.policy.approvals, new.policy.approvals
    if before is None or after is None:
        return
    same = between.same_file(after.signers, before.signers)
    if same and before.signers != after.signers:
        why = "the same content under another name"
        yield ComparedClause("approvals.signers", ChangeVerdict.NEUTRAL, why, old.side(_SIGNERS), new.side(_SIGNERS))
    elif not same:
        contents = between.asked.contents(before.signers), between.given.contents(after.signers)
        sides = (_file(c, digest) for c, digest in zip((old, new), contents, strict=True))
        why = "other people may sign, or with other keys: the reviewer has to know them"
        yield ComparedClause("approvals.signers", ChangeVerdict.INCOMPARABLE, why, *sides)


def _file(clauses: Clauses, digest: str | None) -> ClauseText:
    """Return the file as the policy writes it, with what tells its content from another."""
    side = clauses.side(_SIGNERS)
    return ClauseText(f"{side.text} (sha256 {digest[:_DIGITS]}…)" if digest else side.text, side.span)
