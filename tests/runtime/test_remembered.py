"""Results are computed once for each object, and go with it."""

import gc
from weakref import ref

from xlareport.hlo.model import HloModule
from xlareport.runtime.remembered import remembered


def test_a_result_is_computed_once_and_goes_with_its_object() -> None:
    asked = []

    @remembered
    def name_of(module: HloModule) -> str:
        asked.append(module.name)
        return module.name

    module = HloModule("m", "", ())
    assert [name_of(module), name_of(module), name_of(HloModule("m", "", ()))] == ["m"] * 3
    assert len(asked) == 2
    gone = ref(module)
    del module
    gc.collect()
    assert gone() is None
