"""`onepeak refer`: which predictions of a trained model a person should look at."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from onepeak.cli import options
from onepeak.cli.options import flag
from onepeak.cli.output import predict_command, print_json, print_note, print_notes, print_table, spinner

if TYPE_CHECKING:  # the packages behind it are loaded when the command runs, so that --help is fast
    from onepeak.serving.referral import Option, Referral

SOURCE: options.Flags = options.only(
    "root", "order", "label", "group", "path", "decimal", "encoding", "missing", "skip_bad"
)


@options.with_flags(source=SOURCE)
def refer(
    model: Path,
    data: str,
    source: dict[str, Any],
    at_least: Annotated[
        str | None, flag("Prediction", "--at-least", "Lowest class that must not be missed, such as severe.")
    ] = None,
    sensitivity: Annotated[
        float | None,
        flag("Prediction", "--sensitivity", "Share of samples of these classes to refer (default: 0.95)."),
    ] = None,
    error: Annotated[
        float | None,
        flag("Prediction", "--error", "Instead: largest share of wrong predictions among those not referred."),
    ] = None,
    confidence: Annotated[float, flag("Prediction", "--confidence", "Confidence that new data keep to this.")] = 0.95,
    by: Annotated[
        Literal["probability", "interval", "entropy", "expected error", "distance"] | None,
        flag("Prediction", "--by", "Uncertainty that --save compares with its threshold (default: probability)."),
    ] = None,
    combine: Literal["worst", "mean", "median"] | None = None,
    save: Annotated[
        bool, flag("Output", "--save", "Keep the policy with the model: predict and serve follow it.")
    ] = False,
    part: str | None = None,
    device: str = "auto",
    as_json: bool = False,
) -> None:
    """Sets which predictions a person must check, so that severe classes are not missed or few of the rest are wrong.

    Needs labelled data that the model was not trained on. For each measure of uncertainty it shows the threshold, the
    share of samples it refers, and what that achieves. The threshold holds for new samples like these, with the given
    confidence. Samples unlike the training data are always referred.

    Several samples of one patient are not independent. If the data have groups, the policy is set and counted per
    group, by the worst of its samples unless --combine says otherwise, and predict --group follows it.

    Example: onepeak refer model new.csv --at-least severe --sensitivity 0.95 --group patient --save
    """
    from onepeak._core.registry import unknown_name
    from onepeak.data.source import DataSource
    from onepeak.errors import InputError
    from onepeak.serving import load
    from onepeak.serving.evaluation import evaluate
    from onepeak.serving.evaluation_data import held_out, open_for
    from onepeak.serving.model import model_folder
    from onepeak.serving.referral import refer as referral_of
    from onepeak.serving.referral import save_policy

    if error is not None and sensitivity is not None:
        raise InputError("`--sensitivity` has no effect with --error: leave it out.")
    if by is not None and not save:
        raise InputError("`--by` has no effect without --save: all uncertainties are shown.")
    loaded = load(model, device=device)
    if at_least is not None and at_least not in loaded.classes:
        raise unknown_name("`--at-least` class", at_least, loaded.classes)
    manifest = open_for(loaded, DataSource(data, **source))
    if part is not None:
        manifest = held_out(manifest, loaded, model_folder(model), part, allow_leak=not save)  # type: ignore[arg-type]
    if combine is None and manifest.groups is not None and len(set(manifest.groups)) < len(manifest):
        combine = "worst"
    with spinner(f"Predicting {len(manifest):,} samples", quiet=as_json):
        measured = evaluate(loaded, manifest, skip_bad=source.get("skip_bad", False), combine=combine)
    found = referral_of(
        measured.prediction,
        at_least=None if at_least is None else loaded.classes.index(at_least),
        sensitivity=0.95 if sensitivity is None else sensitivity,
        error=error,
        confidence=confidence,
        combine=combine,
    )
    if measured.num_trained_on:
        seen = f"{measured.num_trained_on:,} of these {found.unit}s"
        seen = seen if combine is None else f"samples of {seen}"
        print_note(
            f"Warning: the model was trained on {seen}, so that the policy promises too much: use new data, or --part "
            "test."
        )
    chosen = found.chosen(by or "probability") if save else None
    if chosen is not None:
        save_policy(model_folder(model), chosen)
    if as_json:
        print_json(asdict(found))
        return
    print_notes(measured.notes)
    _show(found, at_least)
    if all(option.policy is None for option in found.options.values()):
        counting = f"{found.num_counting:,} of {found.num_samples:,} {found.unit}s count"
        needs = "" if error is not None else _needs(found, sensitivity or 0.95, confidence)
        print_note(f"No threshold can promise this, {counting}: give more data, or ask for less.{needs}")
    elif chosen is None:
        print_note(f"Next: the same with --save, so that predict and serve refer these {found.unit}s")
    else:
        of_groups = "" if combine is None else f" --group {manifest.group_column or 'COLUMN'} --combine {combine}"
        print_note(f"kept with the model: {chosen.promise}\nNext: {predict_command(model)}{of_groups}")


def _needs(found: "Referral", sensitivity: float, confidence: float) -> str:
    """How many must count even if none of them is missed, and what as many as there are allow."""
    fewest = math.ceil(math.log(1 - confidence) / math.log(sensitivity))
    most = (1 - confidence) ** (1 / max(found.num_counting, 1))
    return f" {sensitivity:.1%} needs at least {fewest:,} that count; {found.num_counting:,} allow {most:.1%} at most."


def _show(found: "Referral", at_least: str | None) -> None:
    rows = [_cells(name, option, at_least) for name, option in found.options.items()]
    rows.append(_cells("interval wider than a class, paradoxical or unlike", found.rule, at_least))
    caught = () if at_least is None else (f"found of {at_least} or above",)
    print_table(("refer by", "AUROC", "threshold", "referred", *caught, "wrong among the rest"), rows)


def _cells(name: str, option: "Option", at_least: str | None) -> tuple[str, ...]:
    caught = () if at_least is None else (option.sensitivity,)
    shares = ("" if math.isnan(share) else f"{share:.1%}" for share in (option.referred, *caught, option.error))
    if math.isnan(option.auroc):
        return name, "", "", *shares
    threshold = "none holds" if option.policy is None else f"{option.policy.threshold:.4g}"
    return name, f"{option.auroc:.3f}", threshold, *shares
