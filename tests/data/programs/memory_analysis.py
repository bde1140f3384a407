# ruff: noqa: C901, PLR0915, C408, E741, RUF007, B905, FBT003, PTH123, BLE001 - many programs in one list
"""Programs of whose memory XLA's own count is recorded: usage `memory_analysis.py TARGET OUT`.

TARGET is `cpu` or a TPU topology such as `v5e:2x2`. OUT gets a line of JSON for each program: its
name, the target, and what `compiled.memory_analysis()` says.
"""

import json
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

FIELDS = ("argument", "output", "temp", "alias", "generated_code")


def mesh_of(target):
    if target == "cpu":
        devices = np.array(jax.devices())
    else:
        more = {"chip_config_name": "megacore"} if target.startswith(("v4", "v5p")) else {}
        devices = np.array(
            topologies.get_topology_desc(platform="tpu", topology_name=target, **more).devices
        )
        devices = devices.reshape(-1)
    return Mesh(devices, ("data",))


class Programs:
    def __init__(self, target):
        self.mesh = mesh_of(target)
        self.n = len(self.mesh.devices)
        self.tpu = target != "cpu"

    def s(self, shape, dtype=jnp.float32, *spec, kind=None):
        return jax.ShapeDtypeStruct(
            shape, dtype, sharding=NamedSharding(self.mesh, P(*spec), memory_kind=kind)
        )

    def all(self):
        f32, bf16 = jnp.float32, jnp.bfloat16
        s = self.s

        def affine(a, b, x):
            return a @ x + b

        yield affine, (s((128, 256)), s((128, 64)), s((256, 64))), {}

        def donated(p, g):
            return jax.tree.map(lambda a, b: a - 0.1 * b, p, g)

        t = {"a": s((300, 200)), "b": s((200,)), "c": s((5, 7, 11))}
        yield donated, (t, t), dict(donate_argnums=0)

        def mlp_step(p, x, y):
            def loss(p):
                h = x
                for w, b in p[:-1]:
                    h = jax.nn.relu(h @ w + b)
                w, b = p[-1]
                return jnp.mean((h @ w + b - y) ** 2)

            l, g = jax.value_and_grad(loss)(p)
            return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), l

        sizes = (784, 256, 64, 10)
        p = [(s((a, b)), s((b,))) for a, b in zip(sizes[:-1], sizes[1:])]
        yield (
            mlp_step,
            (p, s((64, 784), f32, "data"), s((64, 10), f32, "data")),
            dict(donate_argnums=0),
        )

        def layers(w, x):
            return jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, w)[0].sum()

        yield layers, (s((12, 128, 128)), s((32, 128))), {}

        def layers_grad(w, x):
            return jax.grad(layers)(w, x)

        yield layers_grad, (s((12, 128, 128)), s((32, 128))), {}

        def block(h, w):
            return jnp.tanh(jnp.tanh(h @ w[0]) @ w[1]), None

        def remat_loss(w, x, policy):
            body = jax.checkpoint(block) if policy else block
            return jax.lax.scan(body, x, w)[0].sum()

        def scan_saved(w, x):
            return jax.value_and_grad(lambda w: remat_loss(w, x, False))(w)

        def scan_remat(w, x):
            return jax.value_and_grad(lambda w: remat_loss(w, x, True))(w)

        yield scan_saved, (s((8, 2, 256, 256)), s((128, 256))), {}
        yield scan_remat, (s((8, 2, 256, 256)), s((128, 256))), {}

        def conv_grad(k, x):
            def loss(k):
                y = jax.lax.conv_general_dilated(
                    x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
                )
                return jnp.mean(jax.nn.relu(y) ** 2)

            return jax.grad(loss)(k)

        yield conv_grad, (s((3, 3, 8, 16)), s((8, 32, 32, 8))), {}

        def spectrum(x):
            return jnp.abs(jnp.fft.fft(x)) ** 2

        yield spectrum, (s((64, 512)),), {}

        def ranked(x, y):
            return jax.lax.sort((x, y), num_keys=1)

        yield ranked, (s((1000, 33)), s((1000, 33), jnp.int32)), {}

        def newton(x):
            return jax.lax.while_loop(
                lambda c: (jnp.abs(c[0] ** 2 - c[2]).max() > 1e-5) & (c[1] < 50),
                lambda c: (0.5 * (c[0] + c[2] / c[0]), c[1] + 1, c[2]),
                (x, 0, x),
            )

        yield newton, (s((33, 100)),), {}

        def chosen(i, x):
            return jax.lax.switch(i, [jnp.sin, lambda x: x @ x, lambda x: x * 2], x)

        yield chosen, (s((), jnp.int32), s((96, 96))), {}

        def lookup(table, i, u):
            return table[i].sum(0), table.at[i].add(u)

        yield lookup, (s((1000, 64)), s((128,), jnp.int32), s((128, 64))), dict(donate_argnums=0)

        def attention(q, k, v):
            a = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k).astype(f32) / 8)
            return jnp.einsum("bhts,bshd->bthd", a.astype(bf16), v)

        q = s((4, 128, 4, 64), bf16, "data")
        yield attention, (q, q, q), {}

        def factors(a):
            return jnp.linalg.cholesky(a @ a.T + 3 * jnp.eye(64))

        yield factors, (s((64, 64)),), {}

        def reduced(x):
            return x.sum(), x.max(0), x.mean(1), (x > 0).any()

        yield reduced, (s((1000, 130)),), {}

        def mixed(a, b):
            return (a.astype(bf16) @ b.astype(bf16)).astype(f32), (a > 0), a.astype(jnp.int8)

        yield mixed, (s((100, 100)), s((100, 100))), {}

        def averaged(x):
            return jax.shard_map(
                lambda x: jax.lax.pmean(x, "data") * x,
                mesh=self.mesh,
                in_specs=P("data"),
                out_specs=P("data"),
            )(x)

        yield averaged, (s((64, 256), f32, "data"),), {}

        def complex_product(a, b):
            return a @ b + a * b

        yield complex_product, (s((96, 96), jnp.complex64),) * 2, {}

        def noise(seed):
            return jax.random.normal(jax.random.key(seed), (500, 60)).sum(0)

        yield noise, (s((), jnp.uint32),), {}

        def empty(x):
            return x

        yield empty, (s((10,)),), {}

        if self.tpu:

            def offloaded(w, x):
                y = jax.device_put(w, NamedSharding(self.mesh, P(), memory_kind="device"))
                return jnp.tanh(x @ y)

            yield offloaded, (s((512, 512), kind="pinned_host"), s((64, 512))), {}


def main(target, out):
    only = set(sys.argv[3:])
    with open(out, "a") as table:
        for f, arguments, options in Programs(target).all():
            if only and f.__name__ not in only:
                continue
            try:
                compiled = jax.jit(f, **options).lower(*arguments).compile()
            except Exception as error:
                print("FAILED", f.__name__, type(error).__name__, str(error)[:300])
                continue
            m = compiled.memory_analysis()
            row = {
                n: getattr(m, n)
                for n in dir(m)
                if n.endswith(("_in_bytes", "_bytes", "_allocations")) and not n.startswith("_")
            }
            c = compiled.cost_analysis() or {}
            row["cost_flops"] = c.get("flops")
            row["cost_bytes"] = c.get("bytes accessed")
            print(
                json.dumps({"program": f.__name__, "target": target, **row}), file=table, flush=True
            )


main(*sys.argv[1:3])
