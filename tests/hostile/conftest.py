"""A dump in which every name and every string tries to be something else, and its report."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.fixtures.reports import Shared
from tests.hostile.side_files import beside, side_files

from xlareport.hlo.protos.schema import Message, message_class
from xlareport.report import BuildOptions, build

ATTACKS = {
    "script": "</script><script>hacked++</script>",
    "html": "<xss-tag>x</xss-tag><img src=x onerror=hacked++>",
    "double quotes": '" xss-attr="1" onmouseover="hacked++" x="',
    "single quotes": "' xss-attr='1' onmouseover='hacked++' x='",
    "markdown": "**x** `y` ``[x](javascript:hacked++) ![x](https://outside.example/x.png) | _x_",
    "link": "<https://outside.example/> [x]: https://outside.example/ https://outside.example/",
    "attribute list": "{: onclick=hacked++ xss-attr=1 } {:.x #y}",
    "templates": "{{ 7 * 7 }} {% include '/etc/passwd' %} ${7 * 7} #{7 * 7} {{ config }}",
    "front matter": "x\n---\ntitle: xss-title\nhide: [toc]\n---\n<xss-tag>",
    "yaml": "!!python/object/apply:os.system ['true'] : - &a *a",
    "address": "javascript:hacked++",
    "data": "data:text/html,<script>hacked++</script>",
    "svg": ']]></style><svg onload=hacked++><a xlink:href="javascript:hacked++"><xss-tag>',
    "dot": '"]; x [URL="javascript:hacked++" image="/etc/passwd"]; y [label=<<b>x</b>>',
    "separators": "x\u2028hacked++\u2029y",
    "path": "../../../../../../xss-path",
    "terminal": "\x1b]0;xss\x07\x1b[2J\x1b[31mx\r\n\x08",
    "turned round": "\u202egpj.exe\u2066\u200bx\ufeff",
    "comment": "--><!-- <xss-tag> <!--[if IE]>",
    "style": "</style><xss-tag>;background:url(https://outside.example/)",
    "ends": "</title></textarea></noscript></template></code></pre></td></table></div><xss-tag>",
    "references": "&lt;xss-tag&gt; &#60;xss-tag&#62; &amp;lt; %3Cxss-tag%3E \\u003cxss-tag\\u003e",
    "extensions": '--8<-- "/etc/passwd"\n[TOC]\n!!! note\n    x\n*[x]: y\n[^1]: z\n:smile: $$x$$',
    "backslashes": "\\' \\\\\" \\x3cxss-tag\\x3e \\",
}
"""What each tries; `xss-tag` would be an element, `xss-attr` an attribute, `hacked++` would run."""

CASES = ("Same", "same", "SAME")
"""Modules whose names differ by case alone."""
LIKE_PAGES = ("index", "m", "foo", "foo-steps", "readme", "README", "404", "search", "assets")
"""Modules that are called like pages of the report."""

TEXT = """\
HloModule {name}, is_scheduled=true, frontend_attributes={{x={quoted}}}

FileNames
1 {quoted}

FunctionNames
1 {quoted}

FileLocations
1 {{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}

%{name}.sum (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %{name}.add = f32[] add(%a, %b), metadata={{op_name={quoted}}}
}}

ENTRY %{name}.main (p: f32[8,4]) -> f32[] {{
  %{name}.p = f32[8,4]{{1,0}} parameter(0), metadata={{op_name={quoted} source_file={quoted} \
source_line=3}}
  %{name}.zero = f32[] constant(0)
  %{name}.{step} = f32[8,4]{{1,0}} custom-call(%{name}.p), custom_call_target={quoted}, \
backend_config={quoted}, metadata={{op_name={quoted} stack_frame_id=1}}
  %odd.{step} = {name} xss-opcode(%{name}.{step}), sharding={{{name}}}, x={quoted}
  %{name}.sine = f32[8,4]{{1,0}} {opcode}(%{name}.{step}), metadata={{op_name={quoted}}}
  ROOT %{name}.all = f32[] reduce(%{name}.sine, %{name}.zero), dimensions={{0,1}}, \
to_apply=%{name}.sum, metadata={{op_name={quoted}}}
}}
"""
BUFFERS = """\
BufferAssignment:
allocation 0: size 128, page 0, parameter 0, shape |{name}| at ShapeIndex {{}}:
 value: <1 {name}.p @0> (size=128,offset=0): {name}
allocation 1: size 128, page 0, preallocated-temp:
 value: <2 {name}.sine @0> (size=128,offset=0): f32[8,4]{{1,0}}
"""
DOT = """\
digraph G {{
label = <<b>{name}<br/>Computation {name}.main<br/>ENTRY computation</b>>;
stylesheet=< data:text/css, @import url(https://outside.example/x.css); >
1 [label=<<b>{name}</b><br/>Parameter 0>, shape=box, tooltip="{name}", style="filled"];
2 [label=<<b>add</b><br/>{name}>, shape=box, tooltip="{name}", URL="javascript:hacked++"];
1 -> 2 [arrowhead=normal tooltip="{name} -> {name}"];
}}
"""
LLVM = """\
source_filename = {quoted}
define void @"{name}.sine"(ptr %a) !dbg !1 {{
  ret void, !x !{quoted}
}}
!1 = !DIFile(filename: {quoted}, directory: {quoted})
"""
PTX = """\
.version 8.0
.target {name}
.visible .entry {name}_sine(
)
{{ // {attack}
  ret;
}}
.file 1 {quoted}
"""
THUNKS = """\
000: kKernel [source | next=001 (1)] {name}.sine grid: [1, 1, 1] threads: [64, 1, 1]
001: {name} [prev=000 (1) | sink] {name}.all {attack}
"""
MLIR = """\
module @{quoted} attributes {{x = {quoted}}} {{
  func.func public @main(%arg0: tensor<8x4xf32> {{jax.name = {quoted}}}) -> tensor<8x4xf32> {{
    %0 = "stablehlo.{name}"(%arg0) : (tensor<8x4xf32>) -> tensor<8x4xf32> loc({quoted})
    return %0 : tensor<8x4xf32>
  }}
}}
"""


def quoted(text: str) -> str:
    """Return a string as XLA writes it into HLO text."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def as_name(text: str) -> str:
    """Return a string as far as it can be a name in HLO text."""
    return re.sub(r'[\s=%(){},"]', "_", text)


def as_file_name(text: str, longest: int = 60) -> str:
    """Return a string as far as it can be a part of a file name."""
    return text.replace("/", "\N{DIVISION SLASH}").encode()[:longest].decode("utf-8", "ignore")


def hlo_text(attack: str, step: str, opcode: str = "sine") -> str:
    name = as_name(attack)
    return TEXT.format(name=name, quoted=quoted(attack), step=step, opcode=opcode)


def words(attack: str) -> dict[str, str]:
    """Return an attack in every form in which the files of a dump can hold it."""
    hlo = hlo_text(attack, "one")
    named = {"name": as_name(attack), "file": as_file_name(attack, 40)}
    return {**named, "quoted": quoted(attack), "attack": attack, "hlo": hlo}


def module_files(number: int, attack: str) -> Iterator[tuple[str, str]]:
    """Yield a module's files: four snapshots with a change between any two, and what goes along."""
    prefix = f"module_{number:04d}.{as_file_name(attack)}"
    one_pass = as_file_name(attack, 30)
    yield f"{prefix}.before_optimizations.txt", hlo_text(attack, "one")
    for sequence, step in enumerate(("two", "three")):
        moment = f"{sequence:04d}.{one_pass}.after_{one_pass}.before_{one_pass}"
        yield f"{prefix}.{moment}.txt", hlo_text(attack, step)
    after = f"{prefix}.cpu_after_optimizations"
    yield f"{after}.txt", hlo_text(attack, "three", "cosine")
    yield f"{after}-buffer-assignment.txt", BUFFERS.format(name=as_name(attack))
    said = words(attack)
    yield f"{prefix}.ir-no-opt.ll", LLVM.format(**said)
    yield f"{prefix}.ptx", PTX.format(**said)
    yield f"{prefix}.thunk_sequence.txt", THUNKS.format(**said)
    yield f"{prefix}.mlir", MLIR.format(**said)
    yield f"{prefix}.debug_options", f"xla_dump_to: {quoted(attack)}\n{as_name(attack)}: true\n"
    yield f"{prefix}.{as_file_name(attack, 40)}", attack
    yield from side_files(prefix, number, said)


def proto(attack: str) -> bytes:
    """Return a module as a proto, in which any string can be a name."""
    message: Message = message_class("HloProto")()
    module = message.hlo_module
    module.name = module.entry_computation_name = attack.encode()
    computation = module.computations.add(name=attack.encode(), id=1, root_id=2)
    for number, opcode in ((1, b"parameter"), (2, b"negate"), (3, attack.encode())):
        line = computation.instructions.add(name=f"{attack}{number}".encode(), opcode=opcode)
        line.id = number
        line.operand_ids.extend([1] if number > 1 else [])
        line.shape.element_type = 11
        line.metadata.op_name = line.metadata.source_file = attack.encode()
        line.custom_call_target = line.backend_config = attack.encode()
    return bytes(message.SerializeToString())


def events() -> Iterator[dict[str, object]]:
    """Yield what a profiler would tell of the modules."""
    for attack in ATTACKS.values():
        said = {"hlo_module": as_name(attack), "hlo_op": attack, "run_id": attack}
        yield {"ph": "X", "ts": 1, "dur": 1, "name": attack, "args": said}


def odd_names() -> Iterator[tuple[bytes, str]]:
    """Yield files with names that a file system allows and a report may stumble upon."""
    for name in (*CASES, *LIKE_PAGES):
        for number, step in enumerate(("one", "two")):
            path = f"module_0500.{name}.{number:04d}.p.after_a.before_b.txt"
            yield path.encode(), hlo_text(name, step)
    for name in (
        "index.txt",
        "m.txt",
        "report.json",
        ".hidden.txt",
        "~",
        "-rf",
        "con.txt",
        " .txt",
    ):
        yield name.encode(), hlo_text("x", "one")
    every = bytes(number for number in range(1, 256) if number != ord("/"))
    for place in range(0, len(every), 60):
        part = every[place : place + 60]
        yield b"module_0600." + part + b".before_optimizations.txt", hlo_text("x", "one")
        yield part, "x"
    yield b"module_0700." + b"n" * 239 + b".txt", hlo_text("x", "one")
    yield b"x" * 255, hlo_text("x", "one")
    yield b"module_0800.x<xss-tag>.html", "<script>hacked++</script>"


@pytest.fixture(scope="session")
def hostile_dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dump made to break out of its report."""
    folder = tmp_path_factory.mktemp("hostile") / "<xss-tag> dump"
    (folder / "<xss-tag>" / "xss-tag>").mkdir(parents=True)
    (folder / "<xss-tag>" / "xss-tag>" / "<script>hacked++<").mkdir()
    for number, attack in enumerate(ATTACKS.values(), 1):
        for name, text in module_files(number, attack):
            (folder / name).write_text(text, "utf-8", newline="")
        prefix = folder / f"module_{200 + number:04d}.{as_file_name(attack)}"
        Path(f"{prefix}.before_optimizations.hlo.pb").write_bytes(proto(attack))
        for name, text in beside(number, words(attack)):
            (folder / name).write_text(text, "utf-8", newline="")
        drawing = DOT.format(name=as_name(attack))
        Path(f"{prefix}.before_optimizations.dot").write_text(drawing, "utf-8")
    for odd, text in odd_names():
        with suppress(OSError, ValueError):  # a file system that does not allow it
            (folder / odd.decode("utf-8", "surrogateescape")).write_text(text, "utf-8", newline="")
    (folder / "host.trace.json").write_text(json.dumps({"traceEvents": list(events())}))
    inner = folder / "<xss-tag>" / "xss-tag>" / "<script>hacked++<" / "script>.txt"
    inner.write_text(hlo_text("x", "one"), "utf-8")
    return folder


@pytest.fixture(scope="session")
def hostile_out(hostile_dump: Path, shared: Shared) -> Path:
    """Return the folder of a report of the hostile dump that has nights, and a hostile title."""

    def make(folder: Path) -> None:
        root = folder / "<xss-tag>nightly"
        for html in (False, True):
            options = BuildOptions(
                out=root / "out", jobs=2, history=root / "nights", name=ATTACKS["script"], html=html
            )
            built = build(hostile_dump, options)
        assert built.warnings == ""

    return shared("hostile", make) / "<xss-tag>nightly/out"
