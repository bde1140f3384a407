"""ResNet with bottlenecks on TPU v5e 2x2, data parallel, BatchNorm over the global batch, SGD momentum, label smoothing."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental import topologies

t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(t.devices), ("batch",))


def S(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


bf = jnp.bfloat16
STAGES = ((64, 2, 1), (128, 2, 2), (250, 2, 2))


def bn(n):
    return {"scale": S((n,)), "bias": S((n,))}


params, stats = (
    {"stem": S((7, 7, 3, 64)), "stem_bn": bn(64)},
    {"stem": {"mean": S((64,)), "var": S((64,))}},
)
cin = 64
for i, (ch, n, st) in enumerate(STAGES):
    for j in range(n):
        k = f"s{i}b{j}"
        out = ch * 4
        params[k] = {
            "c1": S((1, 1, cin, ch)),
            "b1": bn(ch),
            "c2": S((3, 3, ch, ch)),
            "b2": bn(ch),
            "c3": S((1, 1, ch, out)),
            "b3": bn(out),
        }
        if j == 0:
            params[k]["proj"] = S((1, 1, cin, out))
            params[k]["bp"] = bn(out)
        cin = out
params["fc"] = {"w": S((cin, 1000)), "b": S((1000,))}


def conv(x, w, s=1):
    return lax.conv_general_dilated(
        x, w.astype(bf), (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def norm(x, p):
    with jax.named_scope("bn"):
        y = x.astype(jnp.float32)
        m = y.mean((0, 1, 2))
        v = jnp.square(y).mean((0, 1, 2)) - m * m
        return ((y - m) * lax.rsqrt(v + 1e-5) * p["scale"] + p["bias"]).astype(bf)


def net(p, x):
    with jax.named_scope("stem"):
        x = jax.nn.relu(norm(conv(x.astype(bf), p["stem"], 2), p["stem_bn"]))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for i, (ch, n, st) in enumerate(STAGES):
        for j in range(n):
            with jax.named_scope(f"stage{i}/block{j}"):
                q = p[f"s{i}b{j}"]
                s = st if j == 0 else 1
                h = jax.nn.relu(norm(conv(x, q["c1"]), q["b1"]))
                h = jax.nn.relu(norm(conv(h, q["c2"], s), q["b2"]))
                h = norm(conv(h, q["c3"]), q["b3"])
                x = jax.nn.relu(h + (norm(conv(x, q["proj"], s), q["bp"]) if j == 0 else x))
    with jax.named_scope("classifier"):
        return x.astype(jnp.float32).mean((1, 2)) @ p["fc"]["w"] + p["fc"]["b"]


def resnet_step(params, momentum, images, labels):
    def loss(p):
        lg = net(p, images)
        with jax.named_scope("loss"):
            oh = jax.nn.one_hot(labels, 1000) * 0.9 + 1e-4
            return -jnp.mean(jnp.sum(jax.nn.log_softmax(lg) * oh, -1)), jnp.mean(
                lg.argmax(-1) == labels
            )

    (l, acc), g = jax.value_and_grad(loss, has_aux=True)(params)
    with jax.named_scope("sgd"):
        m = jax.tree.map(lambda m, g, p: 0.9 * m + g + 1e-4 * p, momentum, g, params)
        p = jax.tree.map(lambda p, m: p - 0.1 * m, params, m)
    return p, m, l, acc


c = (
    jax.jit(resnet_step, donate_argnums=(0,))
    .lower(params, params, S((256, 224, 224, 3), "batch"), S((256,), "batch", dtype=jnp.int32))
    .compile()
)
print(c.memory_analysis())
