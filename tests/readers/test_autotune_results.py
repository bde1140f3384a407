"""Results of autotuning: of a file that XLA wrote, and of the messages of older releases.

XLA of jax 0.10.2 wrote `data/autotune_results.pbtxt` when results of our own were loaded with
`xla_gpu_load_autotune_results_from`: the form is XLA's, nothing in it was measured.
"""

from pathlib import Path

from tests.readers.parsers import Parser, with_path

from xlareport.readers.autotune_results import TuningResult, read_autotune_results

TUNED = (
    b'version: 3\nresults {\n  device: "x"\n  hlo: "f32[] dot(\\n)"\n  result {\n    run_time {\n'
    b"      nanos: 17\n    }\n    triton {\n      block_m: 64\n    }\n  }\n}\n"
)
PARSERS = (Parser(with_path(read_autotune_results), TUNED, (b"a {\n", b"}\n")),)
"""For `tests/properties/test_parsers.py`."""


FILE = Path(__file__).parent / "data/autotune_results.pbtxt"


def test_a_file_that_xla_wrote() -> None:
    """Every kind of choice that autotuning.proto has, with times where there are any."""
    results, problems = read_autotune_results(FILE.read_bytes(), "x")
    assert not problems
    by_hlo = {result.hlo: result for result in results}
    first = results[0]
    assert (first.made_by, first.nanoseconds) == ("Triton", 17_440)
    assert first.hlo.startswith("(bf16[640,72]{1,0}) fusion(bf16[1000,640]{1,0} p0")
    assert '\n  "quoted"\n' in first.hlo
    assert first.device.startswith("CUDA: 9.0, Cores: 132")
    assert [first.settings[name] for name in ("block_m", "split_k", "num_warps")] == [
        *("64", "4", "4"),
    ]
    library = by_hlo['f32[20480,48]{1,0} custom-call(...), custom_call_target="__cublas$gemm"']
    assert (library.made_by, library.settings["algorithm"]) == ("cuBLAS", "-1")
    assert library.nanoseconds == 1_000_000_005
    assert by_hlo["conv"].made_by == "cuDNN"
    assert by_hlo["conv"].settings["tuning_knobs[2]"] == "3"
    assert by_hlo["conv"].settings["workspace_size.value"] == "128"
    assert by_hlo["sort"].made_by == "NATIVE_EMITTER"
    assert by_hlo["failed"].settings == {"failure": "DISQUALIFIED"}
    assert by_hlo["failed"].nanoseconds is None


def test_older_messages() -> None:
    """Until 2023 dots and convolutions were two lists."""
    dots = b"dots {\n result {\n run_time {\n nanos: 7\n}\n}\n}\n"
    text = b"version: 1\nconvs {\n hlo: 'c'\n}\n" + dots
    results, _ = read_autotune_results(text, "x")
    assert [(result.hlo, result.nanoseconds) for result in results] == [("", 7), ("c", None)]


def test_nothing_was_measured() -> None:
    """A compilation without a device writes the version alone."""
    assert read_autotune_results(b"version: 3\n", "x") == ((), [])


def test_a_time_as_text() -> None:
    text = b"results {\n result {\n run_time: '2.000000017s'\n}\n}\n"
    (result,), _ = read_autotune_results(text, "x")
    assert result == TuningResult("", "", "", {}, 2_000_000_017)
