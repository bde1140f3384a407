"""A notebook shows a table of modules; nothing of a name is markup."""

from pathlib import Path

from xlareport.dump.modules import ModuleFiles
from xlareport.pages.notebook import framed, modules_table


def files(key: str) -> ModuleFiles:
    return ModuleFiles(key, key, None, key, None, (), ())


def test_names_are_text() -> None:
    page = modules_table("<Report x>", [files("<script>alert(1)</script>")])

    assert "<script>" not in page
    assert "&lt;Report x&gt;" in page


def test_many_modules_are_counted() -> None:
    page = modules_table("dump", [files(f"module_{number}") for number in range(60)])

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
