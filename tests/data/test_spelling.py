import pytest

from onepeak.data.spelling import meant_by


@pytest.mark.parametrize(
    ("label", "names", "found"),
    [
        ("In-Situ", ["benign", "in situ"], "in situ"),
        ("In Situ", ["insitu", "in sit"], "insitu"),
        ("severe?", ["severe"], "severe"),
        ("mid", ["middle", "Mid"], "Mid"),  # which is nearer
        ("7", ["7+"], "7+"),
        ("IV?", ["III", "IV"], "IV"),
    ],
)
def test_names_are_the_same_whatever_their_case_and_signs(label, names, found):
    assert meant_by(label, names) == found


@pytest.mark.parametrize(
    ("label", "names", "found"),
    [
        ("middle", ["mid"], "mid"),
        ("mid", ["high", "middle"], "middle"),
        ("low gra", ["low grade"], "low grade"),
        ("mod", ["moderate", "modifiable"], None),  # which of them?
        ("n", ["normal"], None),
        ("no", ["normal"], None),
        ("not graded", ["no"], None),
        ("poor quality, cannot grade", ["poor"], None),
        ("mild", ["mild and something more"], None),
        ("x", ["low", "benign"], None),
    ],
)
def test_a_name_is_known_by_the_beginning_of_its_last_word(label, names, found):
    assert meant_by(label, names) == found


@pytest.mark.parametrize(
    ("label", "names", "found"),
    [
        ("bening", ["low", "benign"], "benign"),
        ("moderte", ["moderate"], "moderate"),
        ("grade 2 (larg)", ["grade 2 (large)", "grade 3 (large)"], "grade 2 (large)"),
    ],
)
def test_a_slip_of_the_pen_is_asked_about(label, names, found):
    assert meant_by(label, names) == found


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("grade 9", "grade 2"),
        ("grade 1", "grade 10"),
        ("7", "70"),
        ("II", "I"),
        ("stage IV", "stage I"),
        ("stage_iv", "stage_ii"),
        ("unknown", "known"),
        ("normal", "abnormal"),
        ("++", "--"),  # nothing is left to compare
        ("++", "+++"),
        ("++", "low"),
        ("low", "++"),
    ],
)
def test_what_has_other_numbers_or_only_ends_alike_is_another_name(label, name):
    assert meant_by(label, [name]) is None
