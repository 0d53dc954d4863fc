"""Training the encoder of texts too: it stands before the layers that otherwise read its features.

Afterwards it is kept in the run's folder, and everything that predicts reads texts by it as by any other encoder.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np
import torch
from torch import Tensor

from onepeak.data.manifest import Encoding, FeatureRows, Texts
from onepeak.data.texts import encoded
from onepeak.errors import InputError
from onepeak.networks.backbones import Mlp
from onepeak.networks.network import Network
from onepeak.networks.text_encoder import TextEncoder, TrainedText
from onepeak.training.feed import Feed, Indices, RowFeed
from onepeak.training.table_encoder import TableEncoder

if TYPE_CHECKING:
    from lightning.fabric import Fabric

_BATCHES_SORTED = 50
"""Texts are sorted by length within as many batches, so that batches hold texts of similar length."""


@final
class TokenFeed(Feed):
    """Texts as the tokens of their windows, with the other features of their rows; see `TrainedText`."""

    def __init__(self, encoder: TextEncoder, texts: Texts, others: Tensor, device: torch.device) -> None:
        windows, places = encoder.windows(texts.values)
        self.windows: list[list[Tensor]] = [[] for _ in texts.values]
        for place, tokens in zip(places, windows, strict=True):
            self.windows[place].append(torch.tensor(tokens, dtype=torch.float32))
        self.lengths = np.array([max(map(len, own)) * len(own) for own in self.windows])
        self.others, self.device = others, device

    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:  # noqa: ARG002
        own, first = [self.windows[index] for index in indices], self.others.shape[1]
        width = first + max(len(tokens) for windows in own for tokens in windows)
        batch = torch.full((len(own), max(map(len, own)), width), -1.0)
        batch[:, :, :first] = self.others[torch.tensor(indices)].unsqueeze(1)
        for place, windows in enumerate(own):
            for number, tokens in enumerate(windows):
                batch[place, number, first : first + len(tokens)] = tokens
        return batch.to(self.device)

    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> None:  # noqa: ARG002
        return None

    def planned_inputs(self, plan: Tensor) -> Tensor:  # noqa: ARG002
        raise TypeError("texts have no plan")

    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.from_numpy(np.argsort(self.lengths[indices], kind="stable"))
        for places in order.split(batch_size):
            yield places, self.train_inputs(indices[places.numpy()], seed=0, epoch=0)

    def in_batches(self, order: Indices, batch_size: int, *, seed: int, epoch: int) -> Indices:
        """Returns the samples in an order in which batches hold texts of similar length."""
        draw = np.random.Generator(np.random.Philox(key=[seed, epoch]))
        found: list[Indices] = []
        for start in range(0, len(order), _BATCHES_SORTED * batch_size):
            part = order[start : start + _BATCHES_SORTED * batch_size]
            part, rest = np.split(part, [len(part) // batch_size * batch_size])  # any texts, as it may be left out
            batches = part[np.argsort(self.lengths[part], kind="stable")].reshape(-1, batch_size)
            found += [draw.permutation(batches).ravel(), rest]
        return np.concatenate(found)


class TrainedEncoder:
    """The encoder of a run that trains it: first what the training needs, then what it gave."""

    def __init__(self, items: object, table: TableEncoder | None, fabric: "Fabric") -> None:
        if not isinstance(items, FeatureRows) or items.texts is None or table is None:
            raise InputError("`encoder_lr` needs texts, whose encoder is then trained: leave it out.")
        if fabric.world_size > 1:
            raise InputError(f"`encoder_lr` needs a training by one process, got {fabric.world_size}.")
        assert items.texts.encoding is not None
        assert table.text_features is not None
        self.items, self.texts, self.table, self.device = items, items.texts, table, fabric.device
        self.part = table.text_features
        self.encoder = TextEncoder(items.texts.encoding.folder, device=fabric.device)

    def feed(self) -> TokenFeed:
        """Returns the batches to train on."""
        rows, (first, last) = torch.from_numpy(self.table.encode(self.items)), self.part
        others = torch.cat([rows[:, :first], rows[:, last:]], dim=1)
        return TokenFeed(self.encoder, self.texts, others, self.device)

    def before(self, network: Network) -> Network:
        """Returns the network with the encoder before its layers, which they share."""
        layers, plain, (first, last) = network.backbone, len(self.table.plain_columns), self.part
        assert isinstance(layers, Mlp)
        backbone = TrainedText(
            self.encoder.model,
            layers,
            num_channels=layers.num_channels,
            first=first,
            num_others=self.table.num_features - (last - first),
            centre=torch.tensor(self.table.means[plain:]),
            scale=torch.tensor(self.table.stds[plain:]),
            padding=self.encoder.padding,
        )
        return Network(backbone, network.head, network.method).to(self.device)

    def kept(self, folder: Path) -> tuple[RowFeed, TableEncoder]:
        """Writes the trained encoder; returns the rows with its features, and how rows are encoded from now on."""
        self.encoder.model.eval()
        self.encoder.save(folder)
        known = self.texts.encoding
        assert known is not None
        encoding = Encoding(folder=str(folder), digest=TextEncoder(folder).digest, num_features=known.num_features)
        features, _ = self.encoder.features(self.texts.values)
        plain = self.items.plain_columns
        rows = replace(
            self.items,
            columns=plain,
            values=self.items.values[:, : len(plain)],
            texts=replace(self.texts, encoding=None),
        )
        table = replace(self.table, texts=Texts(column=self.texts.column, encoding=encoding))
        values = table.encode(encoded(rows, features, encoding))
        return RowFeed(torch.from_numpy(values), self.device), table
