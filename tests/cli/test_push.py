"""A model goes to a hub and comes back. A server on this machine stands in for the hub."""

import base64
import http.server
import json
import shutil
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import huggingface_hub
import pytest

import onepeak
from onepeak._core.digests import DIGESTS
from onepeak.errors import InputError
from onepeak.posterior.referral import Policy
from onepeak.serving.referral import save_policy

OLD = Path(__file__).parents[1] / "release_0_1"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(http.server.BaseHTTPRequestHandler):
    """What of a hub's interface is used: make a repository, ask how to upload, commit, ask for a commit, download."""

    def answer(self, status, content=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def tell(self, **content):
        self.answer(200, json.dumps(content).encode(), Content_Type="application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path, files = urlsplit(self.path).path, self.server.files
        if path == "/api/repos/create":
            asked = json.loads(body)  # versions of the client ask in one of two ways
            self.server.made.append(asked.get("visibility") or ("private" if asked["private"] else "public"))
            self.tell(url=f"{self.server.address}/me/grades")
        elif path == "/api/validate-yaml":  # of the card
            self.tell(errors=[], warnings=[])
        elif path == "/api/models/me/grades/preupload/main":
            whole = {"uploadMode": "regular", "shouldIgnore": False}
            self.tell(files=[{"path": each["path"], **whole} for each in json.loads(body)["files"]])
        elif path == "/api/models/me/grades/commit/main":
            changes = [line["value"] for line in map(json.loads, body.splitlines()) if line["key"] == "file"]
            files.update({each["path"]: base64.b64decode(each["content"]) for each in changes})
            self.tell(commitUrl=f"{self.server.address}/me/grades/commit/{COMMIT}", commitOid=COMMIT, success=True)
        else:
            self.answer(404)

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        name = path.removeprefix(f"/me/grades/resolve/{COMMIT}/")
        if path.startswith("/api/models/me/grades"):
            self.tell(id="me/grades", sha=COMMIT, siblings=[])
        elif name in self.server.files:
            self.answer(200, self.server.files[name], ETag=f'"{name}"', X_Repo_Commit=COMMIT)
        else:
            self.answer(404, X_Error_Code="RepoNotFound" if name == path else "EntryNotFound", X_Repo_Commit=COMMIT)

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.files, server.made, server.address = {}, [], f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(huggingface_hub, "HfApi", partial(huggingface_hub.HfApi, endpoint=server.address))
    monkeypatch.setenv("HF_TOKEN", "hf_of_this_test")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def model(tmp_path):
    folder = shutil.copytree(OLD / "comparison" / "runs" / "elb" / "split0-fold0", tmp_path / "model")
    (folder / "README.md").write_text("# Grades\n")
    (folder / "runs" / "other").mkdir(parents=True)  # as `fit` leaves its candidates
    shutil.copy(folder / "model.safetensors", folder / "runs" / "other")
    return folder


@pytest.fixture
def pushed(run, hub, model):
    status, _, errors = run("push", model, "me/grades", "--quiet")
    assert (status, errors) == (0, "")
    return hub


def test_a_pushed_model_comes_back_with_its_card_and_predicts_the_same(run, pushed, model, tmp_path):
    status, output, errors = run("pull", "me/grades", "--out", tmp_path / "back")
    assert (status, output) == (0, "")
    assert f"model: {tmp_path / 'back'}, commit {COMMIT}\nNext: onepeak predict" in errors
    assert (tmp_path / "back" / "README.md").read_text() == "# Grades\n"
    before, after = (onepeak.load(folder).predict(OLD / "grades.csv") for folder in (model, tmp_path / "back"))
    assert before.log_probs.equal(after.log_probs)


def test_what_it_was_trained_and_tested_on_stays_here_and_the_repository_is_private_or_public(run, pushed, model):
    assert set(pushed.files) == {"onepeak.json", "model.safetensors", "README.md", DIGESTS}
    assert pushed.made == ["private"]
    status, output, _ = run("push", model, "me/grades", "--public")
    assert (status, output) == (0, f"{pushed.address}/me/grades/commit/{COMMIT}\n")
    assert pushed.made == ["private", "public"]


def test_features_of_training_texts_go_along_only_if_asked_for(run, hub, model, monkeypatch):
    (model / "familiarity.safetensors").write_bytes(b"features")
    run("push", model, "me/grades", "--quiet")
    assert "familiarity.safetensors" in hub.files
    of_texts = SimpleNamespace(table=SimpleNamespace(texts="review"))
    monkeypatch.setattr("onepeak.serving.hub.load_description", lambda _: of_texts)
    for flags in ([], ["--familiarity"]):
        hub.files.clear()
        run("push", model, "me/grades", "--quiet", *flags)
        assert ("familiarity.safetensors" in hub.files, "familiarity" in hub.files[DIGESTS].decode()) == (
            (True, True) if flags else (False, False)
        )


def test_what_a_killed_pull_left_does_not_stop_the_next(run, pushed, model, tmp_path):
    shutil.copytree(model, tmp_path / "back" / ".left")
    (tmp_path / "back" / ".left" / "model.safetensors").write_bytes(b"half")
    assert run("pull", "me/grades", "--out", tmp_path / "back", "--quiet")[0] == 0
    onepeak.load(tmp_path / "back")


def flipped(content):
    return content[:-1] + bytes([content[-1] ^ 1])


def test_one_flipped_bit_on_the_way_is_noticed_and_nothing_is_kept(run, pushed, tmp_path):
    pushed.files["model.safetensors"] = flipped(pushed.files["model.safetensors"])
    status, _, errors = run("pull", "me/grades", "--out", tmp_path / "back", "--quiet")
    assert status == 2
    assert "model.safetensors must be the file that onepeak wrote" in errors
    assert list((tmp_path / "back").iterdir()) == []


@pytest.mark.parametrize("name", ["model.safetensors", "onepeak.json"])
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(flipped(path.read_bytes())), Path.unlink])
def test_one_flipped_bit_or_a_lost_file_is_noticed_when_the_model_is_loaded(run, pushed, tmp_path, name, damage):
    run("pull", "me/grades", "--out", tmp_path / "back", "--quiet")
    (tmp_path / "back" / "README.md").write_text("# Grades, of our hospital\n")
    onepeak.load(tmp_path / "back")
    damage(tmp_path / "back" / name)
    with pytest.raises(InputError, match=name):
        onepeak.load(tmp_path / "back")
    status, _, errors = run("pull", "me/grades", "--out", tmp_path / "model", "--quiet")
    assert (status, "holds other files" in errors) == (2, True)


@pytest.mark.parametrize(
    "name",
    ["../outside.safetensors", "/tmp/outside.safetensors", "..\\outside.safetensors", "a/b.safetensors", "setup.py"],
)
def test_a_repository_that_names_other_files_is_refused(run, pushed, tmp_path, name):
    pushed.files[DIGESTS] += f"{'0' * 64}  {name}\n".encode()
    status, _, errors = run("pull", "me/grades", "--out", tmp_path / "back", "--quiet")
    assert (status, f"must name files of a model, got {name!r}" in errors) == (2, True)
    assert [path.name for path in tmp_path.iterdir() if "outside" in path.name] == []


def test_a_policy_saved_in_a_pulled_model_is_part_of_it(run, pushed, tmp_path):
    run("pull", "me/grades", "--out", tmp_path / "back", "--quiet")
    save_policy(tmp_path / "back", Policy(uncertainty="entropy", threshold=0.5))
    assert onepeak.load(tmp_path / "back").policy.threshold == 0.5
    damaged = tmp_path / "back" / "policy.json"
    damaged.write_text(damaged.read_text().replace("0.5", "0.9"))
    with pytest.raises(InputError, match=r"policy\.json"):
        onepeak.load(tmp_path / "back")


@pytest.mark.parametrize(
    ("repo", "status", "message"),
    [
        ("me/grades", 2, "me/grades must be a model that `onepeak push` uploaded, got no SHA256SUMS."),
        ("you/grades", 1, "you/grades on the hub: "),
        ("a b", 1, "a b on the hub: "),
    ],
)
def test_what_cannot_be_pulled_is_one_line(run, hub, tmp_path, repo, status, message):
    found, _, errors = run("pull", repo, "--out", tmp_path / "back", "--quiet")
    assert (found, errors.startswith(f"onepeak: {message}"), errors.count("\n")) == (status, True, 1)
