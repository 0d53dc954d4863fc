from onepeak.serving.unlike import unlike_notes

START = "unlike the training, so that answers may mean nothing: "


def test_where_nothing_is_unlike_nothing_is_said():
    assert unlike_notes([], 5) == unlike_notes([], 1) == ()


def test_pictures_are_counted_by_statistic_and_the_first_are_named():
    found = [(f"{number}.png", ("contrast",)) for number in range(11)]
    found.append(("last.png", ("grain", "contrast")))
    first = ", ".join(f"{number}.png" for number in range(10))
    assert unlike_notes(found, 1200) == (
        f"{START}12 of 1,200 pictures, by contrast (12), grain (1): {first} and 2 more",
    )


def test_one_picture_needs_no_name():
    (note,) = unlike_notes([("item 0", ("brightness", "contrast"))], 1)
    assert note == "unlike the training, so that the answer may mean nothing: this picture, by brightness, contrast"
