"""Texts in a column of a table, and what they are known by. Imports no torch: reading data is fast."""

import hashlib

from onepeak._core.imports import Column
from onepeak._core.wording import counted, listed
from onepeak.data.tables.faults import FEW, Fault


def texts_of(column: Column) -> list[str]:
    """Returns the texts of a column without surrounding spaces, empty where there is none."""
    return ["" if gone else str(value).strip() for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def text_faults(column: Column) -> list[Fault]:
    """Describes rows without a text."""
    missing = tuple(index for index, text in enumerate(texts_of(column)) if not text)
    where = listed((column.index[index] for index in missing), limit=FEW)
    sentence = f"Every row must have a text in {column.name!r}, {counted(len(missing), 'row')} without one: {where}"
    fault = Fault(indices=missing, sentence=sentence, advice="Fill them in", reason=f"no text in {column.name!r}")
    return [fault] if missing else []


def digest_of(text: str) -> bytes:
    """Returns a fingerprint of a text that does not see capitals and spaces: near copies have the same."""
    return hashlib.blake2b(" ".join(text.casefold().split()).encode(), digest_size=16).digest()
