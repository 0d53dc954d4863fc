import pytest

from onepeak.data.spelling import looks_like, variant_of


@pytest.mark.parametrize(
    ("label", "names", "found"),
    [
        ("In-Situ", ["benign", "in situ"], "in situ"),
        ("middle", ["mid"], "mid"),
        ("mid", ["high", "middle"], "middle"),
        ("mid", ["middle", "Mid"], "Mid"),  # which is nearer
        ("grade 9", ["grade 2"], None),
        ("grade 1", ["grade 10"], None),
        ("7", ["70"], None),
        ("7", ["7+"], "7+"),
        ("unknown", ["known"], None),
        ("bening", ["benign"], None),
        ("++", ["--", "low"], None),  # nothing is left to compare
    ],
)
def test_a_variant_agrees_or_begins_as_the_name_and_has_its_digits(label, names, found):
    assert variant_of(label, names) == found


def test_what_looks_like_a_name_is_a_guess():
    assert looks_like("bening", ["low", "benign"]) == "benign"
    assert looks_like("In Situ", ["insitu", "in sit"]) == "insitu"
    assert looks_like("x", ["low", "benign"]) is None
