"""Quotes and escapes of CSV text: where they open and close, and the first one that is not in order."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ppdm_flow.sources.csv.spec import BACKSLASH, CsvSourceParams

_NEWLINE, _RETURN, _BLANK, _TAB = 10, 13, 32, 9

Places = npt.NDArray[np.int64]


class QuoteFault(Exception):  # noqa: N818  # turned into a DataError where the row's number is known
    """A quote or an escape at byte ``offset`` is not in order; ``code`` says how."""

    def __init__(self, code: str, offset: int) -> None:
        super().__init__(code)
        self.code = code
        self.offset = offset


class QuoteScanner:
    """Follows the quotes through the chunks of a text in UTF-8, or in an encoding that has ASCII's bytes for them.

    A quote opens at the beginning of a cell only, and closes before a delimiter, a line end or the end. Inside of
    quotes two quotes are one letter, or an escape makes the next sign a letter. ``inside`` says whether a quote is open
    behind the last chunk, ``opened`` where. ``backslashed``: a quote inside of quotes stands behind a backslash that
    nobody declared: an odd number of them. ``lenient`` takes escapes wherever they stand.
    """

    def __init__(self, params: CsvSourceParams, *, lenient: bool = False) -> None:
        self.inside = False
        self.opened = 0
        self.offset = 0
        self.backslashed = False
        self._lenient = lenient
        self._last = _NEWLINE
        self._strip = params.strip
        self._quote, self._delimiter = ord(params.quote), ord(params.delimiter)
        self._escape = None if params.doubles else ord(str(params.escape))
        self._backslash = ord(BACKSLASH) if params.escape is None else None
        self._ends = np.zeros(256, bool)
        self._ends[[self._delimiter, _NEWLINE, _RETURN]] = True
        self._begins = self._ends.copy()
        if self._escape is None:  # two quotes are one letter
            self._ends[self._quote] = self._begins[self._quote] = True
            self._marks = re.compile(re.escape(params.quote).encode())
            self.open_ended = params.quote.encode()
        else:
            mark, quote = re.escape(str(params.escape)).encode(), re.escape(params.quote).encode()
            self._marks = re.compile(mark + b".?|" + quote, re.DOTALL)
            self.open_ended = f"{params.escape}{params.quote}N".encode()
        self._escapable = {self._escape, self._quote, self._delimiter, _NEWLINE, _RETURN}

    def scan(self, chunk: bytes) -> Places:
        """Return where quotes open and close in the next bytes, in turns; two that are one letter may be among them.

        The chunk must not end with a sign of ``open_ended`` unless it is the last one. Raises QuoteFault.
        """
        octets = np.frombuffer(chunk, np.uint8)
        quotes = np.flatnonzero(octets == self._quote)
        if (self._escape is not None and self._escape in chunk) or (
            len(quotes) and not self._is_in_order(octets, quotes)
        ):
            places = self._followed(chunk)
        else:
            places = quotes
            opening = quotes[0 if not self.inside else 1 :: 2]
            if len(opening):
                self.opened = self.offset + int(opening[-1])
            self.inside ^= bool(len(quotes) % 2)
        if len(chunk):
            self._last = chunk[-1]
        self.offset += len(chunk)
        return places

    def finish(self) -> None:
        """Raise QuoteFault where a quote is still open."""
        if self.inside:
            raise QuoteFault("PPF716", self.opened)

    def _is_in_order(self, octets: npt.NDArray[np.uint8], quotes: Places) -> bool:
        """Whether each quote stands at the beginning or the end of a cell, or beside another one."""
        before, after = octets.take(quotes - 1, mode="clip"), octets.take(quotes + 1, mode="clip")
        if quotes[0] == 0:
            before[0] = self._last
        if quotes[-1] == len(octets) - 1:
            after[-1] = _NEWLINE
        first = int(self.inside)
        for place in quotes[1 - first :: 2][before[1 - first :: 2] == self._backslash]:
            self._note_backslashes(octets, int(place))
        return bool(self._begins[before[first::2]].all() and self._ends[after[1 - first :: 2]].all())

    def _followed(self, chunk: bytes) -> Places:
        """Follow the quotes one by one: some are letters of cells without quotes, or escaped, or not in order."""
        places, at = [], 0
        while match := self._marks.search(chunk, at):
            place, at = match.span()
            after = chunk[at] if at < len(chunk) else _NEWLINE
            if chunk[place] == self._escape:
                self._check_escape(chunk, place)
            elif not self.inside:
                if self._begins_cell(chunk, place):
                    self.inside, self.opened = True, self.offset + place
                    places.append(place)
            elif after == self._quote and self._escape is None:
                at += 1
            elif not self._ends[after]:
                raise QuoteFault("PPF486", self.offset + place)
            else:
                self.inside = False
                places.append(place)
            self._note_backslashes(chunk, place)
        return np.array(places, np.int64)

    def _note_backslashes(self, chunk: bytes | npt.NDArray[np.uint8], place: int) -> None:
        """Note a quote behind an odd number of backslashes: two of them may be one letter."""
        start = place
        while start and chunk[start - 1] == self._backslash:
            start -= 1
        self.backslashed = self.backslashed or (place - start) % 2 == 1

    def _begins_cell(self, chunk: bytes, place: int) -> bool:
        """Whether a quote outside of quotes is the first sign of a cell. Raises QuoteFault where blanks hide that."""
        before = chunk[place - 1] if place else self._last
        if self._strip and before in (_BLANK, _TAB) and before != self._delimiter:
            bare = chunk[:place].rstrip(b" \t")
            if not bare or self._begins[bare[-1]]:
                raise QuoteFault("PPF486", self.offset + place)
        return before in (self._delimiter, _NEWLINE, _RETURN)

    def _check_escape(self, chunk: bytes, place: int) -> None:
        """Raise QuoteFault where tools differ in what an escape means."""
        follows = chunk[place + 1 : place + 3]
        if self._lenient or (self.inside and follows and follows[0] in self._escapable):
            return
        alone = not self.inside and follows[:1] == b"N" and (len(follows) == 1 or self._ends[follows[1]])
        if not (alone and self._begins_cell(chunk, place)):
            raise QuoteFault("PPF487", self.offset + place)
