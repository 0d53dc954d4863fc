from starlette.testclient import TestClient

from onepeak.serving.http import create_app
from onepeak.serving.inspector.try_page import model_columns, try_router
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
