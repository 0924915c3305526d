"""The tree of errors, each class with its exit status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ppdm_flow.core.diagnostics import Diagnostic, in_order
from ppdm_flow.core.suggest import did_you_mean


class PpdmError(Exception):
    """Something that the user has to know. Carries diagnostics; never a data value.

    ``sources`` holds the texts of the policy files that the diagnostics quote.
    """

    exit_status = 3

    def __init__(
        self, diagnostics: Diagnostic | Iterable[Diagnostic], sources: Mapping[str, str] | None = None
    ) -> None:
        every = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics = in_order(every)
        self.sources = dict(sources or {})
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))

    def __reduce__(self) -> tuple[type[PpdmError], tuple[tuple[Diagnostic, ...], dict[str, str]]]:
        """Travel between processes."""
        return type(self), (self.diagnostics, self.sources)


class UsageError(PpdmError):
    """The command line asks for something that cannot be done."""

    exit_status = 2


class PolicyError(PpdmError):
    """The policy is invalid."""

    exit_status = 2


class DataError(PpdmError):
    """The data cannot be read, or does not match the policy."""

    exit_status = 2


class PluginError(PpdmError):
    """A plugin is missing, or was given data or parameters that it cannot work with."""

    exit_status = 2


class RefusedError(PpdmError):
    """It worked, and the answer is no."""

    exit_status = 1


class RunError(PpdmError):
    """The tool, a plugin or the machine failed while running."""

    exit_status = 3


class DisagreementError(RunError):
    """Two independent routes computed different figures for one guarantee: a defect, so no release."""


def unknown_column(code: str, name: str, known: Iterable[str], *, where: str) -> DataError:
    """Build the error for a column that the data does not have, with the nearest name as hint."""
    return DataError(Diagnostic(code, f"{where} has no column `{name}`", hint=did_you_mean(name, known)))
