import numpy as np
import pytest

from onepeak.report.tally import MOST_SUSPECTS, Tally, TestPart


def part_of(probs, labels, predicted=None, items=None):
    log_probs = np.log(np.asarray(probs, dtype=np.float32))
    labels = np.asarray(labels)
    return TestPart(
        item=np.arange(len(labels)) if items is None else np.asarray(items),
        label=labels,
        predicted=log_probs.argmax(axis=1) if predicted is None else np.asarray(predicted),
        log_probs=log_probs,
    )


ORDERED, TWO_PEAKS, APART = [0.1, 0.6, 0.2, 0.1], [0.1, 0.5, 0.05, 0.35], [0.45, 0.1, 0.05, 0.4]


def tally_of(*parts, shown_per_run=10, most_shown=10):
    tally = Tally(num_classes=4, shown_per_run=shown_per_run, most_shown=most_shown)
    for split, part in enumerate(parts):
        tally.add(part, split=split, fold=0)
    return tally


def test_everything_is_counted_over_the_runs():
    tally = tally_of(part_of([ORDERED, TWO_PEAKS], [1, 2]), part_of([APART], [0]))
    assert tally.num_predictions == 3
    assert tally.confusion.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    # in order; one pair (third to fourth) climbs; the same pair climbs again
    assert tally.violations.tolist() == [1, 2, 0, 0]
    assert tally.paradoxical == pytest.approx(2 / 3)


def test_violations_are_counted_to_the_label_decided_on():
    assert tally_of(part_of([ORDERED], [1], predicted=[0])).violations.tolist() == [0, 1, 0, 0]


def test_the_strongest_suspects_are_far_apart_and_meant():
    tally = tally_of(part_of([ORDERED, TWO_PEAKS, APART], [1, 1, 0], items=[7, 8, 9]))
    # three steps times 0.4 is more than two steps times 0.35
    assert [(each.item, each.strength) for each in tally.suspects] == [
        (9, pytest.approx(1.2)),
        (8, pytest.approx(0.7)),
    ]


def test_only_so_many_suspects_are_kept_of_many_runs():
    runs = [part_of([APART, TWO_PEAKS] * 10, [0] * 20) for _ in range(3)]
    suspects = tally_of(*runs).suspects
    assert len(suspects) == MOST_SUSPECTS
    assert all(each.strength == pytest.approx(1.2) for each in suspects)


def test_the_posteriors_shown_come_from_several_runs_and_are_no_more_than_asked_for():
    runs = [part_of([ORDERED] * 5, [1] * 5), part_of([TWO_PEAKS] * 5, [1] * 5), part_of([APART] * 5, [0] * 5)]
    shown = tally_of(*runs, shown_per_run=2, most_shown=3).posteriors
    assert sorted(shown) == [0, 1]
    assert np.allclose(shown[1], [ORDERED, ORDERED, TWO_PEAKS])
    assert len(shown[0]) == 2


def test_a_tally_of_nothing_has_no_share():
    assert tally_of().paradoxical == 0
