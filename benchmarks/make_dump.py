"""Writes a large dump of a small program: a training step of a network of many layers.

`python benchmarks/make_dump.py OUT --layers 24` needs jax. Every layer is written out in the
program, so that the texts grow with the layers; every pass is dumped as text.
"""

import argparse
import os
from pathlib import Path
from typing import Any

FLAGS = "--xla_dump_to={} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"


def main() -> None:
    """Compile the program with the flags that dump it; nothing is run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder of the dump")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument(
        "--width", type=int, default=64, help="of a layer; texts hardly depend on it"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    before = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{before} {FLAGS.format(arguments.out)}".strip()
    os.environ["JAX_PLATFORMS"] = "cpu"
    compile_step(arguments.layers, arguments.width)
    sizes = [path.stat().st_size for path in arguments.out.rglob("*.txt")]
    print(f"{len(sizes)} texts, {sum(sizes) / 1e6:.1f} MB in {arguments.out}")


def compile_step(layers: int, width: int) -> None:
    """Compile one step of gradient descent."""
    # XLA reads its flags when jax is imported.
    import jax  # noqa: PLC0415 - only where a dump is made
    import jax.numpy as jnp  # noqa: PLC0415 - only where a dump is made

    def layer(x: Any, weights: dict[str, Any]) -> Any:
        queries, keys, values = jnp.split(normal(x) @ weights["mix"], 3, axis=-1)
        near = jax.nn.softmax(queries @ keys.T / width**0.5)
        x = x + near @ values @ weights["back"]
        return x + jax.nn.gelu(normal(x) @ weights["up"]) @ weights["down"]

    def normal(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def loss(stack: list[dict[str, Any]], x: Any, wanted: Any) -> Any:
        for number, weights in enumerate(stack):
            with jax.named_scope(f"layer_{number}"):
                x = layer(x, weights)
        return jnp.square(x - wanted).mean()

    def train_step(stack: list[dict[str, Any]], x: Any, wanted: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(stack, x, wanted)
        return value, jax.tree.map(lambda weight, slope: weight - 0.01 * slope, stack, slopes)

    shapes = {"mix": 3 * width, "back": width, "up": 4 * width}
    weights = {
        name: jax.ShapeDtypeStruct((width, size), "float32") for name, size in shapes.items()
    }
    weights["down"] = jax.ShapeDtypeStruct((4 * width, width), "float32")
    rows = jax.ShapeDtypeStruct((32, width), "float32")
    jax.jit(train_step).lower([weights] * layers, rows, rows).compile()


if __name__ == "__main__":
    main()
