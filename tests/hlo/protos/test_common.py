"""Attributes that any instruction may have, as XLA prints them."""

from xlareport.hlo.protos.common import common_attributes
from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.protos.text_pieces import named


def test_common_attributes() -> None:
    made = message_class("HloInstructionProto")(
        sharding={},
        frontend_attributes={
            "map": [{"key": b"b", "value": b'"'}, {"key": b"a", "value": b"{c=1}"}]
        },
        metadata={"op_name": b"na\xc3\xafve", "stack_frame_id": 3, "source_line": 4},
        backend_config=b"opaque",
    )
    assert named(common_attributes(made, ["x", "y"])) == (
        'sharding={replicated}, frontend_attributes={a={c=1},b="\\""}, '
        "control-predecessors={%x, %y}, "
        'metadata={op_name="na\\303\\257ve" source_line=4 stack_frame_id=3}, '
        'backend_config="opaque"'
    )


def test_json_stays_as_it_is() -> None:
    made = message_class("HloInstructionProto")(backend_config=b'{"a":[1]}')
    assert named(common_attributes(made, [])) == 'backend_config={"a":[1]}'
