from starlette.testclient import TestClient

from onepeak.serving.http import create_app
from onepeak.serving.inspector.try_page import model_columns, try_router
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
