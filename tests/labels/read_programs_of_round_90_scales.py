"""A training step and a use of a generator of images scale by scale: residual codes, all places of a scale at once.

Ahead of time for 2x2 chips of 7x: mesh data 4 x model 2. A frozen encoder and a residual quantization over four scales (one
book of codes, areas down, cubic up, a small convolution after each) give the words inside the step; the decoder reads sums
of all coarser scales and sees whole scales (a mask by scale), normed queries and keys, shifts
and gates by the class, layers in a scan with remat, classes dropped, words flipped to near codes as noise, each scale with
a weight of its own that follows its loss; AdamW with moments in bfloat16 and a global limit. The use writes four scales one
after another into one cache, both halves of the guidance in one batch (growing with the scale), top-k then top-p by one
sort, then the decoder to pixels, and counts how much of the book is used.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="tpu7x:2x2x1")
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32
SCALES = (1, 2, 4, 8)
ENDS = np.cumsum([s * s for s in SCALES])
N, G = int(ENDS[-1]), SCALES[-1]
LEVEL = np.repeat(np.arange(len(SCALES)), [s * s for s in SCALES])
# batch, codes, size of a code, layers, width, heads, size, hidden, classes, width of the frozen nets, images of a use
B, V, C, L, D, H, HD, F, Y, E, U = 16, 2048, 32, 6, 512, 8, 64, 1536, 100, 128, 16


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
frozen = dict(
    down=[S((3, 3, 3 if i == 0 else E, E), bf, None, None, None, "model") for i in range(2)],
    code=S((1, 1, E, C), f32),
    book=S((V, C), f32, "model"),
    after=S((2, 3, 3, C, C), f32),
    enter=S((3, 3, C, E), bf, None, None, None, "model"),
    up=[S((3, 3, E, E), bf, None, None, None, "model") for _ in range(2)],
    norms=S((2, 2, E), f32),
    pixels=S((3, 3, E, 3), bf),
)
params = dict(
    kinds=S((Y + 1, D), f32, None, "model"),
    start=S((D,), f32),
    place=S((N, D), f32, None, "model"),
    enter=S((C, D), f32, None, "model"),
    layers=dict(
        qkv=S((L, D, 3, H, HD), f32, None, "data", None, "model"),
        out=S((L, H, HD, D), f32, None, "model", None, "data"),
        up=S((L, D, F), f32, None, "data", "model"),
        down=S((L, F, D), f32, None, "model", "data"),
        kind=S((L, D, 6, D), f32, None, "data", None, "model"),
    ),
    head=S((D, V), f32, "data", "model"),
)
half = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, bf, sharding=a.sharding), params)
state = dict(
    params=params,
    m=half,
    v=half,
    weight=S((len(SCALES),), f32),
    step=S((), i32),
    key=S((4,), jnp.uint32),
)
batch = dict(image=S((B, 32, 32, 3), jnp.uint8, "data"), kind=S((B,), i32, "data"))


def conv(x, w, stride=1):
    return lax.conv_general_dilated(
        x, w.astype(x.dtype), (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def resized(x, size):
    """Cubic, by products with a table of weights, one for each axis."""
    n = x.shape[1]
    d = np.abs((np.arange(size)[:, None] + 0.5) * n / size - 0.5 - np.arange(n))
    a = np.where(
        d < 1, (1.5 * d - 2.5) * d * d + 1, np.where(d < 2, ((-0.5 * d + 2.5) * d - 4) * d + 2, 0)
    )
    a = (a / a.sum(1, keepdims=True)).astype(np.float32)
    return jnp.einsum("ih,nhwc,jw->nijc", a, x, a)


def shrunk(x, size):
    """Means of areas, by products with a table of shares."""
    if size == G:
        return x
    a = np.zeros((size, G), np.float32)
    for i in range(size):
        for j in range(G):
            a[i, j] = max(0.0, min((i + 1) * G / size, j + 1) - max(i * G / size, j)) * size / G
    return jnp.einsum("ih,nhwc,jw->nijc", a, x, a)


def grown(fz, f, codes, i):
    """The sum of scales with one more."""
    s = SCALES[i]
    y = codes.reshape(-1, s, s, C)
    y = y if s == G else resized(y, G)
    y = 0.5 * y + 0.5 * conv(y, fz["after"][i // 2])
    return f + y


def words(fz, image, u):
    x = image.astype(bf) / 127.5 - 1
    for w in fz["down"]:
        x = jax.nn.silu(conv(x, w, 2))
    rest = conv(x.astype(f32), fz["code"])
    f, ids, reads = jnp.zeros_like(rest), [], []
    book = fz["book"] * lax.rsqrt(jnp.sum(fz["book"] ** 2, 1, keepdims=True) + 1e-8)
    for i, s in enumerate(SCALES):
        if i:
            reads.append(shrunk(f, s).reshape(B, s * s, C))
        z = shrunk(rest - f, s).reshape(B, s * s, C)
        z = z * lax.rsqrt(jnp.sum(z * z, -1, keepdims=True) + 1e-8)
        near, best = lax.approx_max_k(con(z @ book.T, "data", None, None), 2, recall_target=0.99)
        ids.append(best[..., 0])
        a = int(ENDS[i]) - s * s
        other = (u[:, a : a + s * s] < 0.1) & (near[..., 1] > 0.8 * near[..., 0])
        put = jnp.where(other, best[..., 1], best[..., 0])
        f = grown(fz, f, fz["book"][put], i)
    return jnp.concatenate(ids, 1), jnp.concatenate(reads, 1)


def norm(x):
    y = x.astype(f32)
    y = y - y.mean(-1, keepdims=True)
    return y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)


unit = lambda x: (
    x.astype(f32) * lax.rsqrt(jnp.sum(jnp.square(x.astype(f32)), -1, keepdims=True) + 1e-6)
).astype(bf)


def block(x, w, kind, look):
    """One layer; look(q, k, v) attends."""
    t = jnp.einsum("bd,dsk->sbk", jax.nn.silu(kind), w["kind"])
    g1, b1, a1, g2, b2, a2 = t[:, :, None]
    n = (norm(x) * (1 + g1) + b1).astype(bf)
    q, k, v = jnp.moveaxis(jnp.einsum("bnd,dzhk->bnzhk", n, w["qkv"].astype(bf)), 2, 0)
    o, rest = look(unit(q) * bf(10), unit(k), v)
    x = x + (a1 * jnp.einsum("bnhk,hkd->bnd", o, w["out"].astype(bf))).astype(bf)
    n = (norm(x) * (1 + g2) + b2).astype(bf)
    x = x + (a2 * (jax.nn.gelu(n @ w["up"].astype(bf)) @ w["down"].astype(bf))).astype(bf)
    return con(x, "data", None, None), rest


def attend(q, k, v, seen=None):
    s = jnp.einsum("bqhk,bshk->bhqs", q, k).astype(f32)
    if seen is not None:
        s = jnp.where(seen, s, -1e9)
    return jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(s).astype(bf), v)


def scores(p, x):
    return (norm(x).astype(bf) @ p["head"].astype(bf)).astype(f32)


def loss(p, fz, batch, weight, key):
    u = jax.random.uniform(key, (B, N + 1))
    ids, reads = lax.stop_gradient(words(fz, batch["image"], u))
    kind = p["kinds"][jnp.where(u[:, N] < 0.1, Y, batch["kind"])]
    x = jnp.concatenate([(kind + p["start"])[:, None], reads @ p["enter"]], 1)
    x = con((x + p["place"]).astype(bf), "data", None, None)
    seen = LEVEL[:, None] >= LEVEL

    def layer(x, w):
        return block(x, w, kind, lambda q, k, v: (attend(q, k, v, seen), None))

    x, _ = lax.scan(jax.checkpoint(layer), x, p["layers"])
    z = con(scores(p, x), "data", None, "model")
    each = jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, ids[..., None], 2)[..., 0]
    by = jax.ops.segment_sum(each.mean(0), LEVEL, len(SCALES)) / np.bincount(LEVEL)
    return jnp.sum(weight * by), by


def scales_step(state, fz, batch):
    mine = jax.random.wrap_key_data(state["key"], impl="rbg")
    p, n = state["params"], (state["step"] + 1).astype(f32)
    (value, by), g = jax.value_and_grad(loss, has_aux=True)(p, fz, batch, state["weight"], mine)
    size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(g)))
    g = jax.tree.map(lambda a: a * jnp.minimum(1.0, 2.0 / (size + 1e-6)), g)
    m = jax.tree.map(lambda a, b: 0.9 * a.astype(f32) + 0.1 * b, state["m"], g)
    v = jax.tree.map(lambda a, b: 0.95 * a.astype(f32) + 0.05 * b * b, state["v"], g)
    rate = (
        1e-4
        * jnp.minimum(n / 1000, 1.0)
        * jnp.where(n > 9e4, jnp.maximum(0.0, (1e5 - n) / 1e4), 1.0)
    )
    move = lambda w, a, b: (
        w
        - rate * (a / (1 - 0.9**n) / (jnp.sqrt(b / (1 - 0.95**n)) + 1e-8) + 0.05 * (w.ndim > 1) * w)
    )
    p = jax.tree.map(move, p, m, v)
    weight = 0.99 * state["weight"] + 0.01 * jax.nn.softmax(jnp.log(by + 1e-6))
    low = lambda t: jax.tree.map(lambda a: a.astype(bf), t)
    new = dict(
        params=p,
        m=low(m),
        v=low(v),
        weight=weight,
        step=state["step"] + 1,
        key=state["key"] + jnp.uint32(1),
    )
    return new, (value, by, size)


def drawn(z, u):
    """Top-k, then top-p, by one sort; a draw by noise."""
    top, at = lax.top_k(z, 256)
    total = jnp.cumsum(jax.nn.softmax(top), -1)
    top = jnp.where(jnp.pad(total[..., :-1], ((0, 0), (0, 0), (1, 0))) < 0.95, top, -1e9)
    best = jnp.argmax(top - jnp.log(-jnp.log(u + 1e-9)), -1)
    return jnp.take_along_axis(at, best[..., None], -1)[..., 0]


def pixels(fz, f):
    x = conv(f.astype(bf), fz["enter"])
    for i, w in enumerate(fz["up"]):
        n = x.astype(f32).reshape(*x.shape[:3], 16, E // 16)
        n = (n - n.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(
            n.var((1, 2, 4), keepdims=True) + 1e-6
        )
        n = n.reshape(x.shape) * fz["norms"][i, 0] + fz["norms"][i, 1]
        x = x + conv(jax.nn.silu(n).astype(bf), w)
        x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
    y = jnp.clip(conv(x, fz["pixels"]).astype(f32), -1, 1)
    return jnp.round((y + 1) * 127.5).astype(jnp.uint8)


def scales_use(p, fz, kinds, guide, key):
    kind = p["kinds"][jnp.concatenate([kinds, jnp.full((U,), Y)])]
    cache = jnp.zeros((L, 2, 2 * U, N, H, HD), bf)
    cache = con(cache, None, None, "data", None, "model", None)
    f, ids = jnp.zeros((U, G, G, C), f32), []
    noise = jax.random.uniform(jax.random.wrap_key_data(key, impl="rbg"), (U, N, 256))
    layers = jax.tree.map(lambda a: a.astype(bf) if a.ndim > 2 else a, p["layers"])
    for i, s in enumerate(SCALES):
        a, b = int(ENDS[i]) - s * s, int(ENDS[i])
        if i:
            x = shrunk(f, s).reshape(U, s * s, C) @ p["enter"]
            x = jnp.concatenate([x, x])
        else:
            x = (kind + p["start"])[:, None]
        x = con((x + p["place"][a:b]).astype(bf), "data", None, None)

        def layer(x, wc):
            w, c = wc

            def look(q, k, v):
                new = lax.dynamic_update_slice(c, jnp.stack([k, v]), (0, 0, a, 0, 0))
                return attend(q, new[0, :, :b], new[1, :, :b]), new

            return block(x, w, kind, look)

        x, cache = lax.scan(layer, x, (layers, cache))
        z = scores(p, x)
        t = guide * i / (len(SCALES) - 1)
        z = (1 + t) * z[:U] - t * z[U:]
        one = drawn(con(z, "data", None, None), noise[:, a:b])
        ids.append(one)
        f = con(grown(fz, f, fz["book"][one], i), "data", None, None, None)
    ids = jnp.concatenate(ids, 1)
    used = jnp.zeros((V,), i32).at[ids.reshape(-1)].add(1)
    share = used / used.sum()
    return (
        pixels(fz, f),
        ids,
        jnp.exp(-jnp.sum(jnp.where(used > 0, share * jnp.log(share + 1e-9), 0.0))),
    )


def compiled(step, *args):
    """Compiles; this JAX cannot read back a program whose collectives run on sparse cores (its dump is whole)."""
    try:
        print(len(step.trace(*args).lower(lowering_platforms=("tpu",)).compile().as_text()))
    except jax.errors.JaxRuntimeError as e:
        assert "async-update instruction should have 1 operands" in str(e)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        compiled(jax.jit(scales_step, donate_argnums=0), state, frozen, batch)
        compiled(
            jax.jit(scales_use), params, frozen, S((U,), i32, "data"), S((), f32), state["key"]
        )
