"""Reads images from the body of a request: a single image, or several in a form."""

from dataclasses import dataclass, field
from typing import final

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from onepeak.serving.http.failures import RequestError

FORM = "multipart/form-data"


@dataclass(frozen=True, kw_only=True)
class Upload:
    """One file. Its format is recognised by its bytes; its name is only repeated in the answer."""

    name: str | None
    """The client's name for it, if given."""
    data: bytes = field(repr=False)


def uploads_of(body: bytes, content_type: str, *, max_items: int) -> list[Upload]:
    r"""Returns the files in the body of a request.

    Args:
        body: The whole body.
        content_type: The header. A form is split into its files; anything else is one file.
        max_items: The most files.

    Raises:
        RequestError: The form is damaged or truncated, holds no file or too many, or has a part that is not a file.

    Example:
        >>> head = b'Content-Disposition: form-data; name="images"; filename="a.png"'
        >>> form = b"--x\r\n" + head + b"\r\n\r\nbytes\r\n--x--\r\n"
        >>> uploads_of(form, "multipart/form-data; boundary=x", max_items=2)
        [Upload(name='a.png')]
    """
    kind, options = parse_options_header(content_type)
    if kind != FORM.encode():
        return [Upload(name=None, data=body)]
    parts = _Parts(max_items)
    try:
        parser = MultipartParser(
            options.get(b"boundary", b""),
            {
                "on_part_begin": parts.begin,
                "on_header_field": parts.header_name,
                "on_header_value": parts.header_value,
                "on_header_end": parts.header_end,
                "on_headers_finished": parts.headers_end,
                "on_part_data": parts.data,
                "on_part_end": parts.part_end,
                "on_end": parts.end,
            },
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise RequestError(400, f"The form must be well-formed multipart/form-data: {error}.") from None
    if not parts.whole:
        raise RequestError(400, "The form must end with its boundary, got a truncated one: send it again.")
    if not parts.files:
        raise RequestError(400, "The form must hold at least one file, got none: send each image as a file.")
    return parts.files


@final
class _Parts:
    """What the parser has read so far."""

    def __init__(self, max_items: int) -> None:
        self.files: list[Upload] = []
        self.whole = False
        self._max_items = max_items
        self._header: dict[bytes, bytes] = {}
        self._name, self._value, self._content = bytearray(), bytearray(), bytearray()

    def begin(self) -> None:
        self._header, self._content = {}, bytearray()

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        self._header[bytes(self._name).lower()] = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def headers_end(self) -> None:
        _, options = parse_options_header(self._header.get(b"content-disposition"))
        if b"filename" not in options:
            raise RequestError(400, "Every part of the form must be a file; options go in the query string.")
        if len(self.files) == self._max_items:
            raise RequestError(413, f"A request must hold at most {self._max_items} images, got more: send several.")
        self._file_name = options[b"filename"].decode("utf-8", "replace")

    def data(self, data: bytes, start: int, end: int) -> None:
        self._content += data[start:end]

    def part_end(self) -> None:
        self.files.append(Upload(name=self._file_name or None, data=bytes(self._content)))

    def end(self) -> None:
        self.whole = True
