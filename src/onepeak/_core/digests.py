"""Digests of the files in a folder, as `sha256sum` writes and checks them."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from onepeak._core.files import read_text, write_text_in_one_step
from onepeak.errors import InputError

DIGESTS = "SHA256SUMS"


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Returns the digest of each file by its name."""
    found = {}
    for name in names:
        with (folder / name).open("rb") as file:
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def digests_text(digests: Mapping[str, str]) -> str:
    """Returns the text of a file of digests."""
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def read_digests(folder: Path) -> dict[str, str]:
    """Returns the digests that a folder lists, by the names of the files; empty if it lists none."""
    return dict(_lines(folder))


def check_digests(folder: Path, *names: str) -> None:
    """Compares files with the digests that their folder lists, if it does; an error names the first that differs."""
    listed = set(_lines(folder))
    for name in names if listed else ():
        if (name, _digest(folder, name)) not in listed:
            raise InputError(
                f"{folder / name} must be the file that onepeak wrote, got another one or none: its digest is not in "
                f"{DIGESTS}. Make or pull the folder again; if you changed it on purpose, delete {DIGESTS}."
            )


def change_listed(folder: Path, name: str, text: str) -> None:
    """Writes a text file in one step, with its digest where the folder lists any.

    While the file is replaced, both digests are listed, so that the folder is whole whenever this is killed.
    """
    if listed := read_digests(folder):
        before, after = _digest(folder, name), hashlib.sha256(text.encode()).hexdigest()
        both = digests_text({**listed, name: before}) + digests_text({name: after})
        write_text_in_one_step(folder / DIGESTS, both)
    write_text_in_one_step(folder / name, text)
    if listed:
        write_text_in_one_step(folder / DIGESTS, digests_text({**listed, name: after}))


def _lines(folder: Path) -> list[tuple[str, str]]:
    """Names and digests that a folder lists."""
    if not (folder / DIGESTS).is_file():
        return []
    lines = (line.partition("  ") for line in read_text(folder / DIGESTS).splitlines())
    return [(name, digest) for digest, _, name in lines]


def _digest(folder: Path, name: str) -> str:
    """The digest of a file; empty without one."""
    return digests_of(folder, [name])[name] if (folder / name).is_file() else ""
