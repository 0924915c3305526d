"""A first policy from data: what its columns look like, what tells its rows apart, and what that asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ppdm_flow.api.buckets import local_data
from ppdm_flow.api.profile.data import (
    FileLayout,
    FirstLine,
    ProfiledSets,
    TextOptions,
    are_values,
    columns,
    first_sets,
    in_long_form,
    look,
    meanings,
    numbered,
    partitions,
    sets,
    shaped,
    with_iso_dates,
    with_plain_numbers,
    without,
)
from ppdm_flow.api.profile.questions import StewardQuestion, Topic, answered, next_question
from ppdm_flow.api.profile.sets import long_form
from ppdm_flow.core.addresses import bucket_address, is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.file_sets import telling_name
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.roles import Role
from ppdm_flow.core.texts import json_text
from ppdm_flow.mining.profiling.table import Coded
from ppdm_flow.mining.profiling.table import profile as measured
from ppdm_flow.plan.formats import inferred, usual_ending
from ppdm_flow.report.profile import ProfileDocument, ToldByFile, document, document_of_sets, render, render_document
from ppdm_flow.sdk.storage import ColumnMeaning


@dataclass(frozen=True, slots=True, repr=False)
class ProfileResult:
    """A profile of the file ``data``; no form of it holds a value of the data."""

    data: Path
    document: ProfileDocument
    read_as: str = ""  # how a text file was read

    def __repr__(self) -> str:
        """Return how large the table is, in one line."""
        columns = counted(len(self.document["columns"]), "column")
        return f"<profile of {self.data.name}: {self.document['rows']:,} rows, {columns}>"

    def rendered(self, form: str, width: int = 100, beside: Path | None = None) -> str:
        """Return the profile as ``yaml`` (a policy; paths start from the folder ``beside``), ``json`` or ``text``.

        Raises DataError for a policy that could release nothing.
        """
        match form:
            case "json":
                return json_text(self.document)
            case "text":
                return render_document(self.document, width)
            case _:
                self._releasable()
                return render(self.document, _from(self.data, beside or Path()))

    def next_question(self, answers: Mapping[Topic, str]) -> StewardQuestion | None:
        """Return the first question to a steward that is not among ``answers``; None where all were asked."""
        return next_question(self.document, answers)

    def answered(self, answers: Mapping[Topic, str]) -> ProfileResult:
        """Return the profile with a steward's answers; an empty one lets the safer guess stand. Raises UsageError."""
        return replace(self, document=answered(self.document, answers))

    def _releasable(self) -> None:
        """Raise DataError where every column is told to be an identifier, or items of sets are."""
        if telling := self.document.get("sets", {}).get("telling"):
            text_ = f"the sets of `{self.data.name}` seem to hold identifiers of people: {telling}"
            help_ = (
                "leave these items out of the file. Where they say whose set it is, write a row for each id and item:"
                " `source: {format: long}` makes one set of all items of an id. `ppdm-flow explain PPF675` has both;"
                " `--format text` shows what was found"
            )
            raise DataError(Diagnostic("PPF675", text_, help=help_))
        if all(column["role"] == Role.IDENTIFIER for column in self.document["columns"]):
            text_ = "every column looks like a direct identifier: there is nothing left to release"
            raise DataError(Diagnostic("PPF674", text_, help="`--format text` says why each does"))


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a file as a profile reads them: values of the data, for who has the file alone.

    A cell without a value is None. ``layout`` is how the file is read, ``missing`` the texts that mean missing values
    in the beginning of the file.
    """

    layout: FileLayout
    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    missing: tuple[str, ...]


def first_rows(data: Path, said: TextOptions, most: int) -> FirstRows:
    """Return at most so many rows from the beginning of a file. Raises as `profile`."""
    said = said.checked()
    written = look(data, said)
    if (sets_read := first_sets(data, written, most)) is not None:
        name, lines = sets_read
        return FirstRows(written, (name,), tuple((line,) for line in lines), ())
    written, every = _read(data, written, said, whole=False)
    coded, missing = without(every, said.missing)
    texts = [[values[code].as_py() if code >= 0 else None for code in codes[:most]] for codes, values in coded.values()]
    return FirstRows(written, tuple(coded), tuple(zip(*texts, strict=True)), missing)


def profile(
    data: Path,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    escape: str | None = None,
    names: tuple[str, ...] | None = None,
    missing: tuple[str, ...] | None = None,
    input_format: str | None = None,
) -> ProfileResult:
    """Read data, which may be in an object store, measure it and guess roles.

    ``header`` says whether the first record of a text file or a sheet names the columns; ``delimiter``, ``encoding``
    and ``escape`` how a text file is written, ``names`` the names of its columns, and ``missing`` the texts that
    mean missing values beside empty cells; ``input_format`` is the file's format. Options that are None are guessed; in
    doubt the first record of a text file is a row.
    Raises UsageError for options that the reader has not, DataError where the file cannot be read, has no rows, or
    columns that no policy can declare.
    """
    said = TextOptions(header, delimiter, encoding, escape, names, missing, input_format)
    with local_data(data) as there:
        return replace(_profile(there or data, said.checked()), data=data)


def _profile(data: Path, said: TextOptions) -> ProfileResult:
    written = look(data, said)
    if (read := sets(data, written)) is not None:
        return _of_sets(data, read)
    written, every = _read(data, written, said)
    coded, missing = without(every, said.missing)
    if said.format is None and len(coded) == 2 and (pair := long_form(measured(coded, missing), coded)) is not None:
        read = sets(data, in_long_form(written, telling_name(data), *pair))
        if read is not None:
            return _of_sets(data, read)
    coded, written = with_plain_numbers(coded, data, written)
    coded, written = with_iso_dates(coded, data, written)
    source = {
        **({"format": written.format} if written.format else {}),
        "options": dict(written.options),
        "columns": list(written.columns) if written.columns else None,
        "missing": list(missing),
    }
    file_notes = told_by_file(meanings(data, written), coded, missing)
    profile_document = document(measured(coded, missing), data.name, source, file_notes)
    return ProfileResult(data, profile_document, written.describe_format(telling_name(data)))


def _of_sets(data: Path, read: ProfiledSets) -> ProfileResult:
    written = read.written
    source = {"format": written.format, "options": dict(written.options), "columns": None, "missing": [""]}
    kind = written.format or inferred("sources", telling_name(data)) or ""
    ending = ".parquet" if kind == "long" else usual_ending("sinks", kind, data.name)
    return ProfileResult(
        data,
        document_of_sets(read.facts, data.name, source, ending, read.name, read.owner),
        written.describe_format(telling_name(data)),
    )


def _read(
    data: Path, written: FileLayout, said: TextOptions, *, whole: bool = True
) -> tuple[FileLayout, dict[str, Coded]]:
    """Return how a file is written, and its columns, of the ``whole`` file or of its beginning."""
    every = columns(data, written, whole=whole)
    if written.columns is None and _is_row(every, data, written, said):
        keys = partitions(data)
        written = numbered(written, len(every) - len(keys), keys)
        every = columns(data, written, whole=whole)
    return written, every


def _is_row(coded: Mapping[str, Coded], data: Path, written: FileLayout, said: TextOptions) -> bool:
    """Whether the names that were read are a row of data: formats other than texts and sheets have names."""
    if written.header is None:
        sheet = inferred("sources", telling_name(data)) == "excel"
        return sheet and (said.header is False or (said.header is None and any(map(shaped, coded))))
    return written.header is FirstLine.LIKELY and said.header is None and are_values(coded)


def _from(data: Path, folder: Path) -> str:
    if is_bucket(data):
        return bucket_address(data).url
    try:
        return Path(os.path.relpath(data.absolute(), folder.absolute())).as_posix()
    except ValueError:  # another drive
        return data.as_posix()


_LONGEST = 200
_MOST = 100
_ENOUGH = 5


def told_by_file(
    meanings: Mapping[str, ColumnMeaning], coded: Mapping[str, Coded], missing: Sequence[str]
) -> Mapping[str, ToldByFile]:
    """Return description and domain by column.

    A domain holds the values that the file itself lists, and is there only where each value in the rows is one of them.
    Such lists can be made from the rows (in SPSS by AUTORECODE): so there is none where a value has fewer than 5 rows.
    Marks of ``missing`` values are no values.
    """
    notes_by_column = {}
    for name, column in coded.items():
        meaning = meanings.get(name, ColumnMeaning())
        listed = [value for value in meaning.labels if value not in missing]
        is_domain = 1 < len(listed) <= _MOST and _all_listed(column, listed)
        notes_by_column[name] = ToldByFile(
            " ".join(meaning.description.split())[:_LONGEST], listed if is_domain else ()
        )
    return notes_by_column


def _all_listed(column: Coded, listed: Sequence[str]) -> bool:
    codes, values = column
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    return bool((counts >= _ENOUGH).all()) and set(values.to_pylist()) <= set(listed)
