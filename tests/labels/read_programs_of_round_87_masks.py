"""A training step and the use of a U-Net for masks of cells: separable convolutions, batch norm, skips, focal Tversky loss.

Ahead of time for v5e 2x2: mesh data 2 x model 2. Four scales by max pooling and resizing, squeeze and excitation at the
bottom, a head for masks and one for centers, hard pixels by a threshold, Adam with decoupled decay and a slow copy; the use
takes four flips of an image and their mean, then peaks of centers by a window of maxima.
"""

import os

os.environ.update(
    JAX_PLATFORMS="cpu",
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
)
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
B, SIDE, C, K = 8, 128, (32, 64, 128, 256), 4
NUMBERS = ("NHWC", "HWIO", "NHWC")


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
params, moments = {}, {}


def block(name, inside, outside):
    params[name] = dict(
        depth=S((3, 3, 1, inside), f32),
        point=S((1, 1, inside, outside), f32, None, None, None, "model"),
        scale=S((outside,), f32),
        shift=S((outside,), f32),
    )
    moments[name] = dict(mean=S((outside,), f32), var=S((outside,), f32))


for n, outside in enumerate(C):
    block(f"down{n}", 3 if n == 0 else C[n - 1], outside)
    block(f"more{n}", outside, outside)
for n in (2, 1, 0):
    block(f"up{n}", C[n + 1] + C[n], C[n])
params["squeeze"] = S((C[3], C[3] // 8), f32, "model")
params["excite"] = S((C[3] // 8, C[3]), f32, None, "model")
params["head"] = S((1, 1, C[0], K + 1), f32)
state = dict(params=params, m=params, v=params, slow=params, moments=moments, step=S((), i32))
batch = dict(
    image=S((B, SIDE, SIDE, 3), f32, "data"),
    mask=S((B, SIDE, SIDE), i32, "data"),
    center=S((B, SIDE, SIDE), f32, "data"),
)


def conv(x, w, groups=1):
    return lax.conv_general_dilated(
        x, w.astype(bf), (1, 1), "SAME", dimension_numbers=NUMBERS, feature_group_count=groups
    )


def net(p, moments, x, train):
    new = {}

    def run(name, x):
        y = conv(conv(x, p[name]["depth"], x.shape[-1]), p[name]["point"])
        y = con(y, "data", None, None, "model").astype(f32)
        old = moments[name]
        mean, var = (y.mean((0, 1, 2)), y.var((0, 1, 2))) if train else (old["mean"], old["var"])
        new[name] = jax.tree.map(lambda o, n: 0.9 * o + 0.1 * n, old, dict(mean=mean, var=var))
        y = (y - mean) * lax.rsqrt(var + 1e-5) * p[name]["scale"] + p[name]["shift"]
        return jax.nn.silu(y).astype(bf)

    x, kept = x.astype(bf), []
    for n in range(4):
        x = run(f"more{n}", run(f"down{n}", x))
        kept.append(x)
        if n < 3:
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    s = jax.nn.relu(x.mean((1, 2)).astype(f32) @ p["squeeze"]) @ p["excite"]
    x = x * jax.nn.sigmoid(s)[:, None, None].astype(bf)
    for n in (2, 1, 0):
        size = SIDE >> n
        x = jax.image.resize(x, (x.shape[0], size, size, x.shape[-1]), "bilinear")
        x = run(f"up{n}", jnp.concatenate([x, kept[n]], -1))
    y = conv(x, p["head"]).astype(f32)
    return y[..., :K], y[..., K], new


def loss(p, moments, b):
    s, center, new = net(p, moments, b["image"], True)
    share, real = jax.nn.softmax(s), jax.nn.one_hot(b["mask"], K)
    both = jnp.sum(share * real, (1, 2))
    only, missed = jnp.sum(share * (1 - real), (1, 2)), jnp.sum((1 - share) * real, (1, 2))
    tversky = (1 - (both + 1) / (both + 0.3 * only + 0.7 * missed + 1)) ** 0.75
    cross = -jnp.sum(jax.nn.log_softmax(s) * real, -1)
    hard = cross > jnp.mean(cross, (1, 2), keepdims=True)
    pixels = jnp.sum(cross * hard) / jnp.maximum(hard.sum(), 1)
    return tversky.mean() + pixels + jnp.mean((jax.nn.sigmoid(center) - b["center"]) ** 2), new


def masks_step(state, b):
    (value, moments), grads = jax.value_and_grad(loss, has_aux=True)(
        state["params"], state["moments"], b
    )
    step = state["step"] + 1
    t = step.astype(f32)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["v"], grads)
    rate = 1e-3 * jnp.minimum(1.0, t / 500)
    p = jax.tree.map(
        lambda p, m, v: (
            p - rate * ((m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-8) + 1e-2 * p)
        ),
        state["params"],
        m,
        v,
    )
    slow = jax.tree.map(lambda s, p: 0.999 * s + 0.001 * p, state["slow"], p)
    return dict(params=p, m=m, v=v, slow=slow, moments=moments, step=step), value


def find_cells(p, moments, image):
    flips = jnp.concatenate([image, image[:, ::-1], image[:, :, ::-1], image[:, ::-1, ::-1]])
    s, center, _ = net(p, moments, con(flips, "data", None, None, None), False)
    a, b, c, d = jnp.split(jax.nn.softmax(s), 4)
    share = (a + b[:, ::-1] + c[:, :, ::-1] + d[:, ::-1, ::-1]) / 4
    a, b, c, d = jnp.split(jax.nn.sigmoid(center), 4)
    heat = (a + b[:, ::-1] + c[:, :, ::-1] + d[:, ::-1, ::-1]) / 4
    most = lax.reduce_window(heat, -jnp.inf, lax.max, (1, 7, 7), (1, 1, 1), "SAME")
    best, where = lax.top_k(jnp.where(heat == most, heat, 0.0).reshape(heat.shape[0], -1), 64)
    return share.argmax(-1), best, where // SIDE, where % SIDE


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = jax.jit(masks_step, donate_argnums=0).trace(state, batch)
        low.lower(lowering_platforms=("tpu",)).compile()
        low = jax.jit(find_cells).trace(params, moments, batch["image"])
        low.lower(lowering_platforms=("tpu",)).compile()
