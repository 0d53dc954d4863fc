"""Triton kernel: losses of the softmax of a row, with an optional order cost, and their gradient in one pass.

With p the softmax of a row, k its columns, y its label and d = k - y, the gradients with respect to the scores are

    mean-variance        p - [k = y] + w p (d - m) m + v p ((d - m)^2 - V)   with m the mean and V the variance of d,
    label distribution   p - q                                               with q the target distribution,
    ranked probability   2 w p (sum_{i >= k} e_i - sum_i e_i P_i) + v (p - [k = y])
                                                                             with P = cumsum p and e = P - [k >= y].

All arithmetic is in float32, whatever the dtype of the scores. A label out of range makes the loss NaN.
"""

from typing import no_type_check

import triton
import triton.language as tl

from onepeak.kernels.device_code import order_terms

MEAN_VARIANCE, LABEL_DISTRIBUTION, PUBLISHED_LABEL_DISTRIBUTION = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
RANKED_PROBABILITY = tl.constexpr(3)
UNORDERED = tl.constexpr(-1)
"""Takes the place of BARRIER or PENALTY: no order cost."""


@triton.jit
@no_type_check
def total_of_rows(values):
    """The sum of each row, as a column."""
    return tl.sum(values, axis=1, keep_dims=True)


@triton.jit
@no_type_check
def softmax_of_rows(scores):
    """Log-probabilities and probabilities; a score of minus infinity, as in padding columns, gets probability 0."""
    below_highest = scores - tl.max(scores, axis=1, keep_dims=True)
    raised = tl.exp(below_highest)
    total = total_of_rows(raised)
    return below_highest - tl.log(total), raised * (1.0 / total)


@triton.jit
@no_type_check
def mean_variance(log_probs, probs, distance, mean_weight, variance_weight):
    """Pan et al. 2018: cross-entropy plus half the squared distance of the mean and the variance, both weighted."""
    mean = total_of_rows(probs * distance)
    off = distance - mean
    variance = total_of_rows(probs * off * off)
    at_label = tl.where(distance == 0, 1.0, 0.0)
    loss = mean_weight * 0.5 * mean * mean + variance_weight * variance
    loss -= total_of_rows(tl.where(distance == 0, log_probs, 0.0))
    pull = 1.0 + mean_weight * mean * off + variance_weight * (off * off - variance)
    return loss, probs * pull - at_label


@triton.jit
@no_type_check
def label_distribution(log_probs, probs, distance, is_class, spread, height, LOSS: tl.constexpr):  # noqa: N803
    """The divergence from a Gaussian around the label or, as published, from the softmax of a Gaussian density."""
    exponent = -spread * distance * distance
    if LOSS == PUBLISHED_LABEL_DISTRIBUTION:
        exponent = height * (tl.exp(exponent) - 1.0)
    # At most 1, reached at the label, and 0 in padding columns, where `probs` is 0 too. Selecting from `probs` gives
    # the result their thread layout; otherwise Triton 3.6 generates megabytes of code and compiles for minutes.
    raised = tl.where(is_class, tl.exp(exponent), probs)
    total = total_of_rows(raised)
    targets = raised / total
    loss = total_of_rows(tl.where(targets > 0, targets * (exponent - log_probs), 0.0)) - tl.log(total)
    return loss, probs - targets


@triton.jit
@no_type_check
def ranked_probability(log_probs, probs, distance, is_level, weight, cross_entropy_weight):
    """Hou et al. 2016: the squared errors of the cumulative posterior plus cross-entropy, both weighted."""
    reached = tl.cumsum(probs, axis=1)
    error = tl.where(is_level, reached - tl.where(distance >= 0, 1.0, 0.0), 0.0)
    error_onwards = tl.cumsum(error, axis=1, reverse=True)
    at_label = tl.where(distance == 0, 1.0, 0.0)
    loss = weight * total_of_rows(error * error)
    loss -= cross_entropy_weight * total_of_rows(tl.where(distance == 0, log_probs, 0.0))
    pull = 2.0 * weight * (error_onwards - total_of_rows(error * reached))
    return loss, probs * pull + cross_entropy_weight * (probs - at_label)


@triton.jit
@no_type_check
def losses_of_rows(
    scores, labels, t_at, losses, gradient, batch, classes, share, first, second, weight, slack,
    LOSS: tl.constexpr, ORDER: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Rows that fit in registers: one read, one write. Each program sums the losses of its rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    there = (row < batch) & (column < classes)
    at = row.to(tl.int64) * classes + column
    score = tl.load(scores + at, there, other=-float("inf")).to(tl.float32)
    label = tl.load(labels + row, row < batch, other=0)
    distance = (column - label).to(tl.float32)
    log_probs, probs = softmax_of_rows(tl.where(row < batch, score, 0.0))

    if LOSS == MEAN_VARIANCE:
        loss, result = mean_variance(log_probs, probs, distance, first, second)
    elif LOSS == RANKED_PROBABILITY:
        loss, result = ranked_probability(log_probs, probs, distance, column + 1 < classes, first, second)
    else:
        loss, result = label_distribution(log_probs, probs, distance, column < classes, first, second, LOSS)

    if ORDER != UNORDERED:
        after = tl.load(scores + at + 1, there & (column + 1 < classes), other=0.0).to(tl.float32)
        before = tl.load(scores + at - 1, there & (column >= 1), other=0.0).to(tl.float32)
        t = tl.load(t_at).to(tl.float32)
        cost, slope = order_terms(score, before, after, column, label, classes, t, weight, slack, ORDER)
        loss += total_of_rows(tl.where(there, cost, 0.0))
        result += slope

    loss = tl.where((label >= 0) & (label < classes), loss, float("nan"))
    tl.store(losses + tl.program_id(0), tl.sum(tl.where(row < batch, loss, 0.0)) * share)
    tl.store(gradient + at, (result * share).to(gradient.dtype.element_ty), there)
