"""What a statistical file holds beside its cells: notes, labels of codes that no row has, marks for missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Finding

Blocks = Iterator[tuple[int, Mapping[str, Sequence[Any]]]]
Read = Callable[[Sequence[str]], Blocks]


def beside(about: Any, read: Read, marks: Read | None) -> Iterator[Finding]:
    """Yield what there is, in numbers and names of columns; never a value.

    ``marks`` reads the cells with the codes that stand for missing values, where the format has such.
    """
    if about.notes or getattr(about, "file_label", None):
        yield _finding("PPF922", "the file has notes or a label of its own: read them before it leaves", "metadata")
    described = sum(1 for label in about.column_labels if label)
    if described:
        yield _finding("PPF922", f"{counted(described, 'column')} of the file have descriptions", "columns")
    labels = {name: set(codes) for name, codes in about.variable_value_labels.items() if codes}
    filled, _ = _seen(read, about.column_names, ())
    marked, codes = _seen(marks or read, about.column_names, tuple(labels))
    for name in about.column_names:
        unused = len(labels.get(name, set()) - codes.get(name, set()))
        if unused:
            text = f"the file has {counted(unused, 'label')} for codes of `{name}` that no row has"
            yield _finding("PPF921", text, name)
        if marked[name] > filled[name]:
            text = (
                f"{counted(marked[name] - filled[name], 'cell')} of `{name}` have codes for missing values, of which"
                " nothing is measured: all of them are read as missing"
            )
            yield _finding("PPF921", text, f"missing {name}")


def _seen(read: Read, names: Sequence[str], labelled: Sequence[str]) -> tuple[dict[str, int], dict[str, set[Any]]]:
    """Return how many cells of each column have a value, and the codes in columns with labels."""
    filled = dict.fromkeys(names, 0)
    codes: dict[str, set[Any]] = {name: set() for name in labelled}
    for _, cells in read(names):
        for name in names:
            filled[name] += sum(1 for cell in cells[name] if cell is not None and cell != "")
        for name in labelled:
            codes[name].update(cells[name])
    return filled, codes


def _finding(code: str, text: str, subject: str) -> Finding:
    return Finding(code, Severity.WARNING, text, subject)
