"""A notebook shows a table of modules; nothing of a name is markup."""

from xlareport.dump.modules import ModuleFiles
from xlareport.pages.notebook import modules_table


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
