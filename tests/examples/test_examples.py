"""Every example runs, with tiny settings, in this process: what it prints is read."""

import re
import runpy
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from docs.conftest import _as_before, drawn, material  # noqa: F401 - fixtures

EXAMPLES = Path(__file__).parents[2] / "examples"
ORDER = ["--order", "mild,moderate,severe"]
pytestmark = pytest.mark.usefixtures("material", "_as_before")


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs an example as a script; gives what it printed."""

    def call(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return call


def test_every_example_is_tested():
    elsewhere = {"first_contact.py": "tests/test_readme.py", "onnx_client.py": "tests/serving/onnx/test_export.py"}
    here = Path(__file__).read_text()
    for example in EXAMPLES.glob("*.py"):
        place = elsewhere.get(example.name)
        text = here if place is None else (EXAMPLES.parent / place).read_text()
        assert example.name in text, f"{example.name} is run by no test"


def test_generated_data_are_the_same_each_time_and_replace_nothing(run, material, capsys):  # noqa: F811
    printed = run("make_data.py", "again")
    assert printed.strip() == "again: photos, scans.csv, patients.csv, rated.csv, reviews.csv"
    files = [path.relative_to("again") for path in Path("again").rglob("*.*")]
    assert len(files) == 284
    for path in files:
        assert (material / path).read_bytes() == Path("again", path).read_bytes(), path
    with pytest.raises(SystemExit):
        run("make_data.py", "again")
    assert "again already contains photos: use it, or choose another folder" in capsys.readouterr().err


def test_own_images_trains_and_answers(run):
    printed = run("own_images.py", "photos", *ORDER, "--out", "model", "--backbone", "small", "--epochs", 1)
    assert re.search(r"test MAE \d\.\d\d, \d+% of adjacent pairs in order", printed)
    assert len(re.findall(r"\.png (mild|moderate|severe) ", printed)) == 5
    assert Path("model/model.safetensors").exists()


def test_groups_are_kept_apart_and_without_them_they_are_not(run):
    Path("elsewhere").mkdir()
    for name in ("photos", "scans.csv"):
        Path(name).rename(f"elsewhere/{name}")
    printed = run("csv_with_groups.py", "elsewhere/scans.csv", *ORDER)
    assert printed.count("leaks: 0") == 5
    assert int(re.search(r"(\d+) groups are in both training and test", printed)[1]) > 5
    assert Path("splits.csv").exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # cut short on purpose
def test_the_pipeline_searches_and_its_intervals_cover(run):
    printed = run("table_pipeline.py", "--epochs", 4)
    assert printed.count("elb") == 1
    assert int(re.search(r"(\d+)% of the test grades within", printed)[1]) >= 75


@pytest.mark.filterwarnings("ignore")  # Lightning's advice on workers and logging
def test_the_lightning_module_tells_order_and_error(run):
    printed = run("lightning_module.py", "--epochs", 2)
    assert re.search(r"'soi': 0\.\d+, 'mae': \d\.\d+", printed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", [{}, {"val_check_interval": 0.5}, {"check_val_every_n_epoch": 2}], ids=str)
def test_the_lightning_module_tightens_once_an_epoch_however_often_it_is_validated(settings):
    import lightning

    example = runpy.run_path(str(EXAMPLES / "lightning_module.py"), run_name="imported")
    grader, data, quiet = example["Grader"](), example["grades"](64, seed=0), {"logger": False, "accelerator": "cpu"}
    trainer = lightning.Trainer(
        max_epochs=3, enable_checkpointing=False, enable_progress_bar=False, **quiet, **settings
    )
    trainer.fit(grader, data, data)
    trainer.validate(grader, data, verbose=False)
    trainer.validate(grader, data, verbose=False)
    assert grader.loss.constraint.t.item() == pytest.approx(1.001**3, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_the_hugging_face_classifier_resumes_with_the_barrier_it_had(tmp_path):
    transformers = pytest.importorskip("transformers", reason="the example needs transformers")
    ordinal = runpy.run_path(str(EXAMPLES / "hugging_face.py"), run_name="imported")["ordinal"]
    config = transformers.ResNetConfig(
        num_labels=8, embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], layer_type="basic"
    )
    samples = [{"pixel_values": torch.zeros(3, 16, 16), "labels": torch.tensor(label)} for label in range(8)]

    def hardness(epochs, resume):
        model = transformers.ResNetForImageClassification(config)
        arguments = transformers.TrainingArguments(
            str(tmp_path), num_train_epochs=epochs, save_strategy="epoch", report_to="none", use_cpu=True
        )
        trainer = transformers.Trainer(model, arguments, train_dataset=samples, **ordinal(model))
        trainer.train(resume_from_checkpoint=resume)
        return model.ordinal_loss.constraint.t.item()

    assert hardness(3, resume=False) == pytest.approx(1.001**3, rel=1e-9)
    assert hardness(5, resume=True) == pytest.approx(1.001**5, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_the_hugging_face_classifier_is_trained_in_order(run):
    pytest.importorskip("transformers", reason="the example needs transformers")
    printed = run("hugging_face.py", "--epochs", 1, "--images", 40)
    assert re.search(r"MAE \d\.\d\d, \d+% of adjacent pairs in order", printed)


def test_a_custom_method_is_in_the_catalog_of_every_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["custom_method.py", "methods", "--family", "distance"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(EXAMPLES / "custom_method.py"), run_name="__main__")
    assert "expected-distance" in capsys.readouterr().out


def test_the_http_client_reads_what_the_server_says(run, capsys):
    pytest.importorskip("fastapi", reason="serving needs fastapi: pip install 'onepeak[serve]'")
    import uvicorn

    from onepeak.serving import load
    from onepeak.serving.http import create_app

    run("own_images.py", "photos", *ORDER, "--out", "model", "--backbone", "small", "--epochs", 1)
    server = uvicorn.Server(uvicorn.Config(create_app(load("model")), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        printed = run("http_client.py", f"http://127.0.0.1:{port}", "photos/mild/0.png", "photos/severe/3.png")
        Path("no.png").write_text("no image")
        with pytest.raises(SystemExit, match=r"2 of 3 images failed"):
            run("http_client.py", f"http://127.0.0.1:{port}", "no.png", "nowhere.png", "photos/mild/1.png")
        refused = capsys.readouterr()
    finally:
        server.should_exit = True
        thread.join()
    answer = r"png: (mild|moderate|severe), probability 0\.\d+, SOI "
    assert len(re.findall(answer, printed)) == 2
    assert len(re.findall(answer, refused.out)) == 1  # one bad image does not keep the others from an answer
    assert re.search(r"no\.png: 422: .*\nnowhere\.png: .*No such file", refused.err)
    with pytest.raises(SystemExit, match=f"127.0.0.1:{port} does not answer: "):
        run("http_client.py", f"http://127.0.0.1:{port}", "photos/mild/0.png")


@pytest.mark.slow
def test_the_ray_example_finishes_every_run(material):  # noqa: F811
    pytest.importorskip("ray", reason="the example needs ray: pip install 'onepeak[ray]'")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    table = ["--data", "patients.csv", "--label", "stage", "--order", "I,II,III,IV"]
    small = ["--epochs", "1", "--splits", "1", "--out", "comparison"]
    try:
        script = [sys.executable, str(EXAMPLES / "ray_cluster.py"), "--address", cluster.address, *table, *small]
        done = subprocess.run(script, capture_output=True, text=True, check=False, cwd=material)
    finally:
        cluster.shutdown()
    assert done.returncode == 0, done.stderr
    assert "2 finished, 0 failed" in done.stdout


def test_the_loss_of_the_custom_method_is_the_expected_distance():
    module = runpy.run_path(str(EXAMPLES / "custom_method.py"), run_name="imported")
    loss = module["ExpectedDistance"](3).loss(torch.tensor([[0.2, 0.5, 0.3]]).log(), torch.tensor([0]))
    assert loss.item() == pytest.approx(0.5 + 2 * 0.3)
