"""Params and placeholders, and what `--set` may give them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.shares import plain_share
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import PLACEHOLDER, parse
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE

WAIVERS = "waivers.privacy"
ALLOWED_VARIABLES = "allowed"
FORBIDDEN = "forbidden"
_TOLD = ("privacy", "gates")
ANSWERS = (ALLOWED_VARIABLES, FORBIDDEN)


# Whether requirements may be waived: what the templates of a policy say under `floors: {waivers.privacy: …}`.


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a policy may waive what stands under ``privacy:``.

    ``place`` is the line that decides: the one that allows it, or the one that speaks against it. None where no
    template says anything about it.
    """

    allowed: bool = False
    place: Span | None = None

    @property
    def silent(self) -> bool:
        """Whether no file speaks of privacy or of waivers at all."""
        return not self.allowed and self.place is None


def together(parents: Iterable[Permission]) -> Permission:
    """Return what several templates allow in common: one that speaks against it is enough."""
    best = Permission()
    for each in parents:
        if not each.allowed and each.place is not None:
            return each
        if each.allowed and best.silent:
            best = each
    return best


def within(root: Map, floors: Map | None, inherited: Permission, *, policy: bool) -> Permission:
    """Return what holds for a file with these ``floors`` that inherits this much.

    An author who states a requirement has to allow that it is waived: a template with requirements, or with floors
    under them or under gates, that is silent about waivers forbids them. A ``policy`` can forbid it, not allow it to
    itself.
    """
    entry = floors.entries.get(WAIVERS) if floors else None
    said = entry.node.text if entry is not None and isinstance(entry.node, Scalar) else None
    if entry is not None and said == FORBIDDEN:
        return Permission(allowed=False, place=entry.key_span)
    if policy or inherited.allowed or not inherited.silent:
        return inherited
    if entry is not None and said == ALLOWED_VARIABLES:
        return Permission(allowed=True, place=entry.key_span)
    return Permission(allowed=False, place=_spoken(root))


def _spoken(root: Map) -> Span | None:
    """The key under which a file speaks of privacy, or of a gate that nobody may weaken."""
    entry = root.entries.get("privacy")
    if entry is not None and isinstance(entry.node, Map) and entry.node.entries:
        return entry.key_span
    floors = root.get("floors")
    keys = floors.entries.items() if isinstance(floors, Map) else ()
    return next((e.key_span for key, e in keys if key.partition(".")[0] in _TOLD), None)


# `${params.name}` replaced in texts and keys; the place of the use stays, the value's own place goes along.


_PREFIX = "params."
_ESCAPED = "$${"
_KEPT = "\ue000\ue001{"


class Substitution:
    """Replaces the references in one file's nodes.

    ``diagnostics`` gathers what is wrong with them, ``used`` the first place that refers to each param.
    """

    def __init__(self, values: Values) -> None:
        self.values = values
        self.diagnostics: list[Diagnostic] = []
        self.used: dict[str, Span] = {}

    def node(self, node: Node) -> Node:
        """Return the node with every reference replaced."""
        if isinstance(node, Scalar):
            return self._list(node) or self.scalar(node)
        if isinstance(node, Seq):
            return Seq(tuple(self._items(node)), node.span)
        return self.map(node)

    def _items(self, node: Seq) -> Iterator[Node]:
        """Replace each item; a list among them gives its own items."""
        for item in node.items:
            made = self.node(item)
            if isinstance(made, Seq) and isinstance(item, Scalar):
                yield from made.items
            else:
                yield made

    def _list(self, node: Scalar) -> Seq | None:
        """Return the items of a param of type list, where the text is a reference to one and nothing else."""
        only = PLACEHOLDER.fullmatch(node.text.strip()) if node.text and "${" in node.text else None
        value = self._value(only[1]) if only else None
        if only is None or value is None or value.items is None or value.broken:
            return None
        self.used.setdefault(_name(only[1]), node.span)
        origin = node.origin + _origins([value])
        notes = node.notes + ((value.note,) if value.note else ())
        quotable = node.quotable and value.quotable
        items = (Scalar(t, node.span, plain=False, origin=origin, notes=notes, quotable=quotable) for t in value.items)
        return Seq(tuple(items), node.span)

    def map(self, node: Map) -> Map:
        """Return the map with every reference replaced, in keys as well."""
        entries: dict[str, MappingEntry] = {}
        partial = node.partial
        for key, entry in node.entries.items():
            name = key
            if "${" in key:
                made = self.scalar(Scalar(key, entry.key_span))
                if made.broken or not made.text:
                    partial = True
                    continue
                name = made.text
            if name in entries:
                self._twice(name, entries[name], entry)
                continue
            entries[name] = MappingEntry(entry.key_span, self.node(entry.node), entry.plain)
        return Map(entries, node.span, partial)

    def scalar(self, node: Scalar) -> Scalar:
        """Return the text with its references replaced."""
        if node.text is None or "${" not in node.text:
            return node
        used: list[ParamValue] = []
        text = node.text.replace(_ESCAPED, _KEPT)
        made = PLACEHOLDER.sub(lambda m: self._one(m[1], node.span, used), text)
        if "${" in PLACEHOLDER.sub("", text):
            self._malformed(node.span)
            return replace(node, broken=True)
        return replace(
            node,
            text=made.replace(_KEPT, "${"),
            plain=False,
            origin=node.origin + _origins(used),
            notes=node.notes + tuple(dict.fromkeys(v.note for v in used if v.note)),
            quotable=node.quotable and all(v.quotable for v in used),
            broken=node.broken or any(v.broken for v in used),
        )

    def _one(self, reference: str, span: Span, used: list[ParamValue]) -> str:
        value = self._value(reference)
        if value is None:
            self._unknown(reference.strip(), span)
            value = ParamValue(broken=True)
        elif value.items is not None and not value.broken:
            self._misplaced(reference.strip(), span, value)
            value = ParamValue(broken=True)
        self.used.setdefault(_name(reference), span)
        used.append(value)
        return value.text

    def _value(self, reference: str) -> ParamValue | None:
        return self.values.get(_name(reference)) if reference.strip().startswith(_PREFIX) else None

    def _misplaced(self, reference: str, span: Span, value: ParamValue) -> None:
        self.diagnostics.append(
            Diagnostic(
                "PPF318",
                f"`{short(reference)}` is a list, but a single text is expected here",
                span,
                hint="a list stands alone in the place of a whole value",
                related=_origins([value]),
            )
        )

    def _unknown(self, reference: str, span: Span) -> None:
        known = sorted(self.values)
        near = closest(reference.removeprefix(_PREFIX), known)
        self.diagnostics.append(
            Diagnostic(
                "PPF304",
                f"there is no param for `${{{short(reference)}}}`",
                span,
                hint=f"did you mean `${{params.{near}}}`?" if near else None,
                help=f"params: {listed([f'`{n}`' for n in known], 20)}" if known else "declare it under `params:`",
            )
        )

    def _malformed(self, span: Span) -> None:
        self.diagnostics.append(
            Diagnostic(
                "PPF307", "this `${` has no `}`", span, hint="write `${params.name}`, or `$${` for the text `${`"
            )
        )

    def _twice(self, name: str, first: MappingEntry, second: MappingEntry) -> None:
        self.diagnostics.append(
            Diagnostic(
                "PPF107",
                f"the key `{short(name)}` is duplicated here",
                second.key_span,
                hint="remove one of the two",
                related=(RelatedPlace(first.key_span, "first here"),),
            )
        )


def _name(reference: str) -> str:
    return reference.strip().removeprefix(_PREFIX)


def _origins(used: Iterable[ParamValue]) -> tuple[RelatedPlace, ...]:
    places = dict.fromkeys(v.span for v in used if v.span is not None and v.quotable)
    return tuple(RelatedPlace(span, "its value comes from here") for span in places if span is not None)


# Parameters: declared with a type, given a value by the nearest of `--set`, `with:`, environment and default.


@dataclass(frozen=True, slots=True)
class ParamValue:
    """The text of a param, or the ``items`` of a list, and where it comes from.

    ``span`` is None for one from the command line. A ``broken`` one has no usable value, which is reported.
    """

    text: str = ""
    span: Span | None = None
    note: str | None = None
    quotable: bool = True
    broken: bool = False
    items: tuple[str, ...] | None = None

    @classmethod
    def of(cls, node: Scalar | Seq) -> ParamValue:
        """Take the text of a scalar of the policy, or the texts of a list."""
        if isinstance(node, Seq):
            return cls._of_list(node)
        note = node.notes[0] if node.notes else None
        return cls(node.text or "", node.span, note, node.quotable, node.broken)

    @classmethod
    def _of_list(cls, node: Seq) -> ParamValue:
        each = [i for i in node.items if isinstance(i, Scalar) and i.text is not None]
        note = next((i.notes[0] for i in each if i.notes), None)
        broken = len(each) < len(node.items) or any(i.broken for i in each)
        items = tuple(i.text or "" for i in each)
        return cls(", ".join(items), node.span, note, all(i.quotable for i in each), broken, items)

    @property
    def texts(self) -> tuple[str, ...]:
        """The items of a list, or the text alone."""
        return (self.text,) if self.items is None else self.items


Values = Mapping[str, ParamValue]

LIST = "list"
_KINDS = {"integer": "a whole number", "float": "a number", "boolean": "`true` or `false`"}


@dataclass(frozen=True, slots=True)
class ParamLimits:
    """The values that a param takes: of a ``type``, from ``low`` to ``high``, or one of the ``choices``."""

    type: str = "text"
    low: str | None = None
    high: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingParam:
    """A required param that nothing gives a value."""

    name: str
    key_span: Span
    help: str


def evaluate(
    declared: Mapping[str, tuple[Span, Map]], given: Values, sets: Mapping[str, str]
) -> tuple[dict[str, ParamValue], list[MissingParam], list[Diagnostic]]:
    """Return the value of each declared param, those that lack one, and the faults of values.

    Parameters
    ----------
    declared
        Key's place and declaration, by name.
    given
        Values from ``with:`` of the file that uses this one.
    sets
        Values from the command line; they go before all others.
    """
    values: dict[str, ParamValue] = {}
    needed: list[MissingParam] = []
    diagnostics: list[Diagnostic] = []
    for name, (span, declaration) in declared.items():
        value = _value(name, declaration, given, sets)
        if value is None:
            needed.append(MissingParam(name, span, _text(declaration, "help") or ""))
            values[name] = ParamValue(broken=True)
            continue
        value = params_listed(value) if _text(declaration, "type") == LIST and not value.broken else value
        if _is_share(declaration):
            value = replace(value, text=plain_share(value.text))
        fault = None if value.broken else _fault(name, declaration, value)
        if fault is not None:
            diagnostics.append(_placed(fault, value, span))
        values[name] = replace(value, broken=True) if fault is not None else value
    return values, needed, diagnostics


def _is_share(declaration: Map) -> bool:
    """Whether a param is a number of at most 1."""
    most = number(_text(declaration, "max") or "")
    return _text(declaration, "type") == "float" and most is not None and most <= 1


def unknown(name: str, span: Span | None, known: Iterable[str], where: str) -> Diagnostic:
    """Report a value for a param that is not declared (PPF310)."""
    names = sorted(known)
    listed = f"params: {', '.join(f'`{n}`' for n in names)}" if names else "it declares no params"
    return Diagnostic(
        "PPF310", f"{where} has no param `{short(name)}`", span, hint=did_you_mean(name, names), help=listed
    )


def required(needed: Iterable[MissingParam], span: Span | None, how: str) -> Diagnostic:
    """Report all params of one file that lack a value, together (PPF305)."""
    each = list(needed)
    names = ", ".join(f"`{n.name}`" for n in each)
    plural = "params" if len(each) > 1 else "param"
    return Diagnostic(
        "PPF305",
        f"no value for the required {plural} {names}",
        span or each[0].key_span,
        hint=how,
        notes=tuple(f"`{n.name}`: {short(n.help, 200)}" for n in each if n.help),
        related=tuple(RelatedPlace(n.key_span, "declared here without a default") for n in each if n.key_span != span)
        if span
        else (),
    )


def params_listed(value: ParamValue) -> ParamValue:
    """Return the value of a list: what ``--set`` and the environment give as ``a, b`` or ``[a, "b, c"]`` is split."""
    if value.items is not None:
        return value
    if value.span is not None and value.quotable:  # one text of the policy, short for a list of one
        return replace(value, items=(value.text,))
    text = value.text.strip()
    if text.startswith("["):
        node, diagnostics = _parsed(text)
        if isinstance(node, Seq) and not diagnostics:
            return replace(value, items=ParamValue.of(node).items)
    return replace(value, items=tuple(part.strip() for part in text.split(",") if part.strip()))


def _parsed(text: str) -> tuple[object, object]:
    try:
        return parse(text, "")
    except UnreadableError:
        return None, None


def _placed(fault: Diagnostic, value: ParamValue, declared: Span) -> Diagnostic:
    """Draw a fault at the value, with the line that declares the param."""
    here = value.span or declared
    related = (
        (RelatedPlace(declared, "declared here"),) if here.file != declared.file or here.line != declared.line else ()
    )
    return replace(fault, span=here, related=related, notes=(value.note,) if value.note else ())


def _value(name: str, declaration: Map, given: Values, sets: Mapping[str, str]) -> ParamValue | None:
    if name in sets:
        return ParamValue(sets[name], None, f"its value comes from --set {name}=…")
    if name in given:
        return given[name]
    variable = declaration.get("from_env")
    if isinstance(variable, Scalar) and variable.text and (text := value_of(variable.text)) is not None:
        note = f"its value comes from the environment variable {variable.text}"
        return ParamValue(text, variable.span, note, quotable=False)
    default = declaration.get("default")
    if isinstance(default, Seq):
        return ParamValue.of(default)
    return ParamValue.of(default) if isinstance(default, Scalar) and default.text is not None else None


def _fault(name: str, declaration: Map, value: ParamValue) -> Diagnostic | None:
    """Check a value against type, choices and range (PPF306)."""
    kind = _text(declaration, "type") or "text"
    if kind == LIST:
        return _of_list(name, declaration, value)
    if value.items is not None:
        return Diagnostic("PPF306", f"param `{name}` must be {_KINDS.get(kind, 'a text')}, not a list")
    fault = _outside(name, declaration, value)
    shown = f", not `{short(value.text)}`" if value.quotable else ""
    if fault is not None:
        return fault
    if kind == "boolean" and value.text not in ("true", "false"):
        return Diagnostic("PPF306", f"param `{name}` must be `true` or `false`{shown}")
    if kind not in ("integer", "float"):
        return None
    what = _KINDS[kind]
    figure = number(value.text)
    if figure is None or (kind == "integer" and figure != figure.to_integral_value()):
        return Diagnostic("PPF306", f"param `{name}` must be {what}{shown}")
    return _range(name, declaration, figure, what, shown)


def _outside(name: str, declaration: Map, value: ParamValue) -> Diagnostic | None:
    """Report a text, or an item of a list, that is none of the ``choices``."""
    options = declaration.get("choices")
    items = options.items if isinstance(options, Seq) else ()
    names = [i.text for i in items if isinstance(i, Scalar) and i.text is not None]
    odd = next((text for text in value.texts if text not in names), None)
    if not names or odd is None:
        return None
    near = closest(odd, names) if value.quotable else None
    known = ", ".join(f"`{n}`" for n in names)
    shown = f", not `{short(odd)}`" if value.quotable else ""
    kind = "must be one of" if value.items is None else "must hold nothing but"
    text = f"param `{name}` {kind} {known}{shown}"
    return Diagnostic("PPF306", text, hint=f"did you mean `{near}`?" if near else None)


def _of_list(name: str, declaration: Map, value: ParamValue) -> Diagnostic | None:
    """Check a list; ``min`` and ``max`` bound its length, and without them it must not be empty."""
    length = len(value.items or ())
    if not length and _text(declaration, "min") is None:
        return Diagnostic("PPF306", f"param `{name}` must be a list with something in it")
    fault = _outside(name, declaration, value)
    return fault or _range(name, declaration, Decimal(length), "a list with a length", f", not {length}")


def _range(name: str, declaration: Map, figure: Decimal, what: str, shown: str) -> Diagnostic | None:
    low, high = (number(_text(declaration, end) or "") for end in ("min", "max"))
    if (low is None or figure >= low) and (high is None or figure <= high):
        return None
    ends = [f"of at least {low}" if low is not None else "", f"of at most {high}" if high is not None else ""]
    return Diagnostic("PPF306", f"param `{name}` must be {what} {' and '.join(e for e in ends if e)}{shown}")


def limits_of(declaration: Map) -> ParamLimits:
    """Return which values a declaration lets a param have."""
    options = declaration.get("choices")
    items = options.items if isinstance(options, Seq) else ()
    names = tuple(i.text for i in items if isinstance(i, Scalar) and i.text is not None)
    return ParamLimits(
        _text(declaration, "type") or "text", _text(declaration, "min"), _text(declaration, "max"), names
    )


def number(text: str) -> Decimal | None:
    """Read a finite decimal number, or return None."""
    try:
        figure = Decimal(text.strip())
    except InvalidOperation:
        return None
    return figure if figure.is_finite() and text.isascii() else None


def number_or_percentage(text: str) -> Decimal | None:
    """Read a finite decimal number, or a percentage from 0 to 100 as a share; None for all else."""
    return number(plain_share(text))


def _text(declaration: Map, key: str) -> str | None:
    node = declaration.get(key)
    return node.text if isinstance(node, Scalar) else None


# The variables of the environment that params may take their values from.
#
# Who runs a policy and who wrote it may be two people: a policy could put a password of the one into a file's name,
# which the other reads.


ALLOWED = "PPDM_PARAMS_FROM_ENV"
"""The variable with the names of those that params may read, with commas between; where it is not set, all may be."""
_PRIVATE = frozenset({PASSWORD_VARIABLE, ALLOWED})
"""Variables of the program itself, which no param reads in any case."""


def value_of(variable: str) -> str | None:
    """Return what a variable holds; None where it is not there, or params may not read it."""
    allowed = os.environ.get(ALLOWED)
    if variable in _PRIVATE or (allowed is not None and variable not in allowed.split(",")):
        return None
    return os.environ.get(variable)
