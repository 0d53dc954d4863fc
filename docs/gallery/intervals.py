"""Intervals for the patients of a table.

Disease progression of 442 patients (scikit-learn's diabetes data), in five grades. The interval of each patient is
calibrated on rows held out of the training: it holds the true grade of about eight in ten new patients.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import onepeak

features, progress = load_diabetes(return_X_y=True)
grades = (progress // 60).astype(int).clip(max=4)
train, test, train_grades, test_grades = train_test_split(features, grades, random_state=0)

model = onepeak.OrdinalClassifier(epochs=30, random_state=0).fit(train, train_grades)
low, high = model.predict_interval(test, alpha=0.2).T
inside = (low <= test_grades) & (test_grades <= high)
print(f"{inside.mean():.0%} of {len(test)} new patients inside, {np.mean(high - low + 1):.1f} grades wide on average")

order = np.lexsort((high, low))
figure = Figure(figsize=(7, 2.8), layout="constrained")
axes = figure.subplots()
axes.vlines(range(len(test)), low[order] - 0.4, high[order] + 0.4, color="tab:blue", alpha=0.5, linewidth=3)
axes.scatter(range(len(test)), test_grades[order], s=9, c=np.where(inside[order], "tab:gray", "tab:orange"))
axes.set_xlabel("patient")
axes.set_ylabel("grade")
