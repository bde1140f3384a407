"""The compiler's notes on an instruction of a TPU."""

from tests.modules import parse_module

from xlareport.analysis.tpu.notes import index_notes

TEXT = """HloModule m

inner {
  p = f32[8,128] parameter(0)
  ROOT n = f32[8,128] negate(p), backend_config={"estimated_cycles":"7"}
}

ENTRY e {
  x = f32[8,128] parameter(0)
  f = f32[8,128] fusion(x), kind=kLoop, calls=inner, backend_config=CONFIG
  ROOT g = f32[8,128] negate(f)
}
""".replace(
    "CONFIG",
    '{"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"4096"}],'
    '"iteration_bounds":["4","3"],"estimated_cycles":"250"}',
)
NOTES = index_notes(parse_module(TEXT))


def test_notes_are_read_from_the_backend_config() -> None:
    notes = NOTES["f"]
    assert notes.computation == "e"
    assert (notes.scoped_vmem, notes.estimated_cycles, notes.iterations) == (4096, 250, 12)


def test_what_is_not_noted_is_not_known() -> None:
    notes = NOTES["g"]
    assert (notes.scoped_vmem, notes.estimated_cycles, notes.iterations) == (None, None, None)


def test_instructions_inside_of_fusions_have_none() -> None:
    assert "n" not in NOTES


def test_another_memory_space_is_no_scratch_in_vmem() -> None:
    other = index_notes(parse_module(TEXT.replace('"memory_space":"1"', '"memory_space":"3"')))
    assert other["f"].scoped_vmem is None
