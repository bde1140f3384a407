from xlareport.readers.llo.hlo_details import EmittedRange, read_hlo_details

TEXT = b"""HLO:
  operation: %constant.9 = f32[]{:T(128)} constant()
  emitted bundle range: <empty>
HLO:
  operation: ROOT %fusion.1 = f32[8] fusion(f32[8] %x), calls={}
  emitted bundle range: [TensorCoreSequencer:1:0x95, TensorCoreSequencer:1:0x14d)
"""


def test_ranges_of_bundles() -> None:
    assert read_hlo_details(TEXT, "d.txt") == ((EmittedRange("fusion.1", 0x95, 0x14D),), [])


def test_a_file_that_is_cut_off() -> None:
    ranges, problems = read_hlo_details(TEXT[: TEXT.index(b"0x95")], "d.txt")
    assert ranges == ()
    assert [problem.line for problem in problems] == [5]


def test_what_has_no_instructions() -> None:
    assert [problem.message for problem in read_hlo_details(b"\xff", "d.txt")[1]] == [
        "It has no instructions."
    ]
