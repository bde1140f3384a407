"""Several dumps on one page, in a terminal and in a comment."""

from pathlib import Path

from click.testing import CliRunner

from xlareport.cli.compare import command

HLO = """HloModule jit_f, is_scheduled=true

ENTRY main {{
  a = f32[{size},{size}]{{1,0}} parameter(0)
  ROOT d = f32[{size},{size}]{{1,0}} dot(a, a), \
lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"""


def test_three_dumps(tmp_path: Path) -> None:
    places = []
    for number, size in enumerate((64, 128, 64)):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = HLO.format(size=size)
        (folder / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(text)
        places.append(str(folder))
    comment, out = tmp_path / "comment.md", tmp_path / "out"
    options = ["--out", str(out), "--markdown", str(comment), "--jobs", "1", "--quiet"]
    done = CliRunner().invoke(command, [*places, *options])
    assert done.exit_code == 0, done.output
    assert "dump 2 (1) stands out" in done.stdout
    assert "% more time for 700.0% more FLOPs" in done.stdout
    assert len(comment.read_text().splitlines()) == 7
    page = (out / "site/index.html").read_text()
    assert page.count("xr-figure-chart") == 1
    assert page.count('class="xr-odd-row"') == page.count('class="xr-odd"') == 1
    assert "<circle" in page
