import pytest

from xlareport.dump.module_names import (
    LONGEST,
    explain_module,
    find_jax_name,
    jax_names,
    jax_release,
)
from xlareport.dump.tokens import joined

NEW_TF = (
    "a_inference_train_step_17__XlaMustCompile_true_config_proto_3175580994766145631"
    "_executor_type_11160318154034397263_.21"
)
OLD_TF = (
    "a_inference_f_17__XlaMustCompile_true_config_proto___n_007_n_0...02_001_000"
    "__executor_type____.21"
)
CLUSTER = (
    "cluster_51__XlaCompiledKernel_true__XlaHasReferenceVars_false__XlaNumConstantArgs_0"
    "__XlaNumResourceArgs_2_.80"
)


@pytest.mark.parametrize(
    ("name", "frontend", "display", "unique_id"),
    [
        ("jit_train_step", "jax", "train_step", None),
        ("jit__lambda", "jax", "<lambda>", None),
        ("jit__lambda_.7", "jax", "<lambda>", 7),
        ("jit(<lambda>)", "jax", "<lambda>", None),
        ("jit__threefry_split__2.20", "jax", "_threefry_split", 20),
        ("pmap__unnamed_wrapped_function_.186875", "jax", "_unnamed_wrapped_function_", 186875),
        ("pjit__wrapped_step_fn", "jax", "_wrapped_step_fn", None),
        ("primitive_computation_add.4", "jax", "add", 4),
        ("prim_fun.14", "jax", "prim_fun", 14),
        (NEW_TF, "tensorflow", "train_step", 21),
        (OLD_TF, "tensorflow", "f", 21),
        ("a_inference_run_step_1981__.1083", "tensorflow", "run_step", 1083),
        ("a_backward_f_2_17", "tensorflow", "f_2", None),
        ("__inference_f_12", "tensorflow", "f", None),
        (CLUSTER, "tensorflow", "cluster_51", 80),
        ("cluster_0__XlaCompiledKernel=true,_XlaScope=a_", "tensorflow", "cluster_0", None),
        ("cluster_4790582643659166751_f15n_0__.28", "tensorflow", "cluster", 28),
        ("SyncTensorsGraph.655", "pytorch_xla", "SyncTensorsGraph.655", 655),
        ("IrToHlo.9", "pytorch_xla", "IrToHlo.9", 9),
        ("jit_f.3.cl_933746096", "jax", "f", 3),
        ("sample.cl_933746096", None, "sample", None),
        ("fusionn", None, "fusionn", None),
        ("main.8", None, "main", 8),
        ("fused_reduce.2", None, "fused_reduce", None),  # of the name of what was copied
        ("credit_fraud.train_step", None, "credit_fraud.train_step", None),
    ],
)  # fmt: skip
def test_names_of_every_frontend_are_taken_apart(
    name: str, frontend: str | None, display: str, unique_id: int | None
) -> None:
    parts = explain_module(name)

    numbers = [int(token.text) for token in parts.tokens if token.field == "unique_id"]
    assert (parts.frontend, parts.display) == (frontend, display)
    assert numbers == ([] if unique_id is None else [unique_id])
    assert joined(parts.tokens) == name


def _told(name: str) -> dict[str, str]:
    return {token.text: token.meaning for token in explain_module(name).tokens}


def test_the_attributes_of_a_tensorflow_function_are_explained() -> None:
    told = _told(NEW_TF)

    assert "jit_compile=True" in told["XlaMustCompile"]
    assert "ConfigProto" in told["config_proto"]
    assert "fingerprint" in told["3175580994766145631"]
    assert "empty text" in told["11160318154034397263"]
    assert "is on" in told["true"]


def test_values_that_were_written_out_are_kept_together() -> None:
    values = [token.text for token in explain_module(OLD_TF).tokens if token.field == "value"]

    assert values == ["true", "__n_007_n_0...02_001_000"]


def test_the_attributes_of_a_cluster_are_explained() -> None:
    told = _told(CLUSTER)

    assert "known at compile time" in told["XlaNumConstantArgs"]
    assert "variables" in told["XlaNumResourceArgs"]
    assert "is off" in told["false"]


def test_an_unknown_attribute_is_still_an_attribute() -> None:
    told = _told("cluster_0__XlaOfTomorrow_true_.3")

    assert told["XlaOfTomorrow"] == "An attribute of the TensorFlow function."


def test_random_numbers_are_known_as_jax_s_own() -> None:
    assert "random numbers" in _told("jit__threefry_split")["_threefry_split"]


def test_operations_outside_jit_are_told_as_probable() -> None:
    parts = explain_module("jit_convert_element_type")

    assert parts.helper == "probably one operation of JAX that ran outside jit"
    assert "outside jit" in _told("jit_convert_element_type")["convert_element_type"]
    assert explain_module("jit_train_step").helper is None


def test_functions_and_primitives_of_jax_are_named_by_their_place() -> None:
    assert "jax.numpy.clip of JAX" in _told("jit_clip")["clip"]
    assert "primitive jax.lax.scatter_add_p" in _told("jit_scatter-add")["scatter-add"]
    assert "same name" in _told("jit_norm")["norm"]
    assert explain_module("jit_hessenberg").helper is None


@pytest.mark.parametrize("name", ["fused_reduce.2", "wrapped_slice_computation", "extracted"])
def test_pieces_of_modules_are_known_as_helpers(name: str) -> None:
    assert explain_module(name).helper is not None


@pytest.mark.parametrize("name", ["", "a b", "x" * (LONGEST + 1), "\x1b[31mred"])
def test_names_without_a_form_stay_whole(name: str) -> None:
    parts = explain_module(name)

    assert parts.frontend is None
    assert joined(parts.tokens) == name


def test_the_table_is_of_one_release() -> None:
    assert jax_release().startswith("jax 0.")
    assert len(jax_names()) > 600


def test_a_function_goes_before_a_primitive_of_its_name() -> None:
    for name, kind in (("cond", "function"), ("scan", "primitive"), ("_uniform", "function")):
        known = find_jax_name(name)
        assert known is not None
        assert known.kind == kind


def test_a_numbered_function_of_old_releases_is_known() -> None:
    known = find_jax_name("_var__1")
    assert known is not None
    assert known.where.endswith("._var")
    assert find_jax_name("_var__x") is None
    assert find_jax_name("train_step") is None
