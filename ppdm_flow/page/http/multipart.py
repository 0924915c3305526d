"""A form with one file, read piece by piece: what is the file is passed on, fields are kept."""

from __future__ import annotations

from collections.abc import Callable

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import UploadFile

TOKEN = "form_token"  # noqa: S105  # the name of a field


class ForgedError(Exception):
    """A form without the token of the visit, or from another site's page."""


class MultipartForm:
    """The parts of one body. Raises ValueError for what no form of the page sends.

    ``is_own`` says whether a token is that of the visit. Forms have it before a file: ForgedError is raised for a file
    that begins without.
    """

    def __init__(self, boundary: bytes, most: int, is_own: Callable[[str], bool]) -> None:
        self.fields: list[tuple[str, str | UploadFile]] = []
        self.file_name: str | None = None
        self._most, self._is_own = most, is_own
        self._trusted = is_own("")
        self._kept = 0
        self._header, self._value = bytearray(), bytearray()
        self._disposition = b""
        self._field: str | None = None
        self._text, self._file = bytearray(), bytearray()
        self._ended = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_part_data": self._data,
                "on_part_end": self._end,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers,
                "on_end": self._whole,
            },
        )

    @property
    def was_forged(self) -> bool:
        """Whether no token of the visit came."""
        return not self._trusted

    def feed(self, piece: bytes) -> bytes:
        """Take a piece of the body, and return what of it is the file's. Raises ForgedError, ValueError."""
        self._file.clear()
        self._parser.write(piece)
        return bytes(self._file)

    def end(self) -> None:
        """Say that the body is over. Raises ValueError where the form is not."""
        self._parser.finalize()
        if not self._ended:
            raise ValueError("the form is cut off")

    def _begin(self) -> None:
        self._disposition, self._field = b"", None
        self._text.clear()

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._keep(end - start)
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._keep(end - start)
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _headers(self) -> None:
        _, options = parse_options_header(self._disposition)
        if b"name" not in options:
            raise ValueError("a part of the form has no name")
        name = options[b"name"].decode(errors="replace")
        if b"filename" not in options:
            self._field = name
            return
        if self.file_name is not None:
            raise ValueError("the form has two files")
        if not self._trusted:
            raise ForgedError
        self.file_name = options[b"filename"].decode(errors="replace")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._field is not None:
            self._keep(end - start)
            self._text += data[start:end]
        else:
            self._file += data[start:end]

    def _end(self) -> None:
        if self._field is None:
            return
        text = self._text.decode(errors="replace")
        self.fields.append((self._field, text))
        if self._field == TOKEN and self._is_own(text):
            self._trusted = True

    def _whole(self) -> None:
        self._ended = True

    def _keep(self, many: int) -> None:
        self._kept += many
        if self._kept > self._most:
            raise ValueError("the fields of the form are too long")
