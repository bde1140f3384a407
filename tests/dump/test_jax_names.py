"""Names that JAX compiles by itself, from its own source."""

from xlareport.dump.jax_names import find_jax_name, jax_names, jax_release


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
