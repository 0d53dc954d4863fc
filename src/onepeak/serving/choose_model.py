"""Finds the model that a folder stands for."""

from pathlib import Path

from onepeak._core.files import expanded
from onepeak._core.wording import listed
from onepeak.errors import InputError
from onepeak.training.out_folder import DESCRIPTION


def model_folder(folder: Path) -> Path:
    """Returns the model's folder: the one given, or the only model among the runs of a comparison.

    Args:
        folder: The `--out` folder of `onepeak train` or `onepeak compare`.

    Raises:
        InputError: The comparison has several models.
    """
    folder = expanded(folder)
    if (folder / DESCRIPTION).is_file():
        return folder
    models = sorted(path.parent for path in folder.glob(f"runs/*/*/{DESCRIPTION}"))
    if len(models) > 1:
        raise InputError(
            f"`{folder}` must hold one model, got a comparison with {len(models)}: name one of them, "
            f"{listed(models, limit=3)}."
        )
    return models[0] if models else folder
