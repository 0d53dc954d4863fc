import numpy as np
import pytest
import torch

from onepeak.errors import InputError
from onepeak.networks.text_encoder import TextEncoder
from tiny_encoder import write_encoder

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return TextEncoder(write_encoder(tmp_path_factory.mktemp("encoder")))


def test_a_text_is_the_mean_of_its_tokens(encoder):
    text = "very good film"
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder.folder)
    model = transformers.AutoModel.from_pretrained(encoder.folder).eval()
    with torch.no_grad():
        expected = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
    features, parts = encoder.features([text])
    np.testing.assert_allclose(features[0], expected.numpy(), atol=1e-6)
    assert parts.tolist() == [1]


def test_the_features_of_a_text_do_not_depend_on_the_others(encoder):
    texts = ["bad", "the plot and the cast", "", "good " * 30]
    together, parts = encoder.features(texts)
    for text, features in zip(texts, together, strict=True):
        np.testing.assert_allclose(encoder.features([text])[0][0], features, atol=1e-6)
    assert parts.tolist() == [1, 1, 1, 3]


def test_nothing_of_a_long_text_is_cut_off(encoder):
    begin = "film plot cast and the very film plot cast and"  # ten tokens fill a window
    (one, other), _ = encoder.features([f"{begin} good", f"{begin} bad"])
    assert np.abs(one - other).max() > 1e-3
    first, second = encoder.features([begin, "good"])[0]
    np.testing.assert_allclose(one, (12 * first + 3 * second) / 15, atol=1e-6)


def with_tokenizer_of(encoder, folder, **settings):
    fast = transformers.AutoTokenizer.from_pretrained(encoder.folder).backend_tokenizer
    transformers.PreTrainedTokenizerFast(tokenizer_object=fast, **settings).save_pretrained(folder)
    return TextEncoder(folder)


def test_positions_that_an_encoder_keeps_for_padding_are_not_counted(encoder, tmp_path):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.RobertaConfig(vocab_size=16, max_position_embeddings=14, pad_token_id=1, **sizes)
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    _, parts = with_tokenizer_of(encoder, tmp_path, pad_token="[UNK]").features(["good " * 30, "bad"])
    assert parts.tolist() == [3, 1]  # windows of 12 tokens, two of them special


def test_another_encoder_has_another_fingerprint(encoder, tmp_path):
    assert TextEncoder(encoder.folder).digest == encoder.digest
    assert TextEncoder(write_encoder(tmp_path, seed=1)).digest != encoder.digest


@pytest.mark.bad_input
def test_what_is_no_encoder_on_this_machine_is_refused_and_nothing_is_fetched(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="must be an encoder of transformers"):
        TextEncoder(tmp_path).features(["a"])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=r"onepeak fetches nothing: `hf download nobody/nothing-of-the-kind` does"):
        TextEncoder("nobody/nothing-of-the-kind")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"Texts need an encoder: .*--backbone FOLDER"):
        TextEncoder()


@pytest.mark.bad_input
def test_weights_in_several_files_and_a_tokenizer_that_cannot_pad_are_refused(encoder, tmp_path):
    for path in encoder.folder.iterdir():
        (tmp_path / path.name.replace("model.s", "model-00001-of-00002.s")).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match=r"whose weights are one file model\.safetensors"):
        TextEncoder(tmp_path)
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((encoder.folder / name).read_bytes())
    with pytest.raises(InputError, match="whose tokenizer has a padding token"):
        with_tokenizer_of(encoder, tmp_path).features(["good"])
