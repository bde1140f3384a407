from xlareport.readers.llo.bundles import read_bundles

TEXT = b"""= control target key start
LB: loop body
= control target key end

     0   :  { %s9_s0 = inlined_call_operand.hbm [shape: f32[8], shape index: {}] /* entry: { */ }
   0x1   :  { %7 = inlined_call %s9_s0 /* %fusion.1 = fusion(%x, /*index=5*/%y) */ }
   0x2 LB: > { %s1_s1 = sadd.s32 1, %s1_s1  ;;  %8 = vsyncpa [#allocation4], 0 /* bounds
 0x9 : not a bundle */ }
   0x3   : >> { %s2_s2 = smov 0 } /* End region 1 */
   0x4   :  {}
   0x5   :  { %9 = inlined_call /* <late-finalization> */ } /* exit bundle: %fusion.2 = f(%x) */
"""


def test_bundles_that_span_lines_and_hold_braces() -> None:
    listing, problems = read_bundles(TEXT, "llo.txt")
    assert problems == []
    assert listing.is_whole
    assert [bundle.address for bundle in listing.bundles] == [0, 1, 2, 3, 4, 5]
    assert [bundle.depth for bundle in listing.bundles] == [0, 0, 1, 2, 0, 0]
    assert [operation.opcode for operation in listing.bundles[2].operations] == [
        "sadd.s32",
        "vsyncpa",
    ]
    assert listing.bundles[4].operations == []


def test_what_a_bundle_calls() -> None:
    listing, _ = read_bundles(TEXT, "llo.txt")
    assert [bundle.callee for bundle in listing.bundles if bundle.callee] == [
        "fusion.1",
        "<late-finalization>",
    ]
    assert listing.instruction == "fusion.2"


def test_a_listing_that_is_cut_off() -> None:
    listing, problems = read_bundles(TEXT[: TEXT.index(b"sadd.s32 1") + 8], "llo.txt")
    assert not listing.is_whole
    assert len(listing.bundles) == 2
    assert [str(problem) for problem in problems] == [
        "llo.txt:7: Cut off in bundle 0x2; the bundles before it are read."
    ]


def test_what_is_no_listing() -> None:
    for data in (b"", b"\xff\x00" * 100, b"   0x5   :  { %s1 = smov 0 }\n"):
        listing, problems = read_bundles(data, "llo.txt")
        assert listing.bundles == []
        assert [problem.message for problem in problems] == ["It holds no bundles."]


def test_lines_of_a_kernel() -> None:
    text = b"""     0   :  { %v1_v1 = vadd.s32 %v1_v1 /* loc("/home/a/kernel.py":30:5 to :35) */ }
   0x1   :  {}
"""
    listing, _ = read_bundles(text, "llo.txt")
    assert [bundle.sources for bundle in listing.bundles] == [{("/home/a/kernel.py", 30)}, set()]
