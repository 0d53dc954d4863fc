"""`POST /v1/predict` as a client meets it: long because every input has its own ways to be answered and refused."""

import asyncio
import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from http_server import asking, encoded
from image_files import in_twelve_bits
from onepeak.errors import InputError
from onepeak.posterior.predictions import Predictions
from onepeak.posterior.referral import Policy
from onepeak.serving.http import Limits, create_app, predictor
from onepeak.serving.http.predictor import Predictor
from onepeak.serving.http.routes import model_card
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.predict import ROWS_A_BATCH
from onepeak.training.familiarity import Familiarity

PNG = {"Content-Type": "image/png"}


def answered(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer, status, message):
    assert (answer.status_code, message in answer.json()["error"]["message"]) == (status, True), answer.text


def as_files(images):
    return [("images", (f"{number}.png", data)) for number, data in enumerate(images)]


def check_same(items, said):
    """The server's answers are those of the model, to what float32 leaves of another batch."""
    np.testing.assert_allclose([item["log_probs"] for item in items], said.log_probs.numpy(), atol=1e-5, rtol=0)
    np.testing.assert_allclose([item["probs"] for item in items], said.probs.numpy(), atol=1e-5, rtol=0)
    rows = list(said.rows())
    for item, row in zip(items, rows, strict=True):
        for index, name in (("predicted_index", "predicted_class"), ("label", "name")):
            assert (item[index], item[name]) == (row.predicted_index, row.predicted_class)
        assert (item["unimodal"], item["paradoxical"]) == (row.unimodal, row.paradoxical)
        assert item["unlike"] == (None if row.unlike is None else list(row.unlike))
        assert item["soi"] == pytest.approx(row.soi, abs=1e-5)
        assert item["interval"] == [row.lower, row.upper]
        assert item["interval_names"] == [row.lower_name, row.upper_name]


@pytest.mark.parametrize(
    "options",
    [{}, {"alpha": 0.4}, {"decide": "qwk"}, {"decide": "median", "project": True}, {"raw": True}, {"project": True}],
)
def test_images_in_a_form_are_answered_as_the_model_does(ask, model, arrays, images, options):
    content = answered(ask.post("/v1/predict", files=as_files(images), params=options))
    check_same(content["predictions"], model.predict(arrays[:10], **options))
    assert content["classes"] == list(model.classes)
    assert content["model_id"] == model.model_id
    assert content["alpha"] == options.get("alpha", 0.1)
    assert [(item["item"], item["file"]) for item in content["predictions"]] == [(n, f"{n}.png") for n in range(10)]
    assert content["predictions"][0]["evidence"] is None


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "application/octet-stream", "IMAGE/X; a=b"])
def test_one_image_may_be_the_body_and_its_bytes_say_what_it_is(ask, model, arrays, kind):
    for form in ("PNG", "BMP", "TIFF"):
        headers = {"Content-Type": kind}
        content = answered(ask.post("/v1/predict", content=encoded(arrays[3], form), headers=headers))
        check_same(content["predictions"], model.predict(arrays[3]))
        assert content["predictions"][0]["file"] is None


def test_twelve_bits_in_files_of_sixteen_are_told_unless_the_model_knows(ask, model, arrays):
    grey = arrays[0].mean(axis=-1).astype(np.uint8)
    files = as_files([encoded(in_twelve_bits(grey)), encoded(arrays[0])])
    note, unlike = answered(ask.post("/v1/predict", files=files))["notes"]
    assert note.startswith("no value above ")
    assert unlike.endswith(": 0.png")
    assert "in 1 16-bit image checked (0.png), which" in note
    assert "predictions mean little" in note
    knowing = Model(replace(model.description, bits=12), model.network, model.device)
    with asking(create_app(knowing)) as client:
        content = answered(client.post("/v1/predict", files=files))
    check_same(content["predictions"], model.predict([np.stack([grey] * 3, axis=-1), arrays[0]]))
    assert [note for note in content["notes"] if "no colour" not in note] == []


def test_images_unlike_the_training_are_told_by_name_and_one_alone_without(ask, model, arrays, images):
    black = np.zeros_like(arrays[0])
    (expected,) = model.predict([arrays[0], black]).notes
    content = answered(ask.post("/v1/predict", files=as_files([images[0], encoded(black)])))
    assert content["notes"] == [expected.replace("item 1", "1.png")]
    check_same(content["predictions"], model.predict([arrays[0], black]))
    assert "contrast" in content["predictions"][1]["unlike"]
    content = answered(ask.post("/v1/predict", content=encoded(black), headers=PNG))
    assert content["notes"] == list(model.predict(black).notes)
    content = answered(ask.post("/v1/predict", files=as_files(images)))
    assert (content["notes"], [item["unlike"] for item in content["predictions"]]) == ([], [[]] * len(images))
    older = Model(replace(model.description, image_range=None), model.network, model.device)
    with asking(create_app(older)) as client:
        content = answered(client.post("/v1/predict", content=encoded(black), headers=PNG))
    assert (content["notes"], content["predictions"][0]["unlike"]) == ([], None)


def test_a_bad_image_among_many_is_told_of_and_the_others_are_answered(ask, model, arrays, images):
    damaged = [images[0], b"no image", images[1][:200], b"", images[2]]
    items = answered(ask.post("/v1/predict", files=as_files(damaged)))["predictions"]
    check_same([items[0], items[4]], model.predict([arrays[0], arrays[2]]))
    reasons = [item["error"]["message"] for item in items[1:4]]
    assert reasons[0].startswith("not an image in a known format")
    assert reasons[1].startswith("cut off or damaged")
    assert reasons[2] == "the file is empty (0 bytes)"
    assert [(item["item"], item["file"]) for item in items[1:4]] == [(1, "1.png"), (2, "2.png"), (3, "3.png")]
    one = ask.post("/v1/predict", content=b"no image", headers=PNG)
    refused(one, 422, "Could not read the image: not an image in a known format")
    refused(ask.post("/v1/predict", files=as_files([b"x", images[0][:99]])), 422, "2 images")


@pytest.mark.bad_input
def test_a_bomb_is_refused_from_its_header_and_what_is_too_much_for_the_network_with_the_limit(model, arrays):
    bomb = encoded(np.zeros((65, 64, 3), np.uint8))
    with asking(create_app(model, limits=Limits(max_pixels=64 * 64))) as client:
        answer = client.post("/v1/predict", content=bomb, headers=PNG)
        items = answered(client.post("/v1/predict", files=as_files([bomb, encoded(arrays[0])])))["predictions"]
    refused(answer, 413, "more pixels than the server accepts (4096)")
    assert items[0]["error"]["code"] == "too_large"
    assert items[1]["label"] == int(model.predict(arrays[0]).predicted_index)
    with asking(create_app(model, limits=Limits(max_network_pixels=48 * 48 - 1))) as client:
        answer = client.post("/v1/predict", content=encoded(arrays[0]), headers=PNG)
    refused(answer, 413, "would process 48 x 48 pixels, and this server allows at most 2303")


def test_evidence_is_the_networks_map_of_the_class_decided_on(ask, model, arrays, images):
    for options in ({}, {"decide": "mean"}):
        params = {"evidence": True, **options}
        items = answered(ask.post("/v1/predict", files=as_files(images[:4]), params=params))["predictions"]
        said = model.predict(arrays[:4], **options)
        for item, pixels, label in zip(items, arrays, said.predicted_index, strict=False):
            image = torch.from_numpy(model.pixels(pixels).copy()).permute(2, 0, 1)[None] / 255
            with torch.inference_mode():
                wanted = model.network.class_evidence((image - 0.5) / 0.5, label[None])[0]
            np.testing.assert_allclose(item["evidence"], wanted.numpy(), atol=1e-4)


def test_evidence_is_finite_where_a_method_gives_a_class_no_probability(ask, model, images, monkeypatch):
    maps = torch.tensor([[[-1.5, -torch.inf], [2.0, torch.nan]]])
    monkeypatch.setattr(model.network, "class_evidence", lambda images, _: maps.expand(len(images), 2, 2))
    [item] = answered(ask.post("/v1/predict?evidence=1", content=images[0], headers=PNG))["predictions"]
    assert item["evidence"] == [[-1.5, -1.5], [2.0, -1.5]]
    maps = torch.full((1, 2, 2), -torch.inf)
    [item] = answered(ask.post("/v1/predict?evidence=1", content=images[0], headers=PNG))["predictions"]
    assert item["evidence"] == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, "`alpha`: Input should be greater than or equal to 0.000001"),
        ({"alpha": "nan"}, "`alpha`: Input should be"),
        ({"alpha": 0.001}, "`alpha` must be >= 0.091 for a model whose validation part had 10 samples"),
        ({"decide": "medain"}, "`decide`: Input should be 'mode', 'median', 'mean' or 'qwk', got 'medain'"),
        ({"project": "maybe"}, "`project`: Input should be a valid boolean"),
        ({"evidnce": "true"}, "`evidnce` is not an option of this address: see /docs"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_read(ask, params, message):
    refused(ask.post("/v1/predict", content=b"unread", headers=PNG, params=params), 422, message)


@pytest.mark.bad_input
def test_what_a_model_does_not_read_is_refused_by_its_type(ask, ask_table, images):
    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded", "image", ""):
        answer = ask.post("/v1/predict", content=images[0], headers={"Content-Type": kind})
        refused(answer, 415, "This model reads images: send multipart/form-data")
    for kind in ("image/png", "multipart/form-data; boundary=x", "text/csv"):
        answer = ask_table.post("/v1/predict", content=b'{"rows": []}', headers={"Content-Type": kind})
        refused(answer, 415, "This model reads rows of a table: send application/json")


@pytest.mark.parametrize("options", [{}, {"decide": "median", "alpha": 0.4}, {"raw": True}, {"project": True}])
def test_rows_are_answered_as_the_model_does(ask_table, table, options):
    rows = [{"size": None, "tone": "dark"}, {"size": 0.5, "tone": 1}, {"size": 1, "tone": "\ud800"}]
    body = json.dumps({"rows": [*rows, {"size": -2, "tone": None, "other": {}}]})
    json_type = {"Content-Type": "application/json"}
    content = answered(ask_table.post("/v1/predict", content=body, headers=json_type, params=options))
    expected = table.predict({"size": [None, 0.5, 1, -2], "tone": ["dark", "1", "pale", None]}, **options)
    check_same(content["predictions"], expected)
    assert content["notes"] == [note.replace("pale", "\ud800") for note in expected.notes]
    assert content["notes"][0] == "1 name of the column 'tone' not seen in training, taken as missing: \ud800"


@pytest.mark.bad_input
def test_one_wrong_row_refuses_all(ask_table, table, monkeypatch):
    good = {"size": 1, "tone": "1"}
    for row, message in (
        ({"size": 1}, "`rows[1]` must have the columns"),
        ({"size": None, "tone": None}, "`rows[1]`: it"),
        ({"size": 1e30, "tone": "1"}, "`rows[1]`: the model has no posterior"),
    ):
        refused(ask_table.post("/v1/predict", json={"rows": [good, row]}), 422, message)
    sure = Predictions(predicted_index=torch.tensor([0]), log_probs=torch.tensor([[0.0, -torch.inf, -torch.inf]]))
    monkeypatch.setattr(table, "row_answers", lambda _: sure)
    [item] = answered(ask_table.post("/v1/predict", json={"rows": [good]}))["predictions"]
    assert (item["name"], item["probs"], item["log_probs"]) == ("low", [1.0, 0.0, 0.0], [0.0, None, None])


def test_rows_of_several_batches_say_by_what_they_are_unlike_the_training(ask_table, table, monkeypatch):
    monkeypatch.setattr(predictor, "ROWS_A_BATCH", 100)
    rows = [{"size": size, "tone": "2"} for size in np.linspace(-1, 1, 300).tolist()]
    rows[210] = {"size": -999, "tone": "pale"}
    content = answered(ask_table.post("/v1/predict", json={"rows": rows}))
    check_same(content["predictions"], table.predict(rows))
    assert {item["item"]: item["unlike"] for item in content["predictions"] if item["unlike"]} == {
        210: ["size", "tone"]
    }
    assert content["notes"][2].endswith(": 1 of 300 rows, by size (1), tone (1): row 210")


def test_rows_far_from_the_training_in_the_features_are_marked_and_referred_as_by_predict(table):
    far = Familiarity(references=torch.ones(1, 2).half(), threshold=0.01, inputs=(0, 2))
    policy = Policy(uncertainty="entropy", threshold=float("inf"))
    model = Model(table.description, table.network, table.device, familiarity=far, policy=policy)
    expected = model.predict({"size": [1.0, -1.0], "tone": ["2", "2"]})
    with asking(create_app(model)) as client:
        rows = [{"size": size, "tone": "2"} for size in (1, -1)]
        content = answered(client.post("/v1/predict", json={"rows": rows}))
    check_same(content["predictions"], expected)
    assert ("features",) in expected.unlike
    assert [item["refer"] for item in content["predictions"]] == list(expected.refer)
    assert "by features" in content["notes"][-1]


def test_a_server_answers_as_it_was_told_unless_a_request_says_otherwise(table):
    told = {"alpha": 0.4, "decide": "cost", "cost": ((0, 1, 9), (9, 0, 1), (9, 9, 0)), "project": True, "raw": True}
    rows = [{"size": size, "tone": "2"} for size in np.linspace(-3, 3, 40).tolist()]
    assert not torch.equal(table.predict(rows, **told).predicted_index, table.predict(rows).predicted_index)
    with asking(create_app(table, posterior_options=PosteriorOptions(**told))) as client:
        for asked in ({}, {"alpha": 0.3}, {"raw": False}, {"project": False, "raw": False}, {"decide": "mean"}):
            content = answered(client.post("/v1/predict", json={"rows": rows}, params=asked))
            wanted = told | asked | ({"cost": None} if "decide" in asked else {})
            check_same(content["predictions"], table.predict(rows, **wanted))
            assert content["alpha"] == wanted["alpha"]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("posterior_options", "message"),
    [
        (PosteriorOptions(decide="cost"), "`cost` and `decide` 'cost' must be given together"),
        (PosteriorOptions(decide="modus"), "Unknown `decide` 'modus'"),
        (PosteriorOptions(alpha=1e-6), "`alpha` must be"),
    ],
)
def test_what_a_server_cannot_do_is_told_before_it_serves(table, posterior_options, message):
    with pytest.raises(InputError, match=message):
        create_app(table, posterior_options=posterior_options)


def test_an_image_that_the_network_cannot_take_or_say_anything_of_has_its_own_error(ask, model, images, monkeypatch):
    whole = type(model).answers

    def fail(_):
        raise RuntimeError("a secret of the network\nand more")

    def lost(pixels):
        found = whole(model, pixels)
        first = torch.arange(len(found))[:, None] == 0
        return replace(found, log_probs=torch.where(first, torch.nan, found.log_probs))

    for broken, told in ((fail, "the network cannot take 48 x 48 pixels"), (lost, "the model has no posterior for it")):
        monkeypatch.setattr(model, "answers", broken)
        answer = ask.post("/v1/predict", content=images[0], headers=PNG)
        refused(answer, 422, told)
        assert "secret" not in answer.text


def test_the_row_of_one_client_fails_no_request_of_another(table):
    async def together():
        predictor = Predictor(table, Limits(), PosteriorOptions())
        good, bad = {"size": 1.0, "tone": "1"}, {"size": 1e30, "tone": "1"}
        asked = [[good] * ROWS_A_BATCH, [good], [bad], [good]]  # the last three gather while the first is computed
        said = await asyncio.gather(
            *(predictor.rows(rows, PosteriorOptions()) for rows in asked), return_exceptions=True
        )
        predictor.close()
        return said

    _, first, refused, last = asyncio.run(together())
    expected = table.predict({"size": 1.0, "tone": "1"}, raw=True).predicted_index
    assert first.raw.predicted_index == last.raw.predicted_index == expected
    assert str(refused).startswith("`rows[0]`: the model has no posterior")


def test_requests_that_are_read_together_keep_their_own_options(table):
    row, options = {"size": 1.0, "tone": "1"}, [PosteriorOptions(), PosteriorOptions(raw=True)] * 3

    async def together():
        asked = Predictor(table, Limits(), PosteriorOptions())
        found = await asyncio.gather(*(asked.rows([row] * (1 + place), each) for place, each in enumerate(options)))
        asked.close()
        return found

    for place, (outcome, each) in enumerate(zip(asyncio.run(together()), options, strict=True)):
        expected = table.predict(row, raw=each.raw)[0]
        assert len(outcome.rows) == 1 + place
        for found in outcome.rows:
            np.testing.assert_allclose(found.log_probs, expected.log_probs, atol=1e-5, rtol=0)
            assert (found.predicted_index, found.lower, found.upper) == (
                expected.predicted_index,
                expected.lower,
                expected.upper,
            )


@pytest.mark.bad_input
def test_the_pixels_of_a_request_are_counted_from_headers_before_any_is_decoded(model, images, monkeypatch):
    limits = Limits(max_pixels=64 * 64, max_request_pixels=2 * 64 * 64)
    with asking(create_app(model, limits=limits)) as client:
        assert client.post("/v1/predict", files=as_files(images[:2])).status_code == 200
        bomb = encoded(np.zeros((65, 64, 3), np.uint8))  # is refused alone, and does not count
        assert client.post("/v1/predict", files=as_files([*images[:2], bomb])).status_code == 200
        monkeypatch.setattr(predictor, "decode_image", pytest.fail)
        answer = client.post("/v1/predict", files=as_files(images[:3]))
    refused(answer, 413, "at most 8192 pixels together, got 12288")


@pytest.mark.bad_input
def test_the_values_of_rows_are_counted_before_they_are_parsed(table, monkeypatch):
    limits = Limits(max_bytes=10_000, max_buffered_bytes=50_000)
    body, kind = b'{"rows": [' + b'{"":0},' * 1000 + b"{}]}", {"Content-Type": "application/json"}
    with asking(create_app(table, limits=limits)) as client:
        assert client.post("/v1/predict", json={"rows": [{"size": 1, "tone": "1"}] * 9}).status_code == 200
        monkeypatch.setattr(json, "loads", pytest.fail)
        answer = client.post("/v1/predict", content=body, headers=kind)
    assert (answer.status_code, b"The rows hold too many values" in answer.content) == (413, True)


@pytest.mark.bad_input
def test_an_answer_that_takes_too_long_is_given_up_and_the_server_goes_on(model, images, monkeypatch):
    go, whole = threading.Event(), type(model).answers
    with asking(create_app(model, limits=Limits(answer_seconds=0.3))) as client:
        monkeypatch.setattr(model, "answers", lambda pixels: (go.wait(30), whole(model, pixels))[1])
        late = client.post("/v1/predict", content=images[0], headers=PNG)
        go.set()
        assert (late.status_code, late.json()["error"]["code"]) == (503, "busy")
        assert int(late.headers["retry-after"]) >= 1
        assert client.post("/v1/predict", content=images[0], headers=PNG).status_code == 200


@pytest.mark.bad_input
@pytest.mark.parametrize("limits", [{"max_requests": 1}, {"max_request_pixels": 5000, "max_waiting_pixels": 5000}])
def test_a_full_server_says_when_to_come_back_and_then_answers(model, images, monkeypatch, limits):
    computing, go = threading.Event(), threading.Event()
    whole = type(model).answers

    def slow(pixels):
        computing.set()
        assert go.wait(30)
        return whole(model, pixels)

    with asking(create_app(model, limits=Limits(**limits))) as client:
        assert client.post("/v1/predict", content=images[0], headers=PNG).status_code == 200
        assert client.get("/readyz").json() == {"status": "ready"}
        monkeypatch.setattr(model, "answers", slow)
        first = []
        thread = threading.Thread(
            target=lambda: first.append(client.post("/v1/predict", content=images[0], headers=PNG))
        )
        thread.start()
        assert computing.wait(30)
        turned_away = client.post("/v1/predict", content=images[1], headers=PNG)
        assert (client.get("/healthz").status_code, client.get("/readyz").status_code) == (200, 503)
        go.set()
        thread.join(30)
        assert (turned_away.status_code, turned_away.json()["error"]["code"]) == (503, "busy")
        assert int(turned_away.headers["retry-after"]) >= 1
        assert first[0].status_code == 200
        assert client.post("/v1/predict", content=images[1], headers=PNG).status_code == 200


def test_requests_that_arrive_together_share_batches(model, images, monkeypatch):
    sizes, whole = [], type(model).answers

    def counted(pixels):
        if not sizes:  # what arrives while the model is at work forms the next batches
            time.sleep(1)
        sizes.append(len(pixels))
        return whole(model, pixels)

    with asking(create_app(model)) as client:
        assert client.post("/v1/predict", files=as_files(images)).status_code == 200
        monkeypatch.setattr(model, "answers", counted)
        said = []
        asked = [
            threading.Thread(target=lambda: said.append(client.post("/v1/predict", files=as_files(images))))
            for _ in range(6)
        ]
        for thread in asked:
            thread.start()
        for thread in asked:
            thread.join(60)
    assert [answer.status_code for answer in said] == [200] * 6
    assert sum(sizes) == 60
    assert max(sizes) > 10, "more than one request has"
    assert max(sizes) <= 32


USUAL = {"alpha": 0.1, "decide": None, "cost": None, "project": False, "raw": False}


def test_a_model_of_images_tells_its_classes_and_how_images_are_handled(ask, model):
    card, limits = ask.get("/v1/model").json(), Limits()
    assert (card["classes"], card["model_id"]) == (list(model.classes), model.model_id)
    assert (card["method"], card["input"], card["backbone"], card["data"]) == ("elb", "pictures", "small", "biopsies")
    assert (card["columns"], card["max_rows"], card["evidence"], card["reading"]) == (None, None, True, USUAL)
    assert card["pictures"].items() >= {"short_side": 48, "bits": None, "max_pixels": limits.max_pixels}.items()
    assert card["pictures"]["max_network_pixels"] == limits.max_network_pixels
    assert {"PNG", "JPEG"} <= set(card["pictures"]["formats"])
    calibration = model.description.calibration
    assert card["calibration"]["temperature"] == calibration.temperature
    assert calibration.allows(card["calibration"]["smallest_alpha"])
    assert tuple(card["evidence_range"]) == model.description.evidence_range
    assert card["version"]
    older = Model(replace(model.description, calibration=None, bits=12), model.network, model.device)
    card = model_card(older, limits, PosteriorOptions())
    assert (card.calibration, card.model_id, card.pictures.bits) == (None, None, 12)


def test_a_model_of_rows_tells_its_columns_and_how_answers_are_made(ask_table, table):
    card = ask_table.get("/v1/model").json()
    assert (card["input"], card["pictures"], card["evidence"], card["max_rows"]) == ("rows", None, False, 10_000)
    assert card["evidence_range"] is None
    assert card["columns"] == [
        {"name": "size", "kind": "number", "categories": None},
        {"name": "tone", "kind": "category", "categories": ["1", "2", "dark"]},
    ]
    costs = ((0.0, 1.0, 9.0), (9.0, 0.0, 1.0), (9.0, 9.0, 0.0))
    told = {"alpha": 0.4, "decide": "cost", "cost": costs, "project": True, "raw": True}
    card = model_card(table, Limits(), PosteriorOptions(**told)).model_dump()["reading"]
    assert card == told | {"cost": [list(row) for row in costs]}


@pytest.mark.parametrize(
    ("how", "options"),
    [
        ("worst", {}),
        ("mean", {"raw": True}),
        ("median", {"decide": "mean"}),
        ("mean", {"project": True, "decide": "median"}),
    ],
)
def test_images_under_one_field_name_are_one_patient_also_as_a_request_reads_posteriors(
    ask, model, arrays, images, how, options
):
    names = ["ann", "ann", "ben", "ann", "ben"]
    files = [(name, (f"{number}.png", data)) for number, (name, data) in enumerate(zip(names, images, strict=False))]
    content = answered(ask.post("/v1/predict", files=files, params={"combine": how, **options}))
    raw = model.predict(arrays[:5], raw=True)
    check_same(content["groups"], model.read_groups(raw, names, how, PosteriorOptions(**options)))
    check_same(content["predictions"], model.predict(arrays[:5], **options))
    assert [(each["group"], each["items"]) for each in content["groups"]] == [("ann", [0, 1, 3]), ("ben", [2, 4])]
    assert any("intervals of groups join" in note for note in content["notes"])
    assert answered(ask.post("/v1/predict", files=files))["groups"] is None


def test_rows_of_a_request_are_one_patient_or_have_one_by_name(ask_table, table):
    rows = [{"size": 0.4 * number, "tone": "dark", "patient": number // 2} for number in range(6)]
    raw = table.predict([{"size": row["size"], "tone": "dark"} for row in rows], raw=True)
    for params, names in (({}, [""] * 6), ({"group": "patient"}, ["0", "0", "1", "1", "2", "2"])):
        content = answered(ask_table.post("/v1/predict", json={"rows": rows}, params={"combine": "worst", **params}))
        check_same(content["groups"], table.read_groups(raw, names, "worst", PosteriorOptions()))
        assert [each["group"] for each in content["groups"]] == list(dict.fromkeys(names))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"group": "patient"}, "`group` has no effect without `combine`"),
        ({"combine": "worst", "group": "ward"}, "it lacks ward"),
        ({"combine": "worst", "group": "patient"}, "`rows[0]`: 'patient' must name a group, got none"),
        ({"combine": "worst", "group": "bed"}, "`rows[0]`: 'bed' must name a group, got none"),
    ],
)
def test_a_group_that_cannot_be_asked_for_is_refused(ask_table, params, message):
    row = {"size": 1, "tone": "dark", "patient": None, "bed": " "}
    refused(ask_table.post("/v1/predict", json={"rows": [row]}, params=params), 422, message)
