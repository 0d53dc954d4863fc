import json
import shutil
from contextlib import suppress
from dataclasses import replace

import pytest
import torch

from cli.one_command import invoked
from http_server import asking
from onepeak._core import digests
from onepeak.cli.refer import refer as command
from onepeak.errors import InputError, UnknownNameError
from onepeak.posterior.predictions import Predictions
from onepeak.posterior.referral import Policy
from onepeak.serving import load
from onepeak.serving.http import create_app
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.referral import load_policy, refer, save_policy
from trained_models import table_run

ON_CPU = "--device=cpu"
ROWS = {"size": [0.1, 0.9, 1.5, 2.2], "tone": ["1", "2", "dark", "2"]}


def planted(count=600, *, seed=0, sharpness=2):
    """Right posteriors over four classes, and intervals that are often too wide."""
    generator = torch.Generator().manual_seed(seed)
    scores = 3 * torch.rand(count, 1, generator=generator)
    log_probs = (-sharpness * (torch.arange(4.0) - scores).square()).log_softmax(-1)
    truth = log_probs.exp().multinomial(1, generator=generator).squeeze(-1)
    predicted = log_probs.argmax(-1)
    intervals = torch.stack([(predicted - 1).clamp(min=0), (predicted + 1).clamp(max=3)], dim=-1)
    return Predictions(
        classes=tuple("abcd"), predicted_index=predicted, log_probs=log_probs, truth=truth, intervals=intervals
    )


def test_a_class_that_must_not_be_missed_is_found_at_far_fewer_referrals_than_by_the_rule_of_thumb():
    found = refer(planted(), at_least=2)
    option = found.options["probability"]
    assert option.sensitivity >= 0.95
    assert option.referred < 0.7 < found.rule.referred == 1
    assert option.auroc > 0.85
    fresh = planted(20_000, seed=1)
    reasons = found.chosen("probability").reasons(fresh)
    referred = torch.tensor([reason is not None for reason in reasons])
    assert referred[fresh.truth >= 2].double().mean() >= 0.95
    assert found.num_counting == int((planted().truth >= 2).sum())


def test_the_answers_that_are_given_are_right_as_often_as_asked():
    found = refer(planted(2000, sharpness=6), error=0.1)
    policy = found.chosen("probability")
    fresh = planted(20_000, seed=1, sharpness=6)
    answered = torch.tensor([reason is None for reason in policy.reasons(fresh)])
    wrong = fresh.predicted_index != fresh.truth
    assert 0.3 < answered.double().mean() < 1
    assert wrong[answered].double().mean() <= 0.1 < wrong.double().mean()
    risks = [risk for _, risk in found.curve["probability"]]
    assert risks[0] < 0.05 < 0.1 < risks[-1]


@pytest.mark.parametrize("aim", [{"at_least": 2, "sensitivity": 0.9}, {"error": 0.2}])
def test_what_is_measured_is_the_policy_that_runs_where_samples_are_unlike_the_training(aim):
    found = planted(2000, sharpness=6)
    unlike = torch.arange(2000) % 3 == 0
    found = replace(found, unlike=tuple(("features",) if odd else () for odd in unlike.tolist()))
    paradoxical = found.paradoxical.clone()
    measured = refer(found, **aim)
    assert torch.equal(found.paradoxical, paradoxical)
    policy, option = measured.chosen("probability"), measured.options["probability"]
    referred = torch.tensor([reason is not None for reason in policy.reasons(found)])
    wrong = found.predicted_index != found.truth
    assert option.referred == pytest.approx(referred.double().mean().item())
    assert option.error == pytest.approx(wrong[~referred].double().mean().item())
    usual = refer(found.take((~unlike).nonzero().flatten().tolist()), **aim)
    assert usual.chosen("probability") == policy


@pytest.fixture
def folder(tmp_path):
    """A model that refers what may be the highest class."""
    shutil.copytree(table_run().folder, tmp_path / "model")
    middle = load(tmp_path / "model").predict(ROWS).probs[:, 2].sort().values[1:3].mean().item()
    save_policy(tmp_path / "model", Policy(uncertainty="probability", threshold=middle, at_least=2))
    return tmp_path / "model"


def test_a_model_applies_its_policy_everywhere_and_whatever_is_asked_for(folder):
    model, rows = load(folder), ROWS
    found = model.predict(rows)
    expected = ["may be high or above" if row.probs[2] >= model.policy.threshold else None for row in found]
    assert expected.count(None) == 2
    assert list(found.refer) == expected == [row.refer for row in found]
    assert model.predict(rows, raw=True, project=True, decide="mean").refer == found.refer
    assert load(table_run().folder).predict(rows).refer == ()
    with asking(create_app(model)) as client:
        sent = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
        answers = client.post("/v1/predict", json={"rows": sent}).json()["predictions"]
    assert [answer["refer"] for answer in answers] == expected


def test_a_policy_comes_back_and_a_damaged_one_is_told(tmp_path):
    for policy in (
        Policy(uncertainty="entropy", threshold=float("inf")),
        Policy(uncertainty="distance", threshold=1.5),
    ):
        save_policy(tmp_path, policy)
        assert load_policy(tmp_path) == policy
    (tmp_path / "policy.json").write_text("{}")
    with pytest.raises(InputError, match=r"policy\.json must be a policy that onepeak wrote"):
        load_policy(tmp_path)


def test_a_policy_that_is_kept_when_the_process_dies_leaves_a_model_with_the_one_before_or_after(tmp_path, monkeypatch):
    first, second = (Policy(uncertainty="entropy", threshold=each) for each in (1.0, 2.0))
    write = digests.write_text_in_one_step
    for writes in range(4):
        folder = shutil.copytree(table_run().folder, tmp_path / str(writes))
        for before, after in ((None, first), (first, second)):
            left = iter(range(writes))
            with monkeypatch.context() as patched, suppress(StopIteration):
                patched.setattr(digests, "write_text_in_one_step", lambda *given: (next(left), write(*given)))  # noqa: B023
                save_policy(folder, after)
            assert load(folder).policy == (after if writes > 1 else before)
            save_policy(folder, after)
            assert len((folder / digests.DIGESTS).read_text().splitlines()) == len(digests.read_digests(folder))


def test_the_command_tells_every_uncertainty_and_keeps_the_policy(tmp_path):
    model, data = tmp_path / "model", table_run().folder.parent / "grades.csv"
    shutil.copytree(table_run().folder, model)
    flags = ["--at-least", "high", "--sensitivity", 0.8, "--confidence", 0.8, ON_CPU]
    result = invoked(command, model, data, *flags, "--save")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines[1:]][:4] == ["probability", "interval", "entropy", "expected error"]
    assert "kept with the model: at least 80.0% of high or above are referred, with 80% confidence" in result.stderr
    assert "Warning: the model was trained on" in result.stderr
    told = json.loads(invoked(command, model, data, *flags, "--json").stdout)
    assert told["options"]["probability"]["policy"]["threshold"] == load_policy(model).threshold
    assert any(row.refer for row in load(model).predict(data))
    with pytest.raises(UnknownNameError, match="Unknown `--at-least` class 'hgih'"):
        invoked(command, model, data, "--at-least", "hgih", ON_CPU)


def test_a_policy_for_patients_is_set_counted_and_followed_by_patient(tmp_path):
    model, data = tmp_path / "model", tmp_path / "photos.csv"
    shutil.copytree(table_run().folder, model)
    header, *lines = (table_run().folder.parent / "grades.csv").read_text().splitlines()
    rows = [f"{line},p{place // 3}" for place, line in enumerate(lines)]
    data.write_text("\n".join([f"{header},patient", *rows]))
    flags = ["--at-least", "high", "--sensitivity", 0.8, "--confidence", 0.8, "--group", "patient", ON_CPU]
    told = invoked(command, model, data, *flags, "--save", "--json")
    assert json.loads(told.stdout)["num_samples"] == 30
    policy = load_policy(model)
    assert policy.combine == "worst"
    assert policy.promise.startswith("at least 80.0% of high or above are referred (each group by the worst of its")
    loaded, groups = load(model), [row.rsplit(",", 1)[1] for row in rows]
    raw = loaded.predict(data, raw=True)
    found = loaded.read_groups(raw, groups, "worst", PosteriorOptions())
    reasons = policy.reasons(loaded.read(raw, PosteriorOptions()).combined(groups, "worst"))
    assert found.refer == reasons  # the group alone is judged
    mean = loaded.read_groups(raw, groups, "mean", PosteriorOptions()).refer
    assert sum(each is not None for each in mean) >= sum(each is not None for each in reasons)
    assert any("policy was set on groups" in note for note in raw.notes)


@pytest.mark.bad_input
def test_what_cannot_be_promised_or_has_no_effect_is_refused():
    with pytest.raises(InputError, match="No threshold by probability holds this on 20 samples"):
        refer(planted(20), at_least=3).chosen("probability")
    for both in ({}, {"at_least": 3, "error": 0.1}):
        with pytest.raises(InputError, match="Give either `at_least`"):
            refer(planted(20), **both)
    data = table_run().folder.parent / "grades.csv"
    told = invoked(command, table_run().folder, data, "--at-least", "high", "--sensitivity", 0.99, ON_CPU).stderr
    assert "No threshold can promise this, 30 of 90 samples count" in told
    assert "99.0% needs at least 299 that count; 30 allow 90.5% at most" in told
    assert "--save" not in told
    for flags, message in (
        (("--error", 0.1, "--sensitivity", 0.9), "`--sensitivity` has no effect with --error"),
        (("--error", 0.1, "--by", "entropy"), "`--by` has no effect without --save"),
    ):
        with pytest.raises(InputError, match=message):
            invoked(command, table_run().folder, data, *flags, ON_CPU)
