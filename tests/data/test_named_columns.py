import pandas as pd
import pytest

from onepeak.data.named_columns import check_named
from onepeak.errors import InputError

FRAME = pd.DataFrame(columns=["site", "age", "label"])
TAKEN = {"label": "the column of labels", None: "no column"}


def test_columns_that_are_features_may_be_named_and_none_need_be():
    check_named(FRAME, "drop", ["site", "age"], taken=TAKEN)
    check_named(FRAME, "drop", (), taken=TAKEN, unused="a list of pictures")


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("names", "unused", "message"),
    [
        ("site", "", r"`drop` must be a list of columns, got the text 'site': write \['site'\]"),
        (["age"], "a list of pictures", r"`drop` \(--drop\) has no use for a list of pictures: leave it out"),
        (["label"], "", r"`drop` \(--drop\) must name columns that are features, got 'label', the column of labels"),
        (["ages"], "", r"Unknown column 'ages'\. Did you mean 'age'\? Known: site, age\. `drop` .* must name"),
    ],
)
def test_anything_else_is_refused(names, unused, message):
    with pytest.raises(InputError, match=message):
        check_named(FRAME, "drop", names, taken=TAKEN, unused=unused)
