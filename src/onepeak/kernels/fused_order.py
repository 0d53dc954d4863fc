"""The mode and the number of adjacent pairs in order, in one pass over the scores on a GPU (Triton)."""

import torch
from torch import Tensor

from onepeak.kernels import launch


def order_counts(scores: Tensor, labels: Tensor, predicted: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """The predictions (default: the modes), and the number of pairs in order around them and around the labels."""
    launch.check_device(labels, scores)
    if predicted is not None:
        launch.check_device(predicted, scores, name="predicted")
    shape, classes = labels.shape, scores.shape[-1]
    scores, labels = scores.reshape(-1, classes).contiguous(), labels.reshape(-1).long()
    rows_predicted = None if predicted is None else predicted.reshape(-1).long()
    counts, highest = _parts(scores, labels, rows_predicted)
    if counts.shape[-1] == 1:
        counts = counts.squeeze(-1)
        to_predicted, to_label, mode = counts[0], counts[1], counts[2]
    else:
        to_predicted, to_label, mode = _together(counts, highest, found=predicted is None)
    decided = mode.reshape(shape) if predicted is None else predicted
    return decided, to_predicted.reshape(shape), to_label.reshape(shape)


def _parts(scores: Tensor, labels: Tensor, predicted: Tensor | None) -> tuple[Tensor, Tensor]:
    """The counts of `device_order.order_of_rows` for each part of each row, and the highest score of each part."""
    from onepeak.kernels import device_order

    batch, classes = scores.shape
    if classes <= launch.LONGEST_ROW:
        part = columns = launch.power_of_two(classes)
        rows = max(1, launch.TILE // columns)
        count = 1
    else:
        columns, rows = launch.LONGEST_ROW, 1
        part, count = launch.parts(batch, classes, columns, shortest=columns)
    counts = torch.empty(5, batch, count, dtype=torch.int64, device=scores.device)
    highest = torch.empty(batch, count, dtype=torch.float32, device=scores.device)
    with launch.LAUNCHING, torch.cuda.device_of(scores):
        device_order.order_of_rows[(launch.ceil(batch, rows), count)](
            scores, labels, labels if predicted is None else predicted, highest, counts, batch, classes, part,
            GIVEN=predicted is not None, ROWS=rows, COLUMNS=columns, num_warps=launch.warps(rows * columns),
        )  # fmt: skip
    return counts, highest


def _together(counts: Tensor, highest: Tensor, *, found: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Combines parts into rows: pairs in parts before the part of the mode must rise, those in parts after it fall."""
    to_predicted, to_label, mode, rises, falls = counts
    if found:
        winner = highest.argmax(dim=-1, keepdim=True)
        index = torch.arange(highest.shape[-1], device=highest.device)
        outside = torch.where(index < winner, rises, falls)
        to_predicted = torch.where(index == winner, to_predicted, outside)
        mode = mode.gather(-1, winner).squeeze(-1)
    return to_predicted.sum(dim=-1), to_label.sum(dim=-1), mode
