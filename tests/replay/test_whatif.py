"""What is compiled again, and how; the compilations are skipped without jax."""

from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.modules import parse_module
from tests.replay.programs import entry

from xlareport import reader_table
from xlareport.cli.whatif import command
from xlareport.dump.modules import ModuleFiles
from xlareport.program import ParsedModule, SideFileValues
from xlareport.readers.debug_options import FlagValue
from xlareport.replay.child_process import Child, ReplayError
from xlareport.replay.whatif import (
    CompileTarget,
    compilable_text,
    own_options,
    parse_target,
    recompile,
)
from xlareport.report import BuildOptions, read_one_module

Unpack = Callable[[str], Path]


@pytest.fixture(scope="session")
def module(unpacked: Unpack) -> ParsedModule:
    return read_one_module(unpacked("jax-cpu-train"), None, BuildOptions(jobs=1))


def test_only_harmless_options_are_taken_from_a_dump(module: ParsedModule) -> None:
    settings = (
        FlagValue("xla_cpu_enable_fast_math", "true", 1),
        FlagValue("xla_cpu_enable_fast_min_max", "/etc/passwd", 2),
        FlagValue("xla_gpu_cuda_data_dir", "/evil", 3),
        FlagValue("xla_dump_to", "/evil", 4),
    )
    side = SideFileValues({reader_table.DEBUG_OPTIONS: (settings,)})
    taken, left_out = own_options(replace(module, side=side))
    assert taken == {"xla_cpu_enable_fast_math": "true"}
    assert left_out == ("xla_cpu_enable_fast_min_max", "xla_gpu_cuda_data_dir")


def test_layouts_and_donation_of_the_entry_are_kept_and_nothing_else() -> None:
    header = ", entry_computation_layout={(f32[]{:T(128)})->f32[]}, frontend_attributes={a=b}"
    text = compilable_text(parse_module(entry("ROOT %a = f32[] parameter(0)", header=header)))
    assert text.startswith("HloModule m, entry_computation_layout={(f32[]{:T(128)})->f32[]}\n")


def test_a_custom_call_is_refused_before_anything_is_compiled() -> None:
    line = '%a = f32[] parameter(0)\nROOT %c = f32[] custom-call(%a), custom_call_target="evil"'
    with pytest.raises(ReplayError, match="custom call 'evil'"):
        compilable_text(parse_module(entry(line)))


def test_a_kernel_for_a_tpu_keeps_its_code() -> None:
    line = (
        "%a = f32[] parameter(0)\nROOT %c = f32[] custom-call(%a), "
        'custom_call_target="tpu_custom_call", backend_config={"body":"TU"}'
    )
    text = compilable_text(parse_module(entry(line)), {"tpu_custom_call"})
    assert 'backend_config={"body":"TU"}' in text
    with pytest.raises(ReplayError, match="tpu_custom_call"):
        compilable_text(parse_module(entry(line)))


@pytest.mark.parametrize("setting", ["xla_dump_to=/x", "fusion", "other_flag=1"])
def test_what_is_no_option_is_refused(unpacked: Unpack, setting: str) -> None:
    result = CliRunner().invoke(command, [str(unpacked("jax-cpu-train")), "--set", setting])
    assert result.exit_code == 2


def test_a_disabled_pass_is_the_first_cause(jax_python: str, unpacked: Unpack) -> None:
    arguments = [str(unpacked("jax-cpu-train")), "--disable-pass", "fusion"]
    result = CliRunner().invoke(command, [*arguments, "--python", jax_python])
    assert result.exit_code == 0, result.output
    first = next(line for line in result.stdout.splitlines() if line.startswith("1. "))
    assert "`fusion`" in first
    assert "Control:" in result.stdout


def test_without_a_change_both_compilations_are_one(child: Child, module: ParsedModule) -> None:
    result = recompile(module, child, {})
    base, head = (
        read_one_module(folder, None, BuildOptions(jobs=1)) for folder in (result.base, result.head)
    )
    assert base.final is not None
    assert head.final is not None
    assert base.final.hlo.instruction_count == head.final.hlo.instruction_count
    assert [snapshot.stage.label for snapshot in base.snapshots] == [
        snapshot.stage.label for snapshot in head.snapshots
    ]


def test_the_control_is_on_the_page(jax_python: str, unpacked: Unpack, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(unpacked("jax-cpu-train")), "--out", str(out), "--python", jax_python]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    page = unescape((out / "site/index.html").read_text("utf-8"))
    assert "Control: " in page
    assert "Compiled with jaxlib " in page


def test_a_target_and_a_release_do_not_go_together(unpacked: Unpack) -> None:
    arguments = [str(unpacked("jax-cpu-train")), "--target", "v6e:2x2", "--jaxlib", "0.6"]
    assert CliRunner().invoke(command, arguments).exit_code == 2


def test_a_target_without_its_compiler_costs_a_message(child: Child, module: ParsedModule) -> None:
    with pytest.raises(ReplayError, match="was not compiled for the GPU of the description"):
        recompile(module, child, {}, target=CompileTarget("cuda", "1x1x1", "nothing"))


def test_an_unknown_option_costs_a_message(child: Child, module: ParsedModule) -> None:
    with pytest.raises(ReplayError, match="xla_no_such_option"):
        recompile(module, child, {"xla_no_such_option": "true"})


@pytest.fixture(scope="module")
def files(data: Path) -> ModuleFiles:
    return read_one_module(data / "jax-cpu-train", None, BuildOptions(jobs=1)).files


def test_a_topology_of_tpus(files: ModuleFiles) -> None:
    target = parse_target("v6e:2x2", files)
    assert (target.platform, target.topology, target.config) == ("tpu", "v6e:2x2", "")


def test_the_description_of_a_gpu_is_a_file(files: ModuleFiles, tmp_path: Path) -> None:
    (tmp_path / "h100").write_text('platform_name: "CUDA"')
    target = parse_target(f"gpu:{tmp_path / 'h100'}", files)
    assert (target.platform, target.config) == ("cuda", 'platform_name: "CUDA"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("v6e", "no target"),
        ("tpu:v6e", "no target"),
        ("gpu", "does not describe a GPU"),
        ("gpu:/nothing/there", "cannot be read"),
    ],
)
def test_others_are_refused(files: ModuleFiles, text: str, reason: str) -> None:
    with pytest.raises(ReplayError, match=reason):
        parse_target(text, files)
