import itertools

import pytest

from onepeak.methods.catalog import METHODS
from onepeak.report.palette import faint, styles

PAPER = ("ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes")


def light(colour):
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_method_looks_the_same_whoever_stands_beside_it():
    alone = styles({"elb": "elb"})["elb"]
    among_all = styles({record.name: record.name for record in METHODS})["elb"]
    assert alone == among_all


def test_no_two_rows_look_the_same():
    rows = {record.name: record.name for record in METHODS}
    rows |= {"ld-as_published": "ld", "mv+elb": "mv+elb", "mine": "of my own"}
    looks = styles(rows)
    assert len(set(looks.values())) == len(rows)


def test_the_papers_methods_differ_in_colour():
    assert len({look.colour for look in styles({name: name for name in PAPER}).values()}) == len(PAPER)


@pytest.mark.parametrize("name", [record.name for record in METHODS])
def test_every_colour_can_be_seen_on_the_page_in_light_and_dark(name):
    colour = styles({name: name})[name].colour
    assert contrast(colour, "#ffffff") > 1.9
    assert contrast(colour, "#14171a") > 3


def test_variants_have_the_colour_of_their_method_and_another_dash():
    looks = styles({"ld": "ld", "ld-as_published": "ld", "ld+elb": "ld+elb"})
    assert len({look.colour for look in looks.values()}) == 1
    assert all(one.dash != other.dash for one, other in itertools.combinations(looks.values(), 2))


def test_a_faint_colour_keeps_its_hue():
    assert faint("#ff8000", 0.5) == "rgba(255,128,0,0.5)"
