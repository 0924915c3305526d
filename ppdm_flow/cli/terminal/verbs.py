"""A verb is a module with a function of its name, ``EXAMPLES``, and perhaps the ``COMMAND`` that parses its words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar, get_args

import typer
from typer.core import TyperCommand

from ppdm_flow import api
from ppdm_flow.cli.terminal.output import LOUDNESS, say
from ppdm_flow.core.shares import is_plain_number, plain_share

_WRITTEN = frozenset({"output_file", "output_files", "picture", "resolved"})
"""The parameters of verbs that name a file to be written."""


_NUMBERS = {int, float}


class NoOverwriteCommand(TyperCommand):
    """Checks the numbers of a command, and its output files before it starts."""

    numbers: ClassVar[Collection[str]] = ()
    """The parameters that take numbers: in ASCII digits and plain notation, which Python's own reading goes beyond."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words. Raises BadParameter for a number with an exponent, or with digits of another script."""
        if not ctx.resilient_parsing:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
            parameters: list[Any] = self.params
            for parameter in parameters:
                text = given.get(parameter.name)
                if parameter.name in self.numbers and isinstance(text, str) and not is_plain_number(plain_share(text)):
                    raise typer.BadParameter(f"{text!r} is no number in plain digits, as 12 or 0.5.", ctx, parameter)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises UsageError if it would overwrite a protected file (PPF664)."""
        refuse_overwriting(ctx.params)
        return super().invoke(ctx)


def refuse_overwriting(params: Mapping[str, Any]) -> None:
    """Raise UsageError if an output file is an existing protected file."""
    written = [path for name in _WRITTEN for path in _paths(params.get(name)) if path.is_file()]
    if not written:
        return
    read = [path for name, value in params.items() if name not in _WRITTEN for path in _paths(value)]
    given = [str(each).partition("=") for each in params.get("sets") or ()]
    sets = {name: value for name, equals, value in given if equals}
    for path in written:
        api.check_output(path, read, sets)


def _paths(value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, list | tuple) else (value,):
        if isinstance(each, str | Path) and "\0" not in str(each):
            yield Path(each)


QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="No progress: warnings and errors alone.")]
VERBOSE = Annotated[
    int,
    typer.Option("--verbose", "-v", count=True, help="Say more, and seconds; -vv says where an error came from."),
]
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def add(app: typer.Typer, verb: str, module: ModuleType) -> None:
    """Give the program one more verb, with the module's examples below its help."""
    short = module.__name__.rpartition(".")[2]
    function: Callable[..., None] = getattr(module, short)
    lines = "\n".join(f"  ppdm-flow {example}" for example in module.EXAMPLES)
    epilog = f"\b\nExamples:\n{lines}"
    kind = getattr(module, "COMMAND", NoOverwriteCommand)
    signature = inspect.signature(function, eval_str=True)
    numbers = [name for name, each in signature.parameters.items() if _NUMBERS & {*_types(each.annotation)}]
    checking = type(kind.__name__, (kind,), {"numbers": numbers})
    app.command(verb, cls=checking, epilog=epilog, context_settings=HELP)(_with_loudness(function))


def _types(annotation: Any) -> Iterator[Any]:
    yield annotation
    for each in get_args(annotation):
        yield from _types(each)


def _with_loudness(function: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that takes ``-q`` and ``-v`` as well, unless it has them."""
    known = inspect.signature(function, eval_str=True)
    ours = {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, annotation, default in (("quiet", QUIET, False), ("verbose", VERBOSE, 0))
        if name not in known.parameters
    }

    @functools.wraps(function)
    def verb(**given: Any) -> None:
        LOUDNESS.quiet, LOUDNESS.verbose = bool(given["quiet"]), bool(given["verbose"])
        words = {name: value for name, value in given.items() if name not in ours}
        if not LOUDNESS.verbose:
            function(**words)
            return
        from ppdm_flow.cli.terminal.phases import Phases, timed_imports  # noqa: PLC0415  # for those who ask alone

        LOUDNESS.phases = phases = Phases()
        with timed_imports() as imports:
            try:
                function(**words)
            finally:
                say(phases.final_line(imports))

    verb.__signature__ = known.replace(parameters=[*known.parameters.values(), *ours.values()])  # type: ignore[attr-defined]
    return verb
