"""Your own backbone, named by the class or function that makes it: "package.module:name"."""

import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor, nn

from onepeak.errors import InputError, first_line

TRUST = "ONEPEAK_TRUST"
_SIDES = (224, 32, 28, 64, 96, 128, 256, 299, 384)
"""Sides of the images that are tried to find the shape of the output: most networks accept any size, some only one."""


class BackboneError(InputError):
    """The user's own backbone cannot be used: it is not trusted, not found, or not a backbone."""


def is_own(backbone: str) -> bool:
    """Returns whether a name means the user's own backbone: no name in timm has a colon."""
    return ":" in backbone


@final
class OwnBackbone(nn.Module):
    """A backbone made by the user's own class or function; one trial batch finds the shape of its output.

    The class or function is called without arguments for images, and with the number of features of a row for tables.
    It must return a module from images (batch, 3, height, width) or rows (batch, num_features) to feature maps (batch,
    channels, height', width') or features (batch, features). It is imported from Python's path or from the current
    folder.
    """

    def __init__(self, place: str, *, num_features: int | None = None) -> None:
        super().__init__()
        self.place = place
        with _current_folder():
            self.model = _module(place, () if num_features is None else (num_features,))
            features = _trial_output(self.model, place, num_features)
        self.num_channels = features.shape[1]
        """Channels of the maps, or number of features."""
        self.gives_maps = features.ndim == 4

    def forward(self, inputs: Tensor) -> Tensor:
        features: Tensor = self.model(inputs)
        return features


def _module(place: str, arguments: tuple[int, ...]) -> nn.Module:
    make = maker(place)
    try:
        made = make(*arguments)
    except Exception as error:  # the user's code may raise anything
        raise BackboneError(
            f"`backbone` must be made by {place}({', '.join(map(str, arguments))}), which failed with "
            f"{type(error).__name__}: {first_line(error)}"
        ) from error
    if not isinstance(made, nn.Module):
        raise BackboneError(f"`backbone` {place!r} must return a torch module, got {type(made).__name__}.")
    return made


def _trial_output(model: nn.Module, place: str, num_features: int | None) -> Tensor:
    """Returns the module's output for images of the first size that it accepts, or for rows."""
    shapes = [(2, 3, side, side) for side in _SIDES] if num_features is None else [(2, num_features)]
    failed: list[Exception] = []
    for shape in shapes:
        try:
            return features_of(model, torch.zeros(shape))
        except InputError:  # about its output
            raise
        except Exception as error:  # the user's code may raise anything
            failed.append(error)
    raise BackboneError(
        f"`backbone` {place!r} must accept a batch of shape {shapes[0]}, but failed with {type(failed[0]).__name__}: "
        f"{first_line(failed[0])}"
    ) from failed[0]


def maker(place: str) -> Callable[..., Any]:
    """Imports the class or function named by "package.module:name"."""
    module_name, _, name = place.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise BackboneError(
            f"`backbone` must be a timm name, or name a class or function as package.module:name (no path, no .py), "
            f"got {place!r}."
        )
    try:
        with _current_folder():
            module = importlib.import_module(module_name)
    except Exception as error:  # the user's code may raise anything
        raise BackboneError(
            f"`backbone` must name a module that can be imported, got {place!r}: {type(error).__name__}: "
            f"{first_line(error)}. Installed packages and the current folder are searched."
        ) from error
    found = getattr(module, name, None)
    if not callable(found):
        raise BackboneError(f"`backbone` must name a class or function of {module_name}, which has no {name!r}.")
    return found  # type: ignore[no-any-return]


def check_trusted(backbone: str) -> None:
    """Rejects a custom backbone named by a model file unless its module is in the environment variable ONEPEAK_TRUST.

    A backbone named in a command or an experiment is the user's choice. Opening a model must not run code that the user
    did not ask for.
    """
    module_name = backbone.partition(":")[0]
    trusted = {name.strip() for name in os.environ.get(TRUST, "").split(",")}
    if is_own(backbone) and module_name not in trusted:
        raise BackboneError(
            f"The model runs the code of the module {module_name!r}. If you trust that, set the environment variable "
            f"{TRUST}={module_name} and start again."
        )


def source_digest(backbone: str) -> str | None:
    """Returns a hash of the source file of the user's own backbone, to detect a change; None for any other backbone."""
    if not is_own(backbone):
        return None
    made_by = maker(backbone)
    try:
        file = inspect.getsourcefile(made_by)
    except TypeError:  # written in C
        file = None
    return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()


@torch.no_grad()
def features_of(backbone: nn.Module, example: Tensor) -> Tensor:
    """Returns a module's maps or features for an example, without updating batch-norm statistics."""
    training = {module: module.training for module in backbone.modules()}
    backbone.eval()
    try:
        features = backbone(example)
    finally:
        for module, mode in training.items():  # some parts may be frozen in eval mode
            module.training = mode
    if not isinstance(features, Tensor):
        raise InputError(f"`backbone` must return one tensor, got {type(features).__name__}.")
    if features.ndim not in (2, 4) or len(features) != len(example):
        raise InputError(
            "`backbone` must return feature maps (batch, channels, height, width) or features (batch, features), "
            f"got shape {tuple(features.shape)} for an example of shape {tuple(example.shape)}."
        )
    return features


@contextmanager
def _current_folder() -> Iterator[None]:
    """Allows imports from the current folder, after all installed packages."""
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)
