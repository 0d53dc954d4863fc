import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onepeak.methods.catalog import METHODS
from onepeak.report.palette import styles

PAPER = ("ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes")


def light(colour):
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_no_two_rows_look_the_same():
    rows = {record.name: record.name for record in METHODS}
    rows |= {"ld-as_published": "ld", "mv+elb": "mv+elb", "mine": "of my own"}
    looks = styles(rows)
    assert len(set(looks.values())) == len(rows)


OTHERS = [record.name for record in METHODS if record.name not in PAPER]


@given(st.lists(st.sampled_from([*PAPER, *OTHERS]), min_size=2, max_size=16, unique=True))
def test_as_long_as_there_are_colours_no_two_methods_share_one(names):
    looks = styles({name: name for name in names})
    assert len({look.colour for look in looks.values()}) == len(names)
    assert {look.dash for look in looks.values()} == {"solid"}


@given(st.permutations(OTHERS))
def test_the_order_of_rows_changes_no_colour(others):
    first, second = (styles({name: name for name in names}) for names in (OTHERS, others))
    assert all(first[name].colour == second[name].colour for name in OTHERS)


def test_a_method_keeps_its_colour_unless_another_in_the_report_has_it_by_name():
    alone = {name: styles({name: name})[name].colour for name in OTHERS}
    for one, other in itertools.combinations(OTHERS, 2):
        together = styles({one: one, other: other})
        moved = [name for name in (one, other) if together[name].colour != alone[name]]
        assert len(moved) == (alone[one] == alone[other])


def colour_as_seen(colour):
    """Its place in CIELAB, where distances are those that people see."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts])
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ linear / (0.9505, 1.0, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_no_two_colours_look_alike():
    colours = {look.colour for look in styles({record.name: record.name for record in METHODS}).values()}
    assert len(colours) == 16
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(colour_as_seen(one) - colour_as_seen(other)) > 20, (one, other)


def test_every_colour_can_be_seen_on_the_page_in_light_and_dark():
    for name in [record.name for record in METHODS]:
        colour = styles({name: name})[name].colour
        assert contrast(colour, "#ffffff") > 1.9
        assert contrast(colour, "#14171a") > 3


def test_variants_have_the_colour_of_their_method_and_another_dash():
    looks = styles({"ld": "ld", "ld-as_published": "ld", "ld+elb": "ld+elb"})
    assert len({look.colour for look in looks.values()}) == 1
    assert all(one.dash != other.dash for one, other in itertools.combinations(looks.values(), 2))
