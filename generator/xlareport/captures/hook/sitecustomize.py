"""Gives each process of a captured program its own folder for XLA's dump.

Python imports a module of this name when it starts. XLA reads its flags once in each process, when
it is first used: so the name of the folder is changed at the start of a process and after each
fork. Another module of this name, which this one hides, is imported afterwards.
"""

import importlib
import os
import sys
from pathlib import Path

_FOLDER = "XLAREPORT_CAPTURE_FOLDER"
"""The folder for all processes."""
_OWN = "XLAREPORT_CAPTURE_OWN"
"""The folder that the variables name now."""
_VARIABLES = (
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "LIBTPU_INIT_ARGS",
    "JAX_DUMP_IR_TO",
    "TF_DUMP_GRAPH_PREFIX",
)


def take_own_folder() -> None:
    """Set the variables to a folder that no other process uses."""
    folder, former = os.environ.get(_FOLDER), os.environ.get(_OWN)
    if not folder or not former:
        return
    process_folder = Path(folder, f"process-{os.getpid()}")
    process_folder.mkdir(parents=True, exist_ok=True)
    for name in _VARIABLES:
        if name in os.environ:
            os.environ[name] = os.environ[name].replace(former, str(process_folder))
    os.environ[_OWN] = str(process_folder)


def import_the_hidden_one() -> None:
    """Import the module that Python would have imported without this file."""
    here = Path(__file__).parent
    sys.path[:] = [text for text in sys.path if not text or Path(text) != here]
    this = sys.modules.pop(__name__)
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError as error:
        sys.modules[__name__] = this
        if error.name != __name__:
            raise


if __name__ == "sitecustomize" and _FOLDER in os.environ:
    take_own_folder()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=take_own_folder)
    import_the_hidden_one()
