from dataclasses import replace

from onepeak.posterior import DECISIONS
from onepeak.serving.http import Limits
from onepeak.serving.http.model_card import model_card
from onepeak.serving.model import Model
from onepeak.serving.reading import Reading


def test_a_model_of_pictures_tells_its_classes_and_how_pictures_are_handled(ask, model):
    card = ask.get("/v1/model").json()
    assert card["classes"] == list(model.classes)
    assert card["model_id"] == model.model_id
    assert (card["method"], card["input"], card["backbone"], card["data"]) == ("elb", "pictures", "small", "biopsies")
    assert (card["columns"], card["max_rows"], card["evidence"]) == (None, None, True)
    assert (card["pictures"]["short_side"], card["pictures"]["bits"]) == (48, None)
    assert card["pictures"]["max_pixels"] == Limits().max_pixels
    assert card["pictures"]["max_network_pixels"] == Limits().max_network_pixels
    assert {"PNG", "JPEG"} <= set(card["pictures"]["formats"])
    calibration = model.description.calibration
    assert card["calibration"]["temperature"] == calibration.temperature
    assert calibration.allows(card["calibration"]["smallest_alpha"])
    assert tuple(card["evidence_range"]) == model.description.evidence_range
    assert card["version"]


def test_a_model_of_rows_tells_its_columns(ask_table):
    card = ask_table.get("/v1/model").json()
    assert (card["input"], card["pictures"], card["evidence"], card["max_rows"]) == ("rows", None, False, 10_000)
    assert card["evidence_range"] is None
    assert card["columns"] == [
        {"name": "size", "kind": "number", "categories": None},
        {"name": "tone", "kind": "category", "categories": ["1", "2", "dark"]},
    ]


def test_a_model_of_an_earlier_version_has_no_calibration(model):
    old = Model(replace(model.description, calibration=None), model.network, model.device)
    assert model_card(old, Limits(), Reading()).calibration is None
    assert model_card(old, Limits(), Reading()).model_id is None  # as it has no file


def test_a_model_of_twelve_bits_says_so(model):
    other = Model(replace(model.description, bits=12), model.network, model.device)
    assert model_card(other, Limits(), Reading()).pictures.bits == 12


def test_how_answers_are_made_is_told(ask, table):
    usual = {"alpha": 0.1, "decide": None, "cost": None, "project": False, "raw": False}
    assert ask.get("/v1/model").json()["reading"] == usual
    costs = ((0.0, 1.0, 9.0), (9.0, 0.0, 1.0), (9.0, 9.0, 0.0))
    told = {"alpha": 0.4, "decide": "cost", "cost": costs, "project": True, "raw": True}
    card = model_card(table, Limits(), Reading(**told)).model_dump()["reading"]
    assert card == told | {"cost": [list(row) for row in costs]}


def test_every_decision_can_be_told(table):
    for name in DECISIONS:
        assert model_card(table, Limits(), Reading(decide=name)).reading.decide == name


def test_a_model_without_intervals_tells_no_alpha(model):
    old = Model(replace(model.description, calibration=None), model.network, model.device)
    assert model_card(old, Limits(), Reading()).reading.alpha is None
