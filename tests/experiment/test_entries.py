from dataclasses import replace

import pytest

import onepeak
from onepeak.errors import InputError
from onepeak.experiment.entries import (
    PAPER_METHODS,
    MethodEntry,
    entries_from_text,
    name_and_settings,
    setting_value,
)
from onepeak.methods.catalog import METHODS


def labels(text, known=()):
    return [entry.label for entry in entries_from_text(text, known)]


def test_paper_stands_for_the_seven_methods_of_the_paper():
    assert labels("paper,slopes") == ["ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes"]
    assert PAPER_METHODS == ("ce", "ren", "ld", "mv", "po", "pn", "elb")


def test_all_stands_for_the_catalog():
    assert labels("all") == [record.name for record in onepeak.methods()]


def test_variant_and_settings_follow_a_name_and_make_the_label():
    plain, published, read, mixed = entries_from_text(
        "ce, ld:as_published, ren:posterior=slopes, mv+elb:t=2:growth=1.01"
    )
    assert plain == MethodEntry(name="ce", label="ce")
    assert published == MethodEntry(name="ld", variant="as_published", label="ld-as_published")
    assert read == MethodEntry(name="ren", settings={"posterior": "slopes"}, label="ren-posterior-slopes")
    assert mixed.settings == {"t": 2, "growth": 1.01}
    assert mixed.label == "mv+elb-t-2-growth-1.01"


def test_a_setting_without_a_default_may_be_given_with_the_name(monkeypatch):
    def sharp(num_classes, *, sharpness, class_weight=None):
        assert sharpness == 2
        return onepeak.method("ce", num_classes=num_classes, class_weight=class_weight)

    monkeypatch.setattr(METHODS, "_records", dict(METHODS._records))
    METHODS.add(replace(METHODS["ce"], name="sharp", build=sharp))
    (entry,) = entries_from_text("sharp:sharpness=2")
    assert (entry.name, entry.settings) == ("sharp", {"sharpness": 2})
    assert name_and_settings("sharp") == ("sharp", None, {})  # told of where all that is given is known


def test_names_mean_the_entries_that_are_known_and_others_start_from_them():
    known = MethodEntry(name="elb", settings={"t": 4.5, "growth": 1.01}, recipe={"epochs": 80}, label="elb")
    same, other = entries_from_text("elb,elb:t=2", [known])
    assert same is known
    assert other.settings == {"t": 2, "growth": 1.01}
    assert other.recipe == {"epochs": 80}
    assert other.label == "elb-t-2-growth-1.01"


def test_values_of_flags_are_numbers_truths_or_text():
    assert [setting_value(text) for text in ("1", "1e-2", "true", "log", "a b")] == [1, 0.01, True, "log", "a b"]


def test_a_default_label_is_a_name_for_a_folder_whatever_the_settings():
    assert MethodEntry(name="ren", settings={"posterior": "levels"}).label == "ren-posterior-levels"
    assert "/" not in MethodEntry(name="elb", settings={"t": 1 / 3}).label


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ebl", "Unknown method 'ebl'. Did you mean 'elb'?"),
        ("ce,,elb", r"`--methods` must be comma-separated names, as in ce,elb, got 'ce,,elb'"),
        ("ld:published", "Unknown `variant` 'published'"),
        ("elb:tt=1", "Unknown setting of 'elb' 'tt'. Did you mean 't'?"),
        ("elb:t=0", r"`t` must be a finite number > 0, got 0"),
    ],
)
def test_a_wrong_text_is_refused_before_any_data_is_read(text, message):
    with pytest.raises(InputError, match=message):
        entries_from_text(text)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": "../elsewhere"}, r"`label` must be a folder name .*, got '\.\./elsewhere'"),
        ({"label": 3}, "`label` must be a folder name"),
        ({"settings": 3}, "`settings` must be a table, got 3"),
        ({"recipe": {"epoch": 3}}, r"Unknown setting 'recipe\.epoch'\. Did you mean 'recipe\.epochs'\?"),
        ({"recipe": {"lr": -1}}, r"recipe\.lr: `lr` must be a finite number > 0, got -1"),
        ({"recipe": {"resize": {"scale": 0.5}}}, r"`recipe\.resize` must be the same for all methods"),
        ({"recipe": {"bits": 12}}, r"`recipe\.bits` must be the same for all methods"),
    ],
)
def test_a_wrong_entry_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        MethodEntry(name="ce", **given)
