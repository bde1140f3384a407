"""A notebook shows a table of modules; nothing of a name is markup."""

from collections.abc import Callable
from pathlib import Path

import pytest

import xlareport
from xlareport.dump.modules import ModuleFiles
from xlareport.pages.modules.notebook import framed, notebook_table


def files(key: str) -> ModuleFiles:
    return ModuleFiles(key, key, None, key, None, (), ())


def test_names_are_text() -> None:
    page = notebook_table("<Report x>", [files("<script>alert(1)</script>")])

    assert "<script>" not in page
    assert "&lt;Report x&gt;" in page


def test_many_modules_are_counted() -> None:
    page = notebook_table("dump", [files(f"module_{number}") for number in range(60)])

    assert page.count("<code>") == 50
    assert "and 10 more" in page


def test_a_frame_refers_to_the_file_or_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "a b.html"
    file.write_text('<p title="x">&</p>')
    beside, within = framed(file, "", embed=False), framed(file, "", embed=True)

    assert "a%20b.html" in beside
    assert "srcdoc" not in beside
    assert 'srcdoc="&lt;p title=&quot;x&quot;&gt;&amp;&lt;/p&gt;"' in within
    assert "allow-same-origin" not in beside + within


@pytest.mark.filterwarnings("ignore:IPython3 lexer unavailable")
@pytest.mark.parametrize("template", ["lab", "basic"])
def test_a_converted_notebook_is_small(
    template: str, unpacked: Callable[[str], Path], tmp_path: Path
) -> None:
    from nbconvert import HTMLExporter
    from nbformat import v4

    def page(*outputs: str) -> str:
        shown = [v4.new_output("execute_result", {"text/html": output}) for output in outputs]
        cells = [v4.new_code_cell(outputs=shown)] if shown else []
        html, _ = HTMLExporter(template_name=template).from_notebook_node(
            v4.new_notebook(cells=cells)
        )
        return str(html)

    with xlareport.read(unpacked("jax-cpu-train")) as report:
        table = report._repr_html_()
    shown = framed(tmp_path / "xla-report.html", table, embed=False)
    filled, alone = page(table, shown), page()

    assert table in filled
    assert "xla-report.html" in filled
    assert len(filled) - len(alone) < 10_000  # the template lab itself is larger than 200 kB
    assert template == "lab" or len(filled) < 200_000
