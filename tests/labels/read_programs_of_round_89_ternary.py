"""A training step and a test of a decoder of ternary weights: differential attention, streams, int8 products, ADOPT.

Ahead of time for v5p 2x2x2: mesh data 4 x model 2. Weights are rounded to -1, 0, 1 and values to eight bits, products are
of whole numbers with slopes straight through (a custom rule); attention is the difference of two softmaxes; each layer
reads from and writes to three streams that it mixes (hyper-connections); the loss in pieces of words with a second term of
log sums; ADOPT with norms clipped by tensor, decay that ends halfway; the test unpacks four weights from each byte and
judges answers of many choices by their mean likelihood, with hits by subject.
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

topo = topologies.get_topology_desc(platform="tpu", topology_name="v5p:2x2x2")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32, i8 = jnp.bfloat16, jnp.float32, jnp.int32, jnp.int8
# rows, words, layers, width, heads, size of a head, hidden, vocabulary, streams, pieces of the loss
B, T, L, D, H, HD, F, V, N, PIECES = 32, 512, 4, 1024, 8, 64, 2816, 16384, 3, 4
# questions, choices, words of a choice, subjects
Q, C, W, SUBJECTS = 16, 4, 128, 57


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
flat = dict(
    qk=((L, D, 4 * H * HD), ("data", "model")),
    v=((L, D, 2 * H * HD), ("data", "model")),
    out=((L, 2 * H * HD, D), ("model", "data")),
    up=((L, D, 2 * F), ("data", "model")),
    down=((L, F, D), ("model", "data")),
)
small = dict(
    embed=S((V, D), f32, "model", "data"),
    norms=S((L, 2, D), f32),
    inner=S((L, 2 * HD), f32),
    mix=S((L, 4, HD), f32),
    alpha=S((L, 2, N, N + 1), f32),
    beta=S((L, 2, N), f32),
    last=S((D,), f32),
)
params = dict(small, **{n: S(s, f32, None, *p) for n, (s, p) in flat.items()})
state = dict(params=params, m=params, v=params, step=S((), i32))
batch = dict(words=S((B, T + 1), i32, "data"), part=S((B, T), i32, "data"))
packed = dict(
    small,
    **{n: S((s[0], s[1] // 4, s[2]), jnp.uint8, None, *p) for n, (s, p) in flat.items()},
    scales={n: S((L,), f32) for n in flat},
)
exam = dict(
    words=S((Q, C, W), i32, "data"),
    start=S((Q, C), i32, "data"),
    length=S((Q, C), i32, "data"),
    answer=S((Q,), i32, "data"),
    subject=S((Q,), i32, "data"),
)


def norm(x, scale=None):
    y = x.astype(f32)
    y = y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
    return (y if scale is None else y * scale).astype(bf)


def whole(x):
    most = jnp.max(jnp.abs(x.astype(f32)), -1, keepdims=True) + 1e-5
    return jnp.round(x.astype(f32) * (127 / most)).astype(i8), most / 127


def ternary(w):
    size = jnp.mean(jnp.abs(w)) + 1e-6
    return jnp.clip(jnp.round(w / size), -1, 1).astype(i8), size


def multiply(x, t, size):
    n, step = whole(norm(x))
    y = jnp.einsum("...d,df->...f", n, t, preferred_element_type=i32)
    return (y.astype(f32) * (step * size)).astype(bf)


@jax.custom_vjp
def linear(x, w):
    return multiply(x, *ternary(w))


def linear_back(kept, g):
    x, w = kept
    t, size = ternary(w)
    n, pull = jax.vjp(norm, x)
    (dx,) = pull(jnp.einsum("...f,df->...d", g, (t.astype(f32) * size).astype(bf)))
    return dx, jnp.einsum("btd,btf->df", n, g, preferred_element_type=f32)


linear.defvjp(lambda x, w: (linear(x, w), (x, w)), linear_back)


def rotate(x):
    t = x.shape[1]
    speed = 10000.0 ** (-jnp.arange(0, HD, 2, dtype=f32) / HD)
    angle = (jnp.arange(t, dtype=f32)[:, None] * speed)[:, None, None]
    a, b = jnp.split(x.astype(f32), 2, -1)
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1).astype(bf)


def attend(x, w, mask, number, mul):
    b, t, _ = x.shape
    q, k = jnp.moveaxis(mul(x, "qk").reshape(b, t, 2, H, 2, HD), 2, 0)
    v = mul(x, "v").reshape(b, t, H, 2 * HD)
    s = jnp.einsum("bthck,bshck->bchts", rotate(q), rotate(k)).astype(f32) * HD**-0.5
    a = jax.nn.softmax(jnp.where(mask[:, None, None], s, -1e9), -1)
    first = 0.8 - 0.6 * jnp.exp(-0.3 * number.astype(f32))
    e = jnp.exp(jnp.sum(w["mix"][::2] * w["mix"][1::2], -1))
    a = (a[:, 0] - (e[0] - e[1] + first) * a[:, 1]).astype(bf)
    o = jnp.einsum("bhts,bshv->bthv", a, v)
    o = norm(o, w["inner"]) * (1 - first).astype(bf)
    return mul(o.reshape(b, t, -1), "out")


def feed(x, mul):
    a, b = jnp.split(mul(x, "up"), 2, -1)
    return mul(jnp.square(jax.nn.relu(a)) * b, "down")


def layer(streams, w, number, mask, mul):
    for i in range(2):
        mixed = jnp.einsum("nbtd,nm->mbtd", streams, w["alpha"][i].astype(bf))
        x = norm(mixed[0], w["norms"][i])
        y = attend(x, w, mask, number, mul) if i == 0 else feed(x, mul)
        streams = mixed[1:] + w["beta"][i].astype(bf)[:, None, None, None] * y
        streams = con(streams, None, "data")
    return streams


def trunk(p, words, mask, product):
    x = p["embed"].astype(bf)[words]
    streams = con(jnp.broadcast_to(x, (N, *x.shape)), None, "data")
    names = [n for n in (*flat, "norms", "inner", "mix", "alpha", "beta")]
    layers = {n: p[n] for n in names}
    if "scales" in p:
        layers["scales"] = p["scales"]

    @jax.checkpoint
    def body(streams, item):
        w, number = item
        return layer(streams, w, number, mask, lambda x, n: product(x, w, n)), None

    streams, _ = lax.scan(body, streams, (layers, jnp.arange(L)))
    return norm(jnp.sum(streams.astype(f32), 0), p["last"])


def train_loss(p, batch):
    words, wanted = batch["words"][:, :-1], batch["words"][:, 1:]
    part = batch["part"]
    mask = (part[:, :, None] == part[:, None]) & jnp.tri(T, dtype=bool)
    x = trunk(p, words, mask, lambda x, w, n: linear(x, w[n]))
    there = ((part > 0) & (wanted > 0)).astype(f32)
    head = p["embed"].astype(bf)

    @jax.checkpoint
    def piece(total, item):
        x, wanted, there = item
        s = con(jnp.einsum("btd,vd->btv", x, head).astype(f32), "data", None, "model")
        z = jax.nn.logsumexp(s, -1)
        own = jnp.take_along_axis(s, wanted[..., None], -1)[..., 0]
        hits = (jnp.argmax(s, -1) == wanted) * there
        terms = [(z - own) * there, 1e-4 * z * z * there, hits]
        return total + jnp.stack([t.sum() for t in terms]), None

    cut = lambda a: jnp.moveaxis(a.reshape(B, PIECES, T // PIECES, *a.shape[2:]), 1, 0)
    total, _ = lax.scan(piece, jnp.zeros(3), (cut(x), cut(wanted), cut(there)))
    total = total / jnp.maximum(there.sum(), 1)
    return total[0] + total[1], total


def ternary_train_step(state, batch):
    (_, parts), grads = jax.value_and_grad(train_loss, has_aux=True)(state["params"], batch)
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 1.5e-3 * jnp.minimum(t / 500, 0.1 + 0.9 * jnp.maximum(0.0, 1 - t / 40000))
    decay = jnp.where(step < 20000, 0.1, 0.0)
    sizes = jax.tree.map(lambda g: jnp.sqrt(jnp.sum(g * g)), grads)
    grads = jax.tree.map(lambda g, n: g * jnp.minimum(1, 0.5 / (n + 1e-8)), grads, sizes)
    bound = t**0.25

    def move(p, m, v, g):
        u = jnp.clip(g / jnp.maximum(jnp.sqrt(v), 1e-6), -bound, bound)
        m = jnp.where(step == 1, m, 0.9 * m + 0.1 * u)
        p = p - rate * (m + (decay * p if p.ndim > 2 else 0.0))
        return p, m, jnp.where(step == 1, g * g, 0.9999 * v + 0.0001 * g * g)

    moved = jax.tree.map(move, state["params"], state["m"], state["v"], grads)
    p, m, v = (jax.tree.map(lambda _, x: x[i], state["params"], moved) for i in range(3))
    zeros = jnp.mean(jnp.abs(p["down"]) < 0.5 * jnp.mean(jnp.abs(p["down"]), (1, 2), keepdims=True))
    return dict(params=p, m=m, v=v, step=step), dict(parts=parts, sizes=sizes, zeros=zeros)


def unpacked(w):
    bits = (w[:, None] >> (2 * jnp.arange(4, dtype=jnp.uint8))[:, None]) & 3
    return bits.reshape(4 * w.shape[0], w.shape[1]).astype(i8) - 1


def ternary_test(p, exam):
    words = exam["words"].reshape(Q * C, W)
    place = jnp.arange(W)
    length = exam["length"].reshape(Q * C)
    mask = jnp.tri(W, dtype=bool) & (place < length[:, None])[:, None]
    product = lambda x, w, n: multiply(x, unpacked(w[n]), w["scales"][n])
    x = trunk(p, words, mask, product)
    s = jnp.einsum("btd,vd->btv", x[:, :-1], p["embed"].astype(bf)).astype(f32)
    logs = jax.nn.log_softmax(con(s, "data", None, "model"))
    own = jnp.take_along_axis(logs, words[:, 1:, None], -1)[..., 0]
    judged = (place[1:] >= exam["start"].reshape(-1, 1)) & (place[1:] < length[:, None])
    mean = jnp.sum(own * judged, -1) / jnp.maximum(judged.sum(-1), 1)
    mean = mean.reshape(Q, C)
    right = (jnp.argmax(mean, -1) == exam["answer"]).astype(f32)
    hits = jax.ops.segment_sum(right, exam["subject"], SUBJECTS)
    count = jax.ops.segment_sum(jnp.ones(Q), exam["subject"], SUBJECTS)
    sure = jax.nn.softmax(mean, -1)
    bins = (
        jnp.zeros((10, 2))
        .at[jnp.clip((sure.max(-1) * 10).astype(i32), 0, 9)]
        .add(jnp.stack([right, jnp.ones(Q)], -1))
    )
    return hits, count, bins, jnp.argsort(-mean, -1)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(ternary_test).trace(packed, exam)
        c.lower(lowering_platforms=("tpu",)).compile()
        c = jax.jit(ternary_train_step, donate_argnums=0).trace(state, batch)
        c.lower(lowering_platforms=("tpu",)).compile()
