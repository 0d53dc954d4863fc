from starlette.testclient import TestClient

from onepeak.serving.http import create_app
from onepeak.serving.inspector.try_page import model_card, model_columns, try_router
from onepeak.serving.posterior_options import PosteriorOptions
from table_models import table_model


def test_a_table_model_has_a_field_a_column():
    model = table_model("elb")
    assert model_columns(model) == {"age": (), "tone": ("pale", "2", "dark"), "dose": ()}
    with TestClient(create_app(model, extra_routers=[try_router(model)]), base_url="http://localhost") as client:
        page = client.get("/").text
        assert '<input name="age" type="number"' in page
        assert "<option>dark</option>" in page
        assert '<a href="/docs">Interface</a>' in page
        assert client.get("/static/try.js").status_code == 200


def test_how_the_server_answers_is_told():
    model = table_model("elb")
    for posterior_options, told in (
        (PosteriorOptions(), "6 classes, elb"),
        (PosteriorOptions(decide="mean", raw=True), "6 classes, elb, decide mean, raw"),
    ):
        app = create_app(
            model,
            posterior_options=posterior_options,
            extra_routers=[try_router(model, posterior_options=posterior_options)],
        )
        page = TestClient(app, base_url="http://localhost").get("/").text
        assert f'<p class="quiet">{told}</p>' in page


def test_the_card_of_the_model_is_shown_and_its_html_is_text(tmp_path):
    assert model_card(tmp_path) == ""
    (tmp_path / "README.md").write_text(
        "---\nlicense: mit\n---\n# Grades\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>x</script>\n"
    )
    card = model_card(tmp_path)
    assert "<h1>Grades</h1>" in card
    assert "<td>1</td>" in card
    assert "license" not in card
    assert "&lt;script&gt;" in card
    model = table_model("elb")
    with TestClient(
        create_app(model, extra_routers=[try_router(model, folder=tmp_path)]), base_url="http://localhost"
    ) as client:
        assert card in client.get("/").text
