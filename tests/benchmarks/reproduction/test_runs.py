import pytest

from reproduction.runs import figure, of_the_paper, read_runs, steps


def test_what_is_measured_after_the_temperature_stands_beside_the_metrics(runs):
    assert runs["test_rps_calibrated"].tolist() == [3.0] * len(runs)
    assert set(runs["selected_by"]) == {"mae", "loss"}


def test_a_run_without_calibration_has_no_such_figures(tmp_path, write_fgnet_run):
    write_fgnet_run(tmp_path, "ce", calibration={})
    assert figure(read_runs(tmp_path), "test_rps_calibrated") is None


def test_methods_are_called_as_in_the_paper_whatever_their_form_and_others_by_their_label(tmp_path, write_fgnet_run):
    write_fgnet_run(tmp_path, "ld", variant="as_published")
    write_fgnet_run(tmp_path, "slopes")
    write_fgnet_run(tmp_path, "elb", label="elb-t-2", method_settings={"t": 2.0})
    found = read_runs(tmp_path)
    assert set(found["name"]) == {"LD", "slopes", "elb-t-2"}
    assert of_the_paper(found)["name"].tolist() == ["LD"]  # the others are no rows of its table


def test_a_figure_is_mean_deviation_and_number_of_runs(runs):
    found = figure(runs[runs["name"] == "CE"], "test_mae")
    assert (found.mean, found.std, found.n) == (6.0, pytest.approx(1.0), 3)


def test_steps_leave_out_a_last_batch_of_one(runs):
    one = runs[runs["name"] == "CE"].head(1)
    assert steps(one) == 300 * 81  # 649 samples are 81 batches of 8, and one sample
    assert steps(one.assign(num_train=650)) == 300 * 82
