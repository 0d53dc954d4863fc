"""ELB in a Lightning module. The loss is part of the module, so its t is saved and resumed with it.

python examples/lightning_module.py [--epochs 20]
"""

import argparse

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

import onepeak

NUM_CLASSES = 20


class Grader(lightning.LightningModule):
    """A small network for ordered grades."""

    def __init__(self) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, NUM_CLASSES))
        self.loss = onepeak.ELBLoss(num_classes=NUM_CLASSES)
        self.order = onepeak.metrics.SideOrderIndex(num_classes=NUM_CLASSES)
        self.error = onepeak.metrics.MeanAbsoluteError(num_classes=NUM_CLASSES)

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _: int) -> torch.Tensor:
        """The loss of a batch."""
        inputs, labels = batch
        return self.loss(self.network(inputs), labels)

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], _: int) -> None:
        """Adds a batch to the metrics."""
        inputs, labels = batch
        log_probs = self.network(inputs).log_softmax(-1)
        self.order.update(log_probs, labels)
        self.error.update(log_probs, labels)

    def on_validation_epoch_end(self) -> None:
        """Logs the metrics and resets them."""
        self.log_dict({"soi": self.order.compute(), "mae": self.error.compute()}, prog_bar=True)
        self.order.reset()
        self.error.reset()

    def on_train_epoch_end(self) -> None:
        """Tightens the barrier once per epoch; Lightning calls this after validation."""
        self.loss.tighten()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """AdamW."""
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


def grades(size: int, seed: int) -> DataLoader:
    """Noisy measurements with 20 features, and their grades."""
    generator = torch.Generator().manual_seed(seed)
    severity = torch.rand(size, 1, generator=generator)
    inputs = torch.sin(severity * torch.linspace(0.3, 6, 20)) + 0.3 * torch.randn(size, 20, generator=generator)
    return DataLoader(TensorDataset(inputs, (severity.squeeze(1) * NUM_CLASSES).long()), batch_size=32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    given = parser.parse_args()
    lightning.seed_everything(0, verbose=False)
    trainer = lightning.Trainer(max_epochs=given.epochs, accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.fit(Grader(), grades(400, seed=0), grades(400, seed=1))
    print({name: round(float(value), 3) for name, value in trainer.callback_metrics.items()})
