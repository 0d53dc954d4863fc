"""Checks of scores and posteriors given by the user."""

import math

import torch

from onepeak._core.check import check_scores, readable
from onepeak._core.tensors import LogProbs, Scores, full_precision
from onepeak.errors import InputError


def check_class_scores(scores: Scores, num_classes: int | None = None, *, name: str = "scores") -> None:
    """Checks for at least two scores per sample (or `num_classes`) without NaN; minus infinity is allowed."""
    check_scores(scores, num_classes, name=name)
    if readable(scores) and scores.isnan().any():
        rows = int(scores.isnan().any(dim=-1).sum())
        raise InputError(f"`{name}` must not be NaN, got NaN in {rows} samples: has the training diverged?")


def check_log_probs(log_probs: LogProbs, num_classes: int | None = None, *, name: str = "log_probs") -> None:
    """Checks for scores whose exponentials sum to one, up to the precision of their dtype."""
    check_class_scores(log_probs, num_classes, name=name)
    if readable(log_probs) and log_probs.numel():
        worst = full_precision(log_probs).logsumexp(dim=-1).abs().max()
        # Rounding log p changes the sum by at most eps * E|log p|, and the entropy is at most log c.
        allowed = max(1e-3, 2 * torch.finfo(log_probs.dtype).eps * (1 + math.log(log_probs.shape[-1])))
        if worst > allowed:
            raise InputError(
                f"`{name}` must be log-probabilities, whose exponentials sum to 1, got a log-sum off by "
                f"{worst.item():.3g}: apply `log_softmax(dim=-1)` to scores, `log()` to probabilities."
            )
