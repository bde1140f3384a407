"""A training step of an image and a text tower: patches dropped, pairs judged one by one around a ring, Lion.

Ahead of time for eight v6e cores: mesh data 4 x model 2. A quarter of the patches stays (the best of random numbers),
positions by interpolation; pooling by an attending probe; the sigmoid loss of all pairs by four turns of text features
around "data" (shard_map, ppermute); a slow copy of the image tower whose features are matched; Lion in bfloat16.
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

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# pairs, size of an image, of a patch, patches kept, layers, width, heads, hidden, words, length, features
B, SIZE, PATCH, KEPT, L, D, H, F, V, T, E = 256, 224, 16, 49, 4, 512, 8, 2048, 32000, 64, 512
SIDE = SIZE // PATCH


def tower():
    return dict(
        qkv=S((L, D, 3, D), f32, None, None, None, "model"),
        out=S((L, D, D), f32, None, "model"),
        up=S((L, D, F), f32, None, None, "model"),
        down=S((L, F, D), f32, None, "model"),
        bias=S((L, F), f32, None, "model"),
        norms=S((L, 2, 2, D), f32),
    )


image = dict(
    tower=tower(),
    patch=S((PATCH, PATCH, 3, D), f32, None, None, None, "model"),
    position=S((16, 16, D), f32),
    probe=S((1, D), f32),
    pool=S((4, D, D), f32, None, None, "model"),
    project=S((D, E), f32, None, "model"),
)
text = dict(
    tower=tower(),
    table=S((V, D), f32, "model"),
    position=S((T, D), f32),
    project=S((D, E), f32, None, "model"),
)
params = dict(image=image, text=text, scale=S((), f32), shift=S((), f32))
slow = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, bf, sharding=p.sharding), params)
state = dict(params=params, m=slow, teacher=image, step=S((), i32))
batch = dict(
    image=S((B, SIZE, SIZE, 3), jnp.uint8, "data"),
    text=S((B, T), i32, "data"),
    key=S((2,), jnp.uint32),
)


def norm(x, p):
    y = x.astype(f32)
    mean = y.mean(-1, keepdims=True)
    y = (y - mean) * lax.rsqrt(jnp.var(y, -1, keepdims=True) + 1e-6)
    return (y * p[0] + p[1]).astype(bf)


def attend(q, k, v, mask=None):
    split = lambda x: x.reshape(*x.shape[:-1], H, -1)
    s = jnp.einsum("bthd,bshd->bhts", split(q), split(k)).astype(f32) * (D // H) ** -0.5
    s = s if mask is None else jnp.where(mask[:, None, None], s, -1e30)
    y = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(s, -1).astype(bf), split(v))
    return y.reshape(*q.shape)


def block(x, p, mask=None):
    y = jnp.einsum("btd,dce->cbte", norm(x, p["norms"][0]), p["qkv"].astype(bf))
    x = x + attend(*y, mask) @ p["out"].astype(bf)
    y = jax.nn.gelu(norm(x, p["norms"][1]) @ p["up"].astype(bf) + p["bias"].astype(bf))
    return x + y @ p["down"].astype(bf)


def layers(x, p, mask=None):
    step = jax.checkpoint(lambda x, p: (block(x, p, mask), None))
    return lax.scan(step, x, p)[0]


def see(p, pixels, key=None):
    x = pixels.astype(bf) / 127.5 - 1
    x = lax.conv_general_dilated(
        x,
        p["patch"].astype(bf),
        (PATCH, PATCH),
        "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    place = jax.image.resize(p["position"], (SIDE, SIDE, D), "bilinear")
    x = (x + place.astype(bf)).reshape(B, SIDE * SIDE, D)
    if key is not None:
        chance = jax.random.uniform(key, (B, SIDE * SIDE))
        _, kept = lax.top_k(chance, KEPT)
        x = jnp.take_along_axis(x, kept[..., None], 1)
    x = layers(x, p["tower"])
    w = p["pool"].astype(bf)
    probe = jnp.broadcast_to(p["probe"].astype(bf)[None] @ w[0], (B, 1, D))
    x = (attend(probe, x @ w[1], x @ w[2]) @ w[3])[:, 0]
    return unit(x @ p["project"].astype(bf))


def unit(x):
    x = x.astype(f32)
    return x * lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-8)


def read(p, words):
    x = (p["table"][words] + p["position"]).astype(bf)
    mask = words > 0
    x = layers(x, p["tower"], mask)
    last = jnp.sum(mask, -1) - 1
    x = jnp.take_along_axis(x, jnp.maximum(last, 0)[:, None, None], 1)[:, 0]
    return unit(x @ p["project"].astype(bf))


def judged(a, b, scale, shift):
    """The loss of all pairs: the text features go around the ring of "data"."""

    def local(a, b, scale, shift):
        n = lax.axis_size("data")

        def turn(number, carry):
            b, total = carry
            z = scale * (a @ b.T) + shift
            right = jnp.where((number == 0) & jnp.eye(a.shape[0], dtype=bool), 1.0, -1.0)
            total = total - jax.nn.log_sigmoid(right * z).sum()
            return lax.ppermute(b, "data", [(i, (i + 1) % n) for i in range(n)]), total

        start = lax.pcast(jnp.zeros(()), ("data",), to="varying")
        _, total = lax.fori_loop(0, n, turn, (b, start))
        return lax.psum(total, "data")

    names = P("data", None)
    return jax.shard_map(
        local, mesh=mesh, in_specs=(names, names, P(), P()), out_specs=P(), axis_names={"data"}
    )(a, b, scale, shift)


def loss(params, teacher, g):
    a = see(params["image"], g["image"], g["key"])
    b = read(params["text"], g["text"])
    pairs = judged(a, b, jnp.exp(params["scale"]), params["shift"]) / B
    whole = see(teacher, g["image"])
    match = jnp.mean(jnp.sum((a - lax.stop_gradient(whole)) ** 2, -1))
    return pairs + 0.1 * match, (pairs, match)


def pair_train_step(state, batch):
    (value, parts), grads = jax.value_and_grad(loss, has_aux=True)(
        state["params"], state["teacher"], batch
    )
    step = state["step"] + 1
    rate = (
        1e-4
        * jnp.minimum(1.0, step.astype(f32) / 1000)
        * lax.rsqrt(jnp.maximum(step.astype(f32) / 1000, 1.0))
    )

    def lion(p, g, m):
        way = jnp.sign(0.9 * m.astype(f32) + 0.1 * g)
        return p - rate * (way + 0.01 * p), (0.99 * m.astype(f32) + 0.01 * g).astype(bf)

    out = jax.tree.map(lion, state["params"], grads, state["m"])
    p, m = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0)), out)
    keep = jnp.where(step % 10 == 0, 0.99, 1.0)
    teacher = jax.tree.map(lambda t, n: keep * t + (1 - keep) * n, state["teacher"], p["image"])
    return dict(params=p, m=m, teacher=teacher, step=step), dict(loss=value, parts=parts)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = (
            jax.jit(pair_train_step, donate_argnums=0)
            .trace(state, batch)
            .lower(lowering_platforms=("tpu",))
        )
        print("ok", len(low.compile().as_text()))
