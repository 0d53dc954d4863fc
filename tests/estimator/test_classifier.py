"""OrdinalClassifier as its user meets it: long because one class has all of scikit-learn's ways to be used."""

import pickle
import pickletools
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_sample_weight
from statsmodels.miscmodels.ordinal_model import OrderedModel
from torch import nn

import onepeak
from onepeak.data.manifest import FeatureRows, Manifest
from onepeak.errors import InputError, UnknownNameError
from onepeak.estimator import OrdinalClassifier, fit
from onepeak.estimator.rows import LabelledRows
from onepeak.training.loop import DivergedError
from onepeak.training.presets import preset

QUICK = {
    "epochs": 25,
    "lr": 0.1,
    "batch_size": 256,
    "hidden": (16,),
    "early_stopping": False,
    "validation_fraction": 0.4,
    "random_state": 0,
}

SHORT = "ignore:The validation loss was still falling:sklearn.exceptions.ConvergenceWarning"
"""For trainings that are cut short on purpose."""


def planted(count, *, seed=0, noise=0.3):
    """Four ordered classes along one of three columns."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 3)) * [1, 10, 100] + [5, 0, 1000]  # columns on different scales
    return rows, np.digitize(rows[:, 0] - 5 + noise * rng.normal(size=count), [-1, 0, 1])


ROWS, LABELS = planted(200)


def proportional_odds(count):
    """Five grades by a linear score with logistic noise."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(count, 6))
    values = rows @ [2.0, -1.5, 1.0, 1.0, -0.5, 0.0] + rng.logistic(scale=0.5, size=count)
    return rows, np.digitize(values, np.quantile(values, [0.2, 0.4, 0.6, 0.8]))


@pytest.fixture(scope="module")
def fitted():
    return OrdinalClassifier(**QUICK).fit(ROWS, LABELS)


def small_network(num_features):
    """A network of the user's own; at the top of a module, so that it can be pickled by name."""
    return nn.Sequential(nn.Linear(num_features, 8), nn.Tanh())


def test_it_learns_and_its_posteriors_have_one_peak(fitted):
    rows, labels = planted(300, seed=1)
    assert np.abs(fitted.predict(rows) - labels).mean() < 0.35
    log_probs = torch.tensor(fitted.predict_log_proba(rows))
    assert onepeak.posterior.is_unimodal(log_probs).double().mean() > 0.98


def test_probabilities_log_probabilities_and_scores_are_of_one_posterior(fitted):
    probs, log_probs = fitted.predict_proba(ROWS), fitted.predict_log_proba(ROWS)
    assert probs.dtype == log_probs.dtype == np.float64
    np.testing.assert_allclose(np.log(probs), log_probs, rtol=1e-12)
    np.testing.assert_allclose(probs.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.decision_function(ROWS), log_probs)


def test_the_score_of_two_classes_is_their_log_odds():
    model = OrdinalClassifier(**QUICK).fit(ROWS, LABELS > 1)
    probs = model.predict_proba(ROWS)
    np.testing.assert_allclose(model.decision_function(ROWS), np.log(probs[:, 1] / probs[:, 0]), rtol=1e-6)


@pytest.mark.parametrize("decide", ["mode", "median", "mean"])
def test_a_decision_asked_for_is_taken_on_the_posterior(fitted, decide):
    model = clone(fitted).set_params(decide=decide).fit(ROWS, LABELS)
    expected = getattr(onepeak.posterior, decide)(torch.tensor(model.predict_log_proba(ROWS)))
    assert model.predict(ROWS).tolist() == expected.tolist()


def test_without_one_the_methods_own_rule_decides():
    settings = QUICK | {"method": "ren", "calibrate": False}
    model = OrdinalClassifier(**settings).fit(ROWS, LABELS)
    median = onepeak.posterior.median(torch.tensor(model.predict_log_proba(ROWS)))
    assert model.predict(ROWS).tolist() == median.tolist()


@pytest.mark.parametrize("method", [record.name for record in onepeak.methods()] + ["mv+elb"])
def test_every_method_of_the_catalog_can_be_fitted(method):
    model = OrdinalClassifier(method, **QUICK).fit(ROWS, LABELS)
    best_constant = min(np.abs(label - LABELS).mean() for label in range(4))
    assert np.abs(model.predict(ROWS) - LABELS).mean() < 0.8 * best_constant


class TestSameFit:
    def test_the_same_seed_gives_the_same_bits_and_another_does_not(self, fitted):
        again = clone(fitted).set_params(dropout=0.0).fit(ROWS, LABELS)
        other = clone(fitted).set_params(random_state=1).fit(ROWS, LABELS)
        np.testing.assert_array_equal(again.predict_proba(ROWS), fitted.predict_proba(ROWS))
        assert np.abs(other.predict_proba(ROWS) - fitted.predict_proba(ROWS)).max() > 1e-3

    def test_dropout_draws_from_the_seed_and_leaves_the_random_numbers_outside_alone(self):
        model = OrdinalClassifier(**QUICK | {"dropout": 0.2, "epochs": 3})
        torch.manual_seed(0)
        first = model.fit(ROWS, LABELS).predict_proba(ROWS)
        drawn = torch.rand(3)
        torch.manual_seed(1)
        np.testing.assert_array_equal(model.fit(ROWS, LABELS).predict_proba(ROWS), first)
        torch.manual_seed(0)
        assert torch.equal(torch.rand(3), drawn)

    @pytest.mark.filterwarnings(SHORT)
    def test_the_order_of_the_rows_makes_no_difference_with_weights_and_held_out_samples(self):
        weights = np.random.default_rng(0).uniform(0.1, 3, size=200)
        order = np.random.default_rng(1).permutation(200)
        settings = QUICK | {"epochs": 5, "early_stopping": True}
        first = OrdinalClassifier(**settings).fit(ROWS, LABELS, weights)
        second = OrdinalClassifier(**settings).fit(ROWS[order], LABELS[order], weights[order])
        np.testing.assert_array_equal(first.predict_proba(ROWS), second.predict_proba(ROWS))
        assert first.temperature_ == second.temperature_

    def test_a_weight_of_three_is_three_copies_to_the_last_bit(self):
        weights = np.random.default_rng(0).integers(0, 4, size=200)
        settings = QUICK | {"epochs": 5, "validation_fraction": 0}
        weighted = OrdinalClassifier(**settings).fit(ROWS, LABELS, weights)
        repeated = OrdinalClassifier(**settings).fit(ROWS.repeat(weights, axis=0), LABELS.repeat(weights))
        np.testing.assert_array_equal(weighted.predict_proba(ROWS), repeated.predict_proba(ROWS))

    def test_class_weights_are_sample_weights_by_label(self):
        settings = QUICK | {"epochs": 5}
        by_class = OrdinalClassifier(**settings, class_weight="balanced").fit(ROWS, LABELS)
        by_sample = OrdinalClassifier(**settings).fit(ROWS, LABELS, compute_sample_weight("balanced", LABELS))
        np.testing.assert_array_equal(by_class.predict_proba(ROWS), by_sample.predict_proba(ROWS))

    def test_standardised_columns_make_their_scale_of_no_matter(self):
        settings = QUICK | {"epochs": 5}
        first = OrdinalClassifier(**settings).fit(ROWS, LABELS)
        second = OrdinalClassifier(**settings).fit(ROWS * 1024 - 4096, LABELS)
        np.testing.assert_allclose(first.predict_proba(ROWS), second.predict_proba(ROWS * 1024 - 4096), rtol=1e-6)
        raw = OrdinalClassifier(**settings, standardize=False).fit(ROWS, LABELS)
        assert np.abs(raw.predict_proba(ROWS) - first.predict_proba(ROWS)).max() > 1e-3


class TestHeldOut:
    def test_early_stopping_keeps_the_best_epoch_and_stops_after_its_patience(self):
        rows, labels = planted(200, noise=2.0)  # noise that can only be learnt by heart
        settings = QUICK | {"epochs": 200, "hidden": (64, 64), "early_stopping": True, "patience": 5}
        model = OrdinalClassifier("ce", **settings).fit(rows, labels)
        assert len(model.validation_curve_) == model.n_iter_ == len(model.loss_curve_) < 200
        assert np.argmin(model.validation_curve_) == model.n_iter_ - 6

    def test_without_early_stopping_every_epoch_is_trained(self, fitted):
        assert fitted.n_iter_ == len(fitted.loss_curve_) == 25
        assert fitted.validation_curve_ == []
        assert fitted.loss_curve_[-1] < fitted.loss_curve_[0] / 2

    def test_the_temperature_flattens_posteriors_that_are_too_sure(self):
        rows, labels = planted(400, noise=2.0)
        settings = QUICK | {"epochs": 60, "hidden": (64, 64)}
        calibrated = OrdinalClassifier("ce", **settings).fit(rows, labels)
        raw = OrdinalClassifier("ce", **settings, calibrate=False).fit(rows, labels)
        assert raw.temperature_ == 1
        assert calibrated.temperature_ > 1.5
        np.testing.assert_array_equal(calibrated.predict(rows), raw.predict(rows))
        test_rows, test_labels = planted(1000, seed=1, noise=2.0)
        places = np.arange(1000), test_labels
        better = -calibrated.predict_log_proba(test_rows)[places].mean()
        assert better < -raw.predict_log_proba(test_rows)[places].mean() - 0.1

    def test_held_out_samples_that_are_all_right_do_not_make_the_posterior_surer(self):
        labels = np.arange(200) % 2
        rows = np.random.default_rng(0).normal(size=(200, 2)) + 20 * labels[:, None]
        model = OrdinalClassifier("ce", **QUICK).fit(rows, labels)
        assert model.score(rows, labels) == 1
        assert model.temperature_ == 1

    def test_intervals_hold_the_true_label_as_often_as_promised(self):
        rows, labels = planted(600, noise=0.8)
        test_rows, test_labels = planted(2000, seed=1, noise=0.8)
        model = OrdinalClassifier(**QUICK | {"validation_fraction": 0.5}).fit(rows, labels)
        for alpha in (0.1, 0.3):
            lower, upper = model.predict_interval(test_rows, alpha).T
            covered = ((lower <= test_labels) & (test_labels <= upper)).mean()
            # 150 samples: the coverage has a deviation of 0.024 (0.037 for 0.3), a test set of 2000 adds little
            assert abs(covered - (1 - alpha)) < 0.1
            assert (upper - lower).mean() < 2.5

    def test_a_class_without_weight_is_in_the_promise_of_the_intervals_all_the_same(self):
        rows, labels = planted(600, noise=0.8)
        test_rows, test_labels = planted(2000, seed=1, noise=0.8)
        settings = QUICK | {"validation_fraction": 0.5, "class_weight": {0: 0.0}}
        model = OrdinalClassifier(**settings).fit(rows, labels)
        assert not (model.predict(test_rows) == 0).any()
        lower, upper = model.predict_interval(test_rows).T
        assert abs(((lower <= test_labels) & (test_labels <= upper)).mean() - 0.9) < 0.08

    @pytest.mark.slow
    @pytest.mark.filterwarnings(SHORT)
    def test_choosing_epoch_and_temperature_takes_nothing_from_the_promise_of_the_intervals(self):
        settings = QUICK | {"early_stopping": True, "patience": 5, "validation_fraction": 0.2}
        test_rows, test_labels = planted(4000, seed=10_000, noise=0.8)
        covered = []
        for seed in range(300):
            model = OrdinalClassifier(**settings | {"random_state": seed}).fit(*planted(300, seed=seed, noise=0.8))
            lower, upper = model.predict_interval(test_rows).T
            covered.append(((lower <= test_labels) & (test_labels <= upper)).mean())
        # 30 samples: a coverage of 28/31 on average, with a deviation of 0.052 in one fit and 0.003 in the mean of 300
        assert abs(np.mean(covered) - 28 / 31) < 0.012

    def test_intervals_are_of_labels_and_hold_the_mode(self):
        names = np.array(["none", "mild", "bad", "worst"])
        model = OrdinalClassifier(order=names, **QUICK).fit(ROWS, names[LABELS])
        ends = model.predict_interval(ROWS, 0.2, per_class=True)
        place = {name: position for position, name in enumerate(names)}
        lower, upper = np.vectorize(place.get)(ends).T
        mode = model.predict_proba(ROWS).argmax(axis=1)
        assert ((lower <= mode) & (mode <= upper)).all()

    def test_intervals_hold_what_is_predicted_and_are_as_before_where_they_did(self, fitted):
        before = fitted.predict_interval(ROWS, 0.5)
        model = deepcopy(fitted).set_params(decide="cost", cost=[[9, 9, 9, 0]] * 4)
        lower, upper = model.predict_interval(ROWS, 0.5).T
        np.testing.assert_array_equal(model.predict(ROWS), 3)
        assert (before[:, 1] < 3).any()
        np.testing.assert_array_equal(upper, 3)
        np.testing.assert_array_equal(lower, before[:, 0])

    @pytest.mark.bad_input
    def test_a_small_table_holds_out_none_so_that_there_are_no_intervals(self):
        model = OrdinalClassifier(**QUICK).fit(ROWS[:60], LABELS[:60])
        assert model.temperature_ == 1
        with pytest.raises(InputError, match="`predict_interval` needs samples that fit has held out, got none: "):
            model.predict_interval(ROWS)

    @pytest.mark.bad_input
    def test_an_alpha_too_small_for_the_held_out_samples_is_told_with_the_least_one(self, fitted):
        message = r"`alpha` 0\.001 needs at least 999 samples to .* got 40: .* `alpha` >= 0\.025\. Fit with a larger"
        with pytest.raises(InputError, match=message):
            fitted.predict_interval(ROWS, 0.001)
        with pytest.raises(InputError, match=r"samples of one class to calibrate on, got \d+"):
            fitted.predict_interval(ROWS, 0.025, per_class=True)
        with pytest.raises(InputError, match=r"`alpha` must be a finite number > 0 and < 1, got 2"):
            fitted.predict_interval(ROWS, 2)


def patients(count, *, rows_each, seed):
    """Rows that are nearly the same for one patient, whose grade they tell in part; and the patient of each."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(count, 5))
    grades = np.digitize(traits[:, 0] + rng.normal(size=count), [-1, 0, 1])
    patient = np.repeat(np.arange(count), rows_each)
    return traits[patient] + 0.01 * rng.normal(size=(len(patient), 5)), grades[patient], patient


class TestGroups:
    def test_no_group_is_in_two_of_the_parts_and_choosing_and_intervals_have_theirs(self):
        for sizes in ([20] * 10, [60, 60, 60], [150, 20, 20, 20, 20], [5] * 100):
            count = sum(sizes)
            of_row = np.repeat(np.arange(len(sizes)), sizes)
            samples = LabelledRows(
                rows=np.arange(float(count))[:, None],
                labels=np.zeros(count, np.int64),
                weights=np.ones(count),
                groups=of_row,
            )
            parts = OrdinalClassifier()._parts(samples, None, 0)
            found = [set(of_row[part.rows[:, 0].astype(int)]) for part in parts]
            assert all(found)
            assert sum(map(len, found)) == len(sizes) == len(set.union(*found))
            assert sum(map(len, parts)) == count
            assert len(parts[1]) + len(parts[2]) >= 0.2 * count

    @pytest.mark.filterwarnings(SHORT)
    def test_neither_the_order_of_rows_nor_the_names_of_groups_make_a_difference(self):
        rows, labels, patient = patients(30, rows_each=8, seed=0)
        rows[8:16], labels[8:16] = rows[:8], labels[:8]  # copies of a patient, told apart by nothing
        rows[20], labels[20] = rows[30], labels[30]  # a sample that two patients share
        order = np.random.default_rng(1).permutation(len(rows))
        names = np.random.default_rng(2).permutation([f"patient {number}" for number in range(30)])
        settings = QUICK | {"epochs": 5, "early_stopping": True, "validation_fraction": 0.3}
        first = OrdinalClassifier(**settings).fit(rows, labels, groups=patient)
        second = OrdinalClassifier(**settings).fit(rows[order], labels[order], groups=names[patient[order]])
        np.testing.assert_array_equal(first.predict_proba(rows), second.predict_proba(rows))
        np.testing.assert_array_equal(first.predict_interval(rows), second.predict_interval(rows))
        plain = OrdinalClassifier(**settings).fit(rows, labels)
        assert np.abs(plain.predict_proba(rows) - first.predict_proba(rows)).max() > 1e-3

    @pytest.mark.bad_input
    def test_bad_groups_are_refused_and_two_are_too_few_if_something_is_held_out(self):
        model = OrdinalClassifier(**QUICK)
        with pytest.raises(InputError, match=r"`groups` must be at least 3 .*, got 2: .* `validation_fraction=0`"):
            model.fit(ROWS, LABELS, groups=np.arange(200) % 2)
        with pytest.raises(InputError, match="`groups` must have no missing value, got 1 row without a group"):
            model.fit(ROWS, LABELS, groups=[None, *range(199)])
        with pytest.raises(
            InputError, match=r"`groups` must have one label for each of the 200 rows, got shape \(3,\)"
        ):
            model.fit(ROWS, LABELS, groups=[1, 2, 3])
        two = np.arange(60) % 2
        assert model.fit(ROWS[:60], LABELS[:60], groups=two).n_iter_ == 25  # 24 samples would be: none are
        assert model.set_params(validation_fraction=0).fit(ROWS, LABELS, groups=np.arange(200) % 2).n_iter_ == 25


class TestPartialFit:
    def test_passes_over_parts_learn(self):
        model = OrdinalClassifier(**QUICK | {"lr": 0.05})
        for _ in range(10):
            for part in np.array_split(np.arange(200), 2):
                model.partial_fit(ROWS[part], LABELS[part], classes=[0, 1, 2, 3])
        assert model.n_iter_ == len(model.loss_curve_) == 20
        assert model.loss_curve_[-1] < model.loss_curve_[0] / 2
        assert np.abs(model.predict(ROWS) - LABELS).mean() < 0.35

    def test_it_goes_on_from_a_fit_and_forgets_what_was_held_out_before(self, fitted):
        model = clone(fitted).fit(ROWS, LABELS)
        before = model.predict_proba(ROWS)
        model.partial_fit(ROWS, LABELS)
        assert model.n_iter_ == 26
        assert model.temperature_ == 1
        assert np.abs(model.predict_proba(ROWS) - before).max() > 0

    def test_a_change_of_the_learning_rate_is_heeded(self):
        model = OrdinalClassifier(**QUICK).partial_fit(ROWS, LABELS, classes=[0, 1, 2, 3])
        before = {name: weight.clone() for name, weight in model.network_.named_parameters()}
        model.set_params(lr=1e-12, weight_decay=0.0).partial_fit(ROWS, LABELS)
        assert all(torch.allclose(weight, before[name]) for name, weight in model.network_.named_parameters())

    @pytest.mark.bad_input
    def test_bad_input(self):
        with pytest.raises(InputError, match="`classes` must be given in the first call of partial_fit"):
            OrdinalClassifier(**QUICK).partial_fit(ROWS, LABELS)
        with pytest.raises(
            InputError, match=r"`class_weight` must be a dictionary or None in partial_fit, .* 'balanced'"
        ):
            OrdinalClassifier(class_weight="balanced").partial_fit(ROWS, LABELS, classes=[0, 1, 2, 3])
        model = OrdinalClassifier(**QUICK).partial_fit(ROWS, LABELS, classes=[0, 1, 2, 3])
        with pytest.raises(
            InputError, match=r"`classes` must be those of the first call, \[0, 1, 2, 3\], got \[0, 1\]"
        ):
            model.partial_fit(ROWS, LABELS, classes=[0, 1])
        with pytest.raises(InputError, match="`y` must have only labels of the order 0, 1, 2, 3, got 4"):
            model.partial_fit(ROWS, LABELS + 1)


class TestPickle:
    def test_a_copy_answers_and_learns_on_to_the_last_bit(self):
        model = OrdinalClassifier(**QUICK | {"dropout": 0.1}).partial_fit(ROWS, LABELS, classes=[0, 1, 2, 3])
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict_proba(ROWS), model.predict_proba(ROWS))
        copy.partial_fit(ROWS, LABELS)
        model.partial_fit(ROWS, LABELS)
        np.testing.assert_array_equal(copy.predict_proba(ROWS), model.predict_proba(ROWS))

    def test_it_holds_what_was_fitted_and_no_tensor(self, fitted):
        names = {argument for _, argument, _ in pickletools.genops(pickle.dumps(fitted)) if isinstance(argument, str)}
        assert not {name for name in names if name.startswith("torch")}
        changed = pickle.loads(pickle.dumps(fitted)).set_params(hidden=(3,), method="slopes")
        copy = pickle.loads(pickle.dumps(changed))
        np.testing.assert_array_equal(copy.predict_interval(ROWS), fitted.predict_interval(ROWS))


class TestLinear:
    """Without hidden layers: proportional odds and the like, fitted to their optimum or by steps."""

    def test_proportional_odds_are_those_of_statsmodels(self):
        rows, grades = proportional_odds(400)
        theirs = OrderedModel(grades, rows, distr="logit").fit(method="bfgs", disp=False, gtol=1e-8)
        model = OrdinalClassifier("clm", hidden=(), validation_fraction=0, weight_decay=0, random_state=0)
        np.testing.assert_allclose(model.fit(rows, grades).predict_proba(rows), theirs.predict(rows), atol=1e-4)

    def test_with_the_defaults_they_are_close_to_it_on_new_rows(self):
        rows, grades = proportional_odds(1240)
        theirs = OrderedModel(grades[:240], rows[:240], distr="logit").fit(method="bfgs", disp=False)
        reached = log_loss(grades[240:], theirs.predict(rows[240:]))
        model = OrdinalClassifier("clm", hidden=(), random_state=0).fit(rows[:240], grades[:240])
        assert log_loss(grades[240:], model.predict_proba(rows[240:])) < reached + 0.03
        assert model.weight_decay_ in (0.1, 1.0, 10.0)
        with pytest.warns(ConvergenceWarning, match="still falling"):
            model.set_params(lr=5e-3).fit(rows[:240], grades[:240])
        assert log_loss(grades[240:], model.predict_proba(rows[240:])) > reached + 0.3

    @pytest.mark.parametrize("settings", [{"method": "clm", "epochs": 20}, {"method": "elb", "epochs": 20}])
    @pytest.mark.filterwarnings(SHORT)
    def test_settings_of_steps_and_a_barrier_that_tightens_ask_for_steps(self, settings):
        model = OrdinalClassifier(hidden=(), random_state=0, **settings).fit(ROWS, LABELS)
        assert len(model.validation_curve_) == model.n_iter_ <= 20
        for steps in ({"batch_size": 50}, {"lr": 0.05}, {"patience": 9}):
            assert OrdinalClassifier(hidden=(), **steps)._steps_are_set()
        assert not OrdinalClassifier(hidden=(), weight_decay=1.0)._steps_are_set()

    def test_an_optimum_that_is_not_reached_is_reported(self, monkeypatch):
        monkeypatch.setattr(fit, "ROUNDS", 1)
        monkeypatch.setattr(fit, "STEPS_PER_ROUND", 2)
        with pytest.warns(
            ConvergenceWarning, match=r"still falling after \d+ passes .* `standardize=True` or a larger"
        ):
            OrdinalClassifier("clm", hidden=(), random_state=0).fit(ROWS, LABELS)


class TestRecipe:
    """The defaults are those of `onepeak train`, save for linear models."""

    @pytest.mark.parametrize("count", [300, 3_000, 30_000])
    def test_it_is_that_of_the_command_line(self, count):
        manifest = Manifest(
            name="table",
            items=FeatureRows(columns=("a",), values=np.zeros((count, 1))),
            labels=np.zeros(count, np.int64),
            classes=("low", "high"),
        )
        patience = 10 if count >= 5_000 else 20
        assert OrdinalClassifier()._recipe(count) == replace(preset("auto", manifest), patience=patience)

    def test_the_rate_of_a_linear_model_is_that_of_its_steps_unless_one_is_given(self):
        def rate(rows=200, **settings):
            return OrdinalClassifier(epochs=50, batch_size=10, **settings)._recipe(rows).lr

        assert rate(hidden=()) == 20 / (50 * 20)
        assert rate(hidden=(), rows=4) == 0.1
        assert rate(hidden=(), rows=4000) == rate(hidden=(), rows=None) == 0.02
        assert rate(hidden=(), lr=0.3) == 0.3
        assert rate() == rate(rows=4) == rate(hidden=(8,)) == rate(network=small_network) == 3e-3


class TestRanOut:
    def test_held_out_samples_tell_that_epochs_ran_out(self):
        settings = QUICK | {"early_stopping": True, "lr": 1e-3}
        with pytest.warns(
            ConvergenceWarning, match=r"The validation loss was still falling when the 25 epochs .* `lr`"
        ):
            OrdinalClassifier(**settings).fit(ROWS, LABELS)

    def test_of_a_linear_model_training_samples_tell_it(self):
        settings = {"hidden": (), "validation_fraction": 0, "random_state": 0}
        OrdinalClassifier("clm", **settings).fit(ROWS, LABELS)
        with pytest.warns(ConvergenceWarning, match="The training loss was still falling when the 10 epochs ran out"):
            OrdinalClassifier("clm", epochs=10, lr=0.01, **settings).fit(ROWS, LABELS)


class TestOwnNetwork:
    @pytest.mark.parametrize("network", [small_network, nn.Sequential(nn.Linear(3, 8), nn.Tanh())])
    def test_it_is_trained_in_place_of_the_perceptron_and_pickled(self, network):
        settings = QUICK | {"hidden": (64, 64), "lr": 0.1}
        model = OrdinalClassifier(network=network, **settings).fit(ROWS, LABELS)
        assert isinstance(model.network_.backbone[1], nn.Tanh)
        assert np.abs(model.predict(ROWS) - LABELS).mean() < 0.4
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict_proba(ROWS), model.predict_proba(ROWS))

    @pytest.mark.filterwarnings(SHORT)
    def test_a_module_given_is_left_as_it_is_and_its_weights_are_where_training_begins(self):
        module = nn.Linear(3, 8)
        before = module.weight.detach().clone()
        model = OrdinalClassifier(network=module, epochs=1, lr=1e-12, weight_decay=0.0, random_state=0).fit(
            ROWS, LABELS
        )
        assert torch.equal(module.weight, before)
        torch.testing.assert_close(model.network_.backbone.weight.float(), before)

    @pytest.mark.bad_input
    def test_bad_input(self):
        for network, message in (
            ("mlp", "`network` must be a module from rows to features, or a function"),
            (lambda num_features: num_features, "`network` must return a torch.nn.Module, got int"),
        ):
            with pytest.raises(InputError, match=message):
                OrdinalClassifier(network=network).fit(ROWS, LABELS)
        with pytest.raises(InputError, match=r"`dropout` does nothing with your own `network`, got 0.5"):
            OrdinalClassifier(network=small_network, dropout=0.5).fit(ROWS, LABELS)
        with pytest.raises(InputError, match=r"`hidden` does nothing with your own `network`, got \(8,\)"):
            OrdinalClassifier(network=small_network, hidden=(8,)).fit(ROWS, LABELS)


def test_half_stars_in_the_order_are_labels():
    stars = [0.5, 1, 1.5, 2]
    model = OrdinalClassifier(order=stars, class_weight="balanced", **QUICK).fit(ROWS, (LABELS + 1) / 2)
    plain = OrdinalClassifier(class_weight="balanced", **QUICK).fit(ROWS, LABELS)
    np.testing.assert_array_equal(model.predict_proba(ROWS), plain.predict_proba(ROWS))
    np.testing.assert_array_equal(model.predict(ROWS), (plain.predict(ROWS) + 1) / 2)
    assert model.score(ROWS, (LABELS + 1) / 2) == pytest.approx(plain.score(ROWS, LABELS))
    assert model.score(ROWS, (LABELS + 1) / 2, LABELS) == pytest.approx(plain.score(ROWS, LABELS, LABELS))
    assert model.set_params(class_weight=None).partial_fit(ROWS, (LABELS + 1) / 2).classes_.tolist() == stars
    with pytest.raises(InputError, match=r"only labels of the order 0\.5, 1\.0, 1\.5, 2\.0, got 2\.5: .* `order=`"):
        model.fit(ROWS, (LABELS + 2) / 2)


def test_classes_of_the_order_that_do_not_occur_have_their_column():
    model = OrdinalClassifier(order=range(6), **QUICK).fit(ROWS, LABELS)
    assert model.predict_proba(ROWS).shape == (200, 6)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"method": "ebl"}, UnknownNameError, "Unknown method 'ebl'. Did you mean 'elb'"),
        ({"method": 3}, InputError, "`method` must be a method's name or a MethodRecord, got 3"),
        ({"method_settings": {"weigth": 1}}, UnknownNameError, "'weigth'. Did you mean 'rps_weight'"),
        ({"method_settings": [1]}, InputError, r"`method_settings` must be a dictionary of .*, got \[1\]"),
        ({"order": [0, 1, 2]}, InputError, "`y` must have only labels of the order 0, 1, 2, got 3"),
        ({"decide": "cost"}, InputError, "must be given together, got `decide` 'cost' without `cost`"),
        ({"cost": np.eye(4)}, InputError, "must be given together, got `decide` None with `cost`"),
        ({"decide": "cost", "cost": np.eye(3)}, InputError, "`cost` must have 4 rows and 4 columns"),
        ({"hidden": 64}, InputError, r"`hidden` must be a sequence of widths such as \(64, 64\), got 64"),
        ({"validation_fraction": 1}, InputError, "`validation_fraction` must be a finite number >= 0 and < 1, got 1"),
        ({"class_weight": {7: 2.0}}, InputError, "`class_weight` must have only labels of the order .*, got 7"),
        ({"decide": "middle"}, UnknownNameError, "Unknown `decide` 'middle'"),
    ],
)
def test_a_bad_setting_is_one_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        OrdinalClassifier(**settings).fit(ROWS, LABELS)


@pytest.mark.bad_input
def test_bad_rows_labels_and_weights_are_refused():
    model = OrdinalClassifier(**QUICK)
    with pytest.raises(NotFittedError):
        model.predict(ROWS)
    with pytest.raises(AttributeError, match="`network_` is available after fit"):
        model.network_  # noqa: B018
    for start in (model.fit, model.partial_fit):
        with pytest.raises(InputError, match="`X` must be finite numbers, got NaN in column"):
            start(np.where(ROWS > 1100, np.nan, ROWS), LABELS)
        with pytest.raises(InputError, match="got text in column 'colour': encode it"):
            start(pd.DataFrame({"colour": ["red"] * 200}), LABELS)
    with pytest.raises(InputError, match="`X` must be finite numbers, got NaN in column"):
        OrdinalClassifier(**QUICK).fit(ROWS, LABELS).predict(np.where(ROWS > 1100, np.nan, ROWS))
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.* `order`"):
        model.fit(ROWS, ROWS[:, 0])
    with pytest.raises(InputError, match="`y` must have at least 2 classes, got 1 class, 0"):
        model.fit(ROWS, np.zeros(200, dtype=int))
    with pytest.raises(ValueError, match="Negative values in data"):
        model.fit(ROWS, LABELS, np.full(200, -1.0))


@pytest.mark.bad_input
def test_a_fit_that_fails_leaves_the_one_before(fitted):
    model = clone(fitted).fit(ROWS, LABELS)
    before, state = model.predict_proba(ROWS), dict(vars(model))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(ROWS[:, :1], ROWS[:, 0])  # one column fewer, and no labels
    with pytest.raises(InputError, match="Unknown method"):
        model.set_params(method="ebl").fit(ROWS[:, :1], LABELS % 2)
    assert vars(model) == state | {"method": "ebl"}
    np.testing.assert_array_equal(model.predict_proba(ROWS), before)
    new = OrdinalClassifier(**QUICK)
    with pytest.raises(InputError, match="`classes` must be given in the first call"):
        new.partial_fit(ROWS, LABELS)
    assert not hasattr(new, "n_features_in_")


def test_going_on_that_fails_leaves_the_fit_before(fitted):
    model = clone(fitted).fit(ROWS, LABELS)
    before, intervals = model.predict_proba(ROWS), model.predict_interval(ROWS)
    for _ in range(2):
        with pytest.raises(DivergedError, match="no longer a number"):
            model.set_params(lr=1e300, batch_size=20).partial_fit(10 * ROWS, LABELS)
        np.testing.assert_array_equal(model.predict_proba(ROWS), before)
        np.testing.assert_array_equal(model.predict_interval(ROWS), intervals)
    assert not model.network_.training


def test_the_least_cost_decides(fitted):
    names = ["none", "mild", "bad", "worst"]
    costs = pd.DataFrame([[0, 1, 2, 3], [9, 0, 1, 2], [18, 9, 0, 1], [27, 18, 9, 0]], index=names, columns=names)
    model = OrdinalClassifier(order=names, decide="cost", cost=costs.iloc[::-1], **QUICK)
    model.fit(ROWS, np.array(names)[LABELS])
    expected = (model.predict_proba(ROWS) @ costs.to_numpy()).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(ROWS), np.array(names)[expected])
    assert (expected > model.predict_proba(ROWS).argmax(axis=1)).any()


@pytest.mark.bad_input
def test_training_that_diverges_says_what_is_likely():
    with pytest.raises(onepeak.errors.OnepeakError, match=r"no longer a number. Probably `lr` is too high"):
        OrdinalClassifier(lr=1e300, standardize=False, random_state=0).fit(ROWS, LABELS)
