"""Whatever bytes a file holds, its reader returns, and reads what is whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from xlareport.analysis.cost.work import count_cost
from xlareport.analysis.cost_report.memory_builder import report_memory
from xlareport.hlo.text import TextReader
from xlareport.program import MemoryFiles
from xlareport.readers.buffer_assignment import read_buffer_assignment
from xlareport.readers.buffer_values import read_buffer_values
from xlareport.readers.live_range import read_live_range
from xlareport.readers.memory_usage_report import read_memory_report

PIECES = [
    "BufferAssignment:\n",
    "allocation 0: size 256, color 1, page 0, parameter 2, shape |f32[8,8]| at ShapeIndex {0}:\n",
    "allocation 1: 0x7fba, size 24, maybe-live-out:\n",
    " value: <42 a{1} (phi) @0> (size=256,offset=0): f32[8,8]{1,0}\n",
    "  2 add.5 @0, positions:\n",
    " [0,24]: f32[2,3]{1,0}\n",
    " [0,24,3]: f32[2,3]{1,0}\n",
    "HloLiveRange (max 4):\n",
    "  InstructionSequence:\n",
    "    0:x\n",
    "  BufferLiveRange:\n",
    "    x{0,}:0-4\n",
    "  Live ranges at 2 (peak):\n",
    "    x{}: 8 bytes (cumulative: 8 bytes)\n",
    "  Stack trace breakdown for peak usage:   bytes\n",
    "    main (100.0%, total: 8 bytes, current: 0 bytes, remaining: 8 bytes)\n",
    "Used values:\n",
    "<42 a{1} (phi) @0>\n",
    " positions:\n",
    "  a {1}\n",
    " uses:\n",
    "  x, operand 0 {1,2}\n",
    " from instruction: %x = f32[] parameter(0)<42 a @0>\n",
    "Memory Space: default (color=0)\n",
    "Total bytes: 71144 (69.5KiB)\n",
    "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n",
    "    16.0KiB(100%);    16.0KiB;            0;                3; f32[16,64]\n",
    "\n",
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=20)
files = st.one_of(st.binary(max_size=200), texts.map(lambda parts: "".join(parts).encode()))


MODULE = TextReader().read(
    b"""HloModule m, is_scheduled=true

ENTRY e {
  x = f32[8,8]{1,0:S(1)} parameter(0)
  ROOT a = (f32[8,8]{1,0}, f32[]) custom-call(x), custom_call_target="mystery"
}
""",
    "m.txt",
)


@settings(deadline=None)
@given(files, files, files)
def test_whatever_the_files_of_a_module_say_its_memory_is_told(
    assigned: bytes, lives: bytes, used: bytes
) -> None:
    assert MODULE is not None
    read = MemoryFiles(
        assignment=read_buffer_assignment(assigned, "b.txt")[0],
        live=read_live_range(lives, "l.txt")[0],
        usage=read_memory_report(assigned, "m.txt")[0],
        uses=read_buffer_values(used, "v.txt")[0],
    )
    memory = report_memory(read, MODULE, count_cost(MODULE))
    assert len(memory.at_peak) <= memory.at_peak_count
    assert memory.figures.live_peak_bytes is None or memory.figures.live_peak_bytes >= 0


def test_a_line_of_blanks_is_read_in_linear_time() -> None:
    """What takes quadratic time does not end in an hour."""
    start = b"HloLiveRange (max 4):\n  Stack trace breakdown for peak usage: 8 bytes\n"
    _, problems = read_live_range(start + b"    " + b" " * 1_000_000 + b"!\n", "file.txt")
    assert problems
