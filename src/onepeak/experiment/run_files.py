"""The files of a run as bytes: read where it was trained, written where they belong."""

from functools import partial
from pathlib import Path

from onepeak._one_step import write_in_one_step
from onepeak.training.file_names import RESULT
from onepeak.training.run import CHECKPOINT


def read_run_files(folder: Path) -> dict[str, bytes]:
    """Every file that a run leaves behind, by its name; what served only its training is left out."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != CHECKPOINT and not path.name.startswith(".")
    }


def write_run_files(files: dict[str, bytes], folder: Path) -> None:
    """Puts them into the run's folder, the result last: a folder with a result is whole."""
    for name in sorted(files, key=lambda name: name == RESULT):
        write_in_one_step(folder / name, partial(Path.write_bytes, data=files[name]))
    if RESULT in files:
        (folder / CHECKPOINT).unlink(missing_ok=True)  # of an earlier start somewhere else
