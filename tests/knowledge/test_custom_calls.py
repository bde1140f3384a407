"""Custom calls by target."""

from xlareport.knowledge import custom_calls


def test_a_target_is_known_by_its_name_or_its_beginning() -> None:
    rules = {
        "Sharding": "nothing",
        "__cublas$lt$matmul$f8": "product",
        "__cudnn$convForwardGraph": "convolution",
        "__cudnn$fmhaSoftmaxBackward": "attention-backward",
        "lapack_zheevd_ffi": "dense",
        "te_grouped_gemm_d2h_group_sizes_ffi": "movement",
        "mpi_allreduce_ffi": "movement",
        "nccl_peer_exchange": "movement",
    }
    for target, rule in rules.items():
        call = custom_calls.find(target)
        assert call is not None
        assert call.work == rule
    assert custom_calls.find("mystery") is None


def test_a_backend_that_alone_has_a_target_is_known_beside_a_shared_entry() -> None:
    assert custom_calls.backend_of("cusolver_potrf_ffi") == "gpu"
    assert custom_calls.backend_of("lapack_spotrf_ffi") == "cpu"
    assert custom_calls.backend_of("Sharding") is None


def test_each_pattern_stands_once_and_each_entry_says_where_it_is_from() -> None:
    entries = custom_calls.all_entries().values()
    patterns = [pattern for entry in entries for pattern in entry.targets]
    assert len(patterns) == len(set(patterns))
    assert all(entry.words.endswith(".") and entry.source for entry in entries)
    assert all(entry.thirds != (0, 0) for entry in entries if entry.work == "dense")


SEEN = (
    "AllocateBuffer",
    "AssumeGatherIndicesInBound",
    "ConcatBitcast",
    "GatherScatterIndicesBitpacked",
    "Sharding",
    "TODO(b/522284627)",
    "__cub$DeviceRadixSort",
    "__cublas$gemm",
    "__cublas$triangularSolve",
    "__cudnn$convBackwardFilter",
    "__cudnn$convForward",
    "__cusolver$cholesky",
    "cu_lu_pivots_to_permutation",
    "cusolver_gesvdj_ffi",
    "cusolver_getrf_ffi",
    "cusolver_syevd_ffi",
    "lapack_sgetrf_ffi",
    "lapack_strsm_ffi",
    "tpu_custom_call",
    "xla_python_gpu_callback",
)
"""Targets of real dumps; what `TODO(b/522284627)` of libtpu does is said to be unknown."""


def test_targets_of_real_dumps_have_an_entry() -> None:
    assert all(custom_calls.find(target) for target in SEEN)
