import torch

from onepeak.methods.exact import ExactTable


def test_no_other_precision_rounds_it_and_no_file_keeps_it():
    table = ExactTable(torch.tensor([0.1, 0.2], dtype=torch.float64))
    expected = table.values.clone()
    for changed in (table.float(), table.bfloat16(), table.half(), table.to("cpu", torch.bfloat16)):
        assert changed is table
        assert torch.equal(table.values, expected)
    assert table.state_dict() == {}


def test_it_goes_to_other_devices_with_what_holds_it():
    holder = torch.nn.Sequential(ExactTable(torch.ones(2, 2))).to("meta")
    assert holder[0].values.device.type == "meta"
    assert holder[0].values.dtype == torch.float64
