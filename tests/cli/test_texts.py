"""The whole way of texts: trained, compared, evaluated, predicted, served, exported and inspected."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from starlette.testclient import TestClient

import onepeak
from onepeak.serving.http import create_app
from tiny_encoder import write_encoder, write_reviews

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_encoder(folder / "tiny")
    write_reviews(folder / "reviews.csv")
    return folder


@pytest.fixture
def flags(folder, tmp_path):
    return ("--text", "review", "--label", "stars", "--backbone", folder / "tiny", "--cache", tmp_path / "cache")


@pytest.fixture(scope="module")
def trained(folder):
    from onepeak.cli import main

    words = [
        "train",
        "reviews.csv",
        "--text=review",
        "--label=stars",
        "--columns=price",
        "--backbone=tiny",
        "--out=model",
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setattr("sys.argv", ["onepeak", *words, "--out=model", "--cache=cache", "--logger=none", "--quiet"])
        with pytest.raises(SystemExit):
            main()
    return folder / "model"


def test_a_model_of_texts_carries_its_encoder_and_answers_for_the_words(trained, folder):
    assert (trained / "encoder" / "model.safetensors").is_file()
    result = json.loads((trained / "result.json").read_text())
    assert result["metrics"]["test"]["mae"] < 0.8 * result["constant"]["test_mae"]
    (folder / "tiny").rename(folder / "moved")
    try:
        model = onepeak.load(trained)
        found = model.predict({"review": ["very bad film", "great plot and cast"], "price": [0.5, 0.5]})
    finally:
        (folder / "moved").rename(folder / "tiny")
    assert found.predicted_index[0] < found.predicted_index[1]
    known = pd.read_csv(folder / "reviews.csv")[["review", "price"]].head(20)
    assert (model.predict(known).distance < 1.2).all()  # near what it was trained on, by the encoder's features
    assert model.familiarity.inputs == (1, 17)


def test_files_evaluation_and_http_say_the_same(trained, folder, run, tmp_path):
    (tmp_path / "new.csv").write_text("price,review\n0.1,very good film\n0.2,\n,bad plot\n")
    status, printed, notes = run("predict", trained, tmp_path / "new.csv", "--json")
    rows = [json.loads(line) for line in printed.splitlines()]
    assert status == 0
    assert rows[1]["error"] == "`review` must be a text, got none"
    assert "missing values in 1 of 3 rows" in notes
    with TestClient(create_app(onepeak.load(trained)), base_url="http://localhost") as client:
        assert [each["kind"] for each in client.get("/v1/model").json()["columns"]] == ["number", "text"]
        sent = {"rows": [{"review": "very good film", "price": 0.1}, {"review": "bad plot", "price": None}]}
        answers = client.post("/v1/predict", json=sent).json()["predictions"]
    for row, answer in zip([rows[0], rows[2]], answers, strict=True):
        np.testing.assert_allclose(answer["log_probs"], row["log_probs"], atol=1e-4)
    status, printed, _ = run("evaluate", trained, folder / "reviews.csv", "--part", "test", "--json")
    assert status == 0
    measured = json.loads(printed)["metrics"]["mae"]
    assert measured == pytest.approx(json.loads((trained / "result.json").read_text())["metrics"]["test"]["mae"])


@pytest.mark.usefixtures("here", "no_pages")
def test_a_comparison_that_trains_the_encoder_is_finished_with_a_trained_one(folder, flags, run, tmp_path):
    how = ("--methods", "ce", "--folds", 2, "--epochs", 2, "--encoder-lr", 1e-2, "--device", "cpu")
    assert run("compare", folder / "reviews.csv", *flags, *how, "--out", tmp_path / "out", "--quiet")[0] == 0
    assert run("finish", tmp_path / "out", "--device", "cpu", "--cache", tmp_path / "cache")[0] == 0
    name = "model.safetensors"
    own, given = load_file(tmp_path / "out" / "model" / "encoder" / name), load_file(folder / "tiny" / name)
    assert any(not torch.equal(own[key], given[key]) for key in own)
    found = onepeak.load(tmp_path / "out" / "model").predict({"review": ["very bad film"], "price": [0.5]})
    assert found.log_probs.isfinite().all()


@pytest.mark.usefixtures("here", "no_pages")
def test_methods_are_compared_on_the_same_features(folder, flags, run, tmp_path):
    words = ("--methods=ce,peak", "--splits=1", "--folds=1", "--epochs=2", "--quiet", "--out", tmp_path / "out")
    status, _, errors = run("compare", folder / "reviews.csv", *flags, *words)
    assert status == 0, errors
    assert len(list((tmp_path / "cache").glob("texts-*.npz"))) == 1
    assert all((run.parent / "encoder").is_dir() for run in (tmp_path / "out").glob("runs/*/*/onepeak.json"))
    status, _, errors = run("splits", folder / "reviews.csv", "--text", "review", "--label", "stars")
    assert status == 0, errors


@pytest.mark.slow
@pytest.mark.traced
def test_one_onnx_file_holds_encoder_and_network_with_the_tokenizer_beside_it(trained, run, tmp_path):
    import onnxruntime
    from tokenizers import Tokenizer

    status, _, errors = run("export", trained, "--onnx", tmp_path / "m.onnx")
    assert status == 0, errors
    texts, prices = ["very bad film", "great plot and the very great cast"], [0.25, np.nan]
    tokenizer = Tokenizer.from_file(str(tmp_path / "m.tokenizer.json"))
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(texts)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    about = json.loads(session.get_modelmeta().custom_metadata_map["preprocessing"])
    assert (about["columns"], about["text"]) == (["price"], "review")
    given = {
        "input_ids": np.array([each.ids for each in encoded]),
        "attention_mask": np.array([each.attention_mask for each in encoded]),
        "rows": np.array(prices, np.float32)[:, None],
    }
    log_probs = session.run(["log_probs"], given)[0]
    expected = onepeak.load(trained).predict({"review": texts, "price": prices}).log_probs
    np.testing.assert_allclose(log_probs, expected, atol=1e-4)


@pytest.mark.usefixtures("here", "no_pages")
def test_a_comparison_is_repeated_from_its_file_and_refuses_another_encoder(folder, run, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    write_encoder(tmp_path / "other", seed=1)
    words = ("--methods=ce", "--splits=1", "--folds=1", "--epochs=1", "--quiet", "--cache", tmp_path / "cache")
    data = ("compare", "reviews.csv", "--text=review", "--label=stars", "--network=hidden=8")
    status, _, errors = run(*data, "--backbone=tiny", *words, "--out", tmp_path / "out")
    assert status == 0, errors
    written = tomllib.loads((tmp_path / "out" / "config.toml").read_text())
    assert written["network"]["backbone"] == str(folder / "tiny")
    status, _, errors = run(*data, "--backbone", tmp_path / "other", *words, "--out", tmp_path / "out")
    assert (status, "the encoder of the texts differs" in errors) == (2, True), errors
    monkeypatch.chdir(tmp_path)
    again = ("compare", tmp_path / "out" / "config.toml", "--cache", tmp_path / "cache", "--quiet")
    status, _, errors = run(*again, "--out", tmp_path / "again")
    assert status == 0, errors
    result = "runs/ce/split0-fold0/predictions.parquet"
    assert (tmp_path / "again" / result).read_bytes() == (tmp_path / "out" / result).read_bytes()


def test_a_finished_run_is_known_again_and_its_weights_begin_another(trained, folder, run, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    write_encoder(tmp_path / "other", seed=1)
    words = ("train", "reviews.csv", "--text=review", "--label=stars", "--columns=price", "--cache=cache", "--quiet")
    status, printed, errors = run(*words, "--backbone=tiny", "--out=model", "--resume")
    assert (status, "already finished" in printed) == (0, True), errors
    status, _, errors = run(*words, "--backbone", tmp_path / "other", "--out=model", "--resume")
    assert (status, "another encoder of texts" in errors) == (2, True)
    weights = ("--weights", trained / "model.safetensors", "--epochs=1", "--logger=none", "--out", tmp_path / "next")
    status, _, errors = run(*words, "--backbone", tmp_path / "other", *weights)
    assert (status, "the same encoder of texts" in errors) == (2, True)
    status, _, errors = run(*words, "--backbone=tiny", *weights)
    assert status == 0, errors
