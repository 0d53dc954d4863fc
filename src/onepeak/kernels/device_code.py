"""Triton: cross-entropy plus order cost and their gradient while the scores are read.

Names and formulas are those of :mod:`onepeak.kernels.analytic`: r of the pair (j, j+1) is the step from score j to
score j+1, taken with the sign that makes it positive where the pair is in order, and f its cost. The gradient at j is

    p_j - [j = y] + sigma_j f'(r_{j-1}) - sigma_{j+1} f'(r_j).

All arithmetic is in float32, whatever the scores come as. A label outside the classes makes the loss NaN.
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
    """The cost of the pair (column, column + 1), and the gradient of both pairs that the column is in."""
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
    """Rows that fit the registers: one read, one write. Each program sums the losses of its rows."""
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
def parts_of_rows(
    scores, labels, t_at, parts, classes, part, weight, slack, KIND: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Rows too long for that, first pass: each part's highest score, sum of exponentials and order cost."""
    row, index = tl.program_id(0), tl.program_id(1)
    start = row.to(tl.int64) * classes
    label = tl.load(labels + row)
    t = tl.load(t_at).to(tl.float32)
    first = index * part
    highest = tl.full([COLUMNS], -float("inf"), tl.float32)
    total = tl.zeros([COLUMNS], tl.float32)
    cost = tl.zeros([COLUMNS], tl.float32)
    for offset in range(0, part, COLUMNS):
        column = first + offset + tl.arange(0, COLUMNS)
        there = (column < classes) & (column < first + part)
        score = tl.load(scores + start + column, there, other=-float("inf")).to(tl.float32)
        after = tl.load(scores + start + column + 1, there & (column + 1 < classes), other=0.0).to(tl.float32)
        rises = tl.where(column + 1 <= label, 1.0, -1.0)
        its_cost, _ = cost_and_slope(rises * (after - score), t, weight, slack, KIND)
        cost += tl.where(there & (column + 1 < classes), its_cost, 0.0)
        higher = tl.maximum(highest, score)
        safe = tl.where(higher == -float("inf"), 0.0, higher)  # a lane that has seen no score yet
        total = total * tl.exp(highest - safe) + tl.exp(score - safe)
        highest = higher
    top = tl.max(highest)
    at = parts + (row * tl.num_programs(1) + index) * 3
    tl.store(at, top)
    tl.store(at + 1, tl.sum(total * tl.exp(highest - top)))
    tl.store(at + 2, tl.sum(cost))


@triton.jit
@no_type_check
def gradient_of_rows(
    scores, labels, t_at, parts, losses, gradient, classes, part, count, share, weight, slack,
    KIND: tl.constexpr, COLUMNS: tl.constexpr, COUNT: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Second pass: the parts of a row are put together, and each program writes its part of the gradient."""
    row, index = tl.program_id(0), tl.program_id(1)
    start = row.to(tl.int64) * classes
    label = tl.load(labels + row)
    t = tl.load(t_at).to(tl.float32)
    each = tl.arange(0, COUNT)
    at = parts + (row * count + each) * 3
    highest = tl.load(at, each < count, other=-float("inf"))
    top = tl.max(highest)
    total = tl.sum(tl.load(at + 1, each < count, other=0.0) * tl.exp(highest - top))
    if index == 0:
        known = (label >= 0) & (label < classes)
        at_label = tl.load(scores + start + label, known, other=float("nan")).to(tl.float32)
        cost = tl.sum(tl.load(at + 2, each < count, other=0.0))
        tl.store(losses + row, (tl.log(total) - (at_label - top) + cost) * share)
    first = index * part
    for offset in range(0, part, COLUMNS):
        column = first + offset + tl.arange(0, COLUMNS)
        there = (column < classes) & (column < first + part)
        score = tl.load(scores + start + column, there, other=0.0).to(tl.float32)
        after = tl.load(scores + start + column + 1, there & (column + 1 < classes), other=0.0).to(tl.float32)
        before = tl.load(scores + start + column - 1, there & (column >= 1), other=0.0).to(tl.float32)
        _, slope = order_terms(score, before, after, column, label, classes, t, weight, slack, KIND)
        result = (tl.exp(score - top) * (1.0 / total) - tl.where(column == label, 1.0, 0.0) + slope) * share
        tl.store(gradient + start + column, result.to(gradient.dtype.element_ty), there)


@triton.jit
@no_type_check
def scale_in_place(gradient, factor_at, count, COLUMNS: tl.constexpr):  # noqa: N803
    """Multiplies by a number on the device; where that is 1, as in most training loops, no memory is touched."""
    factor = tl.load(factor_at)
    if factor != 1.0:
        at = tl.program_id(0).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
        there = at < count
        value = tl.load(gradient + at, there, other=0.0)
        tl.store(gradient + at, (value.to(tl.float32) * factor).to(gradient.dtype.element_ty), there)
