"""Parameters: declared with a type, given a value by the nearest of ``--set``, ``with:``, environment and default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params.environment import value_of
from ppdm_flow.policy.text.nodes import Map, Scalar, Seq, UnreadableError
from ppdm_flow.policy.text.parse import parse


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
    """Which values a param takes: of a ``type``, from ``low`` to ``high``, or one of the ``choices``."""

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
        value = listed(value) if _text(declaration, "type") == LIST and not value.broken else value
        fault = None if value.broken else _fault(name, declaration, value)
        if fault is not None:
            diagnostics.append(_placed(fault, value, span))
        values[name] = replace(value, broken=True) if fault is not None else value
    return values, needed, diagnostics


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


def listed(value: ParamValue) -> ParamValue:
    """Return the value of a list: what ``--set`` and the environment give as ``a, b`` or ``[a, "b, c"]`` is split."""
    if value.items is not None:
        return value
    if value.span is not None and value.quotable:  # one text of the policy stands for a list of one
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
    return figure if figure.is_finite() else None


def _text(declaration: Map, key: str) -> str | None:
    node = declaration.get(key)
    return node.text if isinstance(node, Scalar) else None
