"""Checks of user input. Each message names the argument, what is allowed, what came and the fix.

Types and shapes are always checked. Values are checked only where reading them does not stall: on the CPU, outside
`torch.compile`, `torch.func` transforms and forward mode. On a GPU the read would synchronise the stream at every step.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad

from onepeak._core.tensors import LabelProbs, LogProbs, Scores, full_precision
from onepeak._core.values import check_choice as check_choice
from onepeak._core.values import check_integer as check_integer
from onepeak._core.values import check_num_classes as check_num_classes
from onepeak._core.values import check_number as check_number
from onepeak.errors import InputError, NotFiniteError

_INTEGERS = frozenset({torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64})
_LONG_UNSIGNED = frozenset({torch.uint16, torch.uint32, torch.uint64})
"""Integer types that support few operations in PyTorch."""


def in_plain_eager() -> bool:
    """Whether plain eager code is running: no compilation, export, `torch.func` transform or forward mode."""
    return (
        not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
        and forward_ad._current_level < 0  # no dual level is active
    )


def readable(tensor: Tensor) -> bool:
    """Whether the values of a tensor can be read without a stall."""
    return tensor.is_cpu and in_plain_eager()


def launches_freely(tensor: Tensor) -> bool:
    """Whether operations on a tensor run eagerly: on a CPU, or on a GPU that is not capturing a graph."""
    if tensor.is_cuda:
        return in_plain_eager() and not torch.cuda.is_current_stream_capturing()
    return readable(tensor)


def check_scores(scores: Tensor, num_classes: int | None, *, name: str = "scores") -> None:
    """Checks for a floating-point tensor whose last axis has length `num_classes` (None: at least 2)."""
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        raise InputError(f"`{name}` must be a floating-point tensor, got {_found(scores)}.")
    length = scores.shape[-1] if scores.ndim else 0
    if length < 2 if num_classes is None else length != num_classes:
        wanted = "at least 2" if num_classes is None else num_classes
        raise InputError(f"`{name}` must have {wanted} numbers on its last axis, got shape {tuple(scores.shape)}.")


def check_class_scores(scores: Scores, num_classes: int | None = None, *, name: str = "scores") -> None:
    """Checks for at least two scores per sample (or `num_classes`) without NaN; minus infinity is allowed."""
    check_scores(scores, num_classes, name=name)
    if readable(scores) and scores.numel() and scores.max().isnan():  # the highest of all is NaN where any is
        rows = int(scores.isnan().any(dim=-1).sum())
        raise InputError(f"`{name}` must not be NaN, got NaN in {rows} samples: has the training diverged?")


def check_log_probs(log_probs: LogProbs, num_classes: int | None = None, *, name: str = "log_probs") -> None:
    """Checks for scores whose exponentials sum to one, up to the precision of their dtype."""
    check_scores(log_probs, num_classes, name=name)
    if readable(log_probs) and log_probs.numel():
        # Rounding log p changes the sum by at most eps * E|log p|, and the entropy is at most log c.
        allowed = max(1e-3, 2 * torch.finfo(log_probs.dtype).eps * (1 + math.log(log_probs.shape[-1])))
        sums = full_precision(log_probs).exp().sum(dim=-1)  # infinite for high scores; logsumexp takes thrice the time
        low, high = (end.item() for end in sums.aminmax())  # both are NaN where any is
        if not (math.exp(-allowed) <= low and high <= math.exp(allowed)):
            check_class_scores(log_probs, num_classes, name=name)
            worst = full_precision(log_probs).logsumexp(dim=-1).abs().max()
            raise InputError(
                f"`{name}` must be log-probabilities, whose exponentials sum to 1, got a log-sum off by "
                f"{worst.item():.3g}: apply `log_softmax(dim=-1)` to scores, `log()` to probabilities."
            )


def check_labels(labels: Tensor, num_classes: int, batch_shape: torch.Size, *, name: str = "labels") -> None:
    """Checks for integers from 0 to num_classes - 1, one per sample."""
    check_label_shape(labels, batch_shape, name=name)
    check_label_range(labels, num_classes, name=name)


def is_label_probs(labels: Tensor, scores: Tensor) -> bool:
    """Whether labels are a distribution over the classes for each sample, by type and shape."""
    return isinstance(labels, Tensor) and labels.is_floating_point() and labels.ndim == scores.ndim


def check_label_probs(
    labels: LabelProbs, num_classes: int, batch_shape: torch.Size, *, counts_samples: bool = False
) -> None:
    """Checks for a distribution over the classes, one per sample; refused by a loss that counts its samples."""
    if counts_samples:
        raise InputError(
            "`labels` must be integers for a loss whose schedule counts samples, as the multipliers of an augmented "
            "Lagrangian do, got a distribution over the labels."
        )
    if labels.shape != (*batch_shape, num_classes):
        raise InputError(
            f"`labels` must be a tensor of integers, or probabilities of shape {(*batch_shape, num_classes)}, got "
            f"{labels.dtype} of shape {tuple(labels.shape)}."
        )
    if readable(labels) and labels.numel():
        total = full_precision(labels).sum(dim=-1)
        if not ((labels >= 0).all() and ((total - 1).abs() <= 5e-3).all()):  # bfloat16 has eight bits
            raise InputError(
                "`labels` must be integers, or probabilities that sum to 1 over the classes, got sums from "
                f"{total.min().item():g} to {total.max().item():g}: divide ratings by their sum."
            )


def check_label_shape(labels: Tensor, batch_shape: torch.Size, *, name: str = "labels") -> None:
    """Checks for integers, one per sample."""
    if isinstance(labels, Tensor) and labels.dtype in _LONG_UNSIGNED:
        raise InputError(
            f"`{name}` must be int64, int32, int16, int8 or uint8, got {labels.dtype}: pass {name}.long()."
        )
    if not isinstance(labels, Tensor) or labels.dtype not in _INTEGERS:
        raise InputError(f"`{name}` must be a tensor of integers, got {_found(labels)}.")
    if labels.shape != batch_shape:
        raise InputError(f"`{name}` must have shape {tuple(batch_shape)}, one per sample, got {tuple(labels.shape)}.")


def check_label_range(labels: Tensor, num_classes: int, *, name: str = "labels") -> None:
    """Checks for values from 0 to num_classes - 1, where they can be read without a stall."""
    if readable(labels) and labels.numel():
        low, high = (int(end) for end in labels.aminmax())
        if low < 0 or high >= num_classes:
            wrong = low if low < 0 else high
            raise InputError(f"`{name}` must be integers from 0 to {num_classes - 1}, got {wrong}.")


def finite_loss(loss: Tensor, scores: Tensor, *, name: str) -> Tensor:
    """Returns the loss, or raises if it is not finite because of the scores.

    The scores are read only when the loss is not finite, which saves a pass over them. Nothing is checked where reading
    would stall.
    """
    if readable(loss) and not (math.isfinite(loss.item()) if loss.numel() == 1 else loss.isfinite().all()):
        bad = int((~scores.isfinite()).sum())
        if bad:
            raise NotFiniteError(f"`{name}` must be finite, got {bad} NaN or infinite values.")
    return loss


def check_class_weight(class_weight: Tensor, num_classes: int, *, name: str = "class_weight") -> None:
    """Checks for non-negative weights, one per class.

    The message spells this out, because users may take an argument named `weight` for the weight of a loss term.
    """
    if not isinstance(class_weight, Tensor):
        raise InputError(
            f"`{name}` must be class weights, a floating-point tensor of {num_classes} numbers, one per class, "
            f"got {_found(class_weight)}."
        )
    check_weights(class_weight, (num_classes,), name=name)


def check_weights(weights: Tensor, shape: Sequence[int], *, name: str) -> None:
    """Checks for finite non-negative weights of the given shape."""
    if not isinstance(weights, Tensor) or not weights.is_floating_point():
        raise InputError(f"`{name}` must be a floating-point tensor, got {_found(weights)}.")
    if weights.shape != torch.Size(shape):
        raise InputError(f"`{name}` must have shape {tuple(shape)}, got {tuple(weights.shape)}.")
    if readable(weights) and weights.numel() and not (weights.min() >= 0 and weights.isfinite().all()):
        bad = weights[~(weights.isfinite() & (weights >= 0))]
        raise InputError(f"`{name}` must be finite and >= 0, got {bad[0].item():g}.")


def _found(value: object) -> str:
    """Describes the value in a message: the dtype of a tensor, the type of anything else, a hint for NumPy arrays."""
    if isinstance(value, Tensor):
        return str(value.dtype)
    name = type(value).__name__
    return f"{name}: convert it with torch.from_numpy" if name == "ndarray" else name
