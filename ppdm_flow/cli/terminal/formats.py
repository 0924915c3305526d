"""`--format` and `--output-file`, again and again: which file follows which format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ppdm_flow.api import outputs as choosing
from ppdm_flow.api.outputs import FILE, FORMAT, OutputFile
from ppdm_flow.cli.terminal.output import put
from ppdm_flow.cli.terminal.verbs import NoOverwriteCommand
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.report.forms import OutputFormat
from ppdm_flow.report.locations import locations
from ppdm_flow.report.run.judgement import BrokenJudgement

_WORDS = "ppdm_flow.outputs"
_KINDS = {"forms": FORMAT, "output_files": FILE}

OutputFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--output-file", "-o", metavar="FILE", help="Write the format before it there instead of to stdout; repeatable."
    ),
]


def formats(known: Mapping[str, OutputFormat], default: str) -> Any:
    """Return the option that takes these formats, with a word on each in its help."""
    listing = "; ".join(f"{form.name}: {form.what}" for form in known.values())
    return typer.Option(
        "--format",
        metavar="NAME",
        help=f"Format of the outcome, {default} by default; repeatable, and each may have an --output-file"
        f" behind it. {listing}. Of those without a file, several may share stdout only if all are lines for a log"
        f" ({', '.join(form.name for form in known.values() if form.log)}).",
        show_default=False,
        autocompletion=lambda: list(known),
    )


class FormatOrderCommand(NoOverwriteCommand):
    """A command that remembers in which order formats and files were given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as any command does, after a look at the order."""
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        left = {name: iter(_texts(values.get(name))) for name in _KINDS}
        named = (parameter.name for parameter in order)
        ctx.meta[_WORDS] = [(_KINDS[name], next(left[name])) for name in named if name in _KINDS]
        return super().parse_args(ctx, args)


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


class OutputTargets:
    """Where the outcome of one verb goes."""

    def __init__(self, outputs: tuple[OutputFile, ...]) -> None:
        self._found = outputs
        self._summary = Path(named) if (named := os.environ.get("GITHUB_STEP_SUMMARY")) else None

    def asks(self, known: Mapping[str, OutputFormat]) -> bool:
        """Whether any of these formats was asked for."""
        return any(output.form.name in known for output in self._found)

    def send(self, subject: Any, otherwise: OutputFormat | None = None) -> None:
        """Write the outcome in every form that was asked for; where none goes to stdout, ``otherwise`` does."""
        choosing.emit(self._found, lambda form: form.render(subject), put)
        if otherwise is not None and not choosing.on_stdout(self._found):
            put(otherwise.render(subject))
        choosing.add_step_summary(self._found, subject, self._summary)

    def fail(self, what: str, error: PpdmError) -> None:
        """Write that there is no outcome, in the forms that can say so."""
        failure = BrokenJudgement(what, error.diagnostics, error.sources, locations())
        choosing.emit(self._found, lambda form: form.render_broken(failure), put)
        choosing.add_step_summary(self._found, failure, self._summary, broken=True)


def output_targets(ctx: typer.Context, known: Mapping[str, OutputFormat], default: str) -> OutputTargets:
    """Return where the outcome goes. Raises UsageError before any work where that is not clear, or not writable."""
    return OutputTargets(choosing.outputs(ctx.meta.get(_WORDS, ()), known, default))


@contextmanager
def report_errors_to_ci(there: OutputTargets, what: str) -> Iterator[None]:
    """Let CI know of errors that end the work, too: they still end it."""
    try:
        yield
    except PpdmError as error:
        there.fail(what, error)
        raise
