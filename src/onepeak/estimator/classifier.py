"""OrdinalClassifier: a method of the catalog as a scikit-learn classifier.

Longer than other files because scikit-learn wants every setting to be an argument, an attribute and documented in one
class. What is done with the settings is in the files beside this one.
"""
# ruff: noqa: N803 - `X` is what scikit-learn calls the rows, and it may be given by name

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
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import nn

from onepeak._check import check_choice, check_number
from onepeak._shapes import Labels, LogProbs
from onepeak.errors import InputError
from onepeak.estimator.fitting import Curves, rate_of_linear
from onepeak.estimator.groups import numbers_of_groups
from onepeak.estimator.label_order import Classes, declared_classes, found_classes, positions_of, weights_of_classes
from onepeak.estimator.plan import NetworkPlan
from onepeak.estimator.row_model import RowModel, Rows
from onepeak.estimator.samples import Samples, hold_out, merged, sorted_samples, weighed
from onepeak.estimator.unchanged import unchanged_by_failure
from onepeak.methods.method import Variant
from onepeak.methods.record import MethodRecord
from onepeak.networks.network import Network
from onepeak.posterior import DECISIONS, minimum_cost
from onepeak.posterior.calibrate import best_without_bound, fit_temperature, temper
from onepeak.posterior.conformal import ContiguousSets, samples_needed, smallest_alpha
from onepeak.posterior.interval import widened
from onepeak.serving.costs import Costs, check_given_together, costs_of
from onepeak.training.devices import find_device
from onepeak.training.presets import TABLE
from onepeak.training.ran_out import ran_out
from onepeak.training.recipe import Recipe

Decision = Literal["mode", "median", "mean", "cost"]
Floats = npt.NDArray[np.float64]

FEWEST_HELD_OUT = 30
"""With fewer held-out samples than this epoch and temperature would be chosen by noise, so none are held out."""

LR = 5e-3
"""Of a network with hidden layers, where none is given."""


class OrdinalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A neural network for ordered classes that is a scikit-learn classifier.

    Rows must be numbers without gaps; columns of categories go through a `ColumnTransformer` in a pipeline, missing
    values through an imputer. Everything is computed in the precision of `X`, so float32 rows are faster.

    The fit depends on the samples and their weights only: neither the order of rows nor whether a row is repeated or
    weighted makes a difference, unless samples are held out, when copies may part and a weighted row does not.

    Args:
        method: A name of `onepeak.methods()`, or one with a constraint put on it ("mv+elb") or with outputs
            whose neighbours learn together ("smooth-elb"). Of a method of your own its `MethodRecord` too, which other
            processes (`n_jobs`) can be sent, where a name says nothing to them.
        variant: "corrected" or "as_published", see `onepeak.method`.
        method_settings: The method's own settings, such as `{"t": 2.0}`.
        order: All labels, lowest first; an ordered pandas categorical says it too. Without it, numbers and text that is
            integers order themselves. Other text is sorted, as scikit-learn requires, with an `UnknownOrderWarning`
            where there are more than two labels.
        hidden: Widths of the perceptron's layers; empty for a linear model.
        dropout: Of the perceptron's layers.
        network: In place of the perceptron: a module from rows to features, which is copied at every fit, or a function
            that makes one for a number of columns. A linear layer to the method's outputs is put behind it.
        standardize: Whether columns get mean 0 and deviation 1, learnt on the training samples.
        epochs: The most passes over the training samples. Where they run out while the loss still falls markedly,
            scikit-learn's `ConvergenceWarning` says so; the loss is that of held-out samples or, of a linear model
            without them, of the training samples.
        batch_size: Samples a step.
        lr: The highest learning rate of AdamW; it falls along a cosine to zero. None for 0.005 or, where the model is
            linear, for 20 by the number of all steps, at least 0.02 and at most 0.1: a small table has few steps, which
            must be large, and on a large one such steps would be noise. In `partial_fit` it is the lowest of these.
        weight_decay: Of AdamW.
        early_stopping: Whether held-out samples choose the epoch, by their loss. Without them every epoch is run. The
            loss is the one trained with at that time: under a barrier that hardens fast (`growth` of 1.05 and more) it
            rises by itself and an early epoch is kept. To go on all the same, give `early_stopping=False` and `epochs`.
        patience: Epochs without a better loss before training stops early.
        validation_fraction: Share of the samples held out of training; 0 for none. Half of them choose the epoch and
            the temperature, the other half the width of the intervals, which therefore keep their promise. Where it
            comes to fewer than 30 samples none are held out, and the whole table is trained on. With `groups` in `fit`
            whole groups are held out, so that the share may be exceeded.
        calibrate: Whether the posterior gets a temperature fitted to held-out samples, which keeps the order of its
            probabilities. Without them it gets none.
        class_weight: Weight of each label in a dictionary, "balanced" to make classes count alike, or None.
        decide: How `predict` reads the posterior: "mode" (fewest errors), "median" (least absolute error), "mean"
            (least squared error), "cost" (least `cost`), or None for the method's own rule. That one reads the
            posterior as it was trained, before the temperature; the others read what `predict_proba` gives.
        cost: For "cost": what it costs to predict a label (column) when another is true (row), an array in the order of
            the labels, or a DataFrame or CSV file with their names.
        device: "cpu", "cuda", "cuda:1", "mps", or "auto" for a GPU where there is one.
        random_state: Of the first weights, the held-out samples, their order and dropout; the same gives the same bits.
        verbose: Whether to show a progress bar.

    Attributes:
        classes_: The labels in their order, which is the order of the columns of `predict_proba`.
        n_features_in_: Number of columns.
        feature_names_in_: Names of the columns, where `X` had them.
        network_: The trained `onepeak.networks.Network`.
        temperature_: Of the posterior; 1 where it was not calibrated.
        n_iter_: Epochs trained.
        loss_curve_: Training loss of every epoch.
        validation_curve_: Loss of the samples that choose the epoch, after every one; empty without early stopping. The
            weights are those of its lowest point.

    `score` is the accuracy, as for every classifier. In `cross_val_score`, `GridSearchCV` and the like `neg_mae`, `qwk`
    and `neg_rps` of `onepeak.estimator` go by the order of the labels; integers can be scored with
    `scoring="neg_mean_absolute_error"` too. Those scores of scikit-learn that compare probabilities with labels
    ("neg_log_loss", "roc_auc_ovr") take columns to be sorted by label and are wrong, without a word, for text whose
    order is not alphabetical; use integers for them. Those of its tools that fit copies to labels of their own making
    (stacking, voting, bagging, `cross_val_predict`) put text into alphabetical order; use integers there too.

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
        ...     make_column_transformer((OneHotEncoder(), ["shape"]), remainder="passthrough"),
        ...     OrdinalClassifier("slopes", order=["low", "middle", "high", "top"], epochs=20, random_state=0),
        ... ).fit(table, grade)
        >>> model.classes_
        array(['low', 'middle', 'high', 'top'], dtype='<U6')
    """

    def __init__(
        self,
        method: str | MethodRecord = "smooth-slopes",
        *,
        variant: Variant = "corrected",
        method_settings: Mapping[str, object] | None = None,
        order: Sequence[object] | npt.NDArray[Any] | None = None,
        hidden: Sequence[int] = (64, 64),
        dropout: float = 0.0,
        network: nn.Module | Callable[[int], nn.Module] | None = None,
        standardize: bool = True,
        epochs: int = 100,
        batch_size: int = 64,
        lr: float | None = None,
        weight_decay: float = 0.1,
        early_stopping: bool = True,
        patience: int = 20,
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
        """Trains a new network; if that fails, the estimator stays as it was.

        Args:
            X: Rows x columns of finite numbers, an array or a DataFrame.
            y: A label for each row.
            sample_weight: A weight of each row, not negative.
            groups: A group of each row, such as its patient, by any label that can be hashed; what the labels are makes
                no difference. Whole groups are held out. Needed where several rows are of one patient: rows held out
                beside others of their patients would show how well those are known by heart.
        """
        with unchanged_by_failure(self):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> "OrdinalClassifier":
        self._check_decide()  # a wrong name is told before the work and not after
        declared = declared_classes(self.order, y)
        rows, labels = validate_data(self, X, y, dtype=(np.float64, np.float32))
        check_classification_targets(labels)
        self.classes_ = found_classes(labels) if declared is None else declared
        self._costs()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        samples, class_weights = self._samples(rows, labels, sample_weight, groups), self._class_weights(labels)
        train, choosing, unseen = self._parts(samples, class_weights, seed)
        self._model = self._new_model(rows.dtype, seed, len(train))
        curves = self._model.fit(train, choosing if self.early_stopping else None, verbose=bool(self.verbose))
        self.loss_curve_, self.validation_curve_ = curves.train, curves.valid
        self.n_iter_ = len(curves.train)
        self._warn_if_ran_out(curves)
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
        """Goes on training with one pass over these rows, at the learning rate `lr`; if it fails, all stays as it was.

        None of them is held out, so there is no temperature and there are no intervals; those of a fit before are
        dropped.

        Args:
            X: Rows x columns of finite numbers.
            y: A label for each row.
            classes: All labels there will be; needed in the first call unless `order` or an ordered categorical says
                them.
            sample_weight: A weight of each row, not negative.
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
        rows, labels = validate_data(self, X, y, dtype=(np.float64, np.float32), reset=first)
        check_classification_targets(labels)
        if first:
            if declared is None and classes is None:
                raise InputError("`classes` must be given in the first call of partial_fit: all labels there will be.")
            self.classes_ = found_classes(np.asarray(classes)) if declared is None else declared
        elif classes is not None and set(np.asarray(classes).tolist()) != set(self.classes_.tolist()):
            raise InputError(f"`classes` must be those of the first call, {self.classes_.tolist()}, got {classes}.")
        train = _to_train(self._samples(rows, labels, sample_weight, None), self._class_weights(labels))
        if first:
            self._model = self._new_model(rows.dtype, check_random_state(self.random_state).randint(2**31 - 1), None)
            self.loss_curve_, self.validation_curve_ = [], []
        self.loss_curve_.append(self._model.go_on(train, self._recipe(None), epoch=len(self.loss_curve_)))
        self.n_iter_ = len(self.loss_curve_)
        self.temperature_, self._unseen = 1.0, None  # what a fit before has found is no longer true
        return self

    def predict(self, X: Any) -> Classes:
        """The label of every row, by the rule of `decide`."""
        labels = self._decided(*self._answers(X))
        decided: Classes = self.classes_[labels.numpy()]
        return decided

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of `predict_proba`."""
        return self._answers(X)[0].numpy()

    def predict_proba(self, X: Any) -> Floats:
        """The posterior of every row: its columns are `classes_`, so they are in order."""
        return self._answers(X)[0].exp().numpy()

    def predict_interval(self, X: Any, alpha: float = 0.1, *, per_class: bool = False) -> Classes:
        """For every row an interval of labels that holds the true one with probability 1 - alpha.

        Split conformal sets, see `onepeak.posterior.ContiguousSets`, learnt from samples that nothing else has seen.
        The promise is for rows from the same source, on average over fits; weights of samples and classes have no part
        in it, but rows of weight zero are as if they were not there. An interval is widened where that is needed to
        hold what `predict` says.

        Where several rows are of one group, such as a patient, it is kept for new groups only nearly, even if `fit` was
        given the `groups`: rows of one group are not exchangeable with those of another, and few groups were held out.
        If the groups were ignored it is not kept for them at all, since the rows held out were of known groups.

        Args:
            X: Rows x columns of finite numbers.
            alpha: The share of rows whose label may lie outside.
            per_class: Keep the promise for the rows of every class, not only for all together.

        Returns:
            The lowest and the highest label of each interval, rows x 2.
        """
        log_probs, own = self._answers(X)
        if self._unseen is None:
            raise InputError(
                "`predict_interval` needs samples that fit has held out, got none: fit with a `validation_fraction` "
                f"that comes to at least {FEWEST_HELD_OUT} samples, of several groups where there are groups."
            )
        known, labels = (torch.from_numpy(part) for part in self._unseen)
        check_number("alpha", alpha, above=0, below=1)
        most = int(labels.bincount().max()) if per_class else len(labels)
        if most < samples_needed(alpha):
            whose = "of one class " if per_class else ""
            raise InputError(
                f"`alpha` must be >= {smallest_alpha(most):g} with the {most} samples {whose}that fit has held out for "
                f"intervals, got {alpha:g}: fit with a larger `validation_fraction` or on more rows."
            )
        sets = ContiguousSets(alpha, per_class=per_class).calibrate(known, labels)
        ends: Classes = self.classes_[widened(sets.predict(log_probs), self._decided(log_probs, own)).numpy()]
        return ends

    def decision_function(self, X: Any) -> Floats:
        """The logarithms of `predict_proba`; of two classes the log-odds of the upper one."""
        log_probs = self.predict_log_proba(X)
        return log_probs[:, 1] - log_probs[:, 0] if len(self.classes_) == 2 else log_probs

    @property
    def network_(self) -> Network:
        """The trained network."""
        if not hasattr(self, "_model"):
            raise AttributeError("`network_` is there after fit.")
        return self._model.network

    def _decided(self, log_probs: LogProbs, own: Labels) -> Labels:
        """The labels by the rule of `decide`; those of the method's own rule where there is none."""
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

    def _samples(self, rows: Rows, labels: Classes, sample_weight: Any, groups: Any) -> Samples:
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        numbers = None if groups is None else numbers_of_groups(groups, len(rows))
        positions = positions_of(labels, self.classes_)
        return sorted_samples(Samples(rows=rows, labels=positions, weights=weights, groups=numbers))

    def _class_weights(self, labels: Classes) -> Floats | None:
        """A weight of each class; None for all alike."""
        match self.class_weight:
            case None:
                return None
            case Mapping() as given:
                return weights_of_classes(given, self.classes_)
            case name:
                found = dict(zip(labels.tolist(), compute_sample_weight(name, labels), strict=True))
                return np.array([found.get(label, 1.0) for label in self.classes_.tolist()])

    def _parts(
        self, samples: Samples, class_weights: Floats | None, seed: int
    ) -> tuple[Samples, Samples | None, Samples | None]:
        """Samples to train on, to choose epoch and temperature by, and to learn intervals from.

        The weights of classes have no part in the last, so that its promise is kept for every class.
        """
        share = check_number("validation_fraction", self.validation_fraction, minimum=0, below=1)
        if round(share * len(samples)) < FEWEST_HELD_OUT:
            return _to_train(samples, class_weights), None, None
        train, held_out = hold_out(samples, share, seed=seed, fewest_groups=2)  # one for each half
        choosing, unseen = hold_out(held_out, 0.5, seed=seed + 1)
        if min(len(choosing), len(unseen)) < FEWEST_HELD_OUT // 2:  # the groups are too few and too unequal
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

    def _warn_if_ran_out(self, curves: Curves) -> None:
        # What a network with hidden layers was trained on it learns by heart, and the loss there falls for ever.
        known = curves.valid or (curves.train if self._is_linear() else [])
        if len(known) == self.epochs and ran_out([curves.before, *known]):
            warnings.warn(
                f"The {'validation' if curves.valid else 'training'} loss was still falling when the {self.epochs} "
                "epochs ran out: the model is not as good as it can be. Raise `epochs` or `lr`.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _recipe(self, num_rows: int | None) -> Recipe:
        """How to train on that many rows; None where more will come."""
        recipe = replace(
            TABLE,
            epochs=self.epochs,
            batch_size=self.batch_size,
            lr=LR if self.lr is None else self.lr,
            weight_decay=self.weight_decay,
            patience=self.patience,
        )
        if self.lr is None and self._is_linear():
            steps = math.inf if num_rows is None else recipe.epochs * math.ceil(num_rows / recipe.batch_size)
            recipe = replace(recipe, lr=rate_of_linear(steps))
        return recipe

    def _best_temperature(self, samples: Samples | None) -> float:
        if samples is None or not self.calibrate:
            return 1.0
        log_probs, _ = self._model.answers(samples.rows)
        labels, weights = torch.from_numpy(samples.labels), torch.from_numpy(samples.weights)
        if best_without_bound(log_probs[weights > 0], labels[weights > 0]):
            return 1.0
        return fit_temperature(log_probs, labels, sample_weight=weights)

    def _answers(self, X: Any) -> tuple[LogProbs, Labels]:
        check_is_fitted(self)
        return self._posterior(validate_data(self, X, dtype=(np.float64, np.float32), reset=False))

    def _posterior(self, rows: Rows) -> tuple[LogProbs, Labels]:
        """The posterior at its temperature, and the labels of the method's own rule."""
        log_probs, labels = self._model.answers(rows)
        return temper(log_probs, self.temperature_), labels


def _to_train(samples: Samples, class_weights: Floats | None) -> Samples:
    kept = weighed(samples, class_weights)
    if not len(kept):
        raise InputError("`class_weight` must leave a weight to some sample that is trained on, all of them have zero.")
    return merged(kept)
