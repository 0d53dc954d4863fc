"""Triton: the mode of a row and how many of its pairs are in order to given labels and to the mode, in one reading.

To a label the pairs (k, k + 1) with k below it must rise and the others fall. Which ones these are for the mode is
known only once it is found, so the count is kept for the highest score so far: when a higher one comes, all rises
before it count, and from there on falls do.
"""

# (Triton's language has no types.)

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def number_in_rows(is_so):
    """How many of each row, as a column."""
    return tl.sum(is_so.to(tl.int32), axis=1, keep_dims=True)


@triton.jit
@no_type_check
def order_of_rows(
    scores, labels, predicted, highest, counts, batch, classes, part,
    GIVEN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Pairs in order to the prediction and to the label, of each part of each row.

    Where no prediction is given, it is the mode of the part; this and the part's rises, falls and highest score are
    then told too, from which the parts of a row can be put together.
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
            comparable = tl.where(score != score, float("inf"), score)  # NaN is the highest, as PyTorch has it
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
