"""A step of reinforcement learning from human feedback: adapters on a frozen trunk, a critic, minibatches, early stops.

Ahead of time for v5p 2x2x2: mesh data 4 x model 2. One frozen trunk serves policy (low-rank adapters), reference (none)
and reward (a head at the last word); advantages by a scan backwards, whitened over all devices; two epochs of shuffled
minibatches in a scan whose updates are skipped by a conditional once the divergence is too large, slopes by distance
in place of positions, a clipped critic, running moments of rewards, an adaptive penalty.
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
bf, f32, i32 = jnp.bfloat16, jnp.float32, jnp.int32


def S(shape, dt, *spec):
    return jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))


# answers, words of a prompt, all words, layers, width, heads, size of a head, hidden, vocabulary, rank, minibatches
B, PROMPT, T, L, D, H, HD, F, V, R, MINI, EPOCHS = (
    64,
    128,
    384,
    4,
    1024,
    16,
    64,
    4096,
    32000,
    16,
    4,
    2,
)
trunk = dict(
    embed=S((V, D), bf, "model", None),
    qkv=S((L, D, 3, H, HD), bf, None, None, None, "model"),
    out=S((L, H, HD, D), bf, None, "model"),
    up=S((L, D, F), bf, None, None, "model"),
    down=S((L, F, D), bf, None, "model"),
    norms=S((L, 2, D), f32),
    last=S((D,), f32),
    reward=S((D,), f32),
)
adapters = dict(
    a=S((L, D, R), f32, None, "data"),
    b=S((L, R, 3, H, HD), f32, None, None, None, "model"),
    a2=S((L, D, R), f32, None, "data"),
    b2=S((L, R, F), f32, None, None, "model"),
    critic=dict(a=S((D, D), f32, "data", "model"), b=S((D,), f32, "model")),
)
scalars = dict(mean=S((), f32), square=S((), f32), count=S((), f32), penalty=S((), f32))
state = dict(adapters=adapters, m=adapters, v=adapters, step=S((), i32), scalars=scalars)
batch = dict(
    tokens=S((B, T), i32, "data"),
    lengths=S((B,), i32, "data"),
    logps=S((B, T - 1), f32, "data"),
    key=S((2,), jnp.uint32),
)
con = lambda x, *s: lax.with_sharding_constraint(x, NamedSharding(mesh, P(*s)))


def norm(x, scale):
    y = x.astype(f32)
    return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale).astype(bf)


def bias():
    slope = 2.0 ** (-8 * (np.arange(H) + 1) / H)
    far = np.arange(T)[:, None] - np.arange(T)
    return jnp.asarray(np.where(far >= 0, -slope[:, None, None] * far, -1e30), f32)


def layer(x, p, q):
    z = norm(x, p["norms"][0])
    h = jnp.einsum("btd,dchk->cbthk", z, p["qkv"])
    if q is not None:
        h = h + jnp.einsum("btr,rchk->cbthk", z @ q["a"].astype(bf), q["b"].astype(bf))
    s = jnp.einsum("bthk,bshk->bhts", h[0], h[1]).astype(f32) * HD**-0.5 + bias()
    y = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(s, -1).astype(bf), h[2])
    x = con(x + jnp.einsum("bthk,hkd->btd", y, p["out"]), "data", None, None)
    z = norm(x, p["norms"][1])
    u = z @ p["up"]
    if q is not None:
        u = u + (z @ q["a2"].astype(bf)) @ q["b2"].astype(bf)
    return con(x + jax.nn.relu(u) ** 2 @ p["down"], "data", None, None)


def features(p, q, tokens):
    x = con(p["embed"][tokens], "data", None, None)
    names = ("qkv", "out", "up", "down", "norms")
    low = None if q is None else {k: q[k] for k in ("a", "b", "a2", "b2")}
    step = jax.checkpoint(lambda x, c: (layer(x, *c), None))
    x, _ = lax.scan(step, x, ({k: p[k] for k in names}, low))
    return norm(x, p["last"])


def spoken(p, x, tokens):
    """The log-probability of each next word, and the entropy."""
    z = con(jnp.einsum("btd,vd->btv", x[:, :-1], p["embed"]), "data", None, "model").astype(f32)
    z = z - lax.stop_gradient(z.max(-1, keepdims=True))
    total = jnp.sum(jnp.exp(z), -1)
    found = jnp.take_along_axis(z, tokens[:, 1:, None], -1)[..., 0]
    entropy = jnp.log(total) - jnp.sum(jnp.exp(z) * z, -1) / total
    return found - jnp.log(total), entropy


def values(q, x):
    return jnp.einsum("btd,d->bt", jnp.tanh(x.astype(f32) @ q["critic"]["a"]), q["critic"]["b"])


def advantages(rewards, old, mask):
    def back(carry, c):
        last, following = carry
        r, v, m = c
        delta = r + following * 0.99 - v
        last = jnp.where(m, delta + 0.99 * 0.95 * last, 0.0)
        return (last, jnp.where(m, v, 0.0)), last

    zeros = jnp.zeros(rewards.shape[:1], f32)
    _, out = lax.scan(back, (zeros, zeros), (rewards.T, old.T, mask.T), reverse=True)
    return out.T


def loss(q, trunk, g):
    x = features(trunk, q, g["tokens"])
    logp, entropy = spoken(trunk, x, g["tokens"])
    count = jnp.maximum(jnp.sum(g["mask"]), 1)
    ratio = jnp.exp(jnp.where(g["mask"], logp - g["logps"], 0))
    kept = jnp.minimum(ratio * g["gains"], jnp.clip(ratio, 0.8, 1.2) * g["gains"])
    v = values(q, x)[:, :-1]
    near = g["old"] + jnp.clip(v - g["old"], -0.2, 0.2)
    critic = jnp.maximum((v - g["returns"]) ** 2, (near - g["returns"]) ** 2)
    total = jnp.sum(g["mask"] * (-kept + 0.5 * critic - 0.01 * entropy)) / count
    return total, jnp.sum(g["mask"] * (ratio - 1 - jnp.log(ratio))) / count


def feedback_step(trunk, state, batch):
    tokens, lengths = batch["tokens"], batch["lengths"]
    at = jnp.arange(T - 1)
    mask = (at >= PROMPT - 1) & (at < lengths[:, None] - 1)
    plain = features(trunk, None, tokens)
    ref, _ = spoken(trunk, plain, tokens)
    x = features(trunk, state["adapters"], tokens)
    old = values(state["adapters"], x)[:, :-1]
    end = jnp.take_along_axis(plain, (lengths - 1)[:, None, None], 1)[:, 0]
    score = end.astype(f32) @ trunk["reward"]
    s = state["scalars"]
    count = 0.99 * s["count"] + B
    mean = (0.99 * s["count"] * s["mean"] + score.sum()) / count
    square = (0.99 * s["count"] * s["square"] + (score**2).sum()) / count
    score = jnp.clip((score - mean) * lax.rsqrt(square - mean**2 + 1e-6), -5, 5)
    apart = jnp.where(mask, batch["logps"] - ref, 0)
    rewards = (-s["penalty"] * apart).at[jnp.arange(B), lengths - 2].add(score)
    gains = advantages(rewards, old, mask)
    returns = gains + old
    n = jnp.maximum(jnp.sum(mask), 1)
    middle = jnp.sum(gains * mask) / n
    spread = jnp.sum((gains - middle) ** 2 * mask) / n
    gains = (gains - middle) * lax.rsqrt(spread + 1e-8)
    key = jax.random.wrap_key_data(batch["key"])
    order = jnp.concatenate([jax.random.permutation(k, B) for k in jax.random.split(key, EPOCHS)])
    every = dict(
        tokens=tokens, mask=mask, logps=batch["logps"], gains=gains, old=old, returns=returns
    )

    def one(carry, chosen):
        q, m, v, step, stopped = carry
        g = {k: con(x[chosen], "data") for k, x in every.items()}
        (value, apart), grads = jax.value_and_grad(loss, has_aux=True)(q, trunk, g)
        stopped = stopped | (apart > 0.05)

        def update(_):
            size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
            clip = jnp.minimum(1.0, 1.0 / (size + 1e-9))
            t = (step + 1).astype(f32)
            nm = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * clip * g, m, grads)
            nv = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * (clip * g) ** 2, v, grads)
            move = lambda p, a, b: (
                p - 1e-5 * (a / (1 - 0.9**t)) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-5)
            )
            return jax.tree.map(move, q, nm, nv), nm, nv, step + 1

        q, m, v, step = lax.cond(stopped, lambda _: (q, m, v, step), update, None)
        return (q, m, v, step, stopped), (value, apart)

    start = (state["adapters"], state["m"], state["v"], state["step"], jnp.array(False))
    (q, m, v, step, _), (losses, aparts) = lax.scan(
        one, start, order.reshape(EPOCHS * MINI, B // MINI)
    )
    far = jnp.sum(apart) / B
    penalty = s["penalty"] * (1 + 0.1 * jnp.clip(far / 6 - 1, -0.2, 0.2))
    scalars = dict(mean=mean, square=square, count=count, penalty=penalty)
    return dict(adapters=q, m=m, v=v, step=step, scalars=scalars), dict(
        loss=losses, apart=aparts, score=mean
    )


if __name__ == "__main__":
    with jax.set_mesh(mesh):
        low = (
            jax.jit(feedback_step, donate_argnums=1)
            .trace(trunk, state, batch)
            .lower(lowering_platforms=("tpu",))
        )
        print("ok", len(low.compile().as_text()))
