"""A tiny encoder of texts with random weights, and reviews for it."""

import random

import torch

WORDS = ["bad", "poor", "weak", "fine", "good", "great", "film", "plot", "cast", "and", "the", "very"]
STARS = {"bad": 1, "poor": 2, "weak": 2, "fine": 3, "good": 4, "great": 5}


def write_encoder(folder, *, seed=0):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", model_max_length=12).save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=12,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def write_reviews(path, *, count=150, seed=0):
    """One review a row, whose stars its words tell."""
    rng = random.Random(seed)
    lines = ["review,stars,author,price"]
    for number in range(count):
        word = rng.choice(list(STARS))
        said = " ".join(rng.sample(["film", "plot", "cast", "and", "the", "very"], rng.randint(1, 5)))
        lines.append(
            f'"{word}, {said} {"very " * rng.randint(0, 6)}{word}",{STARS[word]},a{number // 3},{rng.random():.2f}'
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
