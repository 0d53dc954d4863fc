"""The pages as a user meets them: in a real Chromium, in both themes, on a laptop and a phone.

Long because one browser and one server serve all of them.
"""

import itertools
import math
import re
import shutil
from contextlib import contextmanager

import pytest
from PIL import Image
from starlette.testclient import TestClient

from onepeak.data.datasets.biopsies import GRADES
from onepeak.serving.http import create_app
from onepeak.serving.inspector import open_inspection
from onepeak.serving.inspector.inspection import Filter
from onepeak.serving.inspector.router import try_router
from onepeak.serving.posterior_options import PosteriorOptions
from table_models import CALIBRATION, table_model

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("needs a browser: install Debian's package chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'onepeak[dev]'")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
expect = sync_api.expect
expect.set_options(timeout=30_000)  # a machine may be busy with other tests

LAPTOP, PHONE = (1280, 860), (390, 844)
SAMPLE = "/sample/0-0/20?method=ce"
PAGES = {
    "/": "#tradeoff[data-drawn]",
    "/samples": "#grid li",
    SAMPLE: "#chosen[data-drawn]",
    "/map": "#points[data-drawn]",
    "/confusion": "#matrix td a",
    "/labels?label=3": "#rows .chart[data-drawn]",
    "/try": "#drop",
}
"""Every page, and what is there once it is whole."""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def context(browser):
    """A browser's memory for each size of the screen: shared, so that the charts' script is loaded once."""
    made = {}

    def get(size):
        if size not in made:
            phone = size == PHONE
            view = {"width": size[0], "height": size[1]}
            made[size] = browser.new_context(viewport=view, color_scheme="light", has_touch=phone, is_mobile=phone)
        return made[size]

    return get


@pytest.fixture
def opened(context, address):
    """Opens pages, with some answers changed on their way; fails at the end if one wrote an error to the console."""
    errors = []

    @contextmanager
    def page(path, *, size=LAPTOP, answers=None):
        shown = context(size).new_page()
        if answers is None:  # else a refused answer is an error of the console
            shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        shown.on("pageerror", lambda error: errors.append(str(error)))
        for pattern, change in (answers or {}).items():
            shown.route(pattern, answering(change))
        shown.goto(address + path)
        yield shown
        shown.evaluate("localStorage.clear()")
        shown.close()

    yield page
    assert errors == []


def answering(change):
    """Hands the browser the server's answer with the entries that a function of it gives."""

    def answer(route):
        found = route.fetch()
        route.fulfill(response=found, json=found.json() | change(found.json()))

    return answer


def predicted(**values):
    """Of what /v1/predict answers, the entries with other values for its first image."""
    return lambda found: {"predictions": [found["predictions"][0] | values]}


@pytest.fixture(scope="module")
def image(compared):
    return next((compared.parent / "data").rglob("*.png"))


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_whole_and_accessible_on_a_laptop_and_a_phone_light_and_dark(opened, path):
    with opened(path) as page:
        for size, scheme in itertools.product((LAPTOP, PHONE), ("light", "dark")):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.emulate_media(color_scheme=scheme)
            expect(page.locator("html")).to_have_attribute("data-theme", scheme)
            place = page.locator(PAGES[path]).first
            place.scroll_into_view_if_needed()
            expect(place).to_be_visible()
            expect(page.locator("#problem")).to_be_hidden()
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
            for link in page.locator(".top nav a").all():
                assert (box := link.bounding_box())["x"] + box["width"] <= size[0]
            found = axe.Axe().run(page).response["violations"]
            assert [(size, scheme, each["id"], each["nodes"][0]["html"][:200]) for each in found] == []


UNDERSTOOD = "async prediction => (await import('/static/posterior.js')).understood(prediction)"


def test_what_follows_from_a_posterior_is_worked_out_by_hand(opened):
    probs = [0.1, 0.05, 0.5, 0.1, 0.25]
    with opened("/samples") as page:
        found = page.evaluate(UNDERSTOOD, {"log_probs": [math.log(each) for each in probs], "predicted": 2})
        assert found["probs"] == pytest.approx(probs)
        assert (found["mode"], found["median"], found["ranking"]) == (2, 2, [2, 4, 3])
        pairs = [{"inner": 1, "outer": 0, "tie": False}, {"inner": 3, "outer": 4, "tie": False}]
        assert found["violations"] == pairs
        tied = page.evaluate(UNDERSTOOD, {"log_probs": [-1.5, -1.5, -1, None], "predicted": 2})
        assert (tied["violations"], tied["ranking"]) == ([{"inner": 1, "outer": 0, "tie": True}], [2, 1, 0])


def test_a_point_of_the_map_opens_its_sample_and_a_mark_its_list(opened):
    with opened("/map?method=elb&colour=distance") as page:
        expect(page.locator("#points[data-drawn]")).to_be_visible()
        expect(page.locator("[name=colour]")).to_have_value("distance")
        expect(page.locator("#summary")).to_contain_text("25 samples")
        box = page.locator("#points .scatterlayer .point").first.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(page).to_have_url(re.compile(r"/sample/0-0/20\?method=elb&part=0-0"))
        page.go_back()
        page.get_by_role("link", name="2 that nearly coincide").click()
        expect(page.locator("#grid li")).to_have_count(2)
        expect(page.get_by_label("Near-duplicates only")).to_be_checked()


def test_the_table_is_sorted_by_a_click_and_by_its_address_and_opens_samples(opened):
    with opened("/?sort=row&direction=down") as page:
        names = page.locator("#methods tbody th")
        expect(names).to_have_text(["elb", "ce"])
        page.get_by_role("button", name="Method").click()
        expect(names).to_have_text(["ce", "elb"])
        expect(page.locator("#methods th[data-key=row]")).to_have_attribute("aria-sort", "ascending")
        page.go_back()
        expect(names).to_have_text(["elb", "ce"])
        page.get_by_role("button", name="Dark colours").click()
        page.locator("#methods").get_by_role("link", name="elb").click()
        expect(page).to_have_url(re.compile(r"/samples\?method=elb$"))
        expect(page.locator("select[name=method]")).to_have_value("elb")
        expect(page.locator("#found")).to_have_text("1 to 50 of 50 samples")
        expect(page.locator("#grid img").first).to_have_js_property("naturalWidth", 32)
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")  # is remembered
        expect(page.get_by_role("button", name="Dark colours")).to_have_attribute("aria-pressed", "true")


def test_chance_is_told_where_it_is_not_drawn(opened):
    with opened("/", answers={"**/v1/inspect/overview": lambda _: {"upward": [0.985, 1.005]}}) as page:
        expect(page.locator("#tradeoff .legendtext")).to_have_text(["ce", "elb"])
        assert not page.locator("#tradeoff").get_by_text("random guessing").count()
        expect(page.locator("#unseen")).to_contain_text("lies below the range shown")


def test_curves_asked_for_before_they_are_there_are_shown_when_they_come(opened):
    held = []
    with opened("/") as page:
        expect(page.locator("#curves-table tbody tr").first).to_be_attached()  # what the first load asked for has come
        page.route("**/v1/inspect/curves", lambda route: held.append(route))
        with page.expect_request("**/v1/inspect/curves"):
            page.reload(wait_until="commit")
        page.get_by_role("button", name="SOI", exact=True).last.click()
        held[0].continue_()
        page.get_by_text("Curves as a table").click()
        expect(page.locator("#curves-table tbody tr").first).to_contain_text("70.0 %")


def test_filters_write_the_address_and_the_back_button_takes_them_back(opened):
    with opened("/samples?method=ce") as page:
        found = page.locator("#found")
        expect(found).to_have_text("1 to 50 of 50 samples")
        page.get_by_label("Error at least").fill("2")
        expect(page).to_have_url(re.compile(r"error=2"))
        expect(found).not_to_have_text("1 to 50 of 50 samples")
        fewer = found.inner_text()
        page.get_by_label("Split").select_option("split 1")
        expect(page).to_have_url(re.compile(r"part=1-0"))
        expect(found).not_to_have_text(fewer)
        page.go_back()
        expect(found).to_have_text(fewer)
        expect(page.get_by_label("Error at least")).to_have_value("2")
        page.get_by_role("button", name="Clear filters").click()
        expect(found).to_have_text("1 to 50 of 50 samples")
        page.keyboard.press("/")
        expect(page.get_by_label("Search")).to_be_focused()
        page.keyboard.type("nothing like this")
        expect(found).to_contain_text("No sample matches")


def test_an_address_opens_the_state_it_names(opened):
    link = "/samples?method=elb&part=0-0&truth=3&error=1&soi=0.9&paradoxical=true&search=g4&sort=disorder"
    with opened(link) as page:
        for name, value in {"method": "elb", "part": "0-0", "truth": "3", "error": "1", "soi": "90"}.items():
            expect(page.locator(f"[name={name}]")).to_have_value(value)
        expect(page.get_by_label("Paradoxical only")).to_be_checked()
        expect(page.get_by_label("Search")).to_have_value("g4")
        expect(page.get_by_label("Sort")).to_have_value("disorder")


def test_the_keyboard_moves_over_the_grid_and_through_the_samples(opened):
    with opened("/samples?method=ce&sort=error") as page:
        cards = page.locator("#grid a")
        expect(cards).to_have_count(50)
        page.keyboard.press("ArrowRight")
        expect(cards.nth(0)).to_be_focused()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        expect(cards.nth(1)).to_be_focused()
        second = cards.nth(1).get_attribute("href")
        page.keyboard.press("Enter")
        expect(page.locator("#position")).to_have_text("2 of 50 samples")
        assert page.url.endswith(second)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#position")).to_have_text("3 of 50 samples")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#position")).to_have_text("2 of 50 samples")
        page.keyboard.press("Escape")
        expect(page).to_have_url(re.compile(r"/samples\?method=ce&sort=error$"))
        expect(cards.nth(1)).to_be_focused()  # where one was


def test_a_cell_of_the_confusion_matrix_opens_its_samples(opened):
    with opened("/confusion?method=elb") as page:
        cell = page.locator("#matrix td a").first
        count = cell.inner_text()
        cell.click()
        expect(page.locator("select[name=method]")).to_have_value("elb")
        expect(page.locator("#found")).to_contain_text(f"of {count} sample")


def test_another_method_is_laid_over_and_a_note_is_kept(opened):
    with opened("/samples?method=ce&other=elb") as page:
        expect(page.locator("#grid .spark .other").first).to_be_visible()
        assert page.get_by_role("link", name="Export as CSV").get_attribute("href").endswith("method=ce&other=elb")
        page.locator("#grid a").first.click()
        expect(page.locator("#chosen .legend")).to_contain_text("elb")
        page.get_by_label("Note", exact=True).fill("blurred")
        page.get_by_label("Flag").check()
        expect(page.locator("#saved")).to_have_text("Saved.")
        page.get_by_role("link", name="All samples").click()
        expect(page.locator("#grid .badge", has_text="flagged")).to_have_attribute("title", "blurred")


def test_the_map_lies_over_the_image_as_strong_as_the_slider_says_or_beside_it(opened):
    with opened(SAMPLE) as page:
        evidence = page.locator("#seen .evidence")
        page.get_by_label("Opacity").fill("10")
        expect(evidence).to_have_css("opacity", "0.1")
        expect(page.locator("#scale i")).to_have_css("opacity", "0.1")
        page.get_by_label("Side by side").check()
        expect(page.locator("#seen .plain-image")).to_be_visible()
        image, over = (page.locator(f"#seen {each}").bounding_box() for each in (".plain-image", ".evidence"))
        assert over["x"] >= image["x"] + image["width"]


def test_one_sample_shows_all_methods_and_the_chosen_one_large(opened):
    with opened(SAMPLE) as page:
        expect(page.locator("#methods h3")).to_have_text(["ce", "elb"])
        expect(page.locator("#chosen-title")).to_contain_text("ce")
        expect(page.locator("#verdict")).to_contain_text("of adjacent classes are in order")
        expect(page.locator("#violations h3")).to_contain_text("of 7 pairs out of order")
        expect(page.locator("#actions li")).to_have_count(3)
        expect(page.locator("#verdict")).to_contain_text("What would be done: treatment ")
        page.locator("#methods").get_by_role("link", name="elb").click()
        expect(page).to_have_url(re.compile("method=elb"))
        expect(page.locator("#chosen-title")).to_contain_text("elb")
        page.go_back()
        expect(page.locator("#chosen-title")).to_contain_text("ce")
        page.get_by_text("All probabilities as a table").click()
        expect(page.locator("#numbers tbody tr")).to_have_count(8)


def test_the_scale_of_evidence_is_told_and_that_of_a_model_without_one_is_no_scale(opened):
    def earlier(found):
        ce, elb = found["answers"]
        return {"answers": [ce, elb | {"evidence_range": None}]}

    with opened(SAMPLE, answers={"**/v1/inspect/sample/**": earlier}) as page:
        expect(page.locator("#scale")).to_have_text("012.5 and more")
        expect(page.locator("#scale .ramp")).to_be_visible()
        expect(page.locator("#scale-note")).to_contain_text("One scale for all images and classes of this model")
        page.get_by_label("Scale of this map alone").check()
        expect(page.locator("#scale-note")).to_contain_text(re.compile("do not compare it with others.$"))
        expect(page.locator("#scale")).to_be_empty()
        page.locator("#methods").get_by_role("link", name="elb").click()
        expect(page.locator("#scale-note")).to_contain_text("This model recorded no scale")
        expect(page.locator("#scale")).to_be_empty()
        expect(page.locator("#seen-note")).to_be_empty()


def test_the_evidence_for_any_class_is_chosen_from_a_list_or_by_its_bar(opened, compared):
    predictions = open_inspection(compared).posteriors.sample("0-0", 20, Filter(method="ce"))
    first, answer = GRADES[0], predictions.answers[0].answer
    with opened(SAMPLE) as page:
        own = page.evaluate(UNDERSTOOD, {"log_probs": answer.log_probs, "predicted": answer.predicted})
        out = {pair["outer"] for pair in own["violations"]}
        likely = max(set(range(len(GRADES))) - out - {0, answer.predicted}, key=lambda place: own["probs"][place])
        bar_place = sorted(set(range(len(GRADES))) - out).index(likely)  # those out of order are a trace of their own
        asked, evidence = page.get_by_label("Evidence for"), page.locator("#seen .evidence")
        expect(asked).to_have_value(str(answer.predicted))
        expect(asked.locator(f"[value='{answer.predicted}']")).to_contain_text("predicted")
        expect(asked.locator(f"[value='{predictions.truth}']")).to_contain_text("true")
        expect(evidence).to_be_visible()
        with page.expect_response("**/evidence/0-0/20?method=ce&label=0"):
            asked.select_option(label=first)
        bar = page.locator("#chosen .trace.bars").first.locator(".point path").nth(bar_place)
        expect(page.locator("#chosen[data-drawn]")).to_be_visible()
        box = bar.bounding_box()
        with page.expect_response(f"**/evidence/0-0/20?method=ce&label={likely}"):
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(asked).to_have_value(str(likely))
        with page.expect_response(f"**/evidence/0-0/20?method=elb&label={likely}"):
            page.locator("#methods").get_by_role("link", name="elb").click()
        expect(page.locator("#chosen-title")).to_contain_text("elb")
        expect(evidence).to_have_count(1)


def test_what_does_not_come_is_told_in_a_sentence(opened, tmp_path):
    with opened("/sample/0-0/0", answers={}) as page:
        expect(page.get_by_role("alert")).to_contain_text("is not in the test set of split 0-0")
        page.route("**/evidence/**", lambda route: route.fulfill(status=503))
        page.goto(page.url.replace("/0-0/0", "/0-0/20?method=ce"))
        expect(page.locator("#seen-note")).to_contain_text("could not be loaded")
        expect(page.locator("#overlay-control")).to_be_hidden()
        expect(page.locator("#seen img")).to_have_count(1)
        page.unroute("**/evidence/**")
        page.locator("#methods").get_by_role("link", name="elb").click()
        expect(page.locator("#seen .evidence")).to_be_visible()
        expect(page.locator("#seen-note")).to_be_empty()
    (tmp_path / "notes.txt").write_text("no image")
    with opened("/try", answers={}) as page:
        page.locator("#file").set_input_files(tmp_path / "notes.txt")
        expect(page.get_by_role("alert")).to_contain_text("not an image in a known format")


def test_the_labels_play_by_themselves_and_stop(opened):
    with opened("/labels?label=3") as page:
        expect(page.locator("#shown")).to_have_text("g4")
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#shown")).to_have_text("g5")
        page.get_by_role("button", name="Pause").click()
        page.get_by_label("Predicted class").press("Home")
        expect(page.locator("#shown")).to_have_text("g1")
        expect(page).to_have_url(re.compile("label=0"))
        expect(page.locator("#rows figcaption p").first).not_to_be_empty()


def test_an_image_can_be_tried_and_several_of_one_patient_together(opened, compared):
    with opened("/try") as page:
        images = sorted((compared.parent / "data").rglob("*.png"))[:3]
        expect(page.locator("#asked")).to_have_text("The model is elb.")
        page.locator("#file").set_input_files(images[0])
        expect(page.locator("#result-title")).to_contain_text("g")
        expect(page.locator("#chosen[data-drawn]")).to_be_visible()
        expect(page.locator("#seen canvas.evidence")).to_be_visible()
        # of the highest class of the interval
        expect(page.locator("#verdict")).to_contain_text(
            re.compile(r"interval is (?:g\d to )?g(\d)\. What would be done: treatment \1\.")
        )
        page.locator("#file").set_input_files(images)
        expect(page.locator("#several li")).to_have_count(3)
        expect(page.locator("#result-title")).to_contain_text(re.compile("All 3 images: (between )?g"))
        page.locator("#several button").nth(1).click()
        expect(page.locator("#seen canvas.evidence")).to_be_visible()
        expect(page.locator("#result-title")).not_to_contain_text("All 3")


PEAK = (
    "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, 1).data.filter((_, place) => place % 4 === 3)"
    ".reduce((most, each) => Math.max(most, each), 0)"
)
"""The opacity of the most opaque pixel."""


@pytest.mark.parametrize(
    ("evidence", "ends", "opacity"),
    [([[-1.0, 1.25]], [0.0, 12.5], 38), ([[-1.0, 99.0]], [0.0, 12.5], 255), ([[-1.0, 1.25]], None, 255)],
)
def test_an_image_with_little_evidence_has_a_pale_map_on_the_scale_of_the_model(opened, image, evidence, ends, opacity):
    model = {"**/v1/model": lambda _: {"evidence_range": ends}}
    with opened("/try", answers=model | {"**/v1/predict?*": predicted(evidence=evidence)}) as page:
        page.locator("#file").set_input_files(image)
        canvas = page.locator("#seen canvas.evidence")
        expect(canvas).to_be_visible()
        assert canvas.evaluate(PEAK) == pytest.approx(opacity, abs=1)
        expect(page.locator("#scale .ramp")).to_have_count(0 if ends is None else 1)


def test_the_evidence_of_a_image_that_the_browser_cannot_show_lies_on_a_plain_ground(opened, image, tmp_path):
    Image.open(image).resize((64, 32)).save(tmp_path / "scan.tif")
    with opened("/try") as page:
        page.locator("#file").set_input_files(tmp_path / "scan.tif")
        expect(page.locator("#seen-note")).to_have_text(
            "Your browser cannot show this file, but the model has read it."
        )
        expect(page.locator("#seen img")).to_have_count(0)
        box = page.locator("#seen canvas.evidence").bounding_box()
        assert box["width"] > 200
        assert box["width"] / box["height"] == pytest.approx(2, rel=0.05)
        expect(page.locator("#overlay-control")).to_contain_text("Brighter is more")
        page.locator("#file").set_input_files(image)
        expect(page.locator("#seen img")).to_have_js_property("naturalWidth", 32)
        expect(page.locator("#seen-note")).to_be_empty()


SURE = {"unimodal": True, "paradoxical": False, "interval": [3, 3], "label": 3, "unlike": []} | {
    "log_probs": [-5.0, -4.0, -3.0, -0.5, -3.0, -4.0, -5.0, -6.0]
}


@pytest.mark.parametrize(
    ("values", "title", "marks"),
    [
        ({}, "g4", ["one peak"]),
        ({"unlike": ["contrast"]}, "g4", ["one peak", "unlike the training"]),
        ({"interval": [2, 5]}, "between g3 and g6", ["unsure", "one peak"]),
        ({"refer": "may be g6"}, "g4", ["one peak", "ask a person"]),
    ],
    ids=["sure", "unlike", "unsure", "referred"],
)
def test_an_answer_is_good_only_if_its_interval_is_one_class_and_it_is_like_the_training(
    opened, image, values, title, marks
):
    with opened("/try", answers={"**/v1/predict?*": predicted(**SURE | values)}) as page:
        page.locator("#file").set_input_files(image)
        expect(page.locator("#chosen[data-drawn]")).to_be_visible()
        expect(page.locator("#result-title")).to_contain_text(f"{title} ")
        expect(page.locator("#result-title .badge")).to_have_text(marks)
        expect(page.locator("#result-title .badge.good")).to_have_count(0 if values else 1)
        says = f"Unsure: {title}, most likely g4" if "interval" in values else f"Predicts {title}"
        expect(page.locator("#verdict")).to_contain_text(says)


NO_TELLING = "The interval holds all classes: the model cannot tell them apart."
FLAT = {
    "interval": [0, 7], "unimodal": True, "paradoxical": False, "label": 3, "predicted": 3,
    "log_probs": [-2.3, -2.2, -2.1, -1.9, -2.0, -2.1, -2.2, -2.3],
}  # fmt: skip


def test_an_interval_of_all_classes_is_told_beside_one_peak_where_a_model_is_tried(opened, image):
    with opened("/try") as page:
        page.locator("#file").set_input_files(image)
        expect(page.locator("#chosen[data-drawn]")).to_be_visible()
        expect(page.locator("#doubts")).to_be_empty()
        page.route("**/v1/predict*", answering(predicted(**FLAT)))
        page.locator("#file").set_input_files([])
        page.locator("#file").set_input_files(image)
        expect(page.locator("#doubts .warn-text")).to_have_text(NO_TELLING)
        expect(page.locator("#result-title .badge")).to_have_text(["cannot tell", "one peak"])
        expect(page.locator("#result-title .badge.good")).to_have_count(0)


def test_an_interval_of_all_classes_is_told_of_the_method_that_has_it(opened):
    def flat(found):
        ce, elb = found["answers"]
        narrower = FLAT | {"interval": [1, 7]}
        return {"answers": [ce | {"answer": ce["answer"] | FLAT}, elb | {"answer": elb["answer"] | narrower}]}

    with opened(SAMPLE, answers={"**/v1/inspect/sample/**": flat}) as page:
        expect(page.locator("#doubts .warn-text")).to_have_text(NO_TELLING)
        expect(page.locator("#violations .good-text")).to_have_count(0)
        page.locator("#methods").get_by_role("link", name="elb").click()
        expect(page.locator("#violations")).to_contain_text("The posterior falls away")
        expect(page.locator("#violations .good-text")).to_have_count(0)
        expect(page.locator("#doubts")).to_be_empty()


def test_long_names_of_classes_are_all_shown_in_small_charts(opened):
    long = {"**/v1/inspect/about": lambda _: {"classes": [f"proliferative {grade}" for grade in range(8)]}}
    with opened(SAMPLE, answers=long) as page:
        page.locator("#methods li").first.scroll_into_view_if_needed()
        names = page.locator("#methods .chart[data-drawn]").first.locator(".xtick text")
        expect(names.last).to_be_attached()
        assert [name.is_visible() for name in names.all()] == [True] * 8


def test_a_row_of_a_table_can_be_tried(context):
    """Without a second server: the browser is handed the answers here."""
    model = table_model("elb", calibration=CALIBRATION)
    posterior_options = PosteriorOptions(alpha=0.25, raw=True)
    router = try_router(model, posterior_options=posterior_options)
    app = create_app(model, posterior_options=posterior_options, extra_routers=[router])
    client = TestClient(app, base_url="http://localhost")

    def answer(route):
        request = route.request
        path = request.url.removeprefix("http://localhost")
        predictions = client.request(request.method, path, content=request.post_data_buffer, headers=request.headers)
        route.fulfill(status=predictions.status_code, headers=dict(predictions.headers), body=predictions.content)

    page = context(LAPTOP).new_page()
    page.route("http://localhost/**", answer)
    page.goto("http://localhost/")
    page.get_by_label("age", exact=True).fill("44.5")
    page.get_by_label("tone").select_option("dark")
    page.get_by_role("button", name="Ask the model").click()
    expected = model.predict([{"age": 44.5, "tone": "dark", "dose": None}], alpha=0.25, raw=True)
    expect(page.locator("#result-title")).to_contain_text(expected.headline[0])
    expect(page.locator("#seen dd")).to_have_text(["44.5", "dark", "missing"])
    expect(page.locator("#verdict")).to_contain_text("the 75 % interval is")
    expect(page.locator("#chosen .legend")).to_contain_text("raw posterior")
    page.close()
