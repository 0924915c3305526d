"""Pages of the templates that policies can extend by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.policy.inheritance.references import ListedTemplate, NotFoundError, listed
from ppdm_flow.policy.inheritance.template_words import FloorWords, ParamWords, TemplateDescription, described

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
        template = described(reference)
    except NotFoundError as error:
        raise UsageError(Diagnostic(error.code, error.message, hint=error.hint, help=error.help)) from None
    return "\n\n".join(_parts(template, known.get(template.reference)))


def _parts(template: TemplateDescription, known: ListedTemplate | None) -> Iterator[str]:
    home = f" of {known.distribution} {known.version}" if known else ""
    yield f"# {template.reference}: template{home}"
    if template.description:
        yield f"{template.description}."
    if template.parents:
        yield f"It extends {', '.join(f'`{p}`' for p in template.parents)}."
    if template.words:
        yield template.words
    yield f"## Params\n\n{_params(template.params)}"
    yield f"## Floors\n\n{_floors(template)}"
    yield f"## The template itself\n\n```yaml\n{template.body}\n```"


def _params(params: tuple[ParamWords, ...]) -> str:
    if not params:
        return "It has none."
    rows = ((f"`{p.name}`", p.type, _default(p), p.limits, p.help) for p in params)
    return _table(("param", "type", "default", "limits", "what it is"), rows)


def _default(param: ParamWords) -> str:
    return "**required**" if param.default is None else f"`{param.default}`"


def _floors(template: TemplateDescription) -> str:
    if not template.floors:
        return "It has none: a policy may override everything in it."
    rows = ((f"`{f.place}`", f"`{f.bound}`", _why(f, template)) for f in template.floors)
    return "No policy that extends it goes below these.\n\n" + _table(("place", "bound", "why"), rows)


def _why(floor: FloorWords, template: TemplateDescription) -> str:
    if floor.home == template.reference:
        return floor.why
    return f"{floor.why} (`{floor.home}`)".strip()


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
