"""A training step of a byte decoder: hashed n-gram embeddings, patches by cross attention, blocks that skip tokens.

Ahead of time for v6e 2x2: mesh data 2 x model 2. Patch ends come from marks in the text, every second global block
takes the half of the patches that a router chooses (mixture of depths), and the head is moved by Shampoo with inverse
roots from a coupled Newton loop, all others by Lion.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(2, 2), ("data", "model"))
bf, f32, i32, u32 = jnp.bfloat16, jnp.float32, jnp.int32, jnp.uint32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, T, M, D, W, H, L, ROWS = 8, 2048, 512, 256, 512, 8, 2, 65536
NGRAMS = (3, 5)


def pair(d):
    return dict(
        norm=S((L, 2, d), f32),
        qkv=S((L, d, 3, H, d // H), f32, None, None, None, "model"),
        out=S((L, H, d // H, d), f32, None, "model"),
        gate=S((L, d, 2, 2 * d), f32, None, None, None, "model"),
        down=S((L, 2 * d, d), f32, None, "model"),
    )


params = dict(
    byte=S((256, D), f32, None, "model"),
    hashed=S((len(NGRAMS), ROWS, D), f32, None, "model"),
    pool=dict(
        q=S((D, H, 64), f32, None, "model"),
        kv=S((D, 2, H, 64), f32, None, None, "model"),
        out=S((H, 64, W), f32, "model"),
    ),
    whole=pair(W),
    skip=pair(W),
    router=S((L, W), f32),
    spread=dict(
        q=S((D, H, 32), f32, None, "model"),
        kv=S((W, 2, H, 32), f32, None, None, "model"),
        out=S((H, 32, D), f32, "model"),
    ),
    local=dict(
        norm=S((D,), f32),
        up=S((4, D, 2 * D), f32, None, None, "model"),
        down=S((2 * D, D), f32, "model"),
    ),
    head=S((D, 256), f32, "model"),
)
moments = dict(
    lion=params,
    left=S((D, D), f32),
    right=S((256, 256), f32),
)
data, step, key = S((B, T), jnp.uint8, "data"), S((), i32), S((2,), u32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
ein = lambda e, x, w: jnp.einsum(e, x, w.astype(bf))


def rms(x, g):
    x = x.astype(f32)
    return (x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g).astype(bf)


def hashes(data, n):
    """A rolling polynomial of the last n bytes, in 32 bits."""
    code = jnp.zeros(data.shape, u32)
    for back in range(n):
        shifted = jnp.pad(data, ((0, 0), (back, 0)))[:, :T].astype(u32)
        code = code * u32(1000003) + shifted + u32(1)
    code = code ^ (code >> 15)
    return (code % u32(ROWS)).astype(i32)


def turned(x, place):
    half = x.shape[-1] // 2
    angle = place[..., None, None].astype(f32) * jnp.exp(-np.linspace(0, 9, half, dtype=np.float32))
    a, b = x[..., :half].astype(f32), x[..., half:].astype(f32)
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1).astype(bf)


def attend(q, k, v, keep):
    s = jnp.einsum("bnhk,bmhk->bhnm", q, k).astype(f32) * q.shape[-1] ** -0.5
    s = 30 * jnp.tanh(s / 30)
    a = jax.nn.softmax(jnp.where(keep[:, None], s, -1e30), -1).astype(bf)
    return jnp.einsum("bhnm,bmhk->bnhk", a, v)


def block(x, place, w):
    q, k, v = jnp.moveaxis(ein("bnd,dchk->bnchk", rms(x, w["norm"][0]), w["qkv"]), 2, 0)
    keep = place[:, :, None] >= place[:, None]
    x = x + ein("bnhk,hkd->bnd", attend(turned(q, place), turned(k, place), v, keep), w["out"])
    a = ein("bnd,dcf->bncf", rms(x, w["norm"][1]), w["gate"])
    return con(x + ein("bnf,fd->bnd", jax.nn.silu(a[:, :, 0]) * a[:, :, 1], w["down"]), "data")


def skipping(x, w, router):
    """Only the patches that the router chose pass the block."""
    score = jnp.einsum("bnd,d->bn", x.astype(f32), router)
    gate, chosen = lax.top_k(score, M // 2)
    chosen, gate = lax.sort((chosen, gate), dimension=1, num_keys=1)
    inner = jnp.take_along_axis(x, chosen[..., None], 1)
    moved = block(inner, chosen, w) - inner
    rows = jnp.arange(B)[:, None]
    x = x.at[rows, chosen].add(moved * jax.nn.sigmoid(gate)[..., None].astype(bf))
    picked = jnp.zeros((B, M), f32).at[rows, chosen].set(1.0)
    balance = jnp.mean(jnp.logaddexp(score, 0) - picked * score)
    return con(x, "data"), balance


def loss(p, data, key):
    with jax.named_scope("embed"):
        x = p["byte"].astype(bf)[data.astype(i32)]
        for number, n in enumerate(NGRAMS):
            x = x + p["hashed"][number][hashes(data, n)].astype(bf)
        x = con(x / (1 + len(NGRAMS)), "data")
    with jax.named_scope("patch"):
        ends = (data == 32) | (data == 10) | (jnp.arange(T) % 8 == 7)
        number = jnp.minimum(
            jnp.cumsum(jnp.pad(ends, ((0, 0), (1, 0)))[:, :T].astype(i32), 1), M - 1
        )
        pooled = jax.vmap(lambda a, b: jax.ops.segment_max(a, b, M))(x, number)
        pooled = jnp.where(jnp.isfinite(pooled), pooled, 0)
        own = number[:, None] == jnp.arange(M)[None, :, None]
        q = ein("bmd,dhk->bmhk", pooled, p["pool"]["q"])
        k, v = jnp.moveaxis(ein("btd,dchk->btchk", x, p["pool"]["kv"]), 2, 0)
        y = con(ein("bmhk,hkd->bmd", attend(q, k, v, own), p["pool"]["out"]), "data")
    place = jnp.broadcast_to(jnp.arange(M), (B, M))

    def layer(carry, w):
        y, balance = carry
        y = block(y, place, w[0])
        y, more = skipping(y, w[1], w[2])
        return (y, balance + more), None

    with jax.named_scope("global"):
        (y, balance), _ = lax.scan(
            jax.checkpoint(layer), (y, f32(0)), (p["whole"], p["skip"], p["router"])
        )
    with jax.named_scope("spread"):
        q = ein("btd,dhk->bthk", x, p["spread"]["q"])
        k, v = jnp.moveaxis(ein("bmd,dchk->bmchk", y, p["spread"]["kv"]), 2, 0)
        before = jnp.arange(M)[None, None] < number[:, :, None] + (number == 0)[:, :, None]
        x = x + ein("bthk,hkd->btd", attend(q, k, v, before), p["spread"]["out"])
    with jax.named_scope("local"):
        h = jnp.pad(rms(x, p["local"]["norm"]), ((0, 0), (3, 0), (0, 0)))
        h = lax.conv_general_dilated(
            h, p["local"]["up"].astype(bf), (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")
        )
        keep = jax.random.bernoulli(key, 0.9, h.shape)
        x = x + ein("btf,fd->btd", jnp.where(keep, jax.nn.gelu(h) / bf(0.9), 0), p["local"]["down"])
    logits = ein("btd,dv->btv", x, p["head"]).astype(f32)[:, :-1]
    goal = data[:, 1:].astype(i32)
    most = jax.nn.logsumexp(logits, -1)
    bits = most - jnp.take_along_axis(logits, goal[..., None], -1)[..., 0]
    return jnp.mean(bits) + 1e-4 * jnp.mean(most**2) + 0.01 * balance, jnp.max(bits)


def root(a):
    """The inverse fourth root, by a coupled Newton loop."""
    n = a.shape[0]
    a = a + 1e-6 * jnp.trace(a) / n * jnp.eye(n)
    z = 2.5 / jnp.sqrt(jnp.sum(a * a))

    def body(s):
        m, h, _, i = s
        t = 1.25 * jnp.eye(n) - 0.25 * m
        t2 = t @ t
        m = t2 @ t2 @ m
        return m, h @ t, jnp.max(jnp.abs(m - jnp.eye(n))), i + 1

    start = (a * z, jnp.eye(n) * z**0.25, f32(1), i32(0))
    return lax.while_loop(lambda s: (s[2] > 1e-4) & (s[3] < 30), body, start)[1]


def bytes_train_step(p, moments, step, data, key):
    key = jax.random.fold_in(jax.random.wrap_key_data(key, impl="threefry2x32"), step)
    (value, worst), g = jax.value_and_grad(loss, has_aux=True)(p, data, key)
    rate = 1e-4 * jnp.minimum(1.0, (step + 1).astype(f32) / 500)
    sign = jax.tree.map(lambda m, a: jnp.sign(0.9 * m + 0.1 * a), moments["lion"], g)
    lion = jax.tree.map(lambda m, a: 0.99 * m + 0.01 * a, moments["lion"], g)
    with jax.named_scope("shampoo"):
        gh = g["head"]
        left = 0.95 * moments["left"] + gh @ gh.T
        right = 0.95 * moments["right"] + gh.T @ gh
        sign["head"] = root(left) @ gh @ root(right)
    p = jax.tree.map(lambda w, s: w - rate * (s + 0.1 * w), p, sign)
    return p, dict(lion=lion, left=left, right=right), step + 1, value, worst


c = (
    jax.jit(bytes_train_step, donate_argnums=(0, 1, 2))
    .lower(params, moments, step, data, key)
    .compile()
)
print(c.memory_analysis())
