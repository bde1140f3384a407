"""Attributes of single opcodes have the text that XLA prints."""

from typing import Any

import pytest

from xlareport.hlo.protos.attributes import call_attributes, comparison_order, own_attributes
from xlareport.hlo.protos.schema import message_class
from xlareport.hlo.protos.text_pieces import named


@pytest.mark.parametrize(
    ("opcode", "called", "expected"),
    [
        ("while", ["body", "condition"], {"condition": "%condition", "body": "%body"}),
        ("fusion", ["f"], {"calls": "%f"}),
        ("reduce", ["f"], {"to_apply": "%f"}),
        ("select-and-scatter", ["f", "g"], {"select": "%f", "scatter": "%g"}),
        ("conditional", ["f", "g"], {"branch_computations": "{%f, %g}"}),
        ("custom-call", ["f"], {"called_computations": "{%f}"}),
        ("async-start", ["f"], {"calls": "%f"}),
        ("async-done", ["f"], {}),
        ("reduce", ["f", "g"], {"calls": "{%f, %g}"}),
        ("add", [], {}),
    ],
)
def test_call_attributes(opcode: str, called: list[str], expected: dict[str, str]) -> None:
    assert call_attributes(opcode, called, by_predicate=False) == expected


def test_a_conditional_on_a_predicate() -> None:
    assert call_attributes("conditional", ["f", "g"], by_predicate=True) == {
        "true_computation": "%f",
        "false_computation": "%g",
    }


F32, S32, PRED, TUPLE, C64, BF16, U8, TOKEN, BUFFER = 11, 4, 1, 13, 15, 16, 6, 17, 34


def shape(kind: int, *sizes: int, **more: Any) -> dict[str, Any]:
    return {"element_type": kind, "dimensions": sizes, **more}


@pytest.mark.parametrize(
    ("opcode", "fields", "text"),
    [
        ("add", {"dimensions": [1]}, ""),
        ("broadcast", {}, "dimensions={}"),
        ("iota", {"dimensions": [1]}, "iota_dimension=1"),
        ("compare", {"comparison_direction": b"LT"}, "direction=LT"),
        ("sort", {"dimensions": [0], "is_stable": True}, "dimensions={0}, is_stable=true"),
        ("fft", {"fft_type": 2, "fft_length": [8]}, "fft_type=RFFT, fft_length={8}"),
        (
            "slice",
            {"slice_dimensions": [{"limit": 8, "stride": 1}, {"start": 1, "stride": 2}]},
            "slice={[0:8], [1:0:2]}",
        ),
        (
            "pad",
            {"padding_config": {"dimensions": [{"edge_padding_low": 1}, {"interior_padding": 2}]}},
            "padding=1_0_0x0_0_2",
        ),
        ("get-tuple-element", {"tuple_index": 2}, "index=2"),
        (
            "all-reduce",
            {"channel_id": 1, "use_global_device_ids": True},
            "channel_id=1, replica_groups={}, use_global_device_ids=true",
        ),
        (
            "collective-permute",
            {"channel_id": 1, "source_target_pairs": [{"source": 0, "target": 1}]},
            "channel_id=1, source_target_pairs={{0,1}}",
        ),
        (
            "convolution",
            {
                "window": {
                    "dimensions": [
                        {
                            "size": 3,
                            "stride": 2,
                            "padding_low": 1,
                            "window_dilation": 1,
                            "base_dilation": 1,
                        },
                        {"size": 3, "stride": 1, "window_dilation": 1, "base_dilation": 1},
                    ]
                },
                "convolution_dimension_numbers": {
                    "input_feature_dimension": 3,
                    "input_spatial_dimensions": [1, 2],
                    "kernel_input_feature_dimension": 2,
                    "kernel_output_feature_dimension": 3,
                    "kernel_spatial_dimensions": [0, 1],
                    "output_feature_dimension": 3,
                    "output_spatial_dimensions": [1, 2],
                },
                "feature_group_count": 2,
                "batch_group_count": 1,
                "precision_config": {"operand_precision": [2, 0]},
            },
            (
                "window={size=3x3 stride=2x1 pad=1_0x0_0}, dim_labels=b01f_01io->b01f, "
                "feature_group_count=2, operand_precision={highest,default}"
            ),
        ),
        (
            "dot",
            {
                "dot_dimension_numbers": {
                    "lhs_contracting_dimensions": [1],
                    "rhs_contracting_dimensions": [0],
                },
                "precision_config": {"algorithm": 6},
            },
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32",
        ),
        (
            "custom-call",
            {
                "custom_call_target": b'a"b',
                "constrain_layout": True,
                "operand_shapes_with_layout": [shape(S32)],
                "output_operand_aliasing": [{"operand_index": 1}],
                "custom_call_api_version": 4,
                "feature_group_count": 1,
            },
            (
                'custom_call_target="a\\"b", operand_layout_constraints={s32[]}, '
                "output_to_operand_aliasing={{}: (1, {})}, api_version=API_VERSION_TYPED_FFI"
            ),
        ),
        (
            "gather",
            {
                "gather_dimension_numbers": {"offset_dims": [2], "index_vector_dim": 2},
                "gather_slice_sizes": [1, 4],
            },
            (
                "offset_dims={2}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=2, "
                "slice_sizes={1,4}"
            ),
        ),
        (
            "scatter",
            {"scatter_dimension_numbers": {"update_window_dims": [0]}, "unique_indices": True},
            (
                "update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
                "index_vector_dim=0, unique_indices=true"
            ),
        ),
        ("copy-start", {"cross_program_prefetch_index": 0}, "cross_program_prefetch_index=0"),
        ("copy-start", {}, ""),
        ("rng", {"distribution": 1}, "distribution=rng_uniform"),
        ("rng-bit-generator", {}, "algorithm=rng_default"),
        ("rng-get-and-update-state", {"delta": 1}, "delta=1"),
        ("reduce-precision", {"exponent_bits": 8}, "exponent_bits=8, mantissa_bits=0"),
        ("batch-norm-training", {"epsilon": 1e-05}, "epsilon=1e-05, feature_index=0"),
        ("send", {"is_host_transfer": True}, "is_host_transfer=true"),
        (
            "triangular-solve",
            {"triangular_solve_options": {"lower": True, "transpose_a": 1}},
            "lower=true, transpose_a=NO_TRANSPOSE",
        ),
        ("cholesky", {"cholesky_options": {"lower": True}}, "lower=true"),
        ("topk", {"k": 2, "largest": True}, "k=2, largest=true"),
        (
            "domain",
            {"domain_entry_sharding": {"type": 4}},
            'domain={kind="sharding", entry={manual}, exit={replicated}}',
        ),
        ("infeed", {"infeed_config": b"x"}, 'infeed_config="x"'),
        ("outfeed", {"outfeed_shape": shape(S32)}, "outfeed_shape=s32[]"),
        (
            "ragged-dot",
            {"ragged_dot_dimension_numbers": {"lhs_ragged_dimensions": [0]}},
            (
                "lhs_contracting_dims={}, rhs_contracting_dims={}, "
                "lhs_ragged_dims={0}, rhs_group_dims={}"
            ),
        ),
        ("async-start", {"async_execution_thread": b"a"}, 'async_execution_thread="a"'),
        (
            "parameter",
            {"parameter_replication": {"replicated_at_leaf_buffers": [False]}},
            "parameter_replication={false}",
        ),
        ("fusion", {"fusion_kind": b"kLoop"}, "kind=kLoop"),
        ("scan", {"dimensions": [0], "num_carries": 1}, "dimensions={0}, num_carries=1"),
        ("not-yet-known", {}, ""),
    ],
)
def test_attributes(opcode: str, fields: dict[str, Any], text: str) -> None:
    made = message_class("HloInstructionProto")(opcode=opcode.encode(), **fields)
    assert named(own_attributes(made)) == text


@pytest.mark.parametrize(
    ("fields", "of_floats", "text"),
    [
        ({"comparison_order": b"TOTAL"}, True, "order=TOTAL"),
        ({"comparison_order": b"TOTAL"}, False, ""),
        ({"comparison_order": b"PARTIAL"}, True, ""),
        ({"comparison_type": b"TOTALORDER"}, True, "order=TOTAL"),
        ({}, True, ""),
    ],
)
def test_orders(fields: dict[str, bytes], *, of_floats: bool, text: str) -> None:
    made = message_class("HloInstructionProto")(**fields)
    assert named(comparison_order(made, of_floats=of_floats)) == text
