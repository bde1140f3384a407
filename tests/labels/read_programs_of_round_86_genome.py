"""Two programs of a sequence-to-function model of DNA: a training step with a frozen ensemble, and a scoring of variants.

Ahead of time for v5p 2x2x2: mesh data 2 x seq 4, plain jit; halos of convolutions and poolings are left to the partitioner.
Bases by one-hot, convolutions and maximum pooling down, transformer blocks with grouped keys, central-mask biases and a
pair representation of coarse bins, up again with skips; tracks at two resolutions by a multinomial and a Poisson loss,
contact maps, splice sites; reverse complements by a conditional, shifts by rolls; teachers chosen by their number;
weights normalized, AdamW with factors by depth; variants by a map over chunks, both alleles and both strands, and
gradients times inputs around each variant.
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
mesh = Mesh(np.array(topo.devices).reshape(2, 4), ("data", "seq"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# sequences, bases, levels, first channels and more of each level, blocks, heads, groups, size of a head, tracks, basis, pairs
B, T, LEVELS, CH, MORE, L, H, K, HD, TR, BASIS, PAIR, TEACH = (
    4,
    65536,
    4,
    256,
    128,
    3,
    8,
    2,
    64,
    128,
    32,
    64,
    3,
)
DEEP = CH + LEVELS * MORE
N = T >> LEVELS
BINS = N // 16
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))
along = lambda x: con(x, "data", "seq", None)
width = [CH + i * MORE for i in range(LEVELS + 1)]


def conv(*shape):
    return dict(w=S(shape, f32), gain=S(shape[-1:], f32), bias=S(shape[-1:], f32))


params = dict(
    stem=conv(15, 4, CH),
    down=[conv(5, width[i], width[i + 1]) for i in range(LEVELS)],
    up=[
        dict(main=conv(5, width[i + 1], width[i]), skip=conv(1, width[i], width[i]))
        for i in range(LEVELS)
    ],
    blocks=dict(
        q=S((L, DEEP, H, HD), f32, None, "seq"),
        kv=S((L, DEEP, 2, K, HD), f32, None, "seq"),
        out=S((L, H, HD, DEEP), f32, None, None, None, "seq"),
        far=S((L, H, BASIS), f32),
        pair_q=S((L, DEEP, PAIR), f32),
        pair_k=S((L, DEEP, PAIR), f32),
        pair_far=S((L, BASIS, PAIR), f32),
        pair_bias=S((L, PAIR, H), f32),
        up=S((L, DEEP, 2 * DEEP), f32, None, "seq"),
        down=S((L, 2 * DEEP, DEEP), f32, None, None, "seq"),
        norms=S((L, 2, DEEP), f32),
    ),
    tracks=dict(fine=S((CH, TR), f32), coarse=S((DEEP, TR), f32), scale=S((2, TR), f32)),
    contacts=S((PAIR, 8), f32),
    sites=S((CH, 5), f32),
)
half = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, bf, sharding=p.sharding), params)
many = jax.tree.map(
    lambda p: jax.ShapeDtypeStruct(
        (TEACH, *p.shape), bf, sharding=NamedSharding(mesh, P(None, *p.sharding.spec))
    ),
    params,
)
state = dict(params=params, m=params, v=params, step=S((), i32), key=S((2,), jnp.uint32))
batch = dict(
    dna=S((B, T), jnp.int8, "data", "seq"),
    fine=S((B, T, TR), bf, "data", "seq"),
    coarse=S((B, N, TR), f32, "data", "seq"),
    contacts=S((B, BINS, BINS, 8), f32, "data", "seq"),
    sites=S((B, T), jnp.int8, "data", "seq"),
)


def convolved(x, p):
    """A convolution along the sequence with normalized weights."""
    w = p["w"]
    w = w - w.mean((0, 1))
    w = w * lax.rsqrt(jnp.sum(w * w, (0, 1)) + 1e-4) * p["gain"]
    y = lax.conv_general_dilated(
        x, w.astype(bf), (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
    )
    return along(y + p["bias"].astype(bf))


def halved(x):
    return along(lax.reduce_window(x, -np.inf, lax.max, (1, 2, 1), (1, 2, 1), "VALID"))


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * scale).astype(bf)


def masks(n):
    """Central masks: whether two places are closer than each of some distances, with the sign of their distance."""
    far = np.arange(n)[:, None] - np.arange(n)
    edge = np.geomspace(1, n, BASIS // 2 + 1)[1:]
    near = (edge > np.abs(far)[..., None]) / np.log1p(edge)
    return jnp.asarray(np.concatenate([near, np.sign(far)[..., None] * near], -1), bf)


def block(x, p):
    z = norm(x, p["norms"][0])
    short = z.reshape(B_OF(x), BINS, N // BINS, DEEP).mean(2)
    a, b = short @ p["pair_q"].astype(bf), short @ p["pair_k"].astype(bf)
    pair = con(
        a[:, :, None] * b[:, None] + masks(BINS) @ p["pair_far"].astype(bf),
        "data",
        "seq",
        None,
        None,
    )
    q = jnp.einsum("btd,dhk->bthk", z, p["q"].astype(bf)).reshape(*z.shape[:2], K, H // K, HD)
    k, v = jnp.moveaxis(jnp.einsum("btd,dchk->bcthk", z, p["kv"].astype(bf)), 1, 0)
    s = jnp.einsum("btkgh,bskh->bkgts", q, k, preferred_element_type=f32) * HD**-0.5
    bias = jax.nn.gelu(pair) @ p["pair_bias"].astype(bf)
    bias = jnp.moveaxis(bias, 3, 1) + jnp.einsum("tsf,hf->hts", masks(BINS), p["far"].astype(bf))
    bias = jnp.repeat(jnp.repeat(bias, N // BINS, 2), N // BINS, 3)
    s = 5 * jnp.tanh((s + bias.reshape(s.shape).astype(f32)) / 5)
    y = jnp.einsum("bkgts,bskh->btkgh", jax.nn.softmax(s, -1).astype(bf), v)
    x = along(x + jnp.einsum("bthk,hkd->btd", y.reshape(*y.shape[:2], H, HD), p["out"].astype(bf)))
    u = jax.nn.relu(norm(x, p["norms"][1]) @ p["up"].astype(bf))
    return along(x + u @ p["down"].astype(bf)), pair


def B_OF(x):
    return x.shape[0]


def trunk(p, onehot):
    x = convolved(along(onehot), p["stem"])
    skips = []
    for c in p["down"]:
        y = convolved(jax.nn.gelu(x), c)
        x = jnp.pad(x, ((0, 0), (0, 0), (0, MORE))) + y
        skips.append(x)
        x = halved(x)
    step = jax.checkpoint(lambda c, p: (block(c[0], p), None))
    pair = jnp.zeros((B_OF(x), BINS, BINS, PAIR), bf)
    (x, pair), _ = lax.scan(step, (x, con(pair, "data", "seq", None, None)), p["blocks"])
    deep = x
    for c, kept in zip(reversed(p["up"]), reversed(skips)):
        x = convolved(jax.nn.gelu(x), c["main"])
        x = jnp.repeat(x, 2, 1)
        x = along(x + convolved(jax.nn.gelu(kept[..., : x.shape[-1]]), c["skip"]))
    return x, deep, pair


def heads(p, onehot):
    x, deep, pair = trunk(p, onehot)
    t = p["tracks"]
    fine = jax.nn.softplus(
        jnp.einsum("btc,cr->btr", x, t["fine"].astype(bf)).astype(f32)
    ) * jnp.exp(t["scale"][0])
    coarse = jax.nn.softplus(jnp.einsum("btc,cr->btr", deep, t["coarse"].astype(bf)).astype(f32))
    both = (pair + pair.swapaxes(1, 2)) @ p["contacts"].astype(bf)
    return (
        along(fine),
        along(coarse * jnp.exp(t["scale"][1])),
        both.astype(f32),
        (x @ p["sites"].astype(bf)).astype(f32),
    )


def poisson(y, t):
    return jnp.mean(y - t * jnp.log(y + 1e-7))


def multinomial(y, t):
    """The share of each place in a window of the sequence, and the total of the window."""
    y, t = (x.reshape(x.shape[0], 8, -1, TR) for x in (y, t))
    total, seen = y.sum(2), t.sum(2)
    shape = -jnp.sum(t * jnp.log(y / (total[:, :, None] + 1e-7) + 1e-7)) / t.size
    return shape * 5 + poisson(total, seen) / y.shape[2]


def augmented(g, key):
    """A shift of a few bases and, for half of the steps, the other strand."""
    a, b = jax.random.split(key)
    shift = jax.random.randint(a, (), -512, 512)
    dna = jnp.roll(g["dna"], shift, 1)
    x = jax.nn.one_hot(dna, 4, dtype=bf)
    flip = jax.random.bernoulli(b)
    x = lax.cond(flip, lambda x: x[:, ::-1, ::-1], lambda x: x, x)
    turn = lambda y: lax.cond(flip, lambda y: y[:, ::-1], lambda y: y, jnp.roll(y, shift, 1))
    return along(x), turn(g["fine"]), turn(g["coarse"]), turn(g["sites"])


def loss(p, teacher, g, key):
    x, fine, coarse, sites = augmented(g, key)
    a, b, c, d = heads(p, x)
    ta, tb, _, _ = jax.tree.map(lax.stop_gradient, heads(teacher, x))
    known = poisson(b, coarse) + multinomial(a, fine.astype(f32))
    hints = poisson(b, tb) + jnp.mean(jnp.abs(jnp.log1p(a) - jnp.log1p(ta)))
    contact = jnp.sum(jnp.where(jnp.isnan(g["contacts"]), 0, c - g["contacts"]) ** 2) / c.size
    rare = jnp.where(sites > 0, 1.0, 0.01)
    site = -jnp.take_along_axis(jax.nn.log_softmax(d), sites[..., None].astype(i32), -1)[..., 0]
    return known + 0.5 * hints + contact + jnp.mean(rare * site), dict(
        known=known, hints=hints, contact=contact
    )


def genome_train_step(state, ensemble, batch):
    key = jax.random.fold_in(jax.random.wrap_key_data(state["key"]), state["step"])
    one, two = jax.random.split(key)
    which = jax.random.randint(one, (), 0, TEACH)
    teacher = jax.tree.map(
        lambda p: lax.dynamic_index_in_dim(p, which, 0, keepdims=False), ensemble
    )
    grads, seen = jax.grad(loss, has_aux=True)(state["params"], teacher, batch, two)
    size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 0.5 / (size + 1e-9)), grads)
    step = state["step"] + 1
    t = step.astype(f32)
    rate = 4e-4 * jnp.minimum(t / 5000, 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(t / 1e5, 1))))

    def update(path, p, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        move = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        deep = 0.5 ** (path[1].idx if path[0].key == "down" else 0)
        return p - rate * deep * (move + 0.4 * p * (p.ndim > 1)), m, v

    out = jax.tree_util.tree_map_with_path(update, state["params"], grads, state["m"], state["v"])
    p, m, v = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0, 0)), out)
    return dict(params=p, m=m, v=v, step=step, key=state["key"]), dict(seen, size=size)


# variants, of a chunk, bases kept around each
Q, PART, NEAR = 32, 2, 128
asked = dict(
    dna=S((Q, T), jnp.int8, None, "seq"), other=S((Q,), jnp.int8), gene=S((Q, N), bf, None, "seq")
)


def genome_score_step(p, asked):
    """The change of tracks by each variant at the middle, the most of both strands, and saliency around it."""

    def told(x, gene):
        _, coarse, pair, sites = heads(p, x)
        mid = coarse[:, N // 2 - 16 : N // 2 + 16].sum(1)
        over = jnp.einsum("btr,bt->br", coarse, gene.astype(f32))
        return mid, over, pair[:, BINS // 2].mean(1), jax.nn.softmax(sites)

    def chunk(c):
        dna, other, gene = c
        changed = dna.at[:, T // 2].set(other)
        x = along(jax.nn.one_hot(jnp.concatenate([dna, changed]), 4, dtype=bf))
        turned = x[:, ::-1, ::-1]
        twice = jnp.concatenate([gene, gene])
        ahead, back = told(x, twice), told(turned, twice[:, ::-1])
        mean = lambda a, b: (a + b) / 2
        mid, over, pair, _ = jax.tree.map(mean, ahead, (*back[:3], back[3][:, ::-1]))
        site = jnp.abs(jnp.diff(ahead[3].reshape(2, PART, T, 5), axis=0)[0]).max((1, 2))
        low = lambda y: jnp.log(y[PART:] + 1e-3) - jnp.log(y[:PART] + 1e-3)
        slope = jax.grad(lambda x: jnp.sum(jnp.log(told(x, gene)[1] + 1e-3)))(x[:PART])
        near = lax.dynamic_slice_in_dim((slope * x[:PART]).sum(-1), T // 2 - NEAR // 2, NEAR, 1)
        change = low(over)
        best, tracks = lax.top_k(jnp.abs(change), 8)
        return dict(
            mid=low(mid),
            over=change,
            pair=pair[PART:] - pair[:PART],
            site=site,
            best=best,
            tracks=tracks,
            near=near,
        )

    cut = jax.tree.map(lambda x: x.reshape(Q // PART, PART, *x.shape[1:]), asked)
    out = lax.map(chunk, (cut["dna"], cut["other"], cut["gene"]))
    return jax.tree.map(lambda x: x.reshape(Q, *x.shape[2:]), out)


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        c = jax.jit(genome_train_step, donate_argnums=0).trace(state, many, batch)
        c.lower(lowering_platforms=("tpu",)).compile()
        c = jax.jit(genome_score_step).trace(half, asked).lower(lowering_platforms=("tpu",))
        c.compile()
