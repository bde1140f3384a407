"""The remedy of an all-gather is that of what reads it, and of who wrote it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from xlareport.analysis.collectives.cause import CauseKind
from xlareport.analysis.collectives.collective_rows import CollectiveOrigin
from xlareport.analysis.findings.finding import Case, Finding
from xlareport.analysis.findings.gathered_once import gathered_once

WRITTEN = ', metadata={op_name="jit(f)/shard_map/layer/all_gather"}'
PARTITIONED = ', frontend_attributes={is_spmd_generated="true"}, metadata={op_name="jit(f)/dot"}'
DOT = (
    "  ROOT r = f32[4096,4096] dot(g, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "",
)
CONVOLUTION = (
    '  ROOT r = f32[4096,1024] custom-call(g, a), custom_call_target="__cudnn$convForward"',
    "",
)
OF_TPU = (
    (
        "  ROOT r = f32[4096,4096] convolution(g, g), dim_labels=bf_oi->bf, "
        'metadata={op_name="jit(f)/attn/bthk,bshk->bhts/dot_general"}'
    ),
    "",
)
UNNAMED = ("  ROOT r = f32[4096,4096] convolution(g, g), dim_labels=bf_oi->bf", "")
BLUR = (
    (
        "  ROOT r = f32[4096,1024] convolution(g, a), window={size=1}, dim_labels=0f_0io->0f, "
        'metadata={op_name="jit(f)/conv_general_dilated"}'
    ),
    "",
)
GATHER = (
    "  i = s32[64] parameter(1)\n  ROOT r = f32[64,1024] fusion(g, i), kind=kLoop, calls=rows",
    (
        "rows {\n  t = f32[4096,1024] parameter(0)\n  i = s32[64] parameter(1)\n"
        "  ROOT w = f32[64,1024] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1024}\n}\n\n"
    ),
)
BY_COLUMN = (
    GATHER[0],
    GATHER[1].replace("start_index_map={0}", "start_index_map={1}").replace("={1,1024}", "={1,1}"),
)
LEAST = (
    "least {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
    "  ROOT l = pred[] compare(x, y), direction=LT\n}\n\n"
)
SORTED_ALONG = ("  ROOT s = f32[4096,1024] sort(g), dimensions={0}, to_apply=least", LEAST)
SORTED_ACROSS = ("  ROOT s = f32[4096,1024] sort(g), dimensions={1}, to_apply=least", LEAST)
TURNED = (
    (
        "  t = f32[1024,4096] transpose(g), dimensions={1,0}\n"
        "  ROOT s = f32[1024,4096] sort(t), dimensions={1}, to_apply=least"
    ),
    LEAST,
)
OTHER = ("  ROOT r = f32[4096,1024] negate(g)", "")


def module(user: tuple[str, str], attributes: str, operand: str = "") -> str:
    given = operand or "  a = f32[1024,1024] parameter(0)"
    body, called = user
    return (
        f"HloModule m, is_scheduled=true, num_partitions=4\n\n{called}ENTRY e {{\n{given}\n"
        "  g = f32[4096,1024] all-gather(a), channel_id=1, dimensions={0}, "
        f"replica_groups=[1,4]<=[4], use_global_device_ids=true{attributes}\n{body}\n}}\n"
    )


def finding(case: Case) -> Finding:
    (result,) = gathered_once(case)
    return result


@pytest.mark.parametrize(
    ("user", "title", "words"),
    [
        (DOT, "All-gather with a single consumer, a dot", "other operand of the dot"),
        (CONVOLUTION, "All-gather with a single consumer, a convolution", "along the batch"),
        (OF_TPU, "All-gather with a single consumer, a dot", "other operand of the dot"),
        (UNNAMED, "All-gather with a single consumer, a dot", "other operand of the dot"),
        (BLUR, "All-gather with a single consumer, a convolution", "along the batch"),
        (GATHER, "All-gather with a single consumer, a gather", "jax.lax.all_to_all"),
        (BY_COLUMN, "All-gather with a single consumer, a gather", "need not be gathered"),
        (SORTED_ALONG, "All-gather with a single consumer, a sort", "top k of each shard"),
        (SORTED_ACROSS, "All-gather with a single consumer, a sort", "gathers nothing"),
        (TURNED, "All-gather with a single consumer, a sort", "consumer's result"),
        (OTHER, "All-gather with a single consumer", "consumer's result"),
    ],
)
def test_a_partitioned_all_gather_has_the_remedy_of_its_consumer(
    case_of: Callable[..., Case], user: tuple[str, str], title: str, words: str
) -> None:
    result = finding(case_of(module(user, PARTITIONED)))
    assert result.title == title
    assert words in result.suggestion
    assert ("dot" in result.suggestion) == ("a dot" in title)


@pytest.mark.parametrize(
    ("user", "words"),
    [(DOT, "ppermute"), (GATHER, "only the rows"), (OTHER, "the consumer")],
)
def test_an_all_gather_of_the_program_has_no_sharding_to_choose(
    case_of: Callable[..., Case], user: tuple[str, str], words: str
) -> None:
    result = finding(case_of(module(user, WRITTEN)))
    assert "writes this all-gather itself" in result.suggestion
    assert words in result.suggestion
    assert "another sharding" not in result.suggestion


UPCAST = "  n = bf16[1024,1024] parameter(0)\n  a = f32[1024,1024] convert(n)"


def test_a_value_is_gathered_before_its_upcast(case_of: Callable[..., Case]) -> None:
    upcast = finding(case_of(module(OTHER, PARTITIONED, UPCAST)))
    assert "upcast from bf16: gathered before the convert, it sends half" in upcast.suggestion
    narrowed = UPCAST.replace("bf16", "f64")
    assert "convert" not in finding(case_of(module(OTHER, PARTITIONED, narrowed))).suggestion


def test_an_upcast_that_was_fused_away_is_that_of_the_program(
    case_of: Callable[..., Case],
) -> None:
    final = module(GATHER, WRITTEN)
    relative = WRITTEN.replace("jit(f)/shard_map/", "")
    before = module(OTHER, relative, UPCAST)
    assert "upcast from bf16" in finding(case_of(final, before)).suggestion
    another = before.replace("layer/all_gather", "other/all_gather")
    assert "upcast" not in finding(case_of(final, another)).suggestion


def test_a_reshape_that_merges_a_sharded_dimension_is_what_to_change(
    case_of: Callable[..., Case],
) -> None:
    case = case_of(module(DOT, PARTITIONED))
    (figures,) = case.collectives
    origin = CollectiveOrigin(
        *("step", None, "spmd-partitioning", None, CauseKind.RESHARDING, None),
        *("Gathers `g`.", (), "exact", None),
        merging_reshape="reshape.293",
    )
    flattened = replace(case, origins={figures.collective.key: origin})
    assert finding(flattened).suggestion.startswith("`reshape.293` of the program merges")
