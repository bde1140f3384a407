"""A training step of a segmentation net: deformable attention over levels, queries as masks, matches by an auction.

Ahead of time for eight v5p cores of 2x2x2: mesh data 4 x model 2. Samples by bilinear gathers, a while loop of bids,
losses at uncertain points by top-k, a resized pyramid, running statistics, and SGD with layer-wise trust (LARS).
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost")
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

topo = topologies.get_topology_desc(
    platform="tpu", topology_name="v5p:2x2x2", chip_config_name="megacore"
)
mesh = Mesh(np.array(topo.devices).reshape(4, 2), ("data", "model"))
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


B, SIDE, D, H, PT, LV, EL, DL, Q, G, KINDS = 16, 256, 256, 8, 4, 2, 3, 3, 64, 24, 80
HD, F, PTS = D // H, 1024, 1024
SIZES = [(SIDE // s, SIDE // s) for s in (8, 16)]
STARTS = np.cumsum([0] + [h * w for h, w in SIZES])
stem = dict(
    first=S((7, 7, 3, 64), f32),
    stages=[
        dict(
            down=S((3, 3, i, o), f32, None, None, None, "model"),
            deep=S((7, 7, 1, o), f32, None, None, None, "model"),
            up=S((o, 4 * o), f32, None, "model"),
            narrow=S((4 * o, o), f32, "model"),
            gain=S((2, o), f32),
        )
        for i, o in ((64, 64), (64, 128), (128, 256))
    ],
    level=[S((c, D), f32, None, "model") for c in (128, 256)],
    fine=S((64, D), f32, None, "model"),
)
encoder = dict(
    norm=S((EL, 2, D), f32),
    value=S((EL, D, H, HD), f32, None, None, "model"),
    shift=S((EL, D, H, LV, PT, 2), f32, None, None, "model"),
    share=S((EL, D, H, LV * PT), f32, None, None, "model"),
    out=S((EL, H, HD, D), f32, None, "model"),
    up=S((EL, D, F), f32, None, None, "model"),
    down=S((EL, F, D), f32, None, "model"),
)
decoder = dict(
    norm=S((DL, 3, D), f32),
    cross=S((DL, 3, D, H, HD), f32, None, None, None, "model"),
    own=S((DL, 3, D, H, HD), f32, None, None, None, "model"),
    out=S((DL, 2, H, HD, D), f32, None, None, "model"),
    up=S((DL, D, F), f32, None, None, "model"),
    down=S((DL, F, D), f32, None, "model"),
)
params = dict(
    stem=stem,
    level=S((LV, D), f32),
    encoder=encoder,
    query=S((Q, D), f32),
    decoder=decoder,
    norm=S((D,), f32),
    kind=S((D, KINDS + 1), f32),
    mask=[S((D, D), f32, None, "model"), S((D, D), f32, "model")],
)
state = S((2, 64), f32)
batch = dict(
    image=S((B, SIDE, SIDE, 3), jnp.uint8, "data"),
    kinds=S((B, G), i32, "data"),
    masks=S((B, G, SIDE // 4, SIDE // 4), jnp.uint8, "data"),
    flip=S((B,), jnp.bool_, "data"),
)
key = S((4,), jnp.uint32)
step = S((), i32)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def conv(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(
        x,
        w.astype(bf),
        (stride, stride),
        "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=groups,
    )


def norm(x, g):
    x32 = x.astype(f32)
    x32 = x32 - x32.mean(-1, keepdims=True)
    return (x32 * lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-6) * g).astype(bf)


def pyramid(p, image, state):
    x = conv(image, p["first"], 2)
    x32 = x.astype(f32)
    mean, spread = x32.mean((0, 1, 2)), x32.var((0, 1, 2))
    x = jax.nn.relu((x32 - mean) * lax.rsqrt(spread + 1e-5)).astype(bf)
    state = 0.99 * state + 0.01 * jnp.stack([mean, spread])
    maps = []
    for s in p["stages"]:
        x = conv(x, s["down"], 2)
        deep = conv(norm(x, s["gain"][0]), s["deep"], 1, x.shape[-1])
        x = x + (jax.nn.gelu(deep @ s["up"].astype(bf)) @ s["narrow"].astype(bf)) * s["gain"][
            1
        ].astype(bf)
        maps.append(con(x, "data"))
    return maps, state


def sampled(maps, at, weight):
    """Bilinear samples of maps [b, h, n, d] of all levels at points [b, q, h, l, p, 2] in 0..1."""
    total = 0.0
    corners = jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]], f32)
    for i, (height, width) in enumerate(SIZES):
        part = maps[:, :, STARTS[i] : STARTS[i + 1]]
        size = jnp.array([width, height], f32)
        spot = at[:, :, :, i] * size - 0.5
        low = jnp.floor(spot)[..., None, :] + corners
        near = jnp.prod(1 - jnp.abs(spot[..., None, :] - low), -1)
        inside = jnp.all((low >= 0) & (low < size), -1)
        x, y = jnp.moveaxis(jnp.clip(low, 0, size - 1).astype(i32), -1, 0)
        index = jnp.moveaxis(y * width + x, 2, 1).reshape(*maps.shape[:2], -1)
        read = jnp.take_along_axis(part, index[..., None], 2)
        read = read.reshape(*maps.shape[:2], -1, PT * 4, HD)
        share = weight[:, :, :, i, :, None] * near * inside
        share = jnp.moveaxis(share, 2, 1).reshape(*maps.shape[:2], -1, PT * 4).astype(bf)
        total = total + jnp.einsum("bhqpd,bhqp->bqhd", read, share)
    return total


def encoded(x, w, home):
    with jax.named_scope("deformable"):
        h = norm(x, w["norm"][0])
        value = jnp.einsum("bnd,dhk->bhnk", h, w["value"].astype(bf))
        shift = jnp.einsum("bnd,dhlpc->bnhlpc", h, w["shift"].astype(bf)).astype(f32)
        share = jax.nn.softmax(
            jnp.einsum("bnd,dhs->bnhs", h, w["share"].astype(bf)).astype(f32), -1
        )
        at = home[None, :, None, None, None] + 0.05 * shift
        out = sampled(con(value, "data", "model"), at, share.reshape(*share.shape[:3], LV, PT))
        x = x + jnp.einsum("bqhk,hkd->bqd", out, w["out"].astype(bf))
    with jax.named_scope("mlp"):
        h = jax.nn.relu(norm(x, w["norm"][1]) @ w["up"].astype(bf))
        return con(x + h @ w["down"].astype(bf), "data")


def attended(q, x, w, out, hidden=None):
    q, k, v = (jnp.einsum("bnd,dhk->bnhk", y, m.astype(bf)) for y, m in zip((q, x, x), w))
    s = jnp.einsum("bqhk,bnhk->bhqn", q, k).astype(f32) * HD**-0.5
    s = s if hidden is None else jnp.where(hidden[:, None], -1e9, s)
    mixed = jnp.einsum("bhqn,bnhk->bqhk", jax.nn.softmax(s, -1).astype(bf), v)
    return jnp.einsum("bqhk,hkd->bqd", mixed, out.astype(bf))


def as_masks(p, q, fine):
    h = jax.nn.relu(q @ p["mask"][0].astype(bf)) @ p["mask"][1].astype(bf)
    return jnp.einsum("bqd,bhwd->bqhw", h, fine).astype(f32)


def predicted(p, image, state):
    maps, state = pyramid(p["stem"], image, state)
    levels = [m @ w.astype(bf) for m, w in zip(maps[1:], p["stem"]["level"])]
    x = jnp.concatenate(
        [y.reshape(B, -1, D) + p["level"][i].astype(bf) for i, y in enumerate(levels)], 1
    )
    grids = [np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in s)), -1) / s[0] for s in SIZES]
    home = jnp.asarray(np.concatenate([g.reshape(-1, 2) for g in grids]), f32)
    layer = lambda x, w: (encoded(x, w, home), None)
    x = lax.scan(layer, con(x, "data"), p["encoder"])[0]
    first = x[:, : STARTS[1]].reshape(B, *SIZES[0], D)
    fine = maps[0] @ p["stem"]["fine"].astype(bf)
    fine = con(fine + jax.image.resize(first, fine.shape, "bilinear"), "data")

    def decoded(q, w):
        seen = as_masks(p, norm(q, p["norm"]), first).reshape(B, Q, -1) < 0
        seen = seen & ~jnp.all(seen, -1, keepdims=True)
        h = norm(q, w["norm"][0])
        q = q + attended(h, x[:, : STARTS[1]], w["cross"], w["out"][0], lax.stop_gradient(seen))
        h = norm(q, w["norm"][1])
        q = q + attended(h, h, w["own"], w["out"][1])
        h = jax.nn.gelu(norm(q, w["norm"][2]) @ w["up"].astype(bf))
        return con(q + h @ w["down"].astype(bf), "data"), None

    q = jnp.broadcast_to(p["query"].astype(bf), (B, Q, D))
    q = norm(lax.scan(decoded, q, p["decoder"])[0], p["norm"])
    return (q @ p["kind"].astype(bf)).astype(f32), as_masks(p, q, fine), state


def auction(cost):
    """The query of each object [G], of cost [Q, G]: objects bid until each holds one."""
    gain = -cost.T

    def bid(c):
        price, owner, turn = c
        held = jnp.zeros((G,), bool).at[jnp.where(owner >= 0, owner, G)].set(True, mode="drop")
        top, best = lax.top_k(gain - price, 2)
        raise_ = jnp.where(held, -1.0, top[:, 0] - top[:, 1] + 0.01)
        bids = jnp.full((Q,), -1.0).at[best[:, 0]].max(raise_)
        won = (raise_ >= bids[best[:, 0]]) & ~held
        owner = owner.at[jnp.where(won, best[:, 0], Q)].set(jnp.arange(G), mode="drop")
        return price + jnp.maximum(bids, 0), owner, turn + 1

    def goes_on(c):
        return (jnp.sum(c[1] >= 0) < G) & (c[2] < 200)

    _, owner, turns = lax.while_loop(
        goes_on, bid, (jnp.zeros(Q), jnp.full((Q,), -1), jnp.zeros((), i32))
    )
    back = jnp.zeros((G,), i32).at[jnp.where(owner >= 0, owner, G)].set(jnp.arange(Q), mode="drop")
    return back, turns


def points(maps, at):
    side = maps.shape[-1]
    spot = jnp.clip((at * side).astype(i32), 0, side - 1)
    index = spot[..., 1] * side + spot[..., 0]
    return jnp.take_along_axis(maps.reshape(*maps.shape[:-2], -1), index, -1)


def loss(p, batch, state, key):
    image = jnp.where(
        batch["flip"][:, None, None, None], batch["image"][:, :, ::-1], batch["image"]
    )
    image = (image.astype(f32) / 127.5 - 1).astype(bf)
    truth = batch["masks"].astype(f32)
    truth = jnp.where(batch["flip"][:, None, None, None], truth[..., ::-1], truth)
    kinds, masks, state = predicted(p, image, state)
    one, two = jax.random.split(jax.random.wrap_key_data(key, impl="unsafe_rbg"))
    with jax.named_scope("match"):
        at = jnp.broadcast_to(jax.random.uniform(one, (B, 1, 256, 2)), (B, Q, 256, 2))
        z, t = points(masks, at), points(truth, at[:, :G])
        chance = jax.nn.sigmoid(z)
        cross = jnp.einsum("bqn,bgn->bqg", jax.nn.softplus(-z), t)
        cross = (cross + jnp.einsum("bqn,bgn->bqg", jax.nn.softplus(z), 1 - t)) / 256
        both = jnp.einsum("bqn,bgn->bqg", chance, t)
        dice = 1 - (2 * both + 1) / (chance.sum(-1)[:, :, None] + t.sum(-1)[:, None] + 1)
        odds = jnp.take_along_axis(
            jax.nn.softmax(kinds), batch["kinds"][:, None] * jnp.ones((1, Q, 1), i32), -1
        )
        who, turns = jax.vmap(auction)(lax.stop_gradient(5 * cross + 5 * dice - 2 * odds))
    with jax.named_scope("losses"):
        mine = jnp.take_along_axis(masks, who[:, :, None, None], 1)
        at = jax.random.uniform(two, (B, G, 3 * PTS, 2))
        unsure = lax.top_k(-jnp.abs(lax.stop_gradient(points(mine, at))), PTS)[1]
        at = jnp.take_along_axis(at, unsure[..., None], 2)
        z, t = points(mine, at), points(truth, at)
        live = (batch["kinds"] < KINDS).astype(f32)
        bce = jnp.mean(jnp.maximum(z, 0) - z * t + jnp.log1p(jnp.exp(-jnp.abs(z))), -1)
        chance = jax.nn.sigmoid(z)
        dice = 1 - (2 * jnp.sum(chance * t, -1) + 1) / (jnp.sum(chance + t, -1) + 1)
        label = jnp.full((B, Q), KINDS).at[jnp.arange(B)[:, None], who].set(batch["kinds"])
        weight = jnp.where(label == KINDS, 0.1, 1.0)
        logp = jnp.take_along_axis(jax.nn.log_softmax(kinds), label[..., None], -1)[..., 0]
        count = jnp.maximum(live.sum(), 1)
        total = jnp.sum((5 * bce + 5 * dice) * live) / count - 2 * jnp.sum(logp * weight) / jnp.sum(
            weight
        )
    hits = jnp.zeros((KINDS + 1,), i32).at[jnp.argmax(kinds, -1)].add(1)
    return total, (state, turns.max(), hits)


def segment_train_step(p, m, state, key, step, batch):
    new, use = jax.random.split(jax.random.wrap_key_data(key, impl="unsafe_rbg"))
    (value, (state, turns, hits)), g = jax.value_and_grad(loss, has_aux=True)(
        p, batch, state, jax.random.key_data(use)
    )
    rate = 0.02 * 0.5 * (1 + jnp.cos(np.pi * jnp.minimum(step / 40000, 1.0)))

    def lars(w, g, m):
        g = g + 1e-4 * w
        if w.ndim < 3:
            return w - rate * (0.9 * m + 1e-3 * g), 0.9 * m + 1e-3 * g
        length, steep = jnp.linalg.norm(w.ravel()), jnp.linalg.norm(g.ravel())
        trust = jnp.where((length > 0) & (steep > 0), 1e-3 * length / (steep + 1e-9), 1.0)
        m = 0.9 * m + trust * g
        return w - rate * m, m

    pairs = jax.tree.map(lars, p, g, m)
    p, m = (jax.tree.map(lambda _, y, i=i: y[i], p, pairs) for i in (0, 1))
    return p, m, state, jax.random.key_data(new), step + 1, dict(loss=value, turns=turns, hits=hits)


c = (
    jax.jit(segment_train_step, donate_argnums=(0, 1, 2, 3, 4))
    .lower(params, params, state, key, step, batch)
    .compile()
)
print(c.memory_analysis())
