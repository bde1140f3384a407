"""Programs that were compiled to be read by hand in round 15, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, rms, smap

_BF = "bfloat16"
_IMAGES = ("NHWC", "HWIO", "NHWC")


def _normed(x):
    """Images less their mean, over their spread, in eight groups of channels."""
    grouped = x.reshape(*x.shape[:3], 8, -1).astype(jnp.float32)
    mean = grouped.mean((1, 2, 4), keepdims=True)
    spread = grouped.var((1, 2, 4), keepdims=True)
    return ((grouped - mean) * lax.rsqrt(spread + 1e-5)).reshape(x.shape).astype(_BF)


def _conv(x, w, stride=1):
    return lax.conv_general_dilated(
        x, w.astype(_BF), (stride, stride), "SAME", dimension_numbers=_IMAGES
    )


def upsampled():
    """One training step of a diffusion U-Net: strided and transposed convolutions, EMA weights."""
    over = mesh(data=4, model=2)
    size, wide, rows = 32, 32, 8

    def block(given, out):
        return {
            "one": arr(over, (3, 3, given, out), None, None, None, "model"),
            "two": arr(over, (3, 3, out, out), None, None, "model"),
            "time": arr(over, (64, 2 * out), None, "model"),
            "skip": arr(over, (1, 1, given, out)),
        }

    params = {
        "in": arr(over, (3, 3, 3, wide)),
        "down": [block(wide, wide), block(wide, 2 * wide)],
        "middle": {
            "qkv": arr(over, (2 * wide, 6 * wide), None, "model"),
            "o": arr(over, (2 * wide, 2 * wide), "model"),
        },
        "up": [block(4 * wide, wide), block(2 * wide, wide)],
        "wider": [arr(over, (2, 2, 2 * wide, 2 * wide)), arr(over, (2, 2, wide, wide))],
        "out": arr(over, (3, 3, wide, 3)),
    }

    def residual(p, x, time):
        scale, shift = jnp.split(time @ p["time"].astype(_BF), 2, -1)
        h = _conv(jax.nn.silu(_normed(x)), p["one"])
        h = _normed(h) * (1 + scale[:, None, None]) + shift[:, None, None]
        return _conv(x, p["skip"]) + _conv(jax.nn.silu(h), p["two"])

    def attended(p, x):
        b, h, w, c = x.shape
        q, k, v = jnp.split(_normed(x).reshape(b, h * w, c) @ p["qkv"].astype(_BF), 3, -1)
        share = jax.nn.softmax(jnp.einsum("bqc,bkc->bqk", q, k).astype(jnp.float32) * c**-0.5)
        mixed = jnp.einsum("bqk,bkc->bqc", share.astype(_BF), v) @ p["o"].astype(_BF)
        return x + mixed.reshape(x.shape)

    def net(p, x, level):
        rates = jnp.exp(-jnp.arange(32) / 4.0)
        angle = level[:, None] * 1000 * rates
        time = jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(_BF)
        x = _conv(x.astype(_BF), p["in"])
        kept = []
        for q in p["down"]:
            x = residual(q, x, time)
            kept.append(x)
            x = lax.reduce_window(x, np.zeros((), _BF), lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
            x = x / 4
        x = attended(p["middle"], x)
        for q, w in zip(p["up"], p["wider"], strict=True):
            x = lax.conv_transpose(x, w.astype(_BF), (2, 2), "SAME", dimension_numbers=_IMAGES)
            x = residual(q, jnp.concatenate([x, kept.pop()], -1), time)
        return _conv(jax.nn.silu(_normed(x)), p["out"]).astype(jnp.float32)

    def train(p, mean, seed, x):
        one, two = jax.random.split(jax.random.wrap_key_data(seed))
        level = jax.random.uniform(one, (rows,))
        noise = jax.random.normal(two, x.shape)
        kept = jnp.cos(level * jnp.pi / 2)[:, None, None, None]
        given = kept * x + jnp.sqrt(1 - kept**2) * noise

        def loss(p):
            weight = jnp.minimum(kept**2 / (1 - kept**2 + 1e-4), 5.0)
            return jnp.mean(weight * (net(p, given, level) - noise) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        p = jax.tree.map(lambda p, g: p - 1e-3 * jnp.sign(g), p, grads)
        mean = jax.tree.map(lambda m, p: 0.999 * m + 0.001 * p, mean, p)
        return p, mean, value

    x = arr(over, (rows, size, size, 3), "data")
    return train, params, params, arr(over, (2,), dtype="uint32"), x


def stated():
    """State-space layers: chunks in parallel by an associative scan, states carried between."""
    over = mesh(data=2, heads=4)
    layers, width, heads, head, state, long, rows, chunk = 2, 64, 8, 16, 16, 64, 4, 16
    inner = heads * head
    spec = {
        "in": ((width, 2 * inner), (None, "heads")),
        "bc": ((width, 2 * state), ()),
        "dt": ((width, heads), (None, "heads")),
        "a": ((heads,), ("heads",)),
        "conv": ((4, inner), (None, "heads")),
        "d": ((heads,), ("heads",)),
        "out": ((inner, width), ("heads",)),
    }
    params = {n: arr(over, (layers, *s), None, *axes) for n, (s, axes) in spec.items()}
    params["emb"] = arr(over, (256, width), "heads")

    def scanned(x, dt, a, b, c):
        """y[t] = c[t] · h[t], h[t] = exp(a dt) h[t-1] + dt b[t] x[t], chunk by chunk."""
        n = long // chunk

        def cut(v):
            return v.reshape(rows, n, chunk, *v.shape[2:])

        x, dt, b, c = map(cut, (x, dt, b, c))
        decay = jnp.cumsum(-jnp.exp(a) * dt, 2)
        between = decay[:, :, :, None] - decay[:, :, None]
        causal = jnp.tril(jnp.ones((chunk, chunk), bool))[..., None]
        weight = jnp.where(causal, jnp.exp(jnp.where(causal, between, 0)), 0)
        near = jnp.einsum("znis,znjs,znijh,znjh,znjhp->znihp", c, b, weight, dt, x)
        left = jnp.exp(decay[:, :, -1:] - decay)
        states = jnp.einsum("znjs,znjh,znjhp->znhsp", b, left * dt, x)
        whole = jnp.exp(decay[:, :, -1])

        def joined(one, two):
            return one[0] * two[0], two[0][..., None, None] * one[1] + two[1]

        _, summed = lax.associative_scan(joined, (whole, states), axis=1)
        before = jnp.pad(summed, ((0, 0), (1, 0), (0, 0), (0, 0), (0, 0)))[:, :-1]
        far = jnp.einsum("znis,znhsp,znih->znihp", c, before, jnp.exp(decay))
        return (near + far).reshape(rows, long, heads, head)

    @jax.checkpoint
    def layer(h, w):
        x, gate = jnp.split(rms(h, 1.0) @ w["in"], 2, -1)
        x = lax.conv_general_dilated(
            x,
            w["conv"][:, None],
            (1,),
            [(3, 0)],
            dimension_numbers=("NWC", "WIO", "NWC"),
            feature_group_count=inner,
        )
        x = jax.nn.silu(x).reshape(rows, long, heads, head)
        b, c = jnp.split(rms(h, 1.0) @ w["bc"], 2, -1)
        dt = jax.nn.softplus(rms(h, 1.0) @ w["dt"])
        y = scanned(x, dt, w["a"], b, c) + w["d"][:, None] * x
        return h + (y.reshape(rows, long, inner) * jax.nn.silu(gate)) @ w["out"], None

    def train(p, first, second, step, tokens):
        def loss(p):
            h = p["emb"][tokens[:, :-1]]
            h, _ = lax.scan(layer, h, {n: p[n] for n in spec})
            logits = rms(h, 1.0) @ p["emb"].T
            picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
            return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)

        value, grads = jax.value_and_grad(loss)(p)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda v, g: jnp.maximum(0.99 * v, jnp.abs(g)), second, grads)
        rate = 0.01 * jnp.minimum(1.0, step / 100)
        p = jax.tree.map(lambda p, m, v: p * 0.999 - rate * m / (v + 1e-8), p, first, second)
        return p, first, second, step + 1, value

    tokens = arr(over, (rows, long + 1), "data", dtype="int32")
    return train, params, params, params, arr(over, ()), tokens


def piped():
    """Four stages in a pipeline by hand, microbatches sent on in a loop, stages of two layers."""
    over = mesh(stage=4, data=2)
    width, parts, rows = 48, 6, 4
    params = {
        "up": arr(over, (4, 2, width, 2 * width), "stage"),
        "down": arr(over, (4, 2, 2 * width, width), "stage"),
        "head": arr(over, (width, 16)),
    }

    def layers(w, x):
        for n in range(2):
            h = jax.nn.gelu(rms(x, 1.0).astype(_BF) @ w["up"][n].astype(_BF))
            x = x + (h @ w["down"][n].astype(_BF)).astype(jnp.float32)
        return x

    @smap(over, (P("stage"), P("stage"), P(None, "data")), P(None, "data"))
    def flowing(up, down, x):
        w = {"up": up[0], "down": down[0]}
        here = lax.axis_index("stage")
        ring = [(n, (n + 1) % 4) for n in range(4)]

        def tick(carried, n):
            sent, out = carried
            given = jnp.where(here == 0, x[jnp.minimum(n, parts - 1)], sent)
            made = jax.checkpoint(layers)(w, given)
            place = jnp.maximum(n - 3, 0)
            done = (here == 3) & (n >= 3)
            kept = lax.dynamic_index_in_dim(out, place, 0, keepdims=False)
            out = lax.dynamic_update_index_in_dim(out, jnp.where(done, made, kept), place, 0)
            return (lax.ppermute(made, "stage", ring), out), None

        begun = (jnp.zeros_like(x[0]), jnp.zeros_like(x))
        (_, out), _ = lax.scan(tick, begun, jnp.arange(parts + 3))
        return lax.psum(jnp.where(here == 3, out, 0.0), "stage")

    def train(p, x, label):
        def loss(p):
            logp = jax.nn.log_softmax(flowing(p["up"], p["down"], x) @ p["head"])
            return -jnp.mean(jnp.take_along_axis(logp, label[..., None], -1))

        value, grads = jax.value_and_grad(loss)(p)
        size = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        p = jax.tree.map(lambda p, g: p - 0.1 * g * jnp.minimum(1.0, 1 / size), p, grads)
        return p, value, size

    given = arr(over, (parts, rows, width), None, "data")
    return train, params, given, arr(over, (parts, rows), None, "data", dtype="int32")


def widened():
    """Beam search with a cache in a while loop: beams are sorted, caches gathered by parent."""
    over = mesh(data=2, model=4)
    layers, width, heads, head, marks, beams, rows, long = 2, 64, 4, 16, 128, 4, 4, 24
    layer = {
        "qkv": arr(over, (3, width, heads, head), None, None, "model", dtype=_BF),
        "o": arr(over, (heads, head, width), "model", dtype=_BF),
        "up": arr(over, (width, 4 * width), None, "model", dtype=_BF),
        "down": arr(over, (4 * width, width), "model", dtype=_BF),
    }
    params = {"emb": arr(over, (marks, width), "model", dtype=_BF), "layers": [layer] * layers}

    def token(p, cache, mark, at):
        x = p["emb"][mark]
        new = []
        for w, (key, value) in zip(p["layers"], cache, strict=True):
            q, k, v = jnp.einsum("rbd,cdhk->crbhk", rms(x, 1.0), w["qkv"])
            keys = lax.dynamic_update_slice(key, k[:, :, None], (0, 0, at, 0, 0))
            values = lax.dynamic_update_slice(value, v[:, :, None], (0, 0, at, 0, 0))
            score = jnp.einsum("rbhk,rbthk->rbht", q, keys).astype(jnp.float32) / 4
            score = jnp.where(jnp.arange(long) <= at, score, -1e9)
            mixed = jnp.einsum("rbht,rbthk->rbhk", jax.nn.softmax(score).astype(_BF), values)
            x = x + jnp.einsum("rbhk,hkd->rbd", mixed, w["o"])
            x = x + jax.nn.relu(rms(x, 1.0) @ w["up"]) @ w["down"]
            new.append((keys, values))
        return jax.nn.log_softmax((x @ p["emb"].T).astype(jnp.float32)), new

    def decode(p, first, lengthy):
        empty = jnp.zeros((rows, beams, long, heads, head), _BF)
        cache = [(empty, empty)] * layers
        score = jnp.where(jnp.arange(beams) == 0, 0.0, -1e9) * jnp.ones((rows, 1))
        text = jnp.zeros((rows, beams, long), jnp.int32).at[:, :, 0].set(first[:, None])
        ended = jnp.zeros((rows, beams), bool)

        def going(state):
            at, _, score, ended, _ = state
            best = jnp.max(jnp.where(ended, score, -jnp.inf), 1)
            hope = jnp.max(jnp.where(ended, -jnp.inf, score), 1)
            return (at < long - 1) & jnp.any(hope > best)

        def body(state):
            at, text, score, ended, cache = state
            mark = lax.dynamic_index_in_dim(text, at, 2, keepdims=False)
            logp, cache = token(p, cache, mark, at)
            only = jnp.where(jnp.arange(marks) == 1, 0.0, -jnp.inf)
            logp = jnp.where(ended[..., None], only, logp)
            every = (score[..., None] + logp).reshape(rows, -1)
            score, flat = lax.top_k(every, beams)
            parent, mark = flat // marks, (flat % marks).astype(jnp.int32)

            def chosen(a):
                index = parent.reshape(rows, beams, *(1,) * (a.ndim - 2))
                return jnp.take_along_axis(a, index, 1)

            text, ended, cache = jax.tree.map(chosen, (text, ended, cache))
            text = lax.dynamic_update_index_in_dim(text, mark, at + 1, 2)
            return at + 1, text, score, ended | (mark == 1), cache

        at, text, score, ended, _ = lax.while_loop(
            going, body, (jnp.int32(0), text, score, ended, cache)
        )
        size = jnp.sum(text != 0, -1) ** lengthy
        order = jnp.argsort(-score / size, 1)
        return jnp.take_along_axis(text, order[..., None], 1), at, ended.mean()

    return decode, params, arr(over, (rows,), "data", dtype="int32"), arr(over, ())


def _area(score, label):
    """The share of pairs of unlike labels that scores put in order."""
    order = jnp.argsort(score)
    good = label[order]
    rank = jnp.cumsum(1 - good)
    return jnp.sum(rank * good) / jnp.maximum(good.sum() * (1 - good).sum(), 1)


def recommended():
    """A recommender: bags of features in sharded tables, crossed, rows updated by sorted ids."""
    over = mesh(data=4, table=2)
    tables, rows, width, batch, bag = 3, 512, 16, 64, 5
    params = {
        "tables": arr(over, (tables, rows, width), None, "table"),
        "dense": [arr(over, (13, 64)), arr(over, (64, width))],
        "cross": arr(over, (2, width * (tables + 1), width * (tables + 1)), None, None, "table"),
        "top": [
            arr(over, (width * (tables + 1) + 6, 64), None, "table"),
            arr(over, (64, 1), "table"),
        ],
    }

    def bagged(table, ids, present):
        found = table[ids.reshape(-1)].reshape(batch, bag, width)
        return jnp.sum(found * present[..., None], 1) / jnp.maximum(present.sum(1), 1)[:, None]

    def logits(p, bags, dense):
        for w in p["dense"]:
            dense = jax.nn.relu(dense @ w)
        every = jnp.stack([dense, *bags], 1)
        pairs = jnp.einsum("bic,bjc->bij", every, every)
        low = jnp.tril_indices(tables + 1, -1)
        flat = every.reshape(batch, -1)
        h = flat
        for w in p["cross"]:
            h = flat * (h @ w) + h
        h = jnp.concatenate([h, pairs[:, low[0], low[1]]], -1)
        return (jax.nn.relu(h @ p["top"][0]) @ p["top"][1])[:, 0]

    def rowwise(table, sums, ids, grads):
        """Adagrad by row: gradients of one row are summed once, by the order of the ids."""
        ids, grads = ids.reshape(-1), grads.reshape(-1, width)
        order = jnp.argsort(ids)
        ids, grads = ids[order], grads[order]
        fresh = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]])
        place = jnp.cumsum(fresh) - 1
        summed = jax.ops.segment_sum(grads, place, ids.size, indices_are_sorted=True)
        own = jnp.zeros_like(ids).at[place].max(ids)
        seen = jnp.arange(ids.size) <= place[-1]
        sums = sums.at[own].add(jnp.where(seen, jnp.mean(summed**2, -1), 0.0))
        move = 0.1 * summed * lax.rsqrt(sums[own] + 1e-6)[:, None]
        return table.at[own].add(jnp.where(seen[:, None], -move, 0.0)), sums

    def train(p, sums, ids, dense, label):
        present = (ids >= 0).astype(jnp.float32)
        ids = jnp.where(ids >= 0, ids, 0)
        tables_ = p["tables"]
        bags = [bagged(tables_[n], ids[n], present[n]) for n in range(tables)]
        rest = {n: p[n] for n in ("dense", "cross", "top")}

        def loss(rest, bags):
            score = logits(rest, bags, dense)
            cross = jnp.maximum(score, 0) - score * label + jnp.log1p(jnp.exp(-jnp.abs(score)))
            return jnp.mean(cross), score

        found = jax.value_and_grad(loss, (0, 1), has_aux=True)(rest, bags)
        (value, score), (grads, by_bag) = found
        new = []
        for n in range(tables):
            share = present[n] / jnp.maximum(present[n].sum(1), 1)[:, None]
            spread = by_bag[n][:, None] * share[..., None]
            new.append(rowwise(tables_[n], sums[n], ids[n], spread))
        rest = jax.tree.map(lambda p, g: p - 0.05 * g, rest, grads)
        tables_ = jnp.stack([table for table, _ in new])
        sums = jnp.stack([total for _, total in new])
        return {"tables": tables_, **rest}, sums, value, _area(score, label)

    ids = arr(over, (tables, batch, bag), None, "data", dtype="int32")
    dense, label = arr(over, (batch, 13), "data"), arr(over, (batch,), "data")
    return train, params, arr(over, (tables, rows), None, "table"), ids, dense, label


if __name__ == "__main__":
    compiled(globals())
