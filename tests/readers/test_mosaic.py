from tests.readers.parsers import Parser, without_problems

from xlareport.readers.mosaic import MosaicKernel, Window, read_mosaic

MOSAIC = b"""func.func @k(%arg0: i32) attributes {iteration_bounds = array<i64: 4, 2>, \
scalar_prefetch = 1 : i64, window_params = [{transform_indices = @t, \
window_bounds = array<i64: 8, 4>}]} {
func.func @t(%arg0: i32) -> (i32, i32) {
    return {a = 1} %arg0, %arg1 : i32, i32
"""
PARSERS = (
    Parser(
        without_problems(read_mosaic), MOSAIC, cases=(MOSAIC.replace(b"4,", b"--4,"),), says=False
    ),
)
"""For `tests/properties/test_parsers.py`."""


TEXT = b"""module attributes {stable_mosaic.version = 15 : i64} {
  func.func @scale(%arg0: i32, %arg1: i32, %arg2: memref<8x128xf32>) attributes \
{iteration_bounds = array<i64: 4, 2>, scalar_prefetch = 1 : i64, \
window_params = [{transform_indices = @transform_0, window_bounds = array<i64: 8, 128>}, \
{transform_indices = @transform_1, window_bounds = array<i64: 8, 128>}]} {
    return
  }
  func.func @transform_0(%arg0: i32, %arg1: i32) -> (i32, i32) attributes {} {
    return %arg1, %arg0 : i32, i32
  }
  func.func @transform_1(%arg0: i32, %arg1: i32) -> (i32, i32) attributes {} {
    %c = arith.constant 0 : i32
    return {in_layout = [#tpu.vpad<"none">]} %arg0, %c : i32, i32
  }
}
""".replace(b"\\\n", b"")


def test_a_kernel_with_its_grid_and_windows() -> None:
    assert read_mosaic(TEXT) == MosaicKernel(
        "scale", 1, (Window((8, 128), (2, 4)), Window((8, 128), (4, None)))
    )


def test_what_a_window_can_walk_over() -> None:
    window = Window((8, 128), (2, None))
    assert window.covers((16, 999))
    assert window.covers((9, 1))
    assert not window.covers((17, 128))
    assert not window.covers((16,))
    assert window.covers((None, 128))


def test_what_is_no_kernel() -> None:
    assert read_mosaic(b"") is None
    assert read_mosaic(b"func.func @f(%arg0: i32) {\n  return\n}\n") is None
    assert read_mosaic(b"\xff" * 1000) is None


def test_a_place_beyond_the_grid_tells_nothing() -> None:
    parsed = read_mosaic(TEXT.replace(b"return %arg1, %arg0", b"return %arg7, %arg0"))
    assert parsed is not None
    assert parsed.windows[0].blocks == (None, 4)
