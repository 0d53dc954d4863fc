"""ELB on a Hugging Face image classifier, built from a configuration: nothing is downloaded.

python examples/hugging_face.py [--epochs 5] [--images 400]
For a pretrained model: transformers.AutoModelForImageClassification.from_pretrained("folder", num_labels=8).
"""

import argparse
import tempfile

import torch
import transformers
from torch import Tensor

import onepeak
from onepeak.data.datasets.biopsies import biopsies
from onepeak.metrics.functional import mean_absolute_error, side_order_index

NUM_CLASSES = 8


class Tighten(transformers.TrainerCallback):
    """Tightens the barrier once per epoch."""

    def __init__(self, loss: onepeak.ELBLoss) -> None:
        self.loss = loss

    def on_epoch_end(self, *_: object, **__: object) -> None:
        """Runs after each epoch, before the Trainer evaluates and saves."""
        self.loss.tighten()


def ordinal(model: transformers.PreTrainedModel) -> dict[str, object]:
    """Arguments for the Trainer of a model. The loss becomes part of the model, so its t is saved and resumed."""
    loss = model.ordinal_loss = onepeak.ELBLoss(num_classes=model.config.num_labels)

    def compute(
        outputs: transformers.utils.ModelOutput, labels: Tensor, num_items_in_batch: int | None = None
    ) -> Tensor:
        mean = loss(outputs.logits, labels)
        # with gradient accumulation the Trainer passes the number of samples in the whole step
        return mean if num_items_in_batch is None else mean * len(labels) / num_items_in_batch

    return {"compute_loss_func": compute, "callbacks": [Tighten(loss)]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--images", type=int, default=400)
    given = parser.parse_args()
    torch.manual_seed(0)
    config = transformers.ResNetConfig(
        num_labels=NUM_CLASSES, embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic"
    )
    model = transformers.ResNetForImageClassification(config)
    data = biopsies(given.images)
    images = torch.from_numpy(data.items.pixels).permute(0, 3, 1, 2).float() / 127.5 - 1
    labels = torch.from_numpy(data.labels)
    train, test = torch.arange(given.images).split([given.images * 4 // 5, given.images - given.images * 4 // 5])

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder,
            num_train_epochs=given.epochs,
            per_device_train_batch_size=32,
            learning_rate=3e-3,
            lr_scheduler_type="constant",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            dataloader_pin_memory=torch.cuda.is_available(),
            use_cpu=not torch.cuda.is_available(),
        )
        trainer = transformers.Trainer(
            model,
            arguments,
            train_dataset=[{"pixel_values": images[row], "labels": labels[row]} for row in train],
            **ordinal(model),
        )
        trainer.train()
    assert model.ordinal_loss.constraint.t > 1  # the barrier was tightened

    model.eval()
    with torch.no_grad():
        scores = model(pixel_values=images[test].to(model.device)).logits.cpu()
    predicted = scores.argmax(-1)
    order = side_order_index(scores, predicted).mean()
    print(f"MAE {mean_absolute_error(predicted, labels[test]):.2f}, {order:.0%} of adjacent pairs in order")
