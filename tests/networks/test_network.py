import pytest
import torch
from torch import nn

import onepeak
from onepeak.errors import InputError
from onepeak.networks import MapHead, Mlp, Network, NetworkSettings, SmallConvNet, WildcatPooling, build_network
from onepeak.networks.head import RowHead


def network_for(name, **settings):
    method = onepeak.method(name, num_classes=4, **settings)
    return build_network(method, NetworkSettings(backbone="small"), seed=0).eval()


@pytest.mark.parametrize("pooling", ["wildcat", "average", "max"])
@pytest.mark.parametrize("name", ["elb", "slopes"])
def test_evidence_pooled_is_the_output(noise, name, pooling):
    method, images = onepeak.method(name, num_classes=4), noise(2, 3, 40, 56)
    network = build_network(method, NetworkSettings(backbone="small", pooling=pooling)).eval()
    evidence = network.evidence(images)
    assert evidence.shape == (2, method.num_outputs, 5, 7)
    torch.testing.assert_close(network.head.pooling(evidence), network(images))


def test_class_evidence_is_the_map_of_the_class_less_the_mean_over_classes(noise):
    network, images, labels = network_for("elb"), noise(3, 3, 40, 56), torch.tensor([3, 0, 2])
    every = network.evidence(images)
    expected = every[torch.arange(3), labels] - every.mean(dim=1)
    torch.testing.assert_close(network.class_evidence(images, labels), expected)


def test_class_evidence_of_slopes_is_added_up_to_the_class_and_the_lowest_has_a_map_too(noise):
    network, images = network_for("slopes"), noise(3, 3, 40, 56)
    found = network.class_evidence(images, torch.tensor([0, 1, 3]))
    first, second, third = network.evidence(images).unbind(dim=1)
    mean = (3 * first + 2 * second + third) / 4
    torch.testing.assert_close(found[0], -mean[0])
    torch.testing.assert_close(found[1], (first - mean)[1])
    torch.testing.assert_close(found[2], (first + second + third - mean)[2])


@pytest.mark.parametrize("name", ["ce", "ren", "ld", "mv", "po", "pn", "elb", "slopes"])
def test_class_evidence_of_a_uniform_image_is_the_posterior_everywhere(name):
    """Where every position says the same, so does the whole image."""
    network = network_for(name)
    network.backbone = nn.Identity()
    network.head = MapHead(3, network.method.num_outputs, pooling=WildcatPooling())
    images = torch.tensor([0.5, -1.0, 2.0])[None, :, None, None].expand(4, 3, 6, 6)
    maps = network.class_evidence(images, torch.arange(4))  # the four classes of four equal images
    expected = network.method.log_probs(network(images))[0]
    torch.testing.assert_close(maps.log_softmax(dim=0), expected[:, None, None].expand(4, 6, 6))


def test_evidence_is_in_float32_under_autocast(noise):
    network, images = network_for("elb"), noise(2, 3, 32, 32)
    exact = network(images)
    with torch.autocast("cpu", torch.bfloat16):
        assert network.evidence(images).dtype == torch.float32
        outputs = network(images)
    assert outputs.dtype == torch.float32
    torch.testing.assert_close(outputs, exact, rtol=0.05, atol=0.05)


def test_a_loss_reaches_backbone_head_and_method(noise):
    network = network_for("po").train()
    network.method.loss(network(noise(4, 3, 32, 32)), torch.tensor([0, 1, 2, 3])).backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in network.parameters())


@pytest.mark.bad_input
def test_tables_have_no_evidence_maps_and_labels_of_maps_are_classes(elb):
    network = Network(Mlp(5), RowHead(64, 4), elb)
    with pytest.raises(InputError, match="`evidence` needs a head with maps, got RowHead: only images"):
        network.evidence(torch.zeros(2, 5))
    with pytest.raises(InputError, match="`labels` must be integers from 0 to 3, got 4"):
        network_for("slopes").class_evidence(torch.zeros(1, 3, 32, 32), torch.tensor([4]))


@pytest.mark.bad_input
def test_a_head_with_other_outputs_than_the_method_reads_and_a_loss_are_refused(elb):
    network = Network(SmallConvNet(), MapHead(128, 3, pooling=WildcatPooling()), elb)
    with pytest.raises(InputError, match=r"`head` must return shape \(batch, 4\), as Constrained .*, got \(2, 3\)"):
        network(torch.zeros(2, 3, 32, 32))
    with pytest.raises(InputError, match="`method` must be a method, got CrossEntropyLoss: see onepeak"):
        Network(nn.Identity(), nn.Identity(), nn.CrossEntropyLoss())


@pytest.mark.traced
def test_one_export_serves_every_batch_and_image_size(noise, elb):
    network = build_network(elb, NetworkSettings(backbone="small", alpha=0.5), seed=0).eval()
    size = torch.export.Dim.AUTO
    program = torch.export.export(network, (noise(2, 3, 64, 72),), dynamic_shapes=({0: size, 2: size, 3: size},))
    for shape in [(1, 3, 64, 64), (3, 3, 41, 131), (2, 3, 16, 24)]:  # the last has so few positions that k is 1
        torch.testing.assert_close(program.module()(noise(*shape)), network(noise(*shape)))


@pytest.mark.traced
def test_it_compiles_without_a_break(noise, elb):
    network = build_network(elb, NetworkSettings(backbone="small", alpha=0.5), seed=0).eval()
    compiled = torch.compile(network, fullgraph=True, backend="eager", dynamic=True)
    for shape in [(2, 3, 64, 64), (3, 3, 16, 24)]:
        torch.testing.assert_close(compiled(noise(*shape)), network(noise(*shape)))
