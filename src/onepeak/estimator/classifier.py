"""OrdinalClassifier: a method of the catalog as a scikit-learn classifier.

scikit-learn requires every setting to be an argument and an attribute of one class, and documented there.
"""
# ruff: noqa: N803 - `X` is scikit-learn's name for the rows, and it may be given by name

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted
from torch import nn

from onepeak._core.check import check_choice, check_number
from onepeak._core.tensors import Labels, LogProbs
from onepeak.data.costs import Costs, check_given_together, costs_of
from onepeak.errors import InputError
from onepeak.estimator.fit import Curves, rate_of_linear
from onepeak.estimator.row_model import NetworkPlan, RowModel, Rows, unchanged_by_failure
from onepeak.estimator.rows import LabelledRows, hold_out, merged, numbers_of_groups, read_rows, sorted_samples, weighed
from onepeak.estimator.target import (
    Classes,
    check_labels,
    declared_classes,
    occurring_classes,
    positions_of,
    weights_of_classes,
)
from onepeak.methods.method import Variant
from onepeak.methods.record import MethodRecord
from onepeak.networks.network import Network
from onepeak.posterior import DECISIONS, minimum_cost
from onepeak.posterior.calibrate import best_without_bound, fit_temperature, temper
from onepeak.posterior.conformal import ContiguousSets, widened
from onepeak.training.convergence import ran_out
from onepeak.training.devices import find_device
from onepeak.training.presets import table_recipe
from onepeak.training.recipe import Recipe

Decision = Literal["mode", "median", "mean", "cost"]
Floats = npt.NDArray[np.float64]

FEWEST_HELD_OUT = 30
"""With fewer held-out samples, epoch and temperature would be chosen by noise, so none are held out."""

MANY_ROWS = 5_000
"""Number of training rows from which held-out samples are so many that half the patience will do."""

LINEAR_DECAY = 0.1
"""Default `weight_decay` of a linear model: its optimum has no other limit than the penalty."""


class OrdinalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A neural network for ordered classes, as a scikit-learn classifier.

    Rows must be finite numbers. In a pipeline, encode categories with a `ColumnTransformer` and fill missing values
    with an imputer. Everything is computed in the precision of `X`, so float32 rows are faster.

    The fit depends only on the samples and their weights: neither the order of the rows nor the use of repeated instead
    of weighted rows makes a difference. With held-out samples the latter does, because copies may be separated.

    A linear model (`hidden=()`) is fitted to its optimum by L-BFGS on all training samples at once, in float64. If one
    of `epochs`, `batch_size`, `lr` and `patience` is given, or if the method's loss depends on the batch ("wk"),
    changes from epoch to epoch ("elb") or is random, it is trained by stochastic steps like other networks.

    Args:
        method: A name in `onepeak.methods()`, optionally with a constraint ("mv+elb") or with outputs averaged over
            their neighbours ("smooth-elb"). For your own method, give its `MethodRecord`, which works in other
            processes (`n_jobs`) too; its name is not known there.
        variant: "corrected" or "as_published", see `onepeak.method`.
        method_settings: The method's own settings, such as `{"t": 2.0}`.
        order: All labels, lowest first; an ordered pandas categorical works too. By default, integers, also in text,
            are in numerical order; a few missing in between give a `LabelGapWarning`. Labels with fractions, such as
            half stars, need `order`. Other text is sorted, as scikit-learn requires, with an `UnknownOrderWarning`
            if there are more than two labels.
        hidden: Widths of the perceptron's hidden layers; empty for a linear model, see above.
        dropout: Dropout of the hidden layers.
        network: Replaces the perceptron: a module from rows to features, which is copied at every fit, or a function
            that makes one for a number of columns. A linear layer to the method's outputs is added.
        standardize: Whether to scale columns to mean 0 and standard deviation 1, fitted to the training samples.
        epochs: Most passes over the training samples. This default and the next three are those of `onepeak train`:
            100 epochs, 40 from 20,000 training rows. If they run out while the loss still falls markedly, there is a
            `ConvergenceWarning` from scikit-learn. The loss is that of the held-out samples or, for a linear model
            without them, that of the training samples.
        batch_size: Samples per step. The default grows with the table: twice the square root of the number of training
            rows, rounded to a power of two, at least 64 and at most 1024. In `partial_fit` it is 64.
        lr: Highest learning rate of AdamW; it falls along a cosine to zero. The default is 0.003, or 0.006 from 20,000
            training rows. For a linear model it is 20 divided by the total number of steps, at least 0.02 and at most
            0.1: a small table has few steps, which must be large; on a large table such steps would be noise.
            `partial_fit` uses 0.02 for a linear model.
        weight_decay: Weight decay of AdamW; 0.001 by default, 0.1 for a linear model. For a linear model at its
            optimum, the factor of half the sum of squared column weights, which is added to the sum of the losses
            (`alpha` in mord, `1 / C` in scikit-learn). With early stopping, held-out samples choose it: this value or
            10, 100 or 1000 times as much. Sample weights below 1 on average count as 1 on average there.
        early_stopping: Whether held-out samples choose the epoch, by their loss, or the `weight_decay` of a linear
            model. Without them all epochs are run. The loss is the current training loss: under a barrier that tightens
            fast (`growth` of 1.05 or more) it rises by itself, and an early epoch is kept. To train longer, set
            `early_stopping=False` and choose `epochs`.
        patience: Epochs without a better loss before training stops early; 20 by default, 10 from 5,000 training rows.
        validation_fraction: Share of the samples held out of training; 0 for none. Half of them choose the epoch and
            the temperature, the other half sets the width of the intervals, which keeps their guarantee valid. If that
            is fewer than 30 samples, none are held out, and the model is trained on the whole table. With `groups` in
            `fit`, whole groups are held out, so the share may be exceeded.
        calibrate: Whether to fit a temperature of the posterior to the held-out samples. It keeps the order of the
            probabilities. Without held-out samples there is no temperature.
        class_weight: Weight of each label in a dictionary, "balanced" for equal total weight of every class, or None.
        decide: How `predict` reads the posterior: "mode" (fewest errors), "median" (least absolute error), "mean"
            (least squared error), "cost" (least `cost`), or None for the method's own rule. The method's own rule reads
            the posterior before the temperature; the others read that of `predict_proba`.
        cost: For "cost": the cost of predicting a label (column) when another is true (row), as an array in the order
            of the labels, or a DataFrame or CSV file with their names.
        device: "cpu", "cuda", "cuda:1", "mps", or "auto" for a GPU if there is one.
        random_state: Seed of the initial weights, the held-out samples, the order of samples and dropout; the same
            seed gives the same bits.
        verbose: Whether to show a progress bar.

    Attributes:
        classes_: The labels in their order, which is the order of the columns of `predict_proba`.
        n_features_in_: Number of columns.
        feature_names_in_: Names of the columns, if `X` has them.
        network_: The trained `onepeak.networks.Network`.
        temperature_: Temperature of the posterior; 1 if it is not calibrated.
        n_iter_: Number of epochs trained; for a linear model at its optimum, of passes over the samples.
        loss_curve_: Training loss of every epoch or pass.
        validation_curve_: Loss of the samples that choose the epoch, after every epoch, or the penalty of a linear
            model, from the strongest; empty without early stopping. The weights are those of its minimum.
        weight_decay_: The `weight_decay` in use, which a linear model may have chosen.
        coef_: Of a linear model, by how much each output of the method rises per unit of each column (outputs x
            columns), whatever `standardize` is. With one output ("clm", "coral") it is the score that grows with the
            class; with one output per class, the class scores. Other models have none.
        intercept_: Of a linear model, its outputs where all columns are 0.

    `score` is the accuracy, as for every classifier. For `cross_val_score`, `GridSearchCV` and similar tools, the
    scorers `neg_mae`, `qwk` and `neg_rps` in `onepeak.estimator` respect the order of the labels; integer labels can
    also be scored with `scoring="neg_mean_absolute_error"`. scikit-learn's scorers that compare probabilities with
    labels ("neg_log_loss", "roc_auc_ovr") assume columns sorted by label. For text whose order is not alphabetical they
    are silently wrong; use integers for them. Tools that fit copies to encoded labels (stacking, voting, bagging,
    `cross_val_predict`) put text into alphabetical order; use integers there too.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 3))
        >>> y = np.digitize(X[:, 0] + 0.1 * rng.normal(size=200), [-1, 0, 1])
        >>> classifier = OrdinalClassifier(random_state=0).fit(X, y)
        >>> bool(classifier.score(X, y) > 0.8)
        True
        >>> classifier.predict_interval(X[:2]).shape
        (2, 2)

        A table with a column of categories:

        >>> import pandas as pd
        >>> from sklearn.compose import make_column_transformer
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> table = pd.DataFrame({"size": X[:, 0], "shape": rng.choice(["round", "oval"], 200)})
        >>> grade = np.array(["low", "middle", "high", "top"])[y]
        >>> model = make_pipeline(
        ...     make_column_transformer((OneHotEncoder(sparse_output=False), ["shape"]), remainder="passthrough"),
        ...     OrdinalClassifier("slopes", order=["low", "middle", "high", "top"], epochs=20, random_state=0),
        ... ).fit(table, grade)
        >>> model.classes_
        array(['low', 'middle', 'high', 'top'], dtype='<U6')
    """

    def __init__(
        self,
        method: str | MethodRecord = "peak",
        *,
        variant: Variant = "corrected",
        method_settings: Mapping[str, object] | None = None,
        order: Sequence[object] | npt.NDArray[Any] | None = None,
        hidden: Sequence[int] = (64, 64),
        dropout: float = 0.0,
        network: nn.Module | Callable[[int], nn.Module] | None = None,
        standardize: bool = True,
        epochs: int | None = None,
        batch_size: int | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        early_stopping: bool = True,
        patience: int | None = None,
        validation_fraction: float = 0.2,
        calibrate: bool = True,
        class_weight: Mapping[object, float] | Literal["balanced"] | None = None,
        decide: Decision | None = None,
        cost: object = None,
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.variant = variant
        self.method_settings = method_settings
        self.order = order
        self.hidden = hidden
        self.dropout = dropout
        self.network = network
        self.standardize = standardize
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.decide = decide
        self.cost = cost
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "OrdinalClassifier":
        """Trains a new network. If that fails, the estimator does not change.

        Args:
            X: Rows x columns of finite numbers, an array or a DataFrame.
            y: A label for each row.
            sample_weight: A weight for each row, not negative.
            groups: A group for each row, such as its patient: any hashable value. Whole groups are held out. Needed if
                several rows belong to one patient: otherwise the held-out rows would measure how well known patients
                were memorised.
        """
        with unchanged_by_failure(self):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> "OrdinalClassifier":
        self._check_decide()  # reports a wrong name before the work, not after
        declared = declared_classes(self.order, y)
        rows, labels = read_rows(self, X, y)
        check_labels(labels, declared)
        self.classes_ = occurring_classes(labels) if declared is None else declared
        self._costs()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        samples, class_weights = self._samples(rows, labels, sample_weight, groups), self._class_weights(labels)
        train, choosing, unseen = self._parts(samples, class_weights, seed)
        self._model = self._new_model(rows.dtype, seed, len(train))
        curves = self._model.fit(
            train,
            choosing if self.early_stopping else None,
            full_batch=self._is_linear() and not self._steps_are_set(),
            verbose=bool(self.verbose),
        )
        self.loss_curve_, self.validation_curve_ = curves.train, curves.valid
        self.weight_decay_ = self._model.recipe.weight_decay if curves.weight_decay is None else curves.weight_decay
        self.n_iter_ = len(curves.train)
        self._warn_if_not_converged(curves)
        self.temperature_ = self._best_temperature(choosing)
        self._unseen = None if unseen is None else (self._posterior(unseen.rows)[0].numpy(), unseen.labels)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> "OrdinalClassifier":
        """Continues training with one pass over these rows, at the learning rate `lr`.

        No rows are held out, so there is no temperature and there are no intervals; those of an earlier fit are
        dropped. If training fails, the estimator does not change.

        Args:
            X: Rows x columns of finite numbers.
            y: A label for each row.
            classes: All labels that will occur; needed in the first call unless `order` or an ordered categorical gives
                them.
            sample_weight: A weight for each row, not negative.
        """
        if isinstance(self.class_weight, str):
            raise InputError(
                "`class_weight` must be a dictionary or None in partial_fit, which does not see all samples, got "
                f"{self.class_weight!r}."
            )
        with unchanged_by_failure(self):
            return self._go_on(X, y, classes, sample_weight)

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> "OrdinalClassifier":
        first = not hasattr(self, "_model")
        declared = declared_classes(self.order, y)
        rows, labels = read_rows(self, X, y, reset=first)
        check_labels(labels, declared)
        if first:
            if declared is None and classes is None:
                raise InputError(
                    "`classes` must be given in the first call of partial_fit: all labels that will occur."
                )
            self.classes_ = occurring_classes(np.asarray(classes)) if declared is None else declared
        elif classes is not None and set(np.asarray(classes).tolist()) != set(self.classes_.tolist()):
            raise InputError(f"`classes` must be those of the first call, {self.classes_.tolist()}, got {classes}.")
        train = _to_train(self._samples(rows, labels, sample_weight, None), self._class_weights(labels))
        if first:
            self._model = self._new_model(rows.dtype, check_random_state(self.random_state).randint(2**31 - 1), None)
            self.loss_curve_, self.validation_curve_ = [], []
        self.loss_curve_.append(self._model.go_on(train, self._recipe(None), epoch=len(self.loss_curve_)))
        self.weight_decay_ = self._model.recipe.weight_decay
        self.n_iter_ = len(self.loss_curve_)
        self.temperature_, self._unseen = 1.0, None  # those of an earlier fit are no longer valid
        return self

    def predict(self, X: Any) -> Classes:
        """Returns the label of every row, by the rule of `decide`."""
        labels = self._decided(*self._answers(X))
        decided: Classes = self.classes_[labels.numpy()]
        return decided

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the accuracy, also for labels with fractions, which scikit-learn's own accuracy refuses."""
        if type_of_target(y) != "continuous":
            accuracy: float = super().score(X, y, sample_weight)
            return accuracy
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def predict_log_proba(self, X: Any) -> Floats:
        """Returns the logarithm of `predict_proba`."""
        return self._answers(X)[0].numpy()

    def predict_proba(self, X: Any) -> Floats:
        """Returns the posterior of every row, with columns in the order of `classes_`."""
        return self._answers(X)[0].exp().numpy()

    def predict_interval(self, X: Any, alpha: float = 0.1, *, per_class: bool = False) -> Classes:
        """Returns an interval of labels per row that contains the true label with probability 1 - alpha.

        Intervals are split conformal sets, see `onepeak.posterior.ContiguousSets`, calibrated on samples that were used
        for nothing else. The guarantee holds for rows from the same source, on average over fits. Sample and class
        weights do not affect it, but rows of weight zero are ignored. An interval is widened if necessary to contain
        the label from `predict`.

        If several rows belong to one group, such as a patient, the guarantee holds only approximately for new groups,
        even if `fit` was given `groups`: rows of one group are not exchangeable with those of another, and few groups
        are held out. Without `groups` in `fit` it does not hold for new groups at all, because the held-out rows belong
        to known groups.

        Args:
            X: Rows x columns of finite numbers.
            alpha: The share of rows whose label may lie outside.
            per_class: Whether the guarantee holds for the rows of every class, not only for all rows together.

        Returns:
            The lowest and the highest label of each interval, rows x 2.
        """
        log_probs, own = self._answers(X)
        if self._unseen is None:
            raise InputError(
                "`predict_interval` needs samples that fit has held out, got none: fit with a `validation_fraction` "
                f"that gives at least {FEWEST_HELD_OUT} samples, from several groups if there are groups."
            )
        known, labels = (torch.from_numpy(part) for part in self._unseen)
        sets = ContiguousSets(alpha, per_class=per_class)
        try:
            sets.calibrate(known, labels)
        except InputError as error:
            raise InputError(f"{error} Fit with a larger `validation_fraction` or on more rows.") from None
        ends: Classes = self.classes_[widened(sets.predict(log_probs), self._decided(log_probs, own)).numpy()]
        return ends

    def decision_function(self, X: Any) -> Floats:
        """Returns the logarithm of `predict_proba`; for two classes, the log-odds of the higher one."""
        log_probs = self.predict_log_proba(X)
        return log_probs[:, 1] - log_probs[:, 0] if len(self.classes_) == 2 else log_probs

    @property
    def network_(self) -> Network:
        """The trained network."""
        if not hasattr(self, "_model"):
            raise AttributeError("`network_` is available after fit.")
        return self._model.network

    @property
    def coef_(self) -> Floats:
        """The weights of a linear model."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Floats:
        """The outputs of a linear model where all columns are 0."""
        return self._linear()[1]

    def _linear(self) -> tuple[Floats, Floats]:
        if not self._is_linear() or not hasattr(self, "_model"):
            raise AttributeError("`coef_` and `intercept_` are those of a linear model, `hidden=()`, after fit.")
        return self._model.linear()

    def _decided(self, log_probs: LogProbs, own: Labels) -> Labels:
        """Returns the labels by the rule of `decide`, or by the method's own rule if it is None."""
        match self._check_decide():
            case None:
                return own
            case "cost":
                return minimum_cost(log_probs, torch.tensor(self._costs(), dtype=torch.float64))
            case name:
                return DECISIONS[name](log_probs)

    def _check_decide(self) -> Decision | None:
        if self.decide is not None:
            check_choice("decide", self.decide, get_args(Decision))
        check_given_together(self.decide, self.cost)
        return self.decide

    def _costs(self) -> Costs | None:
        return costs_of(self.cost, [str(label) for label in self.classes_.tolist()])

    def _samples(self, rows: Rows, labels: Classes, sample_weight: Any, groups: Any) -> LabelledRows:
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        numbers = None if groups is None else numbers_of_groups(groups, len(rows))
        positions = positions_of(labels, self.classes_)
        return sorted_samples(LabelledRows(rows=rows, labels=positions, weights=weights, groups=numbers))

    def _class_weights(self, labels: Classes) -> Floats | None:
        """Returns a weight for each class; None for equal weights."""
        match self.class_weight:
            case None:
                return None
            case Mapping() as given:
                return weights_of_classes(given, self.classes_)
            case name:
                weight_of = dict(zip(labels.tolist(), compute_sample_weight(name, labels), strict=True))
                return np.array([weight_of.get(label, 1.0) for label in self.classes_.tolist()])

    def _parts(
        self, samples: LabelledRows, class_weights: Floats | None, seed: int
    ) -> tuple[LabelledRows, LabelledRows | None, LabelledRows | None]:
        """Returns samples for training, for choosing epoch and temperature, and for calibrating intervals.

        Class weights do not apply to the last part, so that its guarantee holds for every class.
        """
        share = check_number("validation_fraction", self.validation_fraction, minimum=0, below=1)
        if round(share * len(samples)) < FEWEST_HELD_OUT:
            return _to_train(samples, class_weights), None, None
        train, held_out = hold_out(samples, share, seed=seed, fewest_groups=2)  # one for each half
        choosing, unseen = hold_out(held_out, 0.5, seed=seed + 1)
        if min(len(choosing), len(unseen)) < FEWEST_HELD_OUT // 2:  # the groups are too few or too unequal
            return _to_train(samples, class_weights), None, None
        choosing = weighed(choosing, class_weights)
        return _to_train(train, class_weights), choosing if len(choosing) else None, unseen

    def _new_model(self, dtype: np.dtype[Any], seed: int, num_rows: int | None) -> RowModel:
        plan = NetworkPlan(
            method=self.method,
            variant=self.variant,
            method_settings={} if self.method_settings is None else self.method_settings,
            num_classes=len(self.classes_),
            num_features=self.n_features_in_,
            hidden=self.hidden,
            dropout=self.dropout,
            backbone=self.network,
        )
        precision = torch.float32 if dtype == np.float32 else torch.float64
        return RowModel(
            plan,
            self._recipe(num_rows),
            standardize=bool(self.standardize),
            dtype=precision,
            device=find_device(self.device),
            seed=seed,
        )

    def _is_linear(self) -> bool:
        return self.network is None and not len(self.hidden)

    def _steps_are_set(self) -> bool:
        """Returns whether the user has set how stochastic steps are made."""
        return any(value is not None for value in (self.epochs, self.batch_size, self.lr, self.patience))

    def _warn_if_not_converged(self, curves: Curves) -> None:
        # A network with hidden layers memorises its training samples, so their loss never stops falling.
        known = curves.valid or (curves.train if self._is_linear() else [])
        epochs = self._model.recipe.epochs
        if curves.converged is None and len(known) == epochs and ran_out([curves.before, *known]):
            part, when = "validation" if curves.valid else "training", f"when the {epochs} epochs ran out"
            advice = "model is not as good as it can be. Raise `epochs` or `lr`"
        elif curves.converged is False:
            part, when = "training", f"after {len(curves.train)} passes over the samples"
            advice = "linear model is not as good as it can be. Use `standardize=True` or a larger `weight_decay`"
        else:
            return
        warnings.warn(f"The {part} loss was still falling {when}: the {advice}.", ConvergenceWarning, stacklevel=4)

    def _recipe(self, num_rows: int | None) -> Recipe:
        """Returns the recipe for a number of rows; None if more rows will follow."""
        default = table_recipe(num_rows or 1)
        default = replace(
            default,
            patience=10 if (num_rows or 0) >= MANY_ROWS else 20,
            weight_decay=LINEAR_DECAY if self._is_linear() else default.weight_decay,
        )
        names = ("epochs", "batch_size", "lr", "weight_decay", "patience")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        recipe = replace(default, **given)
        if self.lr is None and self._is_linear():
            steps = math.inf if num_rows is None else recipe.epochs * math.ceil(num_rows / recipe.batch_size)
            recipe = replace(recipe, lr=rate_of_linear(steps))
        return recipe

    def _best_temperature(self, samples: LabelledRows | None) -> float:
        if samples is None or not self.calibrate:
            return 1.0
        log_probs, _ = self._model.answers(samples.rows)
        labels, weights = torch.from_numpy(samples.labels), torch.from_numpy(samples.weights)
        if best_without_bound(log_probs[weights > 0], labels[weights > 0]):
            return 1.0
        return fit_temperature(log_probs, labels, sample_weight=weights)

    def _answers(self, X: Any) -> tuple[LogProbs, Labels]:
        check_is_fitted(self)
        return self._posterior(read_rows(self, X, reset=False))

    def _posterior(self, rows: Rows) -> tuple[LogProbs, Labels]:
        """Returns the posterior at its temperature, and the labels by the method's own rule."""
        log_probs, labels = self._model.answers(rows)
        return temper(log_probs, self.temperature_), labels


def _to_train(samples: LabelledRows, class_weights: Floats | None) -> LabelledRows:
    kept = weighed(samples, class_weights)
    if not len(kept):
        raise InputError("`class_weight` must leave some training sample a weight above zero, all are zero.")
    return merged(kept)
