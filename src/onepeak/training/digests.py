"""The digests of a model that is shared: what of its folder is, and whether a file is still what it was."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from onepeak._core.files import read_text, write_text_in_one_step
from onepeak.errors import InputError
from onepeak.networks.text_encoder import FILES
from onepeak.training.model_files import ENCODER
from onepeak.training.out_folder import DESCRIPTION

DIGESTS = "SHA256SUMS"
"""The digests of a shared model's files, as `sha256sum` writes them."""
_SHARED = (DESCRIPTION, "*.safetensors", "policy.json", "README.md", *(f"{ENCODER}/{name}" for name in FILES))


def shared_files(folder: Path) -> list[str]:
    """Lists what makes a model: no predictions, no list of samples, no runs below it, and nothing hidden."""
    found = (path.relative_to(folder).as_posix() for pattern in _SHARED for path in folder.glob(pattern))
    return sorted({name for name in found if not name.startswith(".")})


def digests_text(folder: Path, names: Iterable[str]) -> str:
    """Returns the digests of files in a folder, one per line."""
    return "".join(_line(folder, name) + "\n" for name in names)


def named_files(folder: Path) -> list[str]:
    """Lists the files that a folder's digests name; raises if one cannot be part of a model."""
    names = [line.partition("  ")[2] for line in read_text(folder / DIGESTS).splitlines()]
    for name in names:
        path = PurePosixPath(name)
        inside = path.parent.as_posix() in (".", ENCODER) and re.fullmatch(r"[\w.-]+", path.name)
        if not inside or not any(path.match(pattern) for pattern in _SHARED):
            raise InputError(f"{folder / DIGESTS} must name files of a model, got {name!r}.")
    return names


def check_digests(folder: Path, names: Iterable[str]) -> None:
    """Compares files in a folder with its digests; raises an error that names the first that differs."""
    expected = set(read_text(folder / DIGESTS).splitlines())
    for name in names:
        if not (folder / name).is_file() or _line(folder, name) not in expected:
            raise InputError(
                f"{folder / name} must be the file that was shared, got another one or none: its digest is not in "
                f"{DIGESTS}. Pull the model again; if you changed it on purpose, delete {DIGESTS}."
            )


def check_shared(folder: Path) -> None:
    """Checks a model's folder if it was shared, and that nothing was added. Its card may be edited."""
    if (folder / DIGESTS).is_file():
        names = {*named_files(folder), *shared_files(folder)}
        check_digests(folder, sorted(name for name in names if not name.endswith(".md")))


def renew_digests(folder: Path) -> None:
    """Writes the digests of a shared model's folder again, after a file in it was changed on purpose."""
    if (folder / DIGESTS).is_file():
        write_text_in_one_step(folder / DIGESTS, digests_text(folder, shared_files(folder)))


def _line(folder: Path, name: str) -> str:
    with (folder / name).open("rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}"
