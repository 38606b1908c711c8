import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from model_cases import (
    BLOBNET,
    BOARD,
    ENCODER,
    GATED,
    GLOBALS,
    MASKED,
    MLP,
    ONLY_PLANES,
    PLANES,
    SEEING,
    SEEING_ENCODER,
    SHAPES,
    shaken,
)
from torch import nn

from asyncplay.errors import AsyncplayError
from asyncplay.model.nets import EncoderLayer, ResidualBlock, build, build_from, snapshot
from asyncplay.model.shape import NetShape


def parameters(shape: NetShape) -> int:
    return sum(weight.numel() for weight in build(shape, 0).parameters())


def randomised(shape: NetShape) -> nn.Module:
    return build_from(shape, shaken(snapshot(build(shape, 0))))


def test_blobnet_has_4918204_parameters():
    """65,792 + 512 + 256 + 6 * 789,760 + 79,156, and the value head with eight outputs."""
    assert parameters(BLOBNET) == 4_918_204


def test_blobnet_with_a_scalar_value_has_4917301_parameters():
    """The figure of the reference."""
    assert parameters(replace(BLOBNET, players=1)) == 4_917_301


def test_a_connect_four_resnet_has_the_parameters_of_its_layers():
    shape = NetShape("resnet", features=84, actions=7, players=2, width=64, blocks=6, planes=(2, 6, 7))
    stem, block = 64 * (2 * 9 + 1), 2 * 64 * (64 * 9 + 1)
    policy = 32 * (64 + 1) + 7 * (32 * 42 + 1)
    value = 8 * (64 + 1) + 64 * (8 * 42 + 1) + 2 * (64 + 1)
    assert parameters(shape) == stem + 6 * block + policy + value


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(shape):
    first, again, other = (snapshot(build(shape, seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


def test_building_leaves_the_global_random_state_alone():
    before = torch.get_rng_state()
    build(MLP, 7)
    assert torch.equal(before, torch.get_rng_state())


def test_hidden_matrices_begin_with_variance_two_over_inputs():
    weights = build(NetShape("mlp", features=200, actions=2, players=2, width=500, blocks=2), 0)
    assert weights.hidden[0].weight.std().item() == pytest.approx(math.sqrt(2 / 200), rel=0.02)
    assert weights.hidden[2].weight.std().item() == pytest.approx(math.sqrt(2 / 500), rel=0.02)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_untrained_network_is_impartial(shape):
    logits, values = build(shape, 1)(torch.rand(3, shape.row_features))
    assert torch.equal(logits, torch.zeros(3, shape.actions))
    assert torch.equal(values, torch.zeros(3, shape.players))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_row_has_the_same_answer_alone_and_in_company(shape):
    net, features = randomised(shape), torch.rand(9, shape.row_features)
    together, alone = net(features), net(features[4:5])
    torch.testing.assert_close(together[0][4:5], alone[0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(together[1][4:5], alone[1], rtol=1e-5, atol=1e-6)


def test_features_of_no_cell_reach_every_cell_and_all_are_scaled_first():
    """Behind the stem: relu(convolution of the scaled planes + a layer of the scaled others)."""
    net, features = randomised(GLOBALS), torch.rand(2, 27)
    scaled = features * torch.tensor([0.5] * 12 + [1.0] * 12 + [0.25, 0.25, 1.0])
    planes, others = scaled[:, :24].reshape(2, 2, 3, 4), net.globals[0](scaled[:, 24:])
    stem = torch.relu(net.stem[0](planes) + others[:, :, None, None])
    torch.testing.assert_close(net(features)[1], net.value(net.blocks(stem)))


def test_an_mlp_is_what_its_formula_says():
    net = randomised(MLP)
    weights = snapshot(net)
    hidden = features = np.random.default_rng(0).random((5, 10), np.float32)
    for layer in ("hidden.0", "hidden.2"):
        hidden = np.maximum(hidden @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
    logits, values = net(torch.from_numpy(features))
    policy = hidden @ weights["policy.weight"].T + weights["policy.bias"]
    value = np.tanh(hidden @ weights["value.0.weight"].T + weights["value.0.bias"])
    np.testing.assert_allclose(logits.numpy(), policy, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(values.numpy(), value, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [SEEING, SEEING_ENCODER], ids=lambda shape: shape.kind)
def test_hidden_features_change_every_value_and_no_logit(shape):
    """By so much as a bit; and their gradient reaches no weight of the policy."""
    net, rows = randomised(shape), torch.rand(50, shape.row_features)
    other = rows.clone()
    other[:, shape.features :] = torch.rand(50, shape.hidden_features)
    (logits, values), (other_logits, other_values) = net(rows), net(other)
    assert torch.equal(logits, other_logits)
    assert (values != other_values).any(1).all()


def test_a_seeing_mlp_is_two_mlps_side_by_side():
    net, rows = randomised(SEEING), torch.rand(5, SEEING.row_features)
    weights = snapshot(net)
    answers = []
    for trunk, head, columns, blocks in (("hidden", "policy", SEEING.features, 2), ("seeing", "value.0", 17, 3)):
        hidden = rows.numpy()[:, :columns]
        for layer in range(blocks):
            product = hidden @ weights[f"{trunk}.{2 * layer}.weight"].T + weights[f"{trunk}.{2 * layer}.bias"]
            hidden = np.maximum(product, 0)
        answers.append(hidden @ weights[f"{head}.weight"].T + weights[f"{head}.bias"])
    logits, values = net(rows)
    np.testing.assert_allclose(logits.numpy(), answers[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(values.numpy(), np.tanh(answers[1]), rtol=1e-5, atol=1e-5)


def test_a_resnet_sees_nothing_hidden():
    with pytest.raises(AsyncplayError, match="resnet has no value trunk"):
        replace(BOARD, hidden_features=3)


def convolve(board, weight, bias):
    """A 3x3 convolution as loops; outside the board lies 0."""
    outputs, (inputs, rows, columns) = len(weight), board.shape
    padded = np.zeros((inputs, rows + 2, columns + 2))
    padded[:, 1:-1, 1:-1] = board
    result = np.empty((outputs, rows, columns))
    for output, row, column in np.ndindex(outputs, rows, columns):
        window = padded[:, row : row + 3, column : column + 3]
        result[output, row, column] = (window * weight[output]).sum() + bias[output]
    return result


def test_a_residual_block_is_what_its_formula_says():
    torch.manual_seed(0)
    block, board = ResidualBlock(3), torch.rand(1, 3, 4, 5)
    weights = {name: weight.detach().numpy() for name, weight in block.named_parameters()}
    hidden = np.maximum(convolve(board[0].numpy(), weights["first.weight"], weights["first.bias"]), 0)
    branch = convolve(hidden, weights["second.weight"], weights["second.bias"])
    expected = np.maximum(board[0].numpy() + branch, 0)
    np.testing.assert_allclose(block(board)[0].detach().numpy(), expected, rtol=1e-5, atol=1e-6)


def test_an_encoder_layer_is_torchs_own_for_a_sequence_of_one():
    """The reference uses torch's layer; with one position attention is a linear map of its value."""
    torch.manual_seed(0)
    ours = EncoderLayer(16)
    theirs = nn.TransformerEncoderLayer(16, 4, 64, dropout=0.0, batch_first=True).eval()
    theirs.self_attn.in_proj_weight.data = ours.query_key_value.weight.data
    theirs.self_attn.in_proj_bias.data = ours.query_key_value.bias.data
    theirs.self_attn.out_proj.load_state_dict(ours.attended.state_dict())
    theirs.linear1.load_state_dict(ours.inner[0].state_dict())
    theirs.linear2.load_state_dict(ours.outer.state_dict())
    hidden = torch.rand(7, 16)
    torch.testing.assert_close(ours(hidden), theirs(hidden[:, None])[:, 0], rtol=1e-5, atol=1e-6)


def test_logits_of_action_planes_come_plane_by_plane_and_the_others_after_them():
    """All weights 0, so that every logit is its own layer's bias."""
    weights = {name: np.zeros_like(value) for name, value in snapshot(build(PLANES, 0)).items()}
    weights["policy.planes.bias"][:] = [1, 2, 3]
    weights["policy.others.bias"][:] = [4, 5, 6]
    logits, _ = build_from(PLANES, weights)(torch.zeros(1, 24))
    assert logits[0].tolist() == [1] * 12 + [2] * 12 + [3] * 12 + [4, 5, 6]


def test_a_cell_of_an_action_plane_sees_its_own_cell():
    """Identity from the first feature plane to the second action plane: logit 12 + cell follows cell."""
    weights = {name: np.zeros_like(value) for name, value in snapshot(build(ONLY_PLANES, 0)).items()}
    weights["stem.0.weight"][0, 0, 1, 1] = 1
    weights["policy.mix.0.weight"][0, 0] = 1
    weights["policy.planes.weight"][1, 0] = 1
    features = torch.zeros(1, 24)
    features[0, 7] = 1
    logits, _ = build_from(ONLY_PLANES, weights)(features)
    assert logits[0].nonzero().flatten().tolist() == [12 + 7]


def test_planes_must_hold_all_features():
    with pytest.raises(AsyncplayError, match=r"folds its 25 features into planes, got \(2, 3, 4\)"):
        replace(BOARD, features=25)


def test_action_planes_must_fit_into_the_actions():
    with pytest.raises(AsyncplayError, match="4 action planes of 12 cells are more than 39 actions"):
        replace(PLANES, action_planes=4)


def test_an_encoder_shape_needs_no_planes():
    assert ENCODER.planes is None


def test_a_gate_multiplies_each_channel_of_the_branch_by_what_the_channels_are_on_average():
    """By hand: sigmoid(W relu(V mean + v) + w), one factor for a channel of a row."""
    block = next(layer for layer in randomised(GATED).modules() if isinstance(layer, ResidualBlock))
    board = torch.rand(3, GATED.width, 3, 4)
    branch = block.second(torch.relu(block.first(board)))
    (squeeze, _), (excite, _) = block.gate.squeeze, block.gate.excite
    inner = torch.relu(branch.mean((2, 3)) @ squeeze.weight[:, :, 0, 0].T + squeeze.bias)
    factors = torch.sigmoid(inner @ excite.weight[:, :, 0, 0].T + excite.bias)
    assert torch.allclose(block(board), torch.relu(board + branch * factors[:, :, None, None]), atol=1e-5)


def test_only_a_resnet_has_squeeze_and_excitation():
    with pytest.raises(AsyncplayError, match="a network of kind mlp has no squeeze-and-excitation, a resnet has"):
        replace(MLP, squeeze=4)


def test_a_mask_of_ones_changes_nothing():
    weights, features = shaken(snapshot(build(MASKED, 0))), torch.rand(5, MASKED.features)
    features[:, 12:24] = 1.0
    masked, whole = (build_from(shape, weights)(features) for shape in (MASKED, GATED))
    assert all(torch.equal(one, other) for one, other in zip(masked, whole, strict=True))


def test_a_masked_board_answers_as_a_smaller_board_does():
    """3 x 4 cells of which the last column is beside the board; policies of the others are those of 3 x 3 cells."""
    large = NetShape("resnet", 24, 36, 2, 8, 3, planes=(2, 3, 4), action_planes=3, mask_plane=1)
    small = NetShape("resnet", 18, 27, 2, 8, 3, planes=(2, 3, 3), action_planes=3)
    weights = shaken(snapshot(build(large, 0)))
    fitting = {name: array for name, array in snapshot(build(small, 0)).items() if name == "value.3.weight"}
    board = torch.rand(4, 2, 3, 3)
    board[:, 1] = 1.0
    padded = nn.functional.pad(board, (0, 1))
    wide, _ = build_from(large, weights)(padded.flatten(1))
    narrow, _ = build_from(small, weights | fitting)(board.flatten(1))
    assert torch.allclose(wide.view(4, 3, 3, 4)[..., :3], narrow.view(4, 3, 3, 3), atol=1e-5)
