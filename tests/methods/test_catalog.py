import dataclasses
import re

import pytest
import torch

from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.catalog import CONSTRAINTS, METHODS, method, methods
from onepeak.methods.cross_entropy import CrossEntropy

OUTPUTS = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(20) % 5
CE = CrossEntropy(num_classes=5)


def test_records_tell_title_reference_and_settings_and_cannot_be_changed():
    assert METHODS["elb"].settings == ("t", "growth", "t_max")
    assert METHODS["pn"].settings == ("weight", "slack")
    assert METHODS["mv"].settings == ("mean_weight", "variance_weight")
    assert METHODS["ce"].settings == ()
    for record in methods():
        assert record.title
        assert record.reference
        assert "build" not in repr(record)
        with pytest.raises(dataclasses.FrozenInstanceError):
            record.name = "another"


ANOTHER = {
    "t": 2.5,
    "growth": 1.5,
    "t_max": 4.0,
    "posterior": "slopes",
    "levels": "logistic",
    "penalty": "linear",
    "distance": "absolute",
    "decision": "mode",
}
"""A value of each setting that is not its default; a number where nothing is said."""


def test_every_setting_of_a_record_reaches_the_method():
    for record in methods():
        for setting in record.settings:
            value = ANOTHER.get(setting, 0.37)
            plain, changed = method(record.name, num_classes=5), method(record.name, num_classes=5, **{setting: value})
            owners = [module for module in changed.modules() if hasattr(module, setting)]
            if owners:
                assert all(getattr(owner, setting) == value for owner in owners)
            else:  # it shaped the targets, and is not kept
                outputs = OUTPUTS[:, : plain.num_outputs]
                assert not torch.equal(changed.loss(outputs, LABELS), plain.loss(outputs, LABELS))


def test_the_variant_reaches_the_base_under_a_constraint():
    assert method("po+elb", num_classes=5, variant="as_published").base.variant == "as_published"
    assert method("po+elb", num_classes=5).base.variant == "corrected"


def test_a_method_published_as_it_is_meant_is_the_same_in_both_variants():
    for name in [record.name for record in METHODS if record.as_published == "same"]:
        published, corrected = method(name, num_classes=5, variant="as_published"), method(name, num_classes=5)
        assert torch.equal(published.loss(OUTPUTS, LABELS), corrected.loss(OUTPUTS, LABELS))
        assert torch.equal(published.predict(OUTPUTS), corrected.predict(OUTPUTS))


def test_a_method_published_otherwise_differs_in_some_answer():
    for name in [record.name for record in METHODS if record.as_published == "differs"]:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            published = method(name, num_classes=5, variant="as_published")
            torch.manual_seed(0)
            corrected = method(name, num_classes=5)
        same_loss = torch.equal(published.loss(OUTPUTS, LABELS), corrected.loss(OUTPUTS, LABELS))
        same_posterior = torch.equal(published.log_probs(OUTPUTS), corrected.log_probs(OUTPUTS))
        same_label = torch.equal(published.predict(OUTPUTS), corrected.predict(OUTPUTS))
        assert not (same_loss and same_posterior and same_label)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ebl", r"Unknown method 'ebl'. Did you mean 'elb'\? Known: ce, ren, ld, mv, po, pn, elb, peak"),
        ("slope", r"Unknown method 'slope'. Did you mean 'slopes'\?"),
        (
            "",
            r"Unknown method ''.* Methods with class scores also accept \+elb or \+pn or .*, as in mv\+elb;",
        ),
        ("xx+elb", r"Unknown method 'xx'"),
        (
            "mine",
            r"Unknown method 'mine'.* use your own, run .* in place of `onepeak`, as in `python my_method\.py compare",
        ),
        (
            "mv+ebl",
            r"Unknown constraint 'ebl'. Did you mean 'elb'\? Known: elb, pn, hinge, lagrangian, rnc, oe, cloc\.",
        ),
        ("mv+", r"Unknown constraint ''. Known: elb, pn, hinge, lagrangian, rnc, oe, cloc\."),
        ("mv+ce", r"Unknown constraint 'ce'"),
        ("mv+mine", r"Unknown constraint 'mine'.* To use your own, run .* in place of `onepeak`.*\(See \"Extend\""),
        ("mv+elb+pn", r"Unknown constraint 'elb\+pn'"),
    ],
)
def test_a_name_that_is_not_known_is_never_accepted(name, message):
    with pytest.raises(UnknownNameError, match=message):
        method(name, num_classes=5)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["elb:t=3", "smooth-mv+elb:t=3:growth=1.01", "ld:as_published"])
def test_settings_as_on_the_command_line_are_refused_with_the_keywords_to_use(name):
    with pytest.raises(
        InputError, match=f"`name` must be a name alone, got '{re.escape(name)}': in Python, settings are"
    ):
        method(name, num_classes=5)


@pytest.mark.bad_input
def test_what_is_no_name_is_refused():
    with pytest.raises(
        InputError, match=r"`name` must be the name of a method, such as 'elb', or a MethodRecord, got 5\."
    ):
        method(5, num_classes=5)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("elb", {"grwth": 1.1}, r"Unknown setting of 'elb' 'grwth'. Did you mean 'growth'\? Known: t, growth, t_max\."),
        ("mv", {"t": 1.0}, r"Unknown setting of 'mv' 't'"),
        ("mv+pn", {"slak": 1.0}, r"Unknown setting of 'mv\+pn' 'slak'. Did you mean 'slack'\?"),
        ("ce", {"weight": 1.0}, r"'ce' has no settings, got 'weight'\."),
        ("slopes+pn", {"weight": 1.0}, r"`weight` is a setting of both 'slopes' and 'pn': build both and combine them"),
        ("elb+elb", {}, r"`name` must put a constraint on another method, got 'elb\+elb': 'elb' already has it\."),
    ],
)
def test_a_setting_that_nobody_or_more_than_one_knows_is_refused(name, settings, message):
    with pytest.raises(InputError, match=message):
        method(name, num_classes=5, **settings)


ABOVE_ZERO = {"t", "variance", "temperature", "sharpness", "power", "deviation", "outside", "smoothing", "mix", "rate"}
"""Settings that must not be 0; no number among the settings may be negative."""


@pytest.mark.bad_input
def test_a_setting_out_of_its_range_is_refused_by_every_method():
    for record in [*METHODS, *CONSTRAINTS]:
        for setting, default in record.defaults.items():
            wrong = 0.0 if setting in ABOVE_ZERO else -1.0 if isinstance(default, float) else f"{default}s"
            known = (
                r"Unknown `{}`.*Did you mean" if isinstance(default, str) else r"`{}` must be a finite number >=? \d"
            )
            with pytest.raises(InputError, match=known.format(setting)):
                record.build(5, **{setting: wrong})


@pytest.mark.bad_input
def test_a_setting_above_its_range_is_refused():
    for name, settings, limit in [
        ("elb", {"t": float("nan")}, "> 0"),
        ("elb", {"growth": 0.999}, ">= 1"),
        ("elb", {"t": 4.0, "t_max": 3.0}, ">= 4"),
        ("mv+elb", {"t": 0.0}, "> 0"),
        ("rps", {"weight": 0.0}, "> 0"),
        ("ld", {"variance": float("inf")}, "> 0"),
        ("soft-triangular", {"outside": 0.5}, "< 0.5"),
        ("soft-beta", {"deviation": 0.8}, "< 0.8"),
        ("soft-geometric", {"smoothing": 0.5}, "< 0.5"),
        ("soft-inverse", {"smoothing": 0.5}, "< 0.5"),
        ("sord", {"mix": 1.5}, "<= 1"),
    ]:
        with pytest.raises(InputError, match=f"`{list(settings)[-1]}` must be a finite number .*{limit}, got"):
            method(name, num_classes=5, **settings)


@pytest.mark.bad_input
def test_a_mistyped_variant_is_refused_by_every_method():
    for name in [record.name for record in METHODS]:
        with pytest.raises(InputError, match=r"Unknown `variant` 'as-published'. Did you mean 'as_published'\?"):
            method(name, num_classes=5, variant="as-published")


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["slopes", "slopes+elb"])
def test_what_the_published_code_does_not_have_is_refused(name):
    with pytest.raises(InputError, match=r"`variant` must be 'corrected' for 'slopes', which is not in the published"):
        method(name, num_classes=5, variant="as_published")


@pytest.mark.bad_input
@pytest.mark.parametrize("variant", ["corrected", "as_published"])
def test_levels_under_a_constraint_are_refused_with_the_way_out(variant):
    with pytest.raises(InputError, match=r"`ren` read as levels has no class scores to constrain: use posterior="):
        method("ren+elb", num_classes=5, variant=variant)
    assert method("ren+elb", num_classes=5, posterior="slopes").num_outputs == 5
