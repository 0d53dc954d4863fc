import pickle
from copy import deepcopy

import numpy as np
import pytest
import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.metrics import cohen_kappa_score, mean_absolute_error
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onepeak
from onepeak.errors import InputError
from onepeak.estimator import OrdinalClassifier, neg_mae, neg_rps, qwk

ORDER = ["low", "middle", "high", "top"]  # not that of the alphabet
ALL = {"mae": neg_mae, "qwk": qwk, "rps": neg_rps}
QUICK = {"epochs": 5, "hidden": (8,), "validation_fraction": 0, "random_state": 0}


class Told:
    """A classifier that gives the answers it was told."""

    classes_ = np.array(ORDER)

    def predict(self, labels):
        return np.asarray(labels)

    def predict_proba(self, labels):
        return np.eye(4)[[ORDER.index(label) for label in labels]]


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2))
    return rows, np.digitize(rows[:, 0] + 0.3 * rng.normal(size=80), [-0.7, 0, 0.7])


def test_values_by_hand():
    truth, said = ["low", "middle", "high", "top"], ["low", "high", "high", "high"]
    assert neg_mae(Told(), said, truth) == -0.5  # off by 0, 1, 0 and 1
    assert neg_rps(Told(), said, truth) == -0.5  # which is the absolute error where the posterior is sure
    assert qwk(Told(), said, truth) == 0.75  # squares of 1 / 2 on average, by chance 2
    assert neg_mae(Told(), truth, truth) == neg_rps(Told(), truth, truth) == 0
    assert qwk(Told(), truth, truth) == 1


def test_text_is_scored_as_its_positions_are_by_scikit_learn(samples):
    rows, labels = samples
    model = make_pipeline(StandardScaler(), OrdinalClassifier(order=ORDER, **QUICK)).fit(rows, np.array(ORDER)[labels])
    text = np.array(ORDER)[labels]
    predicted = [ORDER.index(label) for label in model.predict(rows)]
    assert neg_mae(model, rows, text) == pytest.approx(-mean_absolute_error(labels, predicted))
    assert qwk(model, rows, text) == pytest.approx(cohen_kappa_score(labels, predicted, weights="quadratic"))
    log_probs = torch.tensor(model.predict_log_proba(rows))
    rps = onepeak.metrics.functional.ranked_probability_score(log_probs, torch.tensor(labels)).mean().item()
    assert neg_rps(model, rows, text) == pytest.approx(-rps)


def test_cross_validation_and_search_take_them_alone_and_together(samples):
    rows, labels = samples
    text = np.array(ORDER)[labels]
    model = OrdinalClassifier(order=ORDER, **QUICK)
    scores = cross_val_score(model, rows, text, scoring=neg_mae, cv=2)
    numbers = cross_val_score(OrdinalClassifier(**QUICK), rows, labels, scoring="neg_mean_absolute_error", cv=2)
    np.testing.assert_allclose(scores, numbers)
    both = cross_validate(model, rows, text, scoring=ALL, cv=2)
    np.testing.assert_allclose(both["test_mae"], scores)
    pipeline = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(pipeline, {"ordinalclassifier__lr": [1e-6, 3e-2]}, cv=2, scoring=ALL, refit="rps")
    assert search.fit(rows, text).best_params_ == {"ordinalclassifier__lr": 3e-2}


@pytest.mark.parametrize("scorer", ALL.values(), ids=ALL)
def test_a_weight_is_a_number_of_copies(scorer):
    truth, said, counts = ["low", "middle", "high", "top"], ["low", "high", "high", "low"], [1, 2, 3, 0]
    copies = scorer(Told(), np.repeat(said, counts), np.repeat(truth, counts))
    assert scorer(Told(), said, truth, sample_weight=counts) == pytest.approx(copies)


@pytest.mark.bad_input
@pytest.mark.parametrize("scorer", ALL.values(), ids=ALL)
def test_a_regressor_is_told_what_to_use(scorer, samples):
    rows, labels = samples
    for model in (Ridge().fit(rows, labels), make_pipeline(StandardScaler(), Ridge()).fit(rows, labels)):
        with pytest.raises(InputError, match=r"needs a classifier .*, got (Ridge|Pipeline): .*'neg_mean_absolute_err"):
            scorer(model, rows, labels)


def test_sample_weights_are_routed_to_a_scorer_that_asks_for_them(samples):
    rows, labels = samples
    weights, model = np.random.default_rng(1).uniform(0, 2, len(labels)), OrdinalClassifier(**QUICK)
    with config_context(enable_metadata_routing=True):
        scoring = {name: scorer.set_score_request(sample_weight="weights") for name, scorer in ALL.items()}
        model.set_fit_request(sample_weight=False)
        found = cross_validate(model, rows, labels, cv=3, scoring=scoring, params={"weights": weights})
        with pytest.raises(UnsetMetadataPassedError):
            cross_validate(model, rows, labels, cv=3, scoring=ALL, params={"sample_weight": weights})
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(rows, labels)):
        fitted = clone(model).fit(rows[train], labels[train])
        for name, scorer in ALL.items():
            expected = scorer(fitted, rows[test], labels[test], sample_weight=weights[test])
            assert found[f"test_{name}"][fold] == pytest.approx(expected)


@pytest.mark.parametrize("scorer", ALL.values(), ids=ALL)
def test_a_scorer_can_be_pickled_and_copied_with_its_request(scorer):
    asking = scorer.set_score_request(sample_weight="weights")
    assert pickle.loads(pickle.dumps(scorer)) is scorer
    for copied in (pickle.loads(pickle.dumps(asking)), deepcopy(asking)):
        assert copied.get_metadata_routing().score.requests == {"sample_weight": "weights"}
        assert copied(Told(), ["low", "top"], ["low", "middle"]) == scorer(Told(), ["low", "top"], ["low", "middle"])
