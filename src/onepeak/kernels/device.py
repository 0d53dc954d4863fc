"""Triton kernels: cross-entropy plus order cost, and the gradient of both, in one pass over the scores.

Names and formulas are those of :mod:`onepeak.kernels.analytic`: r of the pair (j, j+1) is the step from score j to
score j+1, signed to be positive if the pair is in order, and f is its cost. The gradient at j is

    p_j - [j = y] + sigma_j f'(r_{j-1}) - sigma_{j+1} f'(r_j).

All arithmetic is in float32, whatever the dtype of the scores. A label out of range makes the loss NaN.
"""

import math
from typing import no_type_check

import triton
import triton.language as tl

BARRIER, PENALTY = tl.constexpr(0), tl.constexpr(1)

LOG2_E = tl.constexpr(math.log2(math.e))
"""Long rows use powers and logarithms to base 2, which are GPU instructions."""

LOWEST = tl.constexpr(-3.4e38)
"""Below every score, but finite: minus infinity minus itself would be NaN."""


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


@triton.jit
@no_type_check
def sums_of_part(
    row, label, t, first, last, classes, weight, slack, KIND: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """For some columns of a row: the highest score, the sum of exp(score - highest), and the order cost."""
    highest = tl.full([COLUMNS], LOWEST, tl.float32)
    total = tl.zeros([COLUMNS], tl.float32)
    cost = tl.zeros([COLUMNS], tl.float32)
    logs = tl.zeros([COLUMNS], tl.float32)
    for offset in range(first, last, COLUMNS):
        column = offset + tl.arange(0, COLUMNS)
        has_next = (column < last) & (column + 1 < classes)
        score = tl.load(row + column, column < last, other=-float("inf")).to(tl.float32)
        after = tl.load(row + column + 1, has_next, other=0.0).to(tl.float32)
        r = tl.where(column < label, after - score, score - after)
        if KIND == BARRIER:
            clear = tl.maximum(r, 1.0 / (t * t))
            cost += tl.where(has_next, clear - r, 0.0)
            logs += tl.where(has_next, tl.log2(clear), 0.0)
        else:
            excess = tl.where(has_next & (r <= 0), slack - r, 0.0)
            cost += excess * excess
        above = score - highest
        change = tl.exp2(-tl.abs(above) * LOG2_E)  # of the two powers in an online softmax, one is always 1
        total = tl.where(above > 0, total * change + 1.0, total + change)
        highest = tl.maximum(highest, score)
    top = tl.max(highest)
    of_order = t * tl.sum(cost) - tl.sum(logs) / (LOG2_E * t) if KIND == BARRIER else weight * tl.sum(cost)
    return top, tl.sum(total * tl.exp2((highest - top) * LOG2_E)), of_order


@triton.jit
@no_type_check
def loss_of_row(row, label, classes, top, total, cost):
    """Cross-entropy plus order cost; NaN for a label out of range."""
    known = (label >= 0) & (label < classes)
    at_label = tl.load(row + label, known, other=float("nan")).to(tl.float32)
    return tl.log(total) - (at_label - top) + cost


@triton.jit
@no_type_check
def write_gradient(
    row, target, label, t, first, last, classes, top, total, share, weight, slack,
    KIND: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Writes the gradient of some columns of a row."""
    log_total = tl.log2(total)
    for offset in range(first, last, COLUMNS):
        column = offset + tl.arange(0, COLUMNS)
        there = column < last
        score = tl.load(row + column, there, other=0.0).to(tl.float32)
        after = tl.load(row + column + 1, there & (column + 1 < classes), other=0.0).to(tl.float32)
        before = tl.load(row + column - 1, there & (column >= 1), other=0.0).to(tl.float32)
        _, slope = order_terms(score, before, after, column, label, classes, t, weight, slack, KIND)
        result = (tl.exp2((score - top) * LOG2_E - log_total) - tl.where(column == label, 1.0, 0.0) + slope) * share
        tl.store(target + column, result.to(target.dtype.element_ty), there)


@triton.jit
@no_type_check
def parts_of_rows(
    scores, labels, t_at, parts, classes, part, weight, slack, KIND: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """First pass over rows too long for registers, split if they are too few to fill the GPU: the sums of each part."""
    index, number = tl.program_id(0), tl.program_id(1)
    row = scores + index.to(tl.int64) * classes
    first = number * part
    top, total, cost = sums_of_part(
        row, tl.load(labels + index), tl.load(t_at).to(tl.float32), first, tl.minimum(first + part, classes), classes,
        weight, slack, KIND, COLUMNS,
    )  # fmt: skip
    at = parts + (index * tl.num_programs(1) + number) * 3
    tl.store(at, top)
    tl.store(at + 1, total)
    tl.store(at + 2, cost)


@triton.jit
@no_type_check
def gradient_of_rows(
    scores, labels, t_at, parts, losses, gradient, classes, part, count, share, weight, slack,
    KIND: tl.constexpr, COLUMNS: tl.constexpr, COUNT: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Second pass over long rows: combines the parts of a row, then each program writes its part of the gradient."""
    index, number = tl.program_id(0), tl.program_id(1)
    start = index.to(tl.int64) * classes
    label = tl.load(labels + index)
    each = tl.arange(0, COUNT)
    at = parts + (index * count + each) * 3
    highest = tl.load(at, each < count, other=LOWEST)
    top = tl.max(highest)
    total = tl.sum(tl.load(at + 1, each < count, other=0.0) * tl.exp2((highest - top) * LOG2_E))
    if number == 0:
        cost = tl.sum(tl.load(at + 2, each < count, other=0.0))
        tl.store(losses + index, loss_of_row(scores + start, label, classes, top, total, cost) * share)
    first = number * part
    write_gradient(
        scores + start, gradient + start, label, tl.load(t_at).to(tl.float32), first,
        tl.minimum(first + part, classes), classes, top, total, share, weight, slack, KIND, COLUMNS,
    )  # fmt: skip


@triton.jit
@no_type_check
def scale_in_place(gradient, factor_at, count, COLUMNS: tl.constexpr):  # noqa: N803
    """Multiplies by a factor on the device; writes nothing if it is 1, as in most training loops."""
    factor = tl.load(factor_at)
    if factor != 1.0:
        at = tl.program_id(0).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
        there = at < count
        value = tl.load(gradient + at, there, other=0.0)
        tl.store(gradient + at, (value.to(tl.float32) * factor).to(gradient.dtype.element_ty), there)
