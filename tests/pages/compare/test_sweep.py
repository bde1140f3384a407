"""Several dumps on one page, in a terminal and in a comment."""

from pathlib import Path

from click.testing import CliRunner

from xlareport.cli.compare import command
from xlareport.pages.compare.sweep import Series, sweep_plot

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


def test_figures_that_stay_the_same_are_not_drawn() -> None:
    same = Series("FLOPs", (4, 4, 4), ("4", "4", "4"))
    assert sweep_plot([same], None) == ""
    assert sweep_plot([], None) == ""


def test_each_figure_is_a_line_of_multiples_of_the_first_dump() -> None:
    grown = Series("Bytes <accessed>", (10, 20, 40), ("10 B", "20 B", "40 B"))
    same = Series("FLOPs", (4, 4, 4), ("4", "4", "4"))
    plot = sweep_plot([grown, same], 2)
    assert plot.count("<circle") == 6
    assert "Bytes &lt;accessed&gt;, dump 3: 40 B, 4.00 times dump 1" in plot
    assert plot.count('class="xr-odd"') == 1
    assert ">relative to dump 1<" in plot
    assert ">dump, in the order given<" in plot
    assert "4.00\N{MULTIPLICATION SIGN}" in plot
