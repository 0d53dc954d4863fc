"""Triton kernels: cross-entropy plus order cost, and the gradient of both, in one pass over the scores.

Names and formulas are those of :mod:`onepeak.kernels.analytic`: r of the pair (j, j+1) is the step from score j to
score j+1, signed to be positive if the pair is in order, and f is its cost. The gradient at j is

    p_j - [j = y] + sigma_j f'(r_{j-1}) - sigma_{j+1} f'(r_j).

All arithmetic is in float32, whatever the dtype of the scores. A label out of range makes the loss NaN.
"""

from typing import no_type_check

import triton
import triton.language as tl

BARRIER, PENALTY = tl.constexpr(0), tl.constexpr(1)


@triton.jit
@no_type_check
def cost_and_slope(r, t, weight, slack, KIND: tl.constexpr):  # noqa: N803
    """F and f' of eq. 7 (the extended log-barrier) or eq. 3 (the quadratic penalty)."""
    if KIND == BARRIER:
        period = 1.0 / t
        clear = tl.maximum(r, period * period)
        cost = t * (clear - r) - period * tl.log(clear)
        slope = -period / clear
    else:
        excess = tl.where(r <= 0, slack - r, 0.0)
        cost = weight * excess * excess
        slope = -2.0 * weight * excess
    return cost, slope


@triton.jit
@no_type_check
def order_terms(score, before, after, column, label, classes, t, weight, slack, KIND: tl.constexpr):  # noqa: N803
    """The cost of the pair (column, column + 1), and the gradient from both pairs that contain the column."""
    rises_here = tl.where(column <= label, 1.0, -1.0)
    rises_next = tl.where(column + 1 <= label, 1.0, -1.0)
    _, slope_here = cost_and_slope(rises_here * (score - before), t, weight, slack, KIND)
    cost, slope_next = cost_and_slope(rises_next * (after - score), t, weight, slack, KIND)
    has_next = column + 1 < classes
    gradient = tl.where(column >= 1, rises_here * slope_here, 0.0) - tl.where(has_next, rises_next * slope_next, 0.0)
    return tl.where(has_next, cost, 0.0), gradient


@triton.jit
@no_type_check
def whole_rows(
    scores, labels, t_at, losses, gradient, batch, classes, share, weight, slack,
    KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Rows that fit in registers: one read, one write. Each program sums the losses of its rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    there = (row < batch) & (column < classes)
    at = row.to(tl.int64) * classes + column
    score = tl.load(scores + at, there, other=-float("inf")).to(tl.float32)
    after = tl.load(scores + at + 1, there & (column + 1 < classes), other=0.0).to(tl.float32)
    before = tl.load(scores + at - 1, there & (column >= 1), other=0.0).to(tl.float32)
    label = tl.load(labels + row, row < batch, other=0)
    t = tl.load(t_at).to(tl.float32)
    cost, slope = order_terms(score, before, after, column, label, classes, t, weight, slack, KIND)

    highest = tl.max(tl.where(row < batch, score, 0.0), axis=1, keep_dims=True)
    raised = tl.exp(score - highest)
    total = tl.sum(raised, axis=1, keep_dims=True)
    is_label = column == label
    at_label = tl.sum(tl.where(is_label & there, score - highest, 0.0), axis=1, keep_dims=True)
    loss = tl.log(total) - at_label + tl.sum(tl.where(there, cost, 0.0), axis=1, keep_dims=True)
    loss = tl.where((label >= 0) & (label < classes), loss, float("nan"))
    tl.store(losses + tl.program_id(0), tl.sum(tl.where(row < batch, loss, 0.0)) * share)
    result = (raised * (1.0 / total) - tl.where(is_label, 1.0, 0.0) + slope) * share
    tl.store(gradient + at, result.to(gradient.dtype.element_ty), there)
