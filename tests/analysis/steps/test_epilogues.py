"""Library calls that take in what was computed behind a product."""

from tests.analysis.small_modules import modules

from xlareport.analysis.steps.numbers_changed import ARITHMETIC, numbers_changed
from xlareport.analysis.steps.step import step

_HEAD = """  %k = bf16[3,4,4]{2,1,0} constant({...})
  %c = bf16[1,8,4]{2,1,0} convert(%x)
  %b = bf16[4]{0} constant({1, 2, 3, 4})
"""


def _call(target: str, operands: str) -> str:
    return (
        f"  %conv = (bf16[1,8,4]{{2,1,0}}, u8[0]{{0}}) custom-call({operands}), "
        f'window={{size=3 pad=1_1}}, dim_labels=b0f_0io->b0f, custom_call_target="{target}"\n'
        "  %value = bf16[1,8,4]{2,1,0} get-tuple-element(%conv), index=0\n"
    )


def test_a_bias_in_the_convolution_is_rounded_once() -> None:
    apart = (
        _HEAD
        + _call("__cudnn$convForward", "%c, %k")
        + "  %w = bf16[1,8,4]{2,1,0} broadcast(%b), dimensions={2}\n"
        "  %sum = bf16[1,8,4]{2,1,0} add(%value, %w)\n"
        "  ROOT %r = bf16[1,8,4]{2,1,0} negate(%sum)"
    )
    fused = (
        _HEAD
        + _call("__cudnn$convBiasActivationForward", "%c, %k, %b")
        + "  ROOT %r = bf16[1,8,4]{2,1,0} negate(%value)"
    )
    (change,) = numbers_changed(step(*modules(apart, fused)))
    assert (change.what, change.count) == (ARITHMETIC, 1)
    assert "takes in `%b` too, before the result of the call is rounded" in change.example


def test_a_scale_of_a_product_is_nothing_that_is_added() -> None:
    scale = "  %one = f32[] constant(1)\n"
    plain = _HEAD + scale + _call("__cudnn$convForward", "%c, %k")
    scaled = _HEAD + scale + _call("__cudnn$convForward", "%c, %k, %one")
    last = "  ROOT %r = bf16[1,8,4]{2,1,0} negate(%value)"
    assert numbers_changed(step(*modules(plain + last, scaled + last))) == ()
