"""scikit-learn's own checks, whole, and the tools of scikit-learn that people put around a classifier."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from onepeak.errors import InputError
from onepeak.estimator import OrdinalClassifier
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
"""Trainings here are short on purpose."""

QUICK = {"epochs": 15, "lr": 0.06, "batch_size": 256, "hidden": (32,), "random_state": 0}
"""Enough for the planted problems of these tests, in few steps."""

NAMES = ["low", "middle", "high"]


@pytest.fixture(scope="module")
def planted():
    """Three ordered classes that one column tells apart, save for a little noise."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 3))
    return rows, np.digitize(rows[:, 0] + 0.1 * rng.normal(size=150), [-0.5, 0.5])


@pytest.mark.bad_input  # the checks pass wrong values on purpose
@pytest.mark.filterwarnings(
    "ignore:The order of the text labels:onepeak.estimator.UnknownOrderWarning"
)  # theirs has none
@parametrize_with_checks(
    # a network and a linear model, as many outputs as classes and one fewer
    [OrdinalClassifier("elb", **QUICK), OrdinalClassifier("smooth-slopes", hidden=(), random_state=0)]
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_a_linear_model_has_the_coefficients_of_its_outputs_and_any_other_none(planted):
    rows, labels = planted
    rows = rows * [1, 10, 0.1] + 3
    for method, num_outputs in (("clm", 1), ("coral", 1), ("ce", 3)):
        model = OrdinalClassifier(method, hidden=(), random_state=0).fit(rows, labels)
        assert model.coef_.shape == (num_outputs, 3)
        assert model.intercept_.shape == (num_outputs,)
        outputs = torch.tensor(rows @ model.coef_.T + model.intercept_)
        expected = model.network_.double().method.log_probs(outputs).exp().detach().numpy()
        np.testing.assert_allclose(model.set_params(calibrate=False).fit(rows, labels).predict_proba(rows), expected)
        assert model.coef_[-1, 0] > 0.5  # the higher, the higher the class
    assert not hasattr(OrdinalClassifier(**QUICK).fit(rows, labels), "coef_")
    assert not hasattr(OrdinalClassifier(hidden=()), "coef_")


def test_columns_are_eliminated_by_the_coefficients_of_a_linear_model(planted):
    rows, labels = planted
    kept = RFE(OrdinalClassifier("clm", hidden=(), random_state=0), n_features_to_select=1).fit(rows, labels)
    assert kept.support_.tolist() == [True, False, False]


def test_cross_validation_scores_accuracy_absolute_error_and_likelihood(planted):
    scores = ["accuracy", "neg_mean_absolute_error", "neg_log_loss"]
    found = cross_validate(OrdinalClassifier(**QUICK), *planted, cv=2, scoring=scores)
    assert found["test_accuracy"].mean() > 0.75
    assert found["test_neg_mean_absolute_error"].mean() > -0.25
    assert found["test_neg_log_loss"].mean() > -0.6


@pytest.mark.parametrize("settings", [QUICK | {"dropout": 0.2}, {"hidden": ()}], ids=["network", "linear"])
def test_fits_in_threads_give_the_bits_of_fits_alone_and_leave_torch_as_it_was(planted, settings):
    rows, labels = planted

    def posteriors(seed):
        return OrdinalClassifier(**settings | {"random_state": seed}).fit(rows, labels).predict_proba(rows)

    expected = [posteriors(seed) for seed in range(4)]
    before = torch.get_rng_state()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(posteriors, range(4)))
    np.testing.assert_array_equal(found, expected)
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_grid_search_tries_methods_and_their_settings(planted):
    rows, labels = planted
    grid = [{"method": ["ce"]}, {"method": ["elb"], "method_settings": [{"t": 4.0}], "decide": ["median"]}]
    search = GridSearchCV(OrdinalClassifier(**QUICK), grid, cv=2, scoring="neg_mean_absolute_error").fit(rows, labels)
    assert len(search.cv_results_["params"]) == 2
    assert search.best_estimator_.score(rows, labels) > 0.75


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_by_scikit_learn_works_on_numbers_and_keeps_their_columns(planted, ensemble):
    rows, labels = planted
    calibrated = CalibratedClassifierCV(OrdinalClassifier(**QUICK), cv=2, ensemble=ensemble).fit(rows, labels)
    assert calibrated.classes_.tolist() == [0, 1, 2]
    assert (calibrated.predict_proba(rows).argmax(axis=1) == labels).mean() > 0.75


def test_text_in_a_given_order_goes_through_pipeline_and_cross_validation(planted):
    rows, labels = planted
    table = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(colour=np.tile(["red", "blue", "red"], 50))
    grades = np.array(NAMES, dtype=object)[labels]
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"),
        OrdinalClassifier(order=NAMES, **QUICK),
    )
    assert cross_val_score(pipeline, table, grades, cv=2).mean() > 0.75
    pipeline.fit(table, grades)
    assert pipeline.classes_.tolist() == NAMES
    agrees = pipeline.predict(table) == np.array(NAMES)[pipeline.predict_proba(table).argmax(axis=1)]
    assert agrees.all()


def test_an_ordered_categorical_keeps_its_order_in_every_fold(planted):
    rows, labels = planted
    grades = pd.Series(pd.Categorical.from_codes(labels, NAMES, ordered=True))
    assert cross_val_score(OrdinalClassifier(**QUICK), rows, grades, cv=2).mean() > 0.75


def test_groups_reach_the_fit_in_a_pipeline_and_by_routing(planted):
    rows, labels = planted
    groups = np.arange(150) // 5
    model = OrdinalClassifier(**QUICK, validation_fraction=0.5)
    plain = clone(model).fit(rows, labels).predict_proba(rows)
    direct = clone(model).fit(rows, labels, groups=groups).predict_proba(rows)
    assert np.abs(direct - plain).max() > 1e-3
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    pipeline.fit(rows, labels, ordinalclassifier__groups=groups)
    np.testing.assert_array_equal(pipeline.predict_proba(rows), direct)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(FunctionTransformer(), clone(model).set_fit_request(groups=True))
        np.testing.assert_array_equal(routed.fit(rows, labels, groups=groups).predict_proba(rows), direct)


@pytest.mark.bad_input
def test_a_tool_that_encodes_text_labels_behind_the_users_back_is_told_of_and_takes_positions_in_the_right_order(
    planted,
):
    rows, labels = planted
    encoding = VotingClassifier([("own", OrdinalClassifier(order=NAMES, **QUICK))], voting="soft")
    message = r"of the order 'low', 'middle', 'high', got 0, 1, 2\. Stacking, voting, bagging, .* alphabetical order"
    with pytest.raises(InputError, match=message):
        encoding.fit(rows, np.array(NAMES)[labels])
    positions = OrdinalEncoder(categories=[NAMES]).fit_transform(np.array(NAMES)[labels].reshape(-1, 1)).ravel()
    encoding.set_params(own=OrdinalClassifier(**QUICK))
    assert encoding.fit(rows, positions).score(rows, labels) > 0.75


@pytest.mark.slow
def test_a_record_of_ones_own_goes_to_other_processes(planted):
    class Own(SoftmaxMethod):
        def sample_losses(self, outputs, labels):
            return torch.nn.functional.cross_entropy(outputs, labels, reduction="none")

    record = MethodRecord(
        name="own", title="own", family="plain", reference="here", year=None, num_outputs="c", build=Own
    )
    model = OrdinalClassifier(record, **QUICK)
    found = cross_val_score(model, *planted, cv=2, n_jobs=2, error_score="raise")
    np.testing.assert_allclose(found, cross_val_score(OrdinalClassifier("ce", **QUICK), *planted, cv=2))
