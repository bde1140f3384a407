from xlareport.readers.llo.small_files import (
    BundleProfile,
    ScheduleCounts,
    read_bundle_profile,
    read_deduplication,
    read_register_pressure,
    read_schedule,
)


def test_schedules() -> None:
    text = (
        b"Schedule analysis:\n\ttotal scheduled bundles:    9\n\tempty scheduled bundles:    2\n"
        b"\tnon empty scheduled bundles: 7\n\t 7.00 scheduled bundles (100.00%): %f = f32[] f()\n"
    )
    assert read_schedule(text, "s.txt") == (ScheduleCounts(9, 2, 7), [])
    assert read_schedule(b"Schedule analysis:\n", "s.txt") == (None, [])
    assert len(read_schedule(text.replace(b"bundles:    2", b"bundles:    3"), "s.txt")[1]) == 1
    assert len(read_schedule(text[:60], "s.txt")[1]) == 1


def test_profiles() -> None:
    text = (
        b"HLO: <no-hlo-instruction>\n - SCALAR_ALU: (39/422) - 0.09\nHLO: %f.1 = f32[] f()\n"
        b" - MXU_0 matmul_packed: (2/20)\n - SMEM_SPILL_COUNT: (11/211) - 0.05\n"
    )
    profiles, problems = read_bundle_profile(text, "p.txt")
    assert problems == []
    assert profiles == (BundleProfile("f.1", {"MXU_0 matmul_packed": 2, "SMEM_SPILL_COUNT": 11}),)
    assert len(read_bundle_profile(b"", "p.txt")[1]) == 1


def test_register_pressure() -> None:
    text = (
        b"Register pressure for vregs is 523\nlen=1 lr=[3, 4)\nRegister pressure for vregs is 9\n"
    )
    assert read_register_pressure(text, "r.txt") == ({"vregs": 523}, [])
    assert len(read_register_pressure(b"?", "r.txt")[1]) == 1


def test_instructions_that_share_a_program() -> None:
    text = (
        b"key:a.1\nordinal:1\nequivalent_hlos[size=2]:\n  a.1\n  a.2\n"
        b"key:<late>\nordinal:0\nequivalent_hlos[size=0]:\n"
    )
    assert read_deduplication(text, "d.txt") == ({"a.1": ("a.1", "a.2")}, [])
    assert len(read_deduplication(text[: text.index(b"  a.2")], "d.txt")[1]) == 1
    assert len(read_deduplication(b"\xff" * 9, "d.txt")[1]) == 1
