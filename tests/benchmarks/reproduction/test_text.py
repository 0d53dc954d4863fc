import doctest

import pytest

from onepeak.errors import InputError
from reproduction import text


def test_the_examples_hold():
    found = doctest.testmod(text)
    assert found.attempted >= 5
    assert not found.failed


def test_what_stands_between_marks_is_replaced_and_nothing_else():
    page = "before\n<!-- made: a -->\nold\n<!-- end of made -->\nbetween\n<!-- made: b -->\n<!-- end of made -->\nafter"
    made = text.filled(page, {"a": lambda: "one", "b": lambda: "two", "c": lambda: pytest.fail("nobody asks")})
    words = [word for word in made.split() if word.isalpha() and word not in {"made", "end", "of", "a", "b"}]
    assert words == ["before", "one", "between", "two", "after"]
    assert text.filled(made, {"a": lambda: "one", "b": lambda: "two"}) == made


@pytest.mark.bad_input
def test_a_page_that_asks_for_what_is_not_made_is_told_of():
    with pytest.raises(InputError, match=r"A page asks for 'table', which is not made\. Known: state, order\."):
        text.filled("<!-- made: table -->\n<!-- end of made -->", {"state": str, "order": str})
