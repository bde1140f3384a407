"""Runs one target under atheris: `python fuzz/run.py hlo_text [options of libFuzzer] [folders]`."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import atheris

_CORPUS = Path(__file__).parent / "corpus"
_OPTIONS = ("-max_len=6000", "-timeout=20", "-rss_limit_mb=1500", "-print_final_stats=1")


def _target(name: str) -> ModuleType:
    with atheris.instrument_imports(include=["xlareport"]):
        return importlib.import_module(f"targets.{name}")


def main() -> None:
    """Fuzz with the corpus of the repository; what is new goes to the first folder named."""
    program, name, *more = sys.argv
    target = _target(name)
    mutator = getattr(target, "mutate", None)
    arguments = [program, *_OPTIONS, *more, str(_CORPUS / name)]
    atheris.Setup(arguments, target.check, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
