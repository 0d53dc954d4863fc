import logging
from functools import partial

import pytest
import uvicorn

from cli.one_command import invoked
from http_server import asking
from onepeak.cli import serve as command
from onepeak.errors import InputError
from onepeak.serving import load
from onepeak.serving.http import server as running
from onepeak.serving.http.metrics import ACCESS_LOG
from trained_models import image_run, table_run


@pytest.fixture
def run():
    """Runs `onepeak serve`."""
    return partial(invoked, command.serve)


@pytest.fixture
def served(monkeypatch):
    """What would be served, instead of serving it for ever; tests/serving/http/test_server.py does that."""
    configs = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: (configs.append(self.config), sockets[0].close()))
    return configs


def test_the_address_is_told_and_the_model_behind_it_answers(run, served):
    result = run(image_run().folder, "--port", 0, "--device", "cpu")
    summary, address = result.stdout.splitlines()
    model_id = load(image_run().folder).model_id
    assert summary == f"Serving 'elb', model {model_id}, 8 classes, for images. Ctrl-C stops."
    assert address.startswith("http://127.0.0.1:")
    client = asking(served[0].app)
    assert client.get("/v1/model").json()["method"] == "elb"
    assert client.get("/").status_code == 200
    assert served[0].timeout_graceful_shutdown == running.DRAIN_SECONDS


def test_quiet_leaves_the_address(run, served):
    assert run(table_run().folder, "--port", 0, "--device", "cpu", "--quiet").stdout.startswith("http://127.0.0.1:")
    assert asking(served[0].app).get("/v1/model").json()["input"] == "rows"


def test_a_token_opens_the_server_to_others_and_is_not_told(run, served):
    flags = (image_run().folder, "--port", 0, "--device", "cpu", "--host", "0.0.0.0")
    for result in (run(*flags, "--token", "s3cret"), run(*flags, ONEPEAK_TOKEN="s3cret")):
        assert "requests need the token" in result.stdout
        assert "s3cret" not in result.stdout
    for config in served:
        assert asking(config.app).get("/v1/model").status_code == 401
        answer = asking(config.app).get("/v1/model", headers={"Authorization": "Bearer s3cret"})
        assert answer.status_code == 200


def test_requests_are_logged_only_where_that_is_asked_for(run, served):
    before, logged = ACCESS_LOG.level, []
    for flags in ((), ("--access-log",)):
        run(image_run().folder, "--port", 0, "--device", "cpu", *flags)
        logged.append(ACCESS_LOG.isEnabledFor(logging.INFO))
    assert logged == [False, True]
    assert len(served) == 2
    ACCESS_LOG.setLevel(before)
    ACCESS_LOG.handlers.clear()


def test_limits_are_flags(run, served):
    flags = ("--max-items", 3, "--max-megapixels", 2, "--max-network-megapixels", 1, "--max-mb", 1, "--max-rows", 5)
    run(image_run().folder, "--port", 0, "--device", "cpu", *flags)
    card = asking(served[0].app).get("/v1/model").json()["pictures"]
    assert (card["max_items"], card["max_pixels"], card["max_network_pixels"]) == (3, 2_000_000, 1_000_000)
    run(table_run().folder, "--port", 0, "--device", "cpu", *flags)
    assert asking(served[1].app).get("/v1/model").json()["max_rows"] == 5


def test_how_posteriors_are_read_is_told_by_the_flags_of_predict(run, served, tmp_path):
    (tmp_path / "costs.csv").write_text("0,1,9\n9,0,1\n9,9,0\n")
    flags = ("--alpha", 0.4, "--decide", "cost", "--cost", tmp_path / "costs.csv", "--project", "--raw")
    result = run(table_run().folder, "--port", 0, "--device", "cpu", *flags)
    assert "3 classes, alpha 0.4, decide cost, project, raw, for rows of a table. Ctrl-C stops." in result.stdout
    costs = [[0, 1, 9], [9, 0, 1], [9, 9, 0]]
    posterior_options = {"alpha": 0.4, "decide": "cost", "cost": costs, "project": True, "raw": True}
    client = asking(served[0].app)
    assert client.get("/v1/model").json()["reading"] == posterior_options
    assert "decide cost, project, raw</p>" in client.get("/").text


@pytest.mark.bad_input
def test_what_cannot_be_served_is_told_in_a_sentence(run, tmp_path):
    with pytest.raises(InputError, match=r"must be a model's folder, got one without onepeak\.json"):
        run(tmp_path, "--port", 0)
    with pytest.raises(InputError, match="which other machines can reach: set a token"):
        run(tmp_path, "--host", "0.0.0.0")
    with running.listen("127.0.0.1", 0) as taken, pytest.raises(InputError, match="is in use"):
        run(image_run().folder, "--port", taken.getsockname()[1], "--device", "cpu")
    with pytest.raises(InputError, match="`cost` and `decide` 'cost' must be given together"):
        run(table_run().folder, "--port", 0, "--decide", "cost")
    for flags in (("--port", 70_000), ("--max-items", 0), ("--upload-seconds", 0), ("--prot", 1)):
        assert run(tmp_path, *flags).exit_code == 2
