"""Flags and notes that a user puts on samples, in a CSV beside the runs."""

import csv
import io
import threading
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import final

from onepeak._core.files import NotWrittenError, write_text_in_one_step
from onepeak.errors import InputError

FILE = "sample_notes.csv"


@dataclass(frozen=True, kw_only=True)
class SampleNote:
    """What the user says of one sample of a part."""

    part: str
    item: int
    name: str
    """As the pages call the sample."""
    flag: bool
    note: str


@final
class SampleNotes:
    """All notes of a folder; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.Lock()
        self._known: dict[tuple[str, int], SampleNote] | None = None

    @property
    def known(self) -> Mapping[tuple[str, int], SampleNote]:
        """The notes by part and item; a file that cannot be read raises an `InputError`."""
        if self._known is None:
            self._known = _read(self.path) if self.path.exists() else {}
        return self._known

    def put(self, note: SampleNote) -> None:
        """Replaces the note on a sample; one without flag and text is removed."""
        with self._lock:
            found = {**self.known, (note.part, note.item): note}
            found = {key: each for key, each in found.items() if each.flag or each.note}
            try:
                write_text_in_one_step(self.path, _written(found))
            except NotWrittenError as error:
                raise InputError(f"The note cannot be kept. {error}") from error
            self._known = found


def _read(path: Path) -> dict[tuple[str, int], SampleNote]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            notes = [
                SampleNote(
                    part=row["part"],
                    item=int(row["item"]),
                    name=row["name"],
                    flag=row["flag"] == "yes",
                    note=row["note"],
                )
                for row in csv.DictReader(file)
            ]
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} must be a CSV of notes that onepeak inspect wrote: {error}.") from error
    return {(each.part, each.item): each for each in notes}


def _written(notes: Mapping[tuple[str, int], SampleNote]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(field.name for field in fields(SampleNote))
    for _, note in sorted(notes.items()):
        part, item, name, flag, text = astuple(note)
        writer.writerow((part, item, name, "yes" if flag else "no", text))
    return file.getvalue()
