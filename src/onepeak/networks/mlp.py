"""A multi-layer perceptron, the backbone for tables."""

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import torch
from torch import nn

from onepeak._check import check_integer, check_number
from onepeak.errors import InputError
from onepeak.networks._check import check_rows
from onepeak.networks._shapes import Features, Rows


@final
class Mlp(nn.Module):
    """Blocks of linear layer, layer norm, ReLU and dropout.

    It uses layer norm rather than batch norm because the last batch of a table may hold a single row. Columns should be
    standardised and have no missing values.

    Args:
        num_features: Number of columns of the table.
        hidden: Width of each block; empty for a linear model.
        dropout: Share of a block's outputs set to zero in training, from 0 to below 1.

    Example:
        >>> Mlp(10, hidden=(32, 16))(torch.zeros(2, 10)).shape
        torch.Size([2, 16])
    """

    def __init__(self, num_features: int, *, hidden: Sequence[int] = (64, 64), dropout: float = 0.0) -> None:
        super().__init__()
        self.num_features = check_integer("num_features", num_features, minimum=1)
        check_number("dropout", dropout, minimum=0, below=1)
        widths = [self.num_features, *(check_integer("hidden", width, minimum=1) for width in hidden)]
        if dropout and len(widths) == 1:
            raise InputError(f"`dropout` does nothing without hidden layers, got {dropout!r}: give `hidden` widths.")
        self.num_channels = widths[-1]
        """Number of features per row."""
        self.blocks = nn.Sequential(*(_block(*pair, dropout) for pair in pairwise(widths)))

    def forward(self, rows: Rows) -> Features:
        """Returns the features of each row."""
        check_rows(rows, self.num_features)
        features: torch.Tensor = self.blocks(rows)
        return features


def _block(num_inputs: int, num_outputs: int, dropout: float) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(num_inputs, num_outputs), nn.LayerNorm(num_outputs), nn.ReLU()]
    return nn.Sequential(*layers, *([nn.Dropout(dropout)] if dropout else []))
