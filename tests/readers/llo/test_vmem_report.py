import json

from xlareport.readers.llo.vmem_report import read_vmem_report

SCOPED = {
    "block_type": "SCOPED",
    "block_size": 8192,
    "allocations": [{"size": 4096, "tag": "SPILL"}, {"size": "4096", "tag": "window"}, 7],
}
VALUE = {
    "global_info": {"module_name": "f", "vmem_capacity": 1024},
    "hlo_breakdowns": {
        "fusion.1": {"blocks": [SCOPED, {"block_type": "HLO_TEMPORARY", "block_size": 100}, None]},
        "fusion.2": [],
    },
}


def test_bytes_by_purpose() -> None:
    report, problems = read_vmem_report(f"<script>DATA = {json.dumps(VALUE)};".encode(), "v.html")
    assert report is not None
    assert problems == []
    assert report.capacity == 1024
    assert [(use.instruction, use.scoped, use.others) for use in report.uses] == [
        ("fusion.1", 8192, 100),
        ("fusion.2", 0, 0),
    ]
    assert report.uses[0].purposes == {"SPILL": 4096, "window": 4096}


def test_what_holds_no_data() -> None:
    for data in (b"", b"DATA =", b'DATA = {"a": [', b"DATA = " + b"[" * 100_000, b"DATA = {" * 9):
        report, problems = read_vmem_report(data, "v.html")
        assert report is None
        assert len(problems) == 1
