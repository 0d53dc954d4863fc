from dataclasses import replace

from onepeak.serving.http import Limits
from onepeak.serving.http.model_card import model_card
from onepeak.serving.model import Model


def test_a_model_of_pictures_tells_its_classes_and_how_pictures_are_handled(ask, model):
    card = ask.get("/v1/model").json()
    assert card["classes"] == list(model.classes)
    assert (card["method"], card["input"], card["backbone"], card["data"]) == ("elb", "pictures", "small", "biopsies")
    assert (card["columns"], card["max_rows"], card["evidence"]) == (None, None, True)
    assert (card["pictures"]["short_side"], card["pictures"]["bits"]) == (48, None)
    assert card["pictures"]["max_pixels"] == Limits().max_pixels
    assert card["pictures"]["max_network_pixels"] == Limits().max_network_pixels
    assert {"PNG", "JPEG"} <= set(card["pictures"]["formats"])
    calibration = model.description.calibration
    assert card["calibration"]["temperature"] == calibration.temperature
    assert calibration.allows(card["calibration"]["smallest_alpha"])
    assert card["version"]


def test_a_model_of_rows_tells_its_columns(ask_table):
    card = ask_table.get("/v1/model").json()
    assert (card["input"], card["pictures"], card["evidence"], card["max_rows"]) == ("rows", None, False, 10_000)
    assert card["columns"] == [
        {"name": "size", "kind": "number", "categories": None},
        {"name": "tone", "kind": "category", "categories": ["1", "2", "dark"]},
    ]


def test_a_model_of_an_earlier_version_has_no_calibration(model):
    old = Model(replace(model.description, calibration=None), model.network, model.device)
    assert model_card(old, Limits()).calibration is None


def test_a_model_of_twelve_bits_says_so(model):
    other = Model(replace(model.description, bits=12), model.network, model.device)
    assert model_card(other, Limits()).pictures.bits == 12
