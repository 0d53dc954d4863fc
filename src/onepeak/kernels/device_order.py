"""Triton kernel: the mode of each row and the number of pairs in order around the mode and given labels, in one pass.

Around a label, pairs (k, k + 1) with k below it must rise and the others must fall. The mode is known only at the end
of the row, so the kernel keeps the count for the highest score so far: when a higher score comes, all rises before it
count, and from there on falls count.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def number_in_rows(is_so):
    """The number of true values in each row, as a column."""
    return tl.sum(is_so.to(tl.int32), axis=1, keep_dims=True)


@triton.jit
@no_type_check
def order_of_rows(
    scores, labels, predicted, highest, counts, batch, classes, part,
    GIVEN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Counts the pairs in order around the prediction and around the label, for each part of each row.

    Without a given prediction, the mode of the part is used. The kernel then also stores the mode, rises, falls and
    highest score of the part, from which the caller combines the parts of a row.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    first = tl.program_id(1) * part
    start = row.to(tl.int64) * classes
    label = tl.load(labels + row, row < batch, other=0)
    prediction = tl.load(predicted + row, row < batch, other=0)
    top = tl.full([ROWS, 1], -float("inf"), tl.float32)
    mode = tl.zeros([ROWS, 1], tl.int32) + first
    to_prediction = tl.zeros([ROWS, 1], tl.int32)
    to_label = tl.zeros([ROWS, 1], tl.int32)
    rises = tl.zeros([ROWS, 1], tl.int32)
    falls = tl.zeros([ROWS, 1], tl.int32)
    for offset in range(0, part, COLUMNS):
        column = first + offset + tl.arange(0, COLUMNS)[None, :]
        there = (row < batch) & (column < classes)
        is_pair = there & (column + 1 < classes)
        score = tl.load(scores + start + column, there, other=-float("inf")).to(tl.float32)
        after = tl.load(scores + start + column + 1, is_pair, other=-float("inf")).to(tl.float32)
        rise = is_pair & (score < after)
        fall = is_pair & (score > after)
        to_label += number_in_rows(tl.where(column < label, rise, fall))
        if GIVEN:
            to_prediction += number_in_rows(tl.where(column < prediction, rise, fall))
        else:
            comparable = tl.where(score != score, float("inf"), score)  # NaN is the highest, as in PyTorch
            top_here = tl.max(comparable, axis=1, keep_dims=True)
            mode_here = tl.min(tl.where(comparable == top_here, column, classes), axis=1, keep_dims=True)
            if_new = rises + number_in_rows(tl.where(column < mode_here, rise, fall))
            falls_here = number_in_rows(fall)
            is_new = top_here > top
            to_prediction = tl.where(is_new, if_new, to_prediction + falls_here)
            mode = tl.where(is_new, mode_here, mode)
            top = tl.maximum(top, top_here)
            rises += number_in_rows(rise)
            falls += falls_here
    at = row * tl.num_programs(1) + tl.program_id(1)
    step = batch * tl.num_programs(1)
    tl.store(counts + at, to_prediction, row < batch)
    tl.store(counts + step + at, to_label, row < batch)
    if not GIVEN:
        tl.store(counts + 2 * step + at, mode, row < batch)
        tl.store(counts + 3 * step + at, rises, row < batch)
        tl.store(counts + 4 * step + at, falls, row < batch)
        tl.store(highest + at, top, row < batch)
