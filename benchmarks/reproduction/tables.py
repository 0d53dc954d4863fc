"""The paper's two tables as printed, in three blocks, and the tables on what lies behind them."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from onepeak._core.wording import counted
from onepeak.experiment.plan import PAPER_METHODS
from onepeak.experiment.published import published_figure
from onepeak.report.tables import Cell, WideTable
from reproduction.differences import Difference, Explanations, against, explanation
from reproduction.records import FORMS, METRICS, SETS, TABLES, Figure, figure, label_of, num_classes, own_labels, row
from reproduction.text import MINUS, MISSING, number, p_value, spread, table

Sets = Mapping[str, pd.DataFrame]
"""The runs of each of the paper's data sets."""
CAPTIONS = {
    1: "Test sets of ICIAR and HCI (classification)",
    2: "Test sets of AFAD-Lite, AFAD-Full and FG-NET (age estimation)",
}
HEADERS = {"mae": ("MAE", 2, 1), "soi_predicted": ("SOI (%)", 2, 100)}
"""The paper's columns, with its decimals."""
NO_IMAGES, NOT_RUN, NO_FIGURE = "no images", "not run", "--"
NOTE = (
    "Mean ± standard deviation over runs, the number of runs in brackets, the best of each block in bold. "
    "no images: the images of HCI could not be had; not run: not yet; --: no figure in the paper, whose code does not "
    "scale to so many classes."
)


def printed_table(sets: Sets, which: int) -> WideTable:
    """One of the paper's tables: its rows and columns, in the blocks paper, as published, corrected and ours."""
    names = TABLES[which]
    own = list(dict.fromkeys(label for name in names for label in own_labels(sets[name])))
    blocks: dict[str, Mapping[str, list[tuple[str, float, int]]]] = {
        "Paper": _block(names, PAPER_METHODS, lambda name, method, metric: _printed(name, method, metric)),
        **{
            title.capitalize(): _block(
                names,
                PAPER_METHODS,
                lambda name, method, metric, form=form: _measured(  # type: ignore[misc]
                    row(sets[name], method, form), name, metric, overflows=form == "as_published", method=method
                ),
            )
            for form, title in FORMS.items()
        },
    }
    if own:
        blocks["Ours"] = _block(
            names, own, lambda name, label, metric: _measured(sets[name][sets[name]["label"] == label], name, metric)
        )
    header = ("method", *(f"{SETS[name]} {title}" for name in names for title, _, _ in HEADERS.values()))
    rows: list[tuple[Cell, ...]] = []
    for title, block in blocks.items():
        rows.append((Cell(text=title, bold=True), *(Cell(text="") for _ in header[1:])))
        best = _best(block)
        for place, (method, cells) in enumerate(block.items()):
            texts = (Cell(text=text, bold=best[column] == place) for column, (text, _, _) in enumerate(cells))
            rows.append((Cell(text=method.upper() if method in PAPER_METHODS else method), *texts))
    return WideTable(title=f"Table {which}. {CAPTIONS[which]}", header=header, rows=tuple(rows), caption=NOTE)


Value = tuple[str, float, int]
"""What a cell says, its value with the better the lower (NaN if there is none), and its runs."""


def _block(
    names: tuple[str, ...], methods: "tuple[str, ...] | list[str]", cell: Callable[[str, str, str], Value]
) -> dict[str, list[Value]]:
    return {method: [cell(name, method, metric) for name in names for metric in HEADERS] for method in methods}


def _best(block: Mapping[str, list[Value]]) -> list[int | None]:
    """The place of the best row in each column, of those with as many runs as any; None if there are not two."""
    found: list[int | None] = []
    for cells in zip(*block.values(), strict=True):
        most = max(n for _, _, n in cells)
        known = [(value, place) for place, (_, value, n) in enumerate(cells) if not math.isnan(value) and n == most]
        found.append(min(known)[1] if len(known) > 1 else None)
    return found


def _printed(name: str, method: str, metric: str) -> Value:
    found = published_figure(name, method, metric)
    if found is None:
        return NO_FIGURE, math.nan, 0
    _, digits, scale = HEADERS[metric]
    deviation = f"{scale * found.std:.3f}".removesuffix("0")  # some are printed with a decimal more
    return f"{scale * found.mean:.{digits}f} ± {deviation}", _lower_is_better(found.mean, metric), 0


def _measured(runs: pd.DataFrame, name: str, metric: str, *, overflows: bool = False, method: str = "") -> Value:
    found = figure(runs, f"test_{metric}")
    if found is not None:
        _, digits, scale = HEADERS[metric]
        text = spread(found, digits, scale=scale, with_runs=metric == "mae")
        return text, _lower_is_better(found.mean, metric), found.n
    if overflows and published_figure(name, method, metric) is None:
        return NO_FIGURE, math.nan, 0
    return (NO_IMAGES if name == "hci" else NOT_RUN), math.nan, 0


def _lower_is_better(value: float, metric: str) -> float:
    return value if metric == "mae" else -value


def conditions(sets: Sets) -> str:
    """What the runs of each data set are, as a list."""
    lines = []
    for name, runs in sets.items():
        if runs.empty:
            told = "its images could not be had." if name == "hci" else "not run yet."
        else:
            epochs = " or ".join(str(each) for each in sorted(set(runs["epochs"])))
            precision = " and ".join(sorted(str(each).partition("-")[0] for each in set(runs["precision"])))
            counts = [f"{sum(len(row(runs, m, form)) for m in PAPER_METHODS)} {title}" for form, title in FORMS.items()]
            told = (
                f"protocol `{'`, `'.join(sorted(set(runs['protocol'])))}`, splits {_ranges(runs['split'])}"
                + (f", folds {_ranges(runs['fold'])}" if runs["fold"].nunique() > 1 else "")
                + f", {epochs} epochs, {precision.replace('32', 'float32').replace('bf16', 'bfloat16')}. Runs: "
                + f"{', '.join(counts)}, {runs['label'].isin(own_labels(runs)).sum()} of rows of our own."
            )
        lines.append(f"- **{SETS[name]}** ({num_classes(name)} classes): {told}")
    return "\n".join(lines)


def _ranges(values: "pd.Series[int]") -> str:
    """Whole numbers as ranges: 0 to 6, 9."""
    ranges: list[list[int]] = []
    for value in sorted(set(values)):
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    return ", ".join(f"{first}" if first == last else f"{first} to {last}" for first, last in ranges)


def large_differences(found: list[Difference], explanations: Explanations, titles: Mapping[str, str]) -> str:
    """Every difference of more than two standard errors, with its explanation.

    Args:
        found: Differences of one or several collections of runs.
        explanations: From `read_explanations`.
        titles: What each data set is called.
    """
    rows = []
    for each in found:
        if each.large:
            title, digits, scale = METRICS[each.metric]
            error = each.standard_error
            rows.append(
                (
                    titles[each.dataset],
                    f"{each.method.upper()}, {title}",
                    f"{FORMS[each.form]} ({each.ours.n})",
                    number(scale * each.value, digits, signed=True),
                    f"{abs(each.value) / error:.1f}",
                    explanation(each, explanations),
                )
            )
    return table(("data", "figure", "form (runs)", f"ours {MINUS} paper", "in SE", "why"), rows)


def beside_table(runs: pd.DataFrame, dataset: str) -> str:
    """The printed figures of one data set next to ours in both forms."""
    rows = []
    for method in PAPER_METHODS:
        cells = [method.upper()]
        for metric in HEADERS:
            cells.append(_printed(dataset, method, metric)[0])
            for form in FORMS:
                own = row(runs, method, form)
                cells.append(_measured(own, dataset, metric, overflows=form == "as_published", method=method)[0])
        rows.append(cells)
    header = [cell for title, _, _ in HEADERS.values() for cell in (f"{title}, paper", *FORMS.values())]
    return table(("method", *header), rows)


def split_table(runs: pd.DataFrame) -> str:
    """MAE by split: how much of a mean depends on the splits."""
    splits = sorted(set(runs["split"]))
    rows = []
    for form, title in FORMS.items():
        for method in PAPER_METHODS:
            own = row(runs, method, form)
            if len(own):
                values = dict(zip(own["split"], own["test_mae"], strict=True))
                rows.append((method.upper(), title, *(number(values.get(split, math.nan), 2) for split in splits)))
    return table(("method", "form", *(f"split {split}" for split in splits)), rows)


def against_table(runs: pd.DataFrame) -> str:
    """Mean paired differences to the ELB of the same form, with p-values after Holm."""
    columns = {"test_mae": ("MAE", 2, 1), "test_soi_predicted": ("SOI", 1, 100), "test_rps_calibrated": ("RPS", 2, 1)}
    rows = []
    for form, title in FORMS.items():
        reference = row(runs, "elb", form)
        labels = [
            label
            for label in dict.fromkeys(runs.loc[runs["variant"] == form, "label"])
            if label not in set(reference["label"])
        ]
        if reference.empty or not labels:
            continue
        found = {column: against(runs, column, labels, str(reference["label"].iloc[0])) for column in columns}
        names = dict(zip(runs["label"], runs["name"], strict=True))
        for place, label in enumerate(labels):
            cells = [names[label], title, str(found["test_mae"][place].n)]
            for column, (_, digits, scale) in columns.items():
                each = found[column][place]
                cells += [number(scale * each.mean, digits, signed=True), p_value(each.p)]
            rows.append(cells)
    headers = [cell for name, _, _ in columns.values() for cell in (f"{name} {MINUS} ELB's", "p")]
    return table(("method", "form", "shared splits", *headers), rows)


def kept_epochs(runs: pd.DataFrame) -> str:
    """The epochs that were chosen, as a sentence for each form; as published, some methods choose by the loss."""
    told = []
    for form, title in FORMS.items():
        parts = []
        for method in PAPER_METHODS:
            own = row(runs, method, form)
            if len(own):
                low, high = own["best_epoch"].min(), own["best_epoch"].max()
                by = "" if form == "corrected" else f" by {str(own['selected_by'].iloc[0]).replace('mae', 'MAE')}"
                parts.append(f"{method.upper()} {low} to {high}{by}")
        if parts:
            told.append(f"{title.capitalize()}: {', '.join(parts)}.")
    return "\n\n".join(told)


@dataclass(frozen=True, kw_only=True)
class Gain:
    """What ELB gains over another method on one data set: `soi` in points, `mae` in per cent of the other's error."""

    soi: float
    mae: float
    n: int


def printed_gain(name: str, method: str) -> Gain:
    """The paper's gain, from its means."""
    soi = _printed_mean(name, "elb", "soi_predicted") - _printed_mean(name, method, "soi_predicted")
    mae = _printed_mean(name, "elb", "mae") / _printed_mean(name, method, "mae")
    return Gain(soi=100 * soi, mae=100 * (1 - mae), n=0)


def _printed_mean(name: str, method: str, metric: str) -> float:
    found = published_figure(name, method, metric)
    return math.nan if found is None else found.mean


def measured_gain(runs: pd.DataFrame, method: str, form: str) -> Gain | None:
    """Ours, from means over the runs that both have; None if there is none."""
    elb, other = row(runs, "elb", form), row(runs, method, form)
    both = elb.merge(other, on=["split", "fold"], suffixes=("", "_other"))
    if both.empty:
        return None
    soi = both["test_soi_predicted"].mean() - both["test_soi_predicted_other"].mean()
    mae = both["test_mae"].mean() / both["test_mae_other"].mean()
    return Gain(soi=100 * float(soi), mae=100 * (1 - float(mae)), n=len(both))


def gains_table(sets: Sets) -> str:
    """ELB's gains over CE and PN by number of classes."""
    rows = []
    for method in ("ce", "pn"):
        for name in SETS:
            found: list[Gain | None] = [printed_gain(name, method)]
            found += [measured_gain(sets[name], method, form) for form in FORMS]
            missing = NO_IMAGES if name == "hci" else NOT_RUN
            for_metric = [
                [missing if each is None else _gain(each, metric) for each in found] for metric in ("soi", "mae")
            ]
            rows.append((method.upper(), SETS[name], str(num_classes(name)), *for_metric[0], *for_metric[1]))
    sources = ("paper", *FORMS.values())
    header = (*(f"SOI, points: {each}" for each in sources), *(f"MAE, %: {each}" for each in sources))
    return table(("ELB over", "data", "classes", *header), rows)


def _gain(each: Gain, metric: str) -> str:
    runs = f" ({each.n})" if each.n else ""
    return f"{number(getattr(each, metric), 1 if metric == 'soi' else 0, signed=True)}{runs}"


@dataclass(frozen=True, kw_only=True)
class Check:
    """Runs in which one thing differs from the others'."""

    folder: str
    """Below results/paper."""
    title: str
    by_label: bool = True
    """Whether each method has a row of its own."""
    instead: Mapping[str, str] | None = None
    """The label that a label is compared with, where it is another."""


CHECKS = (
    Check(folder="fgnet-bf16", title="bfloat16, not float32", by_label=False),
    Check(folder="fgnet-1000", title="1000 epochs, not 200 or 300", by_label=False),
    Check(folder="iciar-1000", title="ICIAR: 1000 epochs"),
    Check(folder="afad-lite-100", title="AFAD-Lite: 100 epochs"),
    Check(folder="afad-lite-copies", title="AFAD-Lite: copies in one part"),
    Check(folder="fgnet-by-image", title="splits by image"),
    Check(folder="fgnet-stem", title="deep stem"),
    Check(
        folder="fgnet-ld",
        title="divergence averaged over the classes (steps 70 times smaller)",
        instead={"ld-divided": "ld-as_published"},
    ),
)


def checks_table(changed: Mapping[str, pd.DataFrame], others: pd.DataFrame) -> str:
    """What single changes do, each beside the same runs without it; by means where the splits are others.

    Args:
        changed: The runs of each check that has been run, by folder.
        others: All other runs, of both our splits and the authors'.
    """
    rows = []
    keys = ["dataset", "protocol", "label", "split", "fold"]
    for check in CHECKS:
        runs = changed.get(check.folder, pd.DataFrame())
        if runs.empty:
            rows.append((check.title, NOT_RUN, *[""] * 6))
            continue
        runs = runs.assign(label=runs["label"].replace(dict(check.instead or {})))
        both = runs.merge(others, on=keys, suffixes=("", "_other"))
        for label in dict.fromkeys(runs["label"]) if check.by_label else [None]:
            pairs = both if label is None else both[both["label"] == label]
            own = runs if label is None else runs[runs["label"] == label]
            names = ", ".join(dict.fromkeys(own["name"])) if check.instead is None else "LD"
            cells = [check.title, f"{names} ({len(pairs) or len(own)})"]
            for metric, (_, digits, scale) in METRICS.items():
                column = f"test_{metric}"
                if len(pairs):
                    change = scale * (pairs[column] - pairs[f"{column}_other"])
                    sides = (pairs[column].mean(), pairs[f"{column}_other"].mean())
                    deviation = "" if len(pairs) < 2 else f" ± {number(float(change.std()), digits)}"
                    told = f"{number(float(change.mean()), digits, signed=True)}{deviation}"
                else:
                    base = others[(others["label"] == label) & (others["dataset"] == own["dataset"].iloc[0])]
                    sides = (
                        own[column].mean(),
                        base.loc[base["experiment"] == base["experiment"].max(), column].mean(),
                    )
                    told = f"{number(scale * float(sides[0] - sides[1]), digits, signed=True)} (other splits)"
                cells += [*(number(scale * float(side), digits) for side in sides), told]
            rows.append(tuple(cells))
    header = ("change", "methods (runs)", "MAE", "without", "difference", "SOI %", "without", "difference")
    return table(header, rows)


def weight_sentence(runs: pd.DataFrame) -> str:
    """Which weight of PN's penalty validation chooses."""
    if runs.empty:
        return "PN's weight: not run yet; the paper chose 1e-2 on validation, from 1e-1 to 1e-5."
    known = runs.assign(weight=[float(each["weight"]) for each in runs["settings"]])
    means = known.groupby("weight")[["valid_mae", "test_mae", "test_soi_predicted"]].mean().sort_index(ascending=False)
    each = ", ".join(
        f"{weight:.0e}".replace("e-0", "e-") + f" {number(own['valid_mae'], 2)} ({number(own['test_mae'], 2)}; "
        f"{number(100 * own['test_soi_predicted'], 1)} %)"
        for weight, own in means.iterrows()
    )
    chosen = f"{means['valid_mae'].idxmin():.0e}".replace("e-0", "e-")
    splits = counted(known["split"].nunique(), "split")
    return (
        f"PN's weight: validation chooses {chosen} on {splits}, the paper 1e-2. Validation MAE by weight (test MAE; "
        f"SOI): {each}."
    )


def step_time_table(path: Path) -> str:
    """Time of a training step, from the record of `benchmarks/training.py`."""
    if not path.exists():
        return "Not measured yet."
    rows = []
    for each in json.loads(path.read_text(encoding="utf-8")):
        quarters = {method: [f"{ratio:.3f}" for ratio in each["times_ce"][method]] for method in ("pn", "elb")}
        rows.append(
            (
                each["device"],
                f"{each['batch_size']} x {each['side']} px, {each['num_classes']} classes",
                *(f"{each['milliseconds'][method]:.1f}" for method in ("ce", "pn", "elb")),
                *(f"{middle} ({low} to {high})" for low, middle, high in quarters.values()),
            )
        )
    header = ("device", "batch", "CE, ms", "PN, ms", "ELB, ms", "PN, x CE (quarters)", "ELB, x CE (quarters)")
    return table(header, rows)


def ranks(runs: pd.DataFrame, form: str) -> tuple[int, int] | None:
    """The place of ELB's mean error among the paper's methods of a form, and how many there are."""
    means = {method: figure(row(runs, method, form), "test_mae") for method in PAPER_METHODS}
    known = {method: found.mean for method, found in means.items() if found is not None}
    if "elb" not in known:
        return None
    return sorted(known, key=known.__getitem__).index("elb") + 1, len(known)


def overview_table(sets: Sets, found: Mapping[str, list[Difference]]) -> str:
    """ELB on every data set beside the paper, and how many figures agree."""
    rows = []
    for name in SETS:
        soi, mae = (_printed_mean(name, "elb", metric) for metric in ("soi_predicted", "mae"))
        errors = [each for m in PAPER_METHODS if not math.isnan(each := _printed_mean(name, m, "mae"))]
        place = f"{sorted(errors).index(mae) + 1} of {len(errors)}"
        cells = [f"{SETS[name]}, {num_classes(name)} classes"]
        for form in FORMS:
            cells.append(_agreeing([each for each in found.get(name, []) if each.form == form]))
        cells[1:] = [(NO_IMAGES if name == "hci" else NOT_RUN) if cell == MISSING else cell for cell in cells[1:]]
        form = "as_published" if len(row(sets[name], "elb", "as_published")) else "corrected"
        own, here = row(sets[name], "elb", form), ranks(sets[name], form)
        cells += [f"{100 * soi:.1f}", _mean(figure(own, "test_soi_predicted"), 1, 100)]
        cells += [f"{mae:.2f}", _mean(figure(own, "test_mae"), 2, 1)]
        cells += [place, MISSING if here is None else f"{here[0]} of {here[1]}"]
        rows.append(tuple(cells))
    header = (
        "data",
        "as published: within 2 SE",
        "corrected: within 2 SE",
        "ELB's SOI %, paper",
        "here",
        "ELB's MAE, paper",
        "here",
        "its rank, paper",
        "here",
    )
    return table(header, rows)


def _mean(found: Figure | None, digits: int, scale: int) -> str:
    return MISSING if found is None else number(scale * found.mean, digits)


def _agreeing(found: list[Difference]) -> str:
    judged = [each for each in found if each.large is not None]
    return f"{sum(not each.large for each in judged)} of {len(judged)}" if judged else MISSING


def agreement(found: list[Difference], explanations: Explanations) -> str:
    """How many figures of each form lie within two standard errors, and which of the others are unexplained."""
    told = []
    for form, title in FORMS.items():
        judged = [each for each in found if each.form == form and each.large is not None]
        if judged:
            large = [each for each in judged if each.large]
            left = [
                f"{each.method.upper()} ({METRICS[each.metric][0].removesuffix(' %')})"
                for each in large
                if explanation(each, explanations).startswith("**unexplained**")
            ]
            open_ones = f"; unexplained, at least in part: {', '.join(left)}" if left else ""
            told.append(
                f"{title.capitalize()}, {len(judged) - len(large)} of {len(judged)} figures lie within two standard "
                f"errors of the paper's{open_ones}."
            )
    return " ".join(told)


def claim(runs: pd.DataFrame, form: str) -> str:
    """On how many runs the paper's claim holds, as a sentence."""
    order, error = (
        runs[runs["label"].isin([label_of(method, form) for method in ("ce", "pn", "elb")])]
        .pivot(index=["split", "fold"], columns="method", values=column)
        .reindex(columns=["ce", "pn", "elb"])
        .dropna()
        for column in ("test_soi_predicted", "test_mae")
    )
    if order.empty:
        return "Not run yet."
    ordered = int((order["elb"] > order[["ce", "pn"]].max(axis=1)).sum())
    below = {method: int((error["elb"] < error[method]).sum()) for method in ("ce", "pn")}
    shares = {method: f"{number(100 * float(order[method].mean()), 1)} %" for method in ("elb", "pn", "ce")}
    return (
        f"On {ordered} of {counted(len(order), 'split')} ELB keeps more pairs in order than both others; its MAE is "
        f"lower than cross-entropy's on {below['ce']} and lower than the penalty's on {below['pn']}. Adjacent pairs in "
        f"order: {shares['elb']} with ELB, {shares['pn']} with the penalty, {shares['ce']} with cross-entropy."
    )


def first_place(runs: pd.DataFrame, beside: tuple[str, ...]) -> str:
    """ELB's error, as published, beside those of the methods next to it."""
    elb = row(runs, "elb", "as_published")
    told = []
    for label in [each for each in beside if each in set(runs["label"])]:
        each = against(runs, "test_mae", [label], str(elb["label"].iloc[0]))[0]
        name = runs.loc[runs["label"] == label, "name"].iloc[0]
        gap = _printed_mean("fgnet", label.removesuffix("-as_published"), "mae") - _printed_mean("fgnet", "elb", "mae")
        printed = "" if math.isnan(gap) else f"printed {number(gap, 2, signed=True)}; "
        told.append(
            f"{name} {number(each.mean, 2, signed=True)} ({printed}ELB lower on {each.above} of {each.n} splits, p "
            f"{p_value(each.p)})"
        )
    return (
        f"ELB's MAE is {number(float(elb['test_mae'].mean()), 2)} (printed "
        f"{number(_printed_mean('fgnet', 'elb', 'mae'), 2)}). Differences from it, p of each pair alone (corrected "
        f"resampled t-test): {'; '.join(told)}."
    )


def choice_of_epoch(runs: pd.DataFrame) -> str:
    """What ELB gains in error over cross-entropy by the code's choice of epoch, and by the same choice for both."""
    gains = {}
    for form in FORMS:
        both = row(runs, "elb", form).merge(row(runs, "ce", form), on=["split", "fold"], suffixes=("", "_ce"))
        gains[form] = float((both["test_mae_ce"] - both["test_mae"]).mean())
    printed = _printed_mean("fgnet", "ce", "mae") - _printed_mean("fgnet", "elb", "mae")
    return (
        f"On our own splits the gain is {number(gains['as_published'], 1)} years with the code's choice and "
        f"{number(gains['corrected'], 1)} with the lowest error for both; printed are {number(printed, 1)}."
    )


def one_peak(runs: pd.DataFrame) -> str:
    """How many of ELB's posteriors have one peak, beside its order."""
    elb = row(runs, "elb", "as_published")
    order, peaks = (100 * float(elb[f"test_{metric}"].mean()) for metric in ("soi_predicted", "unimodal"))
    return (
        f"With {number(order, 1)} % of its pairs in order, ELB has one peak in {number(peaks, 0)} % of its posteriors: "
        "one wrong pair of 69 is enough."
    )


def chosen_early(longer: pd.DataFrame, *, late: int = 200) -> str:
    """How many runs of all epochs chose one before the learning rate had fallen to 1e-5, as a sentence."""
    long = longer[longer["epochs"] > late]
    if long.empty:
        return "None of 1000 epochs yet."
    latest = long.sort_values("best_epoch").iloc[-1]
    return (
        f"Of {len(long)} runs of {long['epochs'].max()} epochs {int((long['best_epoch'] < late).sum())} choose one "
        f"before {late}; the latest chosen is {latest['best_epoch']} ({latest['name']})."
    )
