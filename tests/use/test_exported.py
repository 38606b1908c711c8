"""Files for other programs: what they say, that they are what was trained, and what is refused."""

import json
import subprocess
import sys
import sysconfig
from itertools import pairwise

import numpy as np
import pytest
from archive.trained import answer

import asyncplay
from asyncplay import games
from asyncplay.model.nets import from_bytes
from asyncplay.rating.evaluate import read_brain
from asyncplay.trained.export import export

ALONE = """
import sys
sys.path += {places!r}
sys.modules["asyncplay"] = None  # where it lies beside the other packages
import json, numpy, onnxruntime
try:
    import asyncplay
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("asyncplay can be imported")
session = onnxruntime.InferenceSession({model!r}, providers=["CPUExecutionProvider"])
facts = session.get_modelmeta().custom_metadata_map
(given,) = session.get_inputs()
assert (given.name, given.type, given.shape) == ("features", "tensor(float)", ["n", 18]), (given.name, given.shape)
assert [(out.name, out.shape) for out in session.get_outputs()] == [("logits", ["n", 9]), ("values", ["n", 2])]
logits, values = session.run(["logits", "values"], {{"features": numpy.load({rows!r})}})
numpy.savez({answers!r}, logits=logits, values=values, facts=json.dumps(facts))
"""


@pytest.mark.process
def test_a_network_in_onnx_answers_alike_where_there_is_no_asyncplay(tictactoe, tmp_path):
    """In an interpreter that ignores the environment and has the site-packages alone on its path."""
    spec, agent = games.load("tictactoe"), asyncplay.load(tictactoe)
    status, said = answer("export", tictactoe, "--onnx", tmp_path / "net.onnx")
    assert (status, said) == (0, f"wrote {tmp_path / 'net.onnx'}\n")
    positions = [agent.new_position().follow(path) for path in ([], [4], [4, 0], [0, 3, 1, 4])]
    np.save(tmp_path / "rows.npy", np.stack([position.features() for position in positions]).astype(np.float32))
    paths = {name: str(tmp_path / file) for name, file in (("rows", "rows.npy"), ("answers", "answers.npz"))}
    places = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    code = ALONE.format(places=places, model=str(tmp_path / "net.onnx"), **paths)
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, done.stderr

    found = np.load(tmp_path / "answers.npz")
    facts = json.loads(str(found["facts"]))
    assert (facts["game"], facts["format"], json.loads(facts["options"])) == ("tictactoe", "asyncplay network 1", {})
    assert json.loads(facts["version"]) == agent.version
    assert json.loads(facts["input"])["planes"] == list(spec.planes)
    for row, judged in enumerate(agent.evaluate(positions)):
        odds = np.exp(found["logits"][row][judged.legal])
        np.testing.assert_allclose(odds / odds.sum(), judged.policy, atol=1e-4)
        turned = np.roll(found["values"][row], positions[row].player)
        np.testing.assert_allclose(turned, judged.values, atol=1e-4)


def test_weights_in_safetensors_are_those_of_the_version_and_are_described(tictactoe, tmp_path):
    first = min(int(path.stem) for path in (tictactoe / "weights").glob("*.safetensors"))
    status, said = answer("export", tictactoe, "--torch", tmp_path / "net.safetensors", "--version", first)
    assert status == 0, said
    brain = read_brain(tictactoe, first)
    weights = from_bytes((tmp_path / "net.safetensors").read_bytes())
    assert weights.keys() == brain.weights.keys()
    for name, weight in weights.items():
        np.testing.assert_array_equal(weight, brain.weights[name])
    told = json.loads((tmp_path / "net.safetensors.json").read_text())
    assert (told["version"], told["network"]["kind"], told["actions"]) == (first, brain.shape.kind, 9)


def policy_of(path) -> dict[str, dict[int, float]]:
    found = np.load(path)
    ends = found["offsets"].tolist()
    parts = zip(found["infosets"].tolist(), pairwise(ends), strict=True)
    return {
        name: dict(zip(found["actions"][a:b].tolist(), found["probabilities"][a:b].tolist(), strict=True))
        for name, (a, b) in parts
    }


def test_the_policy_of_a_table_has_openspiels_names_and_the_odds_that_it_plays_by(kuhn, leduc, tmp_path):
    for run, n_infosets in ((kuhn, 12), (leduc, 936)):
        status, said = answer("export", run, "--policy", tmp_path / f"{run.name}.npz")
        assert status == 0, said
        policy = policy_of(tmp_path / f"{run.name}.npz")
        assert len(policy) == n_infosets
        assert all(sum(odds.values()) == pytest.approx(1.0) for odds in policy.values())
    agent = asyncplay.load(kuhn)
    policy = policy_of(tmp_path / "kuhn.npz")
    for seed in range(10):
        position = agent.new_position(seed).after(1)
        (judged,) = agent.evaluate([position])
        assert policy[f"{int(position.state[3])}b"] == dict(zip(judged.legal, judged.policy, strict=True))


def test_the_policy_of_a_blueprint_is_found_by_history_and_bucket(holdem, tmp_path):
    status, said = answer("export", holdem, "--policy", tmp_path / "holdem.npz")
    assert status == 0, said
    found = np.load(tmp_path / "holdem.npz")
    facts = json.loads(str(found["facts"]))
    assert facts["buckets"] == [3, 4, 4, 3]
    assert found["histories"][0] == ""
    for decision in (0, len(found["histories"]) // 2, len(found["histories"]) - 1):
        n, base = int(found["counts"][decision]), int(found["bases"][decision])
        for bucket in range(facts["buckets"][found["streets"][decision]]):
            odds = found["probabilities"][base + bucket * n :][:n].astype(float)
            assert odds.sum() == pytest.approx(1.0, abs=2e-3)
        assert found["offsets"][decision + 1] - found["offsets"][decision] == n


def test_a_population_is_exported_as_a_stack_of_networks(treasurehunt, tmp_path):
    (weights, told) = export(treasurehunt, onnx=None, torch=tmp_path / "stack", policy=None, version=None, force=False)
    shapes = {name: list(weight.shape) for name, weight in from_bytes(weights.read_bytes()).items()}
    assert json.loads(told.read_text())["weights"] == shapes


def test_files_are_not_replaced_unless_that_is_said(kuhn, tmp_path):
    target = tmp_path / "policy.npz"
    target.write_text("precious")
    status, said = answer("export", kuhn, "--policy", target)
    assert (status, said) == (2, f"asyncplay: --policy {target}: it exists already; --force replaces it\n")
    assert target.read_text() == "precious"
    assert answer("export", kuhn, "--policy", target, "--force")[0] == 0
    assert len(policy_of(target)) == 12
    assert [path.name for path in tmp_path.iterdir()] == ["policy.npz"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "export writes nothing unless you say what: --onnx FILE, --torch FILE or --policy FILE"),
        (["--policy", "x.npz"], "--policy: {run} trains a network; use --onnx or --torch"),
        (["--onnx", "nowhere/net.onnx"], "--onnx nowhere/net.onnx: No such file or directory"),
        (["--onnx", "{run}/net.json"], "--onnx {run}/net.json: it belongs to the run in {run}; take another name"),
        (["--onnx", "net.onnx", "--version", "999"], "{run} has no weights of version 999"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(tictactoe, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    status, said = answer("export", tictactoe, *(word.format(run=tictactoe) for word in words))
    assert status == 2
    assert said.startswith(f"asyncplay: {told.format(run=tictactoe)}")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
