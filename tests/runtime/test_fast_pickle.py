"""Records that travel between processes arrive as they were."""

import pickle

import pytest

from xlareport.dump.filename import parse
from xlareport.pictures.drawing import Arrow, Box, Drawing, Opening
from xlareport.pictures.shade import Shade
from xlareport.runtime.fast_pickle import FastPickle

NODE = Box("a", ("a", "f32[2]"), "blue", opens=(Opening("c=f", "calls f"),), shade=Shade(cost=0.5))


@pytest.mark.parametrize(
    "record",
    [
        parse("module_0042.jit_f.0017.simplification.after_algsimp.before_dce.txt"),
        Drawing("a", (NODE,), (Arrow("a", "a", style="control"),)),
    ],
)
def test_it_arrives_as_it_was(record: FastPickle) -> None:
    assert isinstance(record, FastPickle)
    sent = pickle.dumps(record)
    assert pickle.loads(sent) == record  # noqa: S301 - our own
    assert b"setstate" not in sent
    assert len(sent) < 4_000
