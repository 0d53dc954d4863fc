import re

import pytest

from onepeak.estimator.progress import progress


def test_nothing_is_shown_unless_it_is_asked_for(capsys):
    with progress(3, of="epochs", verbose=False) as done:
        done(1)
    assert capsys.readouterr() == ("", "")


def test_the_bar_is_on_stderr_and_full_at_the_end_however_little_was_needed(capsys):
    with progress(100, of="epochs", verbose=True) as done:
        done(7)
    output, errors = capsys.readouterr()
    assert output == ""
    assert re.search(r"epochs .* 100%", errors)


def test_a_fit_that_fails_leaves_the_bar_where_it_was(capsys):
    def fail():
        with progress(100, of="epochs", verbose=True) as done:
            done(7)
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        fail()
    assert re.search(r"epochs .* 7%", capsys.readouterr().err)
