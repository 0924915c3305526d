"""Pages of the templates that policies can extend by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.inheritance.catalogue import Listed, listed
from ppdm_flow.policy.inheritance.references import NotFoundError
from ppdm_flow.policy.inheritance.template_words import Described, FloorWords, ParamWords, described

_PREFIXES = ("builtin:", "pkg:")


def template_names() -> tuple[str, ...]:
    """Return the names by which templates are extended, such as ``builtin:microdata-k``."""
    return tuple(each.reference for each in listed())


def template_page(word: str) -> str | None:
    """Return the page of a template as Markdown; None where the word names none. ``builtin:`` may be left out.

    Raises
    ------
    UsageError
        Where a reference leads nowhere, or to a file that cannot be read.
    """
    known = {each.reference: each for each in listed()}
    reference = word if word.startswith(_PREFIXES) else f"builtin:{word}"
    if reference not in known and not word.startswith(_PREFIXES):
        return None
    try:
        told = described(reference)
    except NotFoundError as error:
        raise UsageError(Diagnostic(error.code, error.message, hint=error.hint, help=error.help)) from None
    return "\n\n".join(_parts(told, known.get(told.reference)))


def _parts(told: Described, known: Listed | None) -> Iterator[str]:
    home = f" of {known.distribution} {known.version}" if known else ""
    yield f"# {told.reference}: template{home}"
    if told.description:
        yield f"{told.description}."
    if told.parents:
        yield f"It extends {', '.join(f'`{p}`' for p in told.parents)}."
    if told.words:
        yield told.words
    yield f"## Params\n\n{_params(told.params)}"
    yield f"## Floors\n\n{_floors(told)}"
    yield f"## The template itself\n\n```yaml\n{told.body}\n```"


def _params(params: tuple[ParamWords, ...]) -> str:
    if not params:
        return "It has none."
    rows = ((f"`{p.name}`", p.type, _default(p), p.limits, p.help) for p in params)
    return _table(("param", "type", "default", "limits", "what it is"), rows)


def _default(param: ParamWords) -> str:
    return "**required**" if param.default is None else f"`{param.default}`"


def _floors(told: Described) -> str:
    if not told.floors:
        return "It has none: whatever it says, a policy may say otherwise."
    rows = ((f"`{f.place}`", f"`{f.bound}`", _why(f, told)) for f in told.floors)
    return "No policy that extends it goes below these.\n\n" + _table(("place", "bound", "why"), rows)


def _why(floor: FloorWords, told: Described) -> str:
    if floor.home == told.reference:
        return floor.why
    return f"{floor.why} (`{floor.home}`)".strip()


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
