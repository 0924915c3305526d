"""Where each form of an outcome goes: the pairs of `--format` and `--output-file`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.api import files
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.report.forms import OutputFormat

STEP_SUMMARY = 1 << 20
"""Bytes that GitHub takes as the summary of a step; it drops longer ones whole."""

_LEAST = 4096
"""Bytes below which a summary is not begun."""

FORMAT, FILE = "format", "file"
"""The two kinds of words that a command line gives, in their order."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A form, and the file it goes to; None is stdout."""

    form: OutputFormat
    file: Path | None = None


def outputs(
    words: Sequence[tuple[str, str]], known: Mapping[str, OutputFormat], default: str
) -> tuple[OutputFile, ...]:
    """Return what is to be written where: each file belongs to the format before it, and the rest goes to stdout.

    A single file and a single format belong together in any order. Raises UsageError for a format that is not
    ``known`` (PPF692), for a file without a format, two formats in one file, or several on stdout where not all are
    lines for a log (PPF661), and for a place that cannot be written (PPF693).
    """
    targets = [OutputFile(*pair) for pair in _pairs(words, known, default)]
    _apart(targets)
    _on_stdout([output.form for output in targets if output.file is None])
    for output in targets:
        if output.file is not None:
            files.writable(output.file)
    return tuple(targets)


def emit(
    targets: Sequence[OutputFile], render: Callable[[OutputFormat], str | None], put: Callable[[str], None]
) -> None:
    """Write every output that ``render`` gives a text for: files whole or not at all, the rest by ``put``."""
    for output in targets:
        text = render(output.form)
        if text is not None and output.file is not None:
            files.write(output.file, text)
        elif text:
            put(text)


def add_step_summary(targets: Sequence[OutputFile], subject: Any, file: Path | None, *, broken: bool = False) -> None:
    """Append the summary of a step to GitHub's file for it, cut so that GitHub does not drop all of it."""
    writers = [output.form for output in targets if output.form.summary]
    if file is None or not writers:
        return
    try:
        room = STEP_SUMMARY - (file.stat().st_size if file.exists() else 0) - 2
        text = writers[0].render_summary(subject, room, broken=broken) if room > _LEAST else ""
        with file.open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"\n{text}\n" if text else "")
    except OSError as error:
        fault = f"cannot write the step summary: {type(error).__name__}"
        raise UsageError(Diagnostic("PPF693", fault, help="`GITHUB_STEP_SUMMARY` names its file")) from None


def on_stdout(targets: Sequence[OutputFile]) -> bool:
    """Whether any form goes to stdout."""
    return any(output.file is None for output in targets)


def _pairs(
    words: Sequence[tuple[str, str]], known: Mapping[str, OutputFormat], default: str
) -> list[tuple[OutputFormat, Path | None]]:
    names = [word for kind, word in words if kind == FORMAT]
    places = [word for kind, word in words if kind == FILE]
    if len(names) <= 1 and len(places) <= 1:
        return [(_form(names[0] if names else default, known), Path(places[0]) if places else None)]
    pairs: list[tuple[OutputFormat, Path | None]] = []
    for kind, word in words:
        if kind == FORMAT:
            pairs.append((_form(word, known), None))
        elif not pairs or pairs[-1][1] is not None:
            after = "behind a format that has one already" if pairs else "before any `--format`"
            help_ = "write `--format NAME --output-file FILE` for each"
            raise UsageError(Diagnostic("PPF661", f"`--output-file {word}` stands {after}", help=help_))
        else:
            pairs[-1] = (pairs[-1][0], Path(word))
    return pairs


def _form(name: str, known: Mapping[str, OutputFormat]) -> OutputFormat:
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    listing = ", ".join(f"`{each}`" for each in known)
    raise UsageError(Diagnostic("PPF692", f"there is no format `{name}` here", hint=hint, help=f"there are {listing}"))


def _apart(targets: Sequence[OutputFile]) -> None:
    seen: set[Path] = set()
    for output in targets:
        if output.file is None:
            continue
        place = output.file.absolute()
        if place in seen:
            raise UsageError(Diagnostic("PPF661", f"two formats are to be written to `{output.file}`"))
        seen.add(place)


def _on_stdout(forms: Sequence[OutputFormat]) -> None:
    if len(forms) < 2 or all(form.log for form in forms):
        return
    names = " and ".join(f"`{form.name}`" for form in forms)
    help_ = "give all but one an `--output-file`; only lines for a log can share it: `text`, `concise`, `github`"
    raise UsageError(Diagnostic("PPF661", f"{names} cannot share stdout", help=help_))
