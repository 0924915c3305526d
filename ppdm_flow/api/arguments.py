"""Arguments of the command line as values: params, and which rows, by which columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.sdk import registry


def settings(words: Iterable[str]) -> dict[str, str]:
    """Return params from ``name=value`` words. Raises UsageError for another form or a repeated name."""
    value_of: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(Diagnostic("PPF120", f"`--set {name}` lacks its value: write `--set name=value`"))
        if name in value_of:
            raise UsageError(Diagnostic("PPF120", f"`--set {name}` is given twice"))
        value_of[name] = value
    return value_of


def pairs(words: Iterable[str], option: str) -> list[tuple[str, str]]:
    """Return names and values from ``name=value`` words. Raises UsageError for another form."""
    parts = [word.partition("=") for word in words]
    if any(not equals or not name for name, equals, _ in parts):
        raise UsageError(Diagnostic("PPF490", f"`{option}` takes `NAME=VALUE`, such as `{option} delimiter=';'`"))
    return [(name, value) for name, _, value in parts]


def conditions(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return ``where`` from ``name=value`` words; a name given twice may have either value. Raises UsageError."""
    values_of: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(Diagnostic("PPF120", "`--where` takes `NAME=VALUE`", help="`NAME=` is a missing value"))
        values_of[name] = (*values_of.get(name, ()), value)
    return values_of


def columns(words: Sequence[str]) -> tuple[str, ...]:
    """Return ``by`` from words with names between commas. Raises UsageError where a name is empty or repeated."""
    return names(",".join(words), "--by") if words else ()


def names(words: str, option: str = "--columns") -> tuple[str, ...]:
    """Return the names between commas. Raises UsageError where a name is empty or repeated."""
    every = tuple(name.strip() for name in words.split(","))
    if "" in every or len(set(every)) < len(every):
        raise UsageError(Diagnostic("PPF120", f"`{option}` takes the names of columns, each once, with commas between"))
    return every


def reader_options(kind: str, given: Mapping[str, str], written: str) -> dict[str, Any]:
    """Return options of the reader of a format, each as the reader has it; a list of columns has commas between.

    ``written`` is how an option is written, of ``name`` and ``text``. Raises UsageError where there is no such option,
    where it does not take the text, or where the reader needs one that is not given.
    """
    params = registry.load("sources", kind).params
    for name, text in given.items():
        option = written.format(name=name, text=text)
        if name not in params.model_fields:
            known = ", ".join(f"`{each}`" for each in params.model_fields) or "none"
            message = f"`{option}`: the reader of `{kind}` has no option `{name}`"
            hint = did_you_mean(name, list(params.model_fields))
            raise UsageError(Diagnostic("PPF490", message, hint=hint, help=f"its options are {known}"))
    try:
        texts = {name: text.split(",") if name == "columns" else text for name, text in given.items()}
        return params.model_validate(texts).model_dump(include=set(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else next(iter(given))
        if first["type"] == "missing":
            option = written.format(name=name, text="…")
            raise UsageError(Diagnostic("PPF490", f"the reader of `{kind}` needs `{option}`")) from None
        option = written.format(name=name, text=given.get(name, ""))
        why = str(first["msg"]).removeprefix("Value error, ")
        raise UsageError(Diagnostic("PPF490", f"`{option}`: {why[:1].lower()}{why[1:]}")) from None
