"""A backbone of the user's own, by the place of what makes it: "package.module:name"."""

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
"""Of the picture that is sent through to see what comes out: most networks take any, some one alone."""


class BackboneError(InputError):
    """A backbone of the user's own cannot be had: it is not trusted, not there, or no backbone."""


def is_own(backbone: str) -> bool:
    """Whether a backbone's name is the place of the user's own: no name of timm has a colon.

    Example:
        >>> is_own("my_networks:Small"), is_own("resnet18.a1_in1k")
        (True, False)
    """
    return ":" in backbone


@final
class OwnBackbone(nn.Module):
    """What a class or function of the user's own makes, with what it gives looked at once.

    It is called without arguments for pictures, and for tables with how many numbers a row becomes, and must give a
    module: from pictures (batch, 3, height, width) or rows (batch, numbers) to feature maps (batch, channels, height',
    width') or features (batch, features). Modules are found as Python finds them, and in the current folder.

    Args:
        place: "package.module:name".
        num_features: Numbers of a row of a table; None for pictures.

    Example:
        >>> OwnBackbone("torch.nn:Identity")(torch.zeros(2, 3, 8, 8)).shape
        torch.Size([2, 3, 8, 8])
    """

    def __init__(self, place: str, *, num_features: int | None = None) -> None:
        super().__init__()
        self.place = place
        with _current_folder():
            self.model = _made(place, () if num_features is None else (num_features,))
            features = _looked_at(self.model, place, num_features)
        self.num_channels = features.shape[1]
        """Of the maps or features it gives."""
        self.gives_maps = features.ndim == 4

    def forward(self, inputs: Tensor) -> Tensor:
        """Feature maps or features."""
        features: Tensor = self.model(inputs)
        return features


def _made(place: str, arguments: tuple[int, ...]) -> nn.Module:
    make = maker(place)
    try:
        made = make(*arguments)
    except Exception as error:  # whatever the user's code may raise
        raise BackboneError(
            f"`backbone` must be made by {place}({', '.join(map(str, arguments))}), which failed with "
            f"{type(error).__name__}: {first_line(error)}"
        ) from error
    if not isinstance(made, nn.Module):
        raise BackboneError(f"`backbone` {place!r} must give a torch module, got {type(made).__name__}.")
    return made


def _looked_at(model: nn.Module, place: str, num_features: int | None) -> Tensor:
    """What the module gives for pictures of the first size that it takes, or for rows."""
    shapes = [(2, 3, side, side) for side in _SIDES] if num_features is None else [(2, num_features)]
    failed: list[Exception] = []
    for shape in shapes:
        try:
            return features_of(model, torch.zeros(shape))
        except InputError:  # of what it gives
            raise
        except Exception as error:  # whatever the user's code may raise
            failed.append(error)
    raise BackboneError(
        f"`backbone` {place!r} must take a batch of shape {shapes[0]}, and failed with {type(failed[0]).__name__}: "
        f"{first_line(failed[0])}"
    ) from failed[0]


def maker(place: str) -> Callable[..., Any]:
    """The class or function at a place.

    Example:
        >>> maker("torch.nn:Linear")
        <class 'torch.nn.modules.linear.Linear'>
    """
    module_name, _, name = place.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise BackboneError(
            f"`backbone` must be a name of timm, or name a class or function as package.module:name (no path, no .py), "
            f"got {place!r}."
        )
    try:
        with _current_folder():
            module = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's code may raise
        raise BackboneError(
            f"`backbone` must name a module that can be imported, got {place!r}: {type(error).__name__}: "
            f"{first_line(error)}. It is looked for among what is installed and in the current folder."
        ) from error
    found = getattr(module, name, None)
    if not callable(found):
        raise BackboneError(f"`backbone` must name a class or function of {module_name}, which has no {name!r}.")
    return found  # type: ignore[no-any-return]


def check_trusted(backbone: str) -> None:
    """Refuses a backbone of somebody's own that a model names, unless the user has said that he trusts its module.

    What a command or an experiment names is the user's own doing; to open a model must run nothing that he did not ask
    for.

    Raises:
        BackboneError: The module is not among those of the environment variable ONEPEAK_TRUST, separated by commas.

    Example:
        >>> check_trusted("resnet18")
        >>> check_trusted("nets:Wide")
        Traceback (most recent call last):
        onepeak.networks.own_backbone.BackboneError: The model runs the code of the module 'nets'. If you trust ...
    """
    module_name = backbone.partition(":")[0]
    trusted = {name.strip() for name in os.environ.get(TRUST, "").split(",")}
    if is_own(backbone) and module_name not in trusted:
        raise BackboneError(
            f"The model runs the code of the module {module_name!r}. If you trust that, set the environment variable "
            f"{TRUST}={module_name} and start again."
        )


def source_digest(backbone: str) -> str | None:
    """A hash of the file that a backbone of the user's own is written in; None of others.

    By it a comparison that goes on knows that the network is no longer the one it began with.

    Example:
        >>> source_digest("resnet18") is None
        True
    """
    if not is_own(backbone):
        return None
    made_by = maker(backbone)
    try:
        file = inspect.getsourcefile(made_by)
    except TypeError:  # what is written in C
        file = None
    return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()


@torch.no_grad()
def features_of(backbone: nn.Module, example: Tensor) -> Tensor:
    """What a module gives for an example, seen without teaching its batch norms.

    Raises:
        InputError: It is neither feature maps nor features.
    """
    training = {module: module.training for module in backbone.modules()}
    backbone.eval()
    try:
        features = backbone(example)
    finally:
        for module, mode in training.items():  # some parts may be frozen in eval mode
            module.training = mode
    if not isinstance(features, Tensor):
        raise InputError(f"`backbone` must give one tensor, got {type(features).__name__}.")
    if features.ndim not in (2, 4) or len(features) != len(example):
        raise InputError(
            "`backbone` must give feature maps (batch, channels, height, width) or features (batch, features), "
            f"got shape {tuple(features.shape)} for an example of shape {tuple(example.shape)}."
        )
    return features


@contextmanager
def _current_folder() -> Iterator[None]:
    """Lets modules of the current folder be imported, after all that is installed."""
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)
