"""Programs that were compiled to be read by hand in rounds 19 to 22, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: C901, PLR0915 - a program is one function, of many operations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

_BF = "bfloat16"


def proximal():
    """PPO: carts with poles by vmap, a rollout and advantages by scan, epochs over minibatches."""
    over = mesh(env=4, model=2)
    envs, steps, wide, parts = 16, 12, 32, 3
    params = {
        "in": arr(over, (4, wide), None, "model"),
        "mid": arr(over, (wide, wide), "model"),
        "actor": arr(over, (wide, 2)),
        "critic": arr(over, (wide, 1)),
        "bias": arr(over, (wide,), "model"),
    }

    def heads(p, seen):
        h = jnp.tanh(seen @ p["in"] + p["bias"])
        h = jnp.tanh(h @ p["mid"])
        return h @ p["actor"], (h @ p["critic"])[..., 0]

    def moved(state, action, key):
        x, v, angle, speed = state
        force = jnp.where(action == 1, 10.0, -10.0)
        c, s = jnp.cos(angle), jnp.sin(angle)
        push = (force + 0.05 * speed**2 * s) / 1.1
        turn = (9.8 * s - c * push) / (0.5 * (4.0 / 3.0 - 0.1 * c**2 / 1.1))
        move = push - 0.05 * turn * c / 1.1
        new = jnp.stack([x + 0.02 * v, v + 0.02 * move, angle + 0.02 * speed, speed + 0.02 * turn])
        over_ = (jnp.abs(new[0]) > 2.4) | (jnp.abs(new[2]) > 0.2)
        fresh = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
        return jnp.where(over_, fresh, new), 1.0 - over_, over_

    def rolled(p, state, key):
        def step(carried, _):
            state, key = carried
            key, pick, again = jax.random.split(key, 3)
            logits, value = heads(p, state)
            action = jax.random.categorical(pick, logits)
            logp = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
            new, gain, over_ = jax.vmap(moved)(state, action, jax.random.split(again, envs))
            return (new, key), (state, action, logp, value, gain, over_)

        return lax.scan(step, (state, key), None, steps)

    def valued(gain, value, over_, last):
        def back(carried, given):
            ahead, total = carried
            r, v, d = given
            off = r + 0.99 * ahead * (1 - d) - v
            total = off + 0.99 * 0.95 * (1 - d) * total
            return (v, total), total

        given = gain, value, over_.astype(jnp.float32)
        return lax.scan(back, (last, jnp.zeros_like(last)), given, reverse=True)[1]

    def loss(p, part):
        seen, action, old, aim, better = part
        logits, value = heads(p, seen)
        every = jax.nn.log_softmax(logits)
        logp = jnp.take_along_axis(every, action[:, None], 1)[:, 0]
        ratio = jnp.exp(logp - old)
        better = (better - better.mean()) / (better.std() + 1e-8)
        kept = jnp.minimum(ratio * better, jnp.clip(ratio, 0.8, 1.2) * better)
        chaos = -jnp.sum(jnp.exp(every) * every, -1).mean()
        return -kept.mean() + 0.5 * jnp.mean((value - aim) ** 2) - 0.01 * chaos

    def train(p, moments, state, seed):
        key, own = jax.random.split(jax.random.wrap_key_data(seed))
        (state, _), (seen, action, logp, value, gain, over_) = rolled(p, state, own)
        better = valued(gain, value, over_, heads(p, state)[1])
        flat = jax.tree.map(
            lambda a: a.reshape(-1, *a.shape[2:]), (seen, action, logp, better + value, better)
        )

        def epoch(carried, key):
            order = jax.random.permutation(key, envs * steps)
            mixed = jax.tree.map(lambda a: a[order].reshape(parts, -1, *a.shape[1:]), flat)

            def one(carried, part):
                p, (m, v) = carried
                value, grads = jax.value_and_grad(loss)(p, part)
                m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
                v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
                p = jax.tree.map(lambda w, a, b: w - 3e-4 * a / (jnp.sqrt(b) + 1e-5), p, m, v)
                return (p, (m, v)), value

            return lax.scan(one, carried, mixed)

        (p, moments), losses = lax.scan(epoch, (p, moments), jax.random.split(key, 2))
        return p, moments, state, losses, gain.sum(0)

    state = arr(over, (envs, 4), "env")
    return train, params, (params, params), state, arr(over, (2,), dtype="uint32")


def narrowed():
    """Decoding with int8 weights and an int8 cache, each row with its scale, until all end."""
    over = mesh(data=2, model=4)
    layers, wide, heads, head, hidden, marks, rows, long = 2, 64, 8, 16, 128, 256, 4, 16

    def held(shape, *spec):
        scale = [None if n == 1 else s for n, s in enumerate(spec)]
        flat = (shape[0], 1, *shape[2:])
        return arr(over, shape, *spec, dtype="int8"), arr(over, flat, *scale)

    params = {
        "emb": arr(over, (marks, wide), "model", dtype=_BF),
        "qkv": held((layers, wide, 3 * heads * head), None, None, "model"),
        "out": held((layers, heads * head, wide), None, "model"),
        "gate": held((layers, wide, hidden), None, None, "model"),
        "up": held((layers, wide, hidden), None, None, "model"),
        "down": held((layers, hidden, wide), None, "model"),
        "norm": arr(over, (layers, 2, wide)),
    }
    cache = {
        n: arr(over, (layers, rows, long, heads, size), None, "data", None, "model", dtype=kind)
        for n, size, kind in (
            ("k", head, "int8"),
            ("v", head, "int8"),
            ("ks", 1, "float32"),
            ("vs", 1, "float32"),
        )
    }

    def rounded(x):
        size = jnp.max(jnp.abs(x), -1, keepdims=True).astype(jnp.float32) / 127 + 1e-8
        return jnp.round(x.astype(jnp.float32) / size).astype(jnp.int8), size

    def product(x, w):
        small, size = rounded(x)
        total = lax.dot_general(
            small, w[0], (((x.ndim - 1,), (0,)), ((), ())), preferred_element_type=jnp.int32
        )
        return (total.astype(jnp.float32) * size * w[1][0]).astype(_BF)

    def layer(carried, given):
        x, at = carried
        w, c = given
        n = x * lax.rsqrt(jnp.mean(x.astype(jnp.float32) ** 2, -1, keepdims=True) + 1e-6)
        qkv = product(n * w["norm"][0], w["qkv"]).reshape(rows, 3, heads, head)
        q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
        (k, ks), (v, vs) = rounded(k), rounded(v)
        new = {"k": k, "v": v, "ks": ks, "vs": vs}
        c = {n: lax.dynamic_update_slice(c[n], new[n][:, None], (0, at, 0, 0)) for n in c}
        q, qs = rounded(q)
        score = jnp.einsum("rhd,rthd->rht", q, c["k"], preferred_element_type=jnp.int32)
        score = score.astype(jnp.float32) * qs * c["ks"][..., 0].swapaxes(1, 2) / 4
        share = jax.nn.softmax(jnp.where(jnp.arange(long) <= at, score, -1e9), -1)
        mixed = jnp.einsum("rht,rthd->rhd", share, c["v"].astype(jnp.float32) * c["vs"])
        x += product(mixed.reshape(rows, -1), w["out"])
        n = x * lax.rsqrt(jnp.mean(x.astype(jnp.float32) ** 2, -1, keepdims=True) + 1e-6)
        n *= w["norm"][1]
        h = jax.nn.silu(product(n, w["gate"])) * product(n, w["up"])
        return (x + product(h, w["down"]), at), c

    def decode(p, cache, first, start):
        weights = {n: p[n] for n in ("qkv", "out", "gate", "up", "down", "norm")}

        def going(state):
            at, _, _, done, _ = state
            return (at < long) & ~jnp.all(done)

        def token(state):
            at, mark, cache, done, told = state
            x = p["emb"][mark] * np.sqrt(wide).astype(_BF)
            (x, _), cache = lax.scan(layer, (x, at), (weights, cache))
            logits = jnp.einsum("rd,vd->rv", x, p["emb"]).astype(jnp.float32)
            best = jnp.argmax(logits - 0.1 * (jnp.arange(marks) == mark[:, None]), -1)
            mark = jnp.where(done, 0, best.astype(jnp.int32))
            told = told.at[:, at].set(mark)
            return at + 1, mark, cache, done | (mark == 1), told

        told = jnp.zeros((rows, long), jnp.int32)
        done = jnp.zeros((rows,), bool)
        state = lax.while_loop(going, token, (start, first, cache, done, told))
        return state[2], state[3], state[4]

    first = arr(over, (rows,), "data", dtype="int32")
    return decode, params, cache, first, arr(over, (), dtype="int32")


def conveyed():
    """A pipeline of four stages in a scan with ppermute under shard_map, trained."""
    over = mesh(stage=4, data=2)
    wide, hidden, parts, rows, kinds = 48, 96, 6, 8, 24
    params = {
        "first": arr(over, (16, wide)),
        "up": arr(over, (4, 2, wide, hidden), "stage"),
        "down": arr(over, (4, 2, hidden, wide), "stage"),
        "gain": arr(over, (4, 2, wide), "stage"),
        "head": arr(over, (wide, kinds)),
    }
    specs = {n: P("stage") if n in ("up", "down", "gain") else P() for n in params}
    ring = [(n, (n + 1) % 4) for n in range(4)]

    def stage(w, x):
        def layer(x, given):
            up, down, gain = given
            n = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
            h = jax.nn.gelu((n * gain).astype(_BF) @ up.astype(_BF))
            return x + (h @ down.astype(_BF)).astype(jnp.float32), None

        return lax.scan(jax.checkpoint(layer), x, w)[0]

    @smap(over, (specs, P(None, "data"), P(None, "data")), (P(), P()))
    def forward(p, x, label):
        here = lax.axis_index("stage")
        own = tuple(p[n][0] for n in ("up", "down", "gain"))
        x = x @ p["first"]

        def tick(carried, n):
            held, value, right = carried
            fed = lax.dynamic_index_in_dim(x, jnp.clip(n, 0, parts - 1), keepdims=False)
            out = stage(own, jnp.where(here == 0, fed, held))
            told = jnp.clip(n - 3, 0, parts - 1)
            logits = out @ p["head"]
            logp = jax.nn.log_softmax(logits)
            true = lax.dynamic_index_in_dim(label, told, keepdims=False)
            counts = (here == 3) & (n >= 3)
            loss = -jnp.take_along_axis(logp, true[:, None], 1).mean()
            good = jnp.mean(jnp.argmax(logits, -1) == true)
            value += jnp.where(counts, loss, 0.0)
            right += jnp.where(counts, good, 0.0)
            return (lax.ppermute(out, "stage", ring), value, right), None

        begun = jnp.zeros((rows // 2, wide)), jnp.zeros(()), jnp.zeros(())
        (_, value, right), _ = lax.scan(tick, begun, jnp.arange(parts + 3))
        value, right = lax.psum((value, right), "stage")
        return lax.pmean(value, "data") / parts, lax.pmean(right, "data") / parts

    def train(p, m, x, label):
        (value, right), grads = jax.value_and_grad(forward, has_aux=True)(p, x, label)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
        m = jax.tree.map(lambda a, g: 0.95 * a + 0.05 * g, m, grads)
        p = jax.tree.map(lambda w, a, g: w - 1e-3 * jnp.sign(0.9 * a + 0.1 * g), p, m, grads)
        return p, m, value, right, norm

    x = arr(over, (parts, rows, 16), None, "data")
    return train, params, params, x, arr(over, (parts, rows), None, "data", dtype="int32")


def triangular():
    """Pairs of residues: triangle products, attention biased by pairs, outer product means."""
    over = mesh(row=4, column=2)
    residues, sequences, wide, pair, heads = 16, 8, 32, 16, 4
    block = {
        "bias": arr(over, (pair, heads)),
        "qkvg": arr(over, (wide, 4, heads, wide // heads)),
        "merge": arr(over, (heads, wide // heads, wide)),
        "left": arr(over, (wide, 8)),
        "mean": arr(over, (8, 8, pair)),
        "edges": arr(over, (pair, 4, pair)),
        "shut": arr(over, (pair, pair)),
        "close": arr(over, (pair, pair)),
        "around": arr(over, (pair, 3, 2, 8)),
        "back": arr(over, (2, 8, pair)),
        "bend": arr(over, (pair, 2 * pair)),
        "unbend": arr(over, (2 * pair, pair)),
    }
    params = jax.tree.map(lambda a: arr(over, (2, *a.shape), None, "column"), block)
    head = arr(over, (pair, 12))

    def norm(x):
        x -= x.mean(-1, keepdims=True)
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)

    def triangle(p, z, *, out):
        n = norm(z)
        a, b, ga, gb = jnp.moveaxis(jnp.einsum("ijc,cnd->nijd", n, p["edges"]), 0, 0)
        a, b = a * jax.nn.sigmoid(ga), b * jax.nn.sigmoid(gb)
        how = "ikc,jkc->ijc" if out else "kic,kjc->ijc"
        return (norm(jnp.einsum(how, a, b)) @ p["close"]) * jax.nn.sigmoid(n @ p["shut"])

    def evolved(given, p):
        m, z = given
        n = norm(m)
        q, k, v, g = jnp.moveaxis(jnp.einsum("sic,cnhd->nsihd", n, p["qkvg"]), 0, 0)
        score = jnp.einsum("sihd,sjhd->shij", q, k) / np.sqrt(q.shape[-1])
        share = jax.nn.softmax(score + (norm(z) @ p["bias"]).transpose(2, 0, 1), -1)
        mixed = jnp.einsum("shij,sjhd->sihd", share, v) * jax.nn.sigmoid(g)
        m += jnp.einsum("sihd,hdc->sic", mixed, p["merge"])
        one = norm(m) @ p["left"]
        z += jnp.einsum("sia,sjb,abc->ijc", one, one, p["mean"]) / sequences
        z += triangle(p, z, out=True)
        z += triangle(p, z, out=False)
        q, k, v = jnp.moveaxis(jnp.einsum("ijc,cnhd->nijhd", norm(z), p["around"]), 0, 0)
        share = jax.nn.softmax(jnp.einsum("ijhd,ikhd->ihjk", q, k) / np.sqrt(8.0), -1)
        z += jnp.einsum("ihjk,ikhd,hdc->ijc", share, v, p["back"])
        z += jax.nn.relu(norm(z) @ p["bend"]) @ p["unbend"]
        z = lax.with_sharding_constraint(z, jax.NamedSharding(over, P("row", "column")))
        return (m, z), None

    def train(p, head, m, z, bins):
        def loss(given):
            p, head = given
            (_, last), _ = lax.scan(jax.checkpoint(evolved), (m, z), p)
            logits = (last + last.swapaxes(0, 1)) @ head
            logp = jax.nn.log_softmax(logits)
            return -jnp.take_along_axis(logp, bins[..., None], -1).mean()

        value, grads = jax.value_and_grad(loss)((p, head))
        return jax.tree.map(lambda w, g: w - 0.01 * g, (p, head), grads), value

    m = arr(over, (sequences, residues, wide), "column", "row")
    z = arr(over, (residues, residues, pair), "row", "column")
    bins = arr(over, (residues, residues), "row", "column", dtype="int32")
    return train, params, head, m, z, bins


def rendered():
    """Rays through hashed grids, samples drawn anew by weight, sorted, composed and trained."""
    over = mesh(ray=4, level=2)
    levels, slots, feats, rays, coarse, fine, wide = 4, 256, 2, 16, 8, 8, 32
    params = {
        "grid": arr(over, (levels, slots, feats), "level"),
        "in": arr(over, (levels * feats, wide), None, "level"),
        "out": arr(over, (wide, 1 + 7), "level"),
        "tint": arr(over, (7 + 3, wide)),
        "color": arr(over, (wide, 3)),
    }
    primes = np.array([1, 2654435761, 805459861], np.uint32)
    corners = np.stack(np.meshgrid(*([0, 1],) * 3, indexing="ij"), -1).reshape(-1, 3)

    def looked(grid, at, size):
        scaled = at * size
        low = jnp.floor(scaled).astype(jnp.uint32)
        part = scaled - jnp.floor(scaled)
        corner = low[..., None, :] + corners.astype(np.uint32)
        mixed = corner * primes
        slot = (mixed[..., 0] ^ mixed[..., 1] ^ mixed[..., 2]) % slots
        share = jnp.prod(jnp.where(corners == 1, part[..., None, :], 1 - part[..., None, :]), -1)
        return jnp.einsum("...c,...cf->...f", share, grid[slot.astype(jnp.int32)])

    def field(p, at, way):
        sizes = jnp.array([4.0, 8.0, 16.0, 32.0])
        seen = jax.vmap(looked, (0, None, 0), -2)(p["grid"], at, sizes)
        h = jax.nn.relu(seen.reshape(*at.shape[:-1], -1) @ p["in"]) @ p["out"]
        way = jnp.broadcast_to(way[..., None, :], at.shape)
        color = jax.nn.relu(jnp.concatenate([h[..., 1:], way], -1) @ p["tint"]) @ p["color"]
        return jax.nn.softplus(h[..., 0]), jax.nn.sigmoid(color)

    def composed(p, start, way, depth):
        dense, color = field(p, start[:, None] + way[:, None] * depth[..., None], way)
        gap = jnp.diff(depth, axis=-1, append=depth[:, -1:] + 0.1)
        clear = 1 - jnp.exp(-dense * gap)
        kept = jnp.cumprod(jnp.concatenate([jnp.ones((rays, 1)), 1 - clear + 1e-10], -1), -1)
        share = clear * kept[:, :-1]
        return jnp.einsum("rs,rsc->rc", share, color), share

    def redrawn(depth, share, key):
        total = jnp.cumsum(share + 1e-5, -1)
        total /= total[:, -1:]
        drawn = jax.random.uniform(key, (rays, fine))
        place = jax.vmap(jnp.searchsorted)(total, drawn)
        return jnp.take_along_axis(depth, jnp.clip(place, 0, coarse - 1), -1) + 0.01 * drawn

    def train(p, start, way, true, seed):
        one, two = jax.random.split(jax.random.wrap_key_data(seed))

        def loss(p):
            depth = jnp.linspace(0.1, 2.0, coarse) + 0.1 * jax.random.uniform(one, (rays, coarse))
            rough, share = composed(p, start, way, depth)
            again = redrawn(depth, lax.stop_gradient(share), two)
            every = jnp.sort(jnp.concatenate([depth, again], -1), -1)
            sharp, _ = composed(p, start, way, every)
            return jnp.mean((rough - true) ** 2) + jnp.mean((sharp - true) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, grads), value, -10 * jnp.log10(value)

    ray = arr(over, (rays, 3), "ray")
    return train, params, ray, ray, ray, arr(over, (2,), dtype="uint32")


def heard():
    """A conformer: depthwise convolutions, relative attention, the CTC loss by a scan in logs."""
    over = mesh(data=4, model=2)
    rows, frames, bands, wide, heads, marks, long, taps = 4, 32, 20, 32, 4, 16, 6, 5
    layer = {
        "up": arr(over, (2, wide, 4 * wide), None, None, "model"),
        "down": arr(over, (2, 4 * wide, wide), None, "model"),
        "qkv": arr(over, (wide, 3, heads, wide // heads), None, None, "model"),
        "place": arr(over, (2 * frames // 2 - 1, heads), None, "model"),
        "out": arr(over, (heads, wide // heads, wide), "model"),
        "point": arr(over, (wide, 2 * wide), None, "model"),
        "depth": arr(over, (taps, 1, wide)),
        "mix": arr(over, (wide, wide)),
    }
    params = {
        "first": arr(over, (3, bands, wide)),
        "layers": [layer, layer],
        "head": arr(over, (wide, marks)),
    }
    seq = ("NHC", "HIO", "NHC")

    def norm(x):
        x -= x.mean(-1, keepdims=True)
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)

    def attended(w, x):
        t = x.shape[1]
        q, k, v = jnp.moveaxis(jnp.einsum("btc,cnhd->nbthd", norm(x), w["qkv"]), 0, 0)
        score = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
        apart = np.arange(t)[:, None] - np.arange(t) + t - 1
        share = jax.nn.softmax(score + w["place"][apart].transpose(2, 0, 1), -1)
        return jnp.einsum("bhts,bshd,hdc->btc", share, v, w["out"])

    def convolved(w, x):
        a, b = jnp.split(norm(x) @ w["point"], 2, -1)
        h = a * jax.nn.sigmoid(b)
        h = lax.conv_general_dilated(
            h, w["depth"], (1,), "SAME", dimension_numbers=seq, feature_group_count=wide
        )
        return jax.nn.silu((h - h.mean((0, 1))) * lax.rsqrt(h.var((0, 1)) + 1e-5)) @ w["mix"]

    def scored(p, x):
        x = jax.nn.relu(
            lax.conv_general_dilated(x, p["first"], (2,), "SAME", dimension_numbers=seq)
        )
        for w in p["layers"]:
            x += 0.5 * jax.nn.silu(norm(x) @ w["up"][0]) @ w["down"][0]
            x += attended(w, x)
            x += convolved(w, x)
            x += 0.5 * jax.nn.silu(norm(x) @ w["up"][1]) @ w["down"][1]
        return jax.nn.log_softmax(norm(x) @ p["head"])

    def ctc(logp, text):
        wide_ = jnp.zeros((rows, 2 * long + 1), jnp.int32).at[:, 1::2].set(text)
        skip = jnp.pad(wide_[:, 2:] != wide_[:, :-2], ((0, 0), (2, 0))) & (wide_ > 0)
        none = jnp.full((rows, 2 * long + 1), -1e9)

        def frame(alpha, now):
            told = jnp.take_along_axis(now, wide_, 1)
            one = jnp.pad(alpha[:, :-1], ((0, 0), (1, 0)), constant_values=-1e9)
            two = jnp.pad(alpha[:, :-2], ((0, 0), (2, 0)), constant_values=-1e9)
            total = jnp.logaddexp(jnp.logaddexp(alpha, one), jnp.where(skip, two, -1e9))
            return total + told, None

        begun = none.at[:, 0].set(0.0)
        last, _ = lax.scan(frame, begun, logp.swapaxes(0, 1))
        return -jnp.logaddexp(last[:, -1], last[:, -2]).mean()

    def train(p, sound, text):
        def loss(p):
            logp = scored(p, sound)
            return ctc(logp, text), jnp.argmax(logp, -1)

        (value, best), grads = jax.value_and_grad(loss, has_aux=True)(p)
        return jax.tree.map(lambda w, g: w - 0.01 * g, p, grads), value, best

    sound = arr(over, (rows, frames, bands), "data")
    return train, params, sound, arr(over, (rows, long), "data", dtype="int32")


def adaptive():
    """A neural ODE: adaptive steps in a while loop for each trajectory, an adjoint by a scan."""
    over = mesh(path=4, model=2)
    paths, size, wide, knots = 16, 6, 32, 5
    params = {
        "in": arr(over, (size + 1, wide), None, "model"),
        "mid": arr(over, (wide, wide), "model"),
        "out": arr(over, (wide, size)),
    }
    tableau = [[], [0.5], [0.0, 0.75], [2 / 9, 1 / 3, 4 / 9]]
    errors = [-5 / 72, 1 / 12, 1 / 9, -1 / 8]

    def field(p, t, y):
        h = jnp.tanh(jnp.concatenate([y, t[None]]) @ p["in"])
        return jax.nn.softplus(h @ p["mid"]) @ p["out"] - y**3

    def staged(p, t, y, dt):
        slopes = []
        for row in tableau:
            moved = y + dt * sum((w * k for w, k in zip(row, slopes, strict=True)), 0 * y)
            slopes.append(field(p, t + dt * sum(row), moved))
        off = dt * sum(w * k for w, k in zip(errors, slopes, strict=True))
        return moved, jnp.sqrt(jnp.mean((off / (1e-3 + 1e-3 * jnp.abs(moved))) ** 2))

    def to(p, y, t, end):
        def going(state):
            n, t, _, _, _ = state
            return (t < end) & (n < 20)

        def step(state):
            n, t, y, dt, refused = state
            dt = jnp.minimum(dt, end - t)
            new, off = staged(p, t, y, dt)
            taken = off <= 1.0
            scale = jnp.clip(0.9 * off ** (-1 / 3), 0.2, 5.0)
            t, y = jnp.where(taken, t + dt, t), jnp.where(taken, new, y)
            return n + 1, t, y, dt * scale, refused + ~taken

        begun = 0, t, y, jnp.float32(0.1), 0
        count, _, y, _, refused = lax.while_loop(going, step, begun)
        return y, count, refused

    def solved(p, y, times):
        def leg(y, both):
            y, count, refused = to(p, y, *both)
            return y, (y, count, refused)

        return lax.scan(leg, y, (times[:-1], times[1:]))[1]

    def adjoint(p, kept, times, pull):
        def leg(carried, given):
            back, grads = carried
            y, t, dt, own = given
            back = back + own
            _, vjp = jax.vjp(lambda p, y: staged(p, t, y, dt)[0], p, y)
            more, back = vjp(back)
            return (back, jax.tree.map(jnp.add, grads, more)), jnp.linalg.norm(back)

        begun = jnp.zeros((size,)), jax.tree.map(jnp.zeros_like, p)
        given = kept, times[:-1], jnp.diff(times), pull
        return lax.scan(leg, begun, given, reverse=True)

    def train(p, begun, times, true):
        kept, count, refused = jax.vmap(solved, (None, 0, None))(p, begun, times)
        pull = 2 * (kept - true) / kept.size
        (_, grads), norms = jax.vmap(adjoint, (None, 0, None, 0))(p, kept, times, pull)
        grads = jax.tree.map(lambda g: g.mean(0), grads)
        worst = jnp.argsort(-norms[:, 0])[:4]
        p = jax.tree.map(lambda w, g: w - 0.01 * g, p, grads)
        return p, jnp.mean((kept - true) ** 2), count.sum(0), refused.max(), kept[worst]

    begun = arr(over, (paths, size), "path")
    true = arr(over, (paths, knots - 1, size), "path")
    return train, params, begun, arr(over, (knots,)), true


def compressed():
    """Gradients of each device cut to their largest entries, with what was left out kept."""
    over = mesh(data=4, model=2)
    wide, hidden, rows, kept, parts = 32, 64, 16, 48, 4
    params = {
        "up": arr(over, (wide, hidden)),
        "down": arr(over, (hidden, wide)),
        "scale": arr(over, (wide,)),
    }
    rest = jax.tree.map(lambda a: arr(over, (4, *a.shape), "data"), params)

    def model(p, x):
        h = jax.nn.relu(x @ p["up"]) ** 2
        return x + (h @ p["down"]) * p["scale"]

    def cut(g, left):
        flat = (g + left).reshape(-1)
        count = min(kept, flat.size // 2)
        _, place = lax.top_k(jnp.abs(flat), count)
        value = flat[place]
        most = lax.pmax(jnp.max(jnp.abs(value)), "data")
        small = jnp.round(value / most * 127).astype(jnp.int8)
        sent = lax.all_gather(small, "data"), lax.all_gather(place, "data")
        total = (
            jnp.zeros_like(flat)
            .at[sent[1].reshape(-1)]
            .add(sent[0].reshape(-1).astype(jnp.float32) * most / 127)
        )
        own = jnp.zeros_like(flat).at[place].set(small.astype(jnp.float32) * most / 127)
        return (total / 4).reshape(g.shape), (flat - own).reshape(g.shape)

    specs = {n: P() for n in params}
    kept_specs = {n: P("data") for n in params}

    @smap(
        over,
        (specs, kept_specs, P(None, ("data", "model")), P(None, ("data", "model"))),
        (specs, kept_specs, P()),
    )
    def grads(p, left, x, y):
        def loss(p, x, y):
            return jnp.mean(jnp.abs(model(p, x) - y))

        def part(total, both):
            value, g = jax.value_and_grad(loss)(p, *both)
            return jax.tree.map(lambda t, n: t + n / parts, total, (value, g)), None

        begun = jnp.zeros(()), jax.tree.map(jnp.zeros_like, p)
        (value, g), _ = lax.scan(part, begun, (x, y))
        g = jax.tree.map(lambda a: lax.pmean(a, "model"), g)
        both = {n: cut(g[n], left[n][0]) for n in g}
        total = {n: pair[0] for n, pair in both.items()}
        left = {n: pair[1][None] for n, pair in both.items()}
        return total, left, lax.pmean(value, ("data", "model"))

    def train(p, m, left, x, y):
        g, left, value = grads(p, left, x, y)
        m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)

        def turned(w, a):
            if a.ndim < 2:
                return w - 0.01 * a
            norms = jnp.linalg.norm(a, axis=0, keepdims=True)
            return w - 0.01 * a / jnp.where(norms > 0, norms, 1.0)

        p = jax.tree.map(turned, p, m)
        return p, m, left, value, jax.tree.map(lambda a: jnp.mean(a == 0), g)

    x = arr(over, (parts, rows, wide), None, ("data", "model"))
    return train, params, params, rest, x, x


def streamed():
    """Gated linear recurrences by associative scans, the sequence divided, ends passed around."""
    over = mesh(seq=4, model=2)
    layers, wide, long, marks, rows, taps = 2, 32, 64, 96, 2, 4
    layer = {
        "taps": arr(over, (layers, taps, wide), None, None, "model"),
        "gates": arr(over, (layers, wide, 2, wide), None, None, None, "model"),
        "decay": arr(over, (layers, wide), None, "model"),
        "merge": arr(over, (layers, wide, wide), None, "model"),
        "mlp": arr(over, (layers, wide, 2, 2 * wide), None, None, None, "model"),
        "back": arr(over, (layers, 2 * wide, wide), None, "model"),
    }
    params = {"emb": arr(over, (marks, wide), "model"), "layers": layer}
    specs = P(None, "seq", "model"), P("model"), P(None, "model")

    def merged(one, two):
        return one[0] * two[0], one[1] * two[0] + two[1]

    @smap(over, (specs[0], specs[0], specs[2]), specs[0])
    def recurred(x, rate, kernel):
        here = lax.axis_index("seq")
        ring = [(n, (n + 1) % 4) for n in range(4)]
        before = lax.ppermute(x[:, 1 - taps :], "seq", ring)
        before = jnp.where(here == 0, 0.0, before)
        padded = jnp.concatenate([before, x], 1)
        x = sum(padded[:, n : n + x.shape[1]] * kernel[n] for n in range(taps))
        factor, state = lax.associative_scan(merged, (rate, x * jnp.sqrt(1 - rate**2)), axis=1)
        ends = lax.all_gather((factor[:, -1], state[:, -1]), "seq")
        _, begun = lax.associative_scan(merged, ends)
        begun = jnp.where(here == 0, 0.0, begun[jnp.maximum(here - 1, 0)])
        return state + factor * begun[:, None]

    def norm(x):
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

    def train(p, tokens):
        def loss(p):
            x = p["emb"][tokens[:, :-1]] * np.sqrt(wide)

            @jax.checkpoint
            def block(x, w):
                n = norm(x)
                gates = jax.nn.sigmoid(jnp.einsum("btc,cgd->gbtd", n, w["gates"]))
                rate = jnp.exp(-8.0 * jax.nn.softplus(w["decay"]) * gates[0])
                state = recurred(n * gates[1], rate, w["taps"])
                x += (state * jax.nn.gelu(n)) @ w["merge"]
                up, gate = jnp.moveaxis(jnp.einsum("btc,cgd->btgd", norm(x), w["mlp"]), 2, 0)
                return x + (jax.nn.silu(gate) * up) @ w["back"], None

            x, _ = lax.scan(block, x, p["layers"])
            logits = 30.0 * jnp.tanh(norm(x) @ p["emb"].T / 30.0)
            logp = logits - jax.scipy.special.logsumexp(logits, -1, keepdims=True)
            own = jnp.take_along_axis(logp, tokens[:, 1:, None], -1)
            return -jnp.mean(own) + 1e-4 * jnp.mean(logits**2)

        value, grads = jax.value_and_grad(loss)(p)
        size = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
        rate = 0.01 / jnp.maximum(size, 1.0)
        return jax.tree.map(lambda w, g: w - rate * g, p, grads), value, size

    return train, params, arr(over, (rows, long + 1), dtype="int32")


def warped():
    """Images moved by a field that a convolutional net gives, in bfloat16; groups normalized."""
    over = mesh(data=4, model=2)
    images, size, wide, groups = 8, 16, 16, 4
    params = {
        "in": arr(over, (3, 3, 6, wide), None, None, None, "model", dtype=_BF),
        "down": arr(over, (3, 3, wide, 2 * wide), None, None, None, "model", dtype=_BF),
        "up": arr(over, (3, 3, 2 * wide, wide), None, None, "model", dtype=_BF),
        "out": arr(over, (3, 3, wide, 2), None, None, "model", dtype=_BF),
        "gain": arr(over, (wide,), "model"),
    }

    def conv(x, w, stride=1, spread=1):
        names = lax.conv_dimension_numbers(x.shape, w.shape, ("NHWC", "HWIO", "NHWC"))
        return lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", (spread, spread), dimension_numbers=names
        )

    def normed(x, gain):
        parts = x.astype(jnp.float32).reshape(*x.shape[:3], groups, -1)
        mean = parts.mean((1, 2, 4), keepdims=True)
        off = parts - mean
        off *= lax.rsqrt((off**2).mean((1, 2, 4), keepdims=True) + 1e-5)
        return (off.reshape(x.shape) * gain).astype(x.dtype)

    def sampled(image, field):
        rows, columns = jnp.mgrid[:size, :size]
        place = jnp.stack([rows, columns], -1) + field
        low = jnp.floor(place).astype(jnp.int32)
        part = place - low
        total = 0.0
        for up, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            at = jnp.clip(low + np.array([up, right]), 0, size - 1)
            weight = jnp.abs(1 - up - part[..., 0]) * jnp.abs(1 - right - part[..., 1])
            total += image[at[..., 0], at[..., 1]] * weight[..., None]
        return total

    def loss(p, one, two):
        x = jnp.concatenate([one, two], -1).astype(jnp.bfloat16)
        first = jax.nn.silu(normed(conv(x, p["in"]), p["gain"]))
        deep = jax.nn.silu(conv(first, p["down"], 2))
        wider = jax.image.resize(deep, (images, size, size, 2 * wide), "bilinear")
        field = conv(first + jax.nn.silu(conv(wider, p["up"])), p["out"]).astype(jnp.float32)
        made = jax.vmap(sampled)(one, 4.0 * jnp.tanh(field))
        rough = jnp.abs(jnp.diff(field, axis=1)).mean() + jnp.abs(jnp.diff(field, axis=2)).mean()
        return jnp.mean(jnp.sqrt((made - two) ** 2 + 1e-4)) + 0.1 * rough

    def train(p, ahead, one, two):
        value, grads = jax.value_and_grad(loss)(p, one, two)
        ahead = jax.tree.map(lambda a, g: 0.9 * a + g.astype(jnp.float32), ahead, grads)
        new = jax.tree.map(lambda w, a: (w - 0.01 * jnp.sign(a)).astype(w.dtype), p, ahead)
        return new, ahead, value

    pictures = [arr(over, (images, size, size, 3), "data") for _ in range(2)]
    ahead = jax.tree.map(lambda a: jnp.zeros(a.shape, jnp.float32), params)
    return train, params, ahead, *pictures


def parcelled():
    """One expert for each token, sent there by an all-to-all; weights gathered layer by layer."""
    over = mesh(data=4, expert=2)
    layers, wide, hidden, experts, rows, room = 2, 32, 64, 4, 64, 8
    params = {
        "router": arr(over, (layers, wide, experts)),
        "up": arr(over, (layers, experts, wide, hidden), None, "expert", "data"),
        "down": arr(over, (layers, experts, hidden, wide), None, "expert", None, "data"),
    }
    specs = P(), P(None, "expert", "data"), P(None, "expert", None, "data")

    def block(x, w):
        router, up, down = w
        chances = jax.nn.softmax(x @ router)
        own = jnp.argmax(chances, -1)
        order = jnp.argsort(own)
        mixed, own = x[order], own[order]
        place = jnp.arange(x.shape[0]) - jnp.searchsorted(own, own)
        packed = jnp.zeros((experts, room, wide)).at[own, place].set(mixed, mode="drop")
        sent = lax.all_to_all(packed, "expert", 0, 1, tiled=True)
        up = lax.all_gather(up, "data", axis=1, tiled=True)
        down = lax.all_gather(down, "data", axis=2, tiled=True)
        done = jnp.einsum("ech,ehd->ecd", jax.nn.gelu(jnp.einsum("ecd,edh->ech", sent, up)), down)
        back = lax.all_to_all(done, "expert", 1, 0, tiled=True)
        value = back.at[own, place].get(mode="fill", fill_value=0.0)
        chance = jnp.take_along_axis(chances[order], own[:, None], 1)
        value = jax.ops.segment_sum(value * chance, order, x.shape[0])
        load = lax.pmean(jnp.bincount(own, length=experts), ("data", "expert"))
        return x + value, (load * chances.mean(0)).sum()

    @smap(over, (*specs, P(("data", "expert"))), (P(("data", "expert")), P()))
    def layered(router, up, down, x):
        x, uneven = lax.scan(jax.checkpoint(block), x, (router, up, down))
        return x, lax.pmean(uneven.mean(), ("data", "expert"))

    def train(p, x, aim):
        def loss(p):
            y, uneven = layered(p["router"], p["up"], p["down"], x)
            return jnp.mean((y - aim) ** 2) + 0.01 * uneven

        value, grads = jax.value_and_grad(loss)(p)
        sizes = jax.tree.map(
            lambda w, g: 0.001 * jnp.linalg.norm(w) / (jnp.linalg.norm(g)), p, grads
        )
        return jax.tree.map(lambda w, g, r: w - r * g, p, grads, sizes), value

    points = [arr(over, (rows, wide), ("data", "expert")) for _ in range(2)]
    return train, params, *points


def ensembled():
    """Critics by vmap, replayed transitions by choice, ends of episodes, targets that follow."""
    over = mesh(data=2, member=4)
    members, wide, seen, acts, held, rows = 4, 32, 12, 3, 256, 32
    critic = {
        "in": arr(over, (members, seen + acts, wide), "member"),
        "mid": arr(over, (members, wide, wide), "member"),
        "out": arr(over, (members, wide, 1), "member"),
    }
    actor = {"in": arr(over, (seen, wide)), "out": arr(over, (wide, 2 * acts))}
    memory = {
        "seen": arr(over, (held, seen), "data"),
        "act": arr(over, (held, acts), "data", dtype=_BF),
        "gain": arr(over, (held,), "data"),
        "next": arr(over, (held, seen), "data"),
        "end": arr(over, (held,), "data", dtype="uint8"),
    }

    def valued(c, s, a):
        def one(w):
            h = jax.nn.relu(jnp.concatenate([s, a], -1) @ w["in"])
            h += jax.nn.relu(h @ w["mid"])
            return (h @ w["out"])[:, 0]

        return jax.vmap(one)(c)

    def drawn(p, s, key):
        mean, wide_ = jnp.split(jax.nn.elu(s @ p["in"]) @ p["out"], 2, -1)
        wide_ = jnp.clip(wide_, -5.0, 2.0)
        noise = jax.random.normal(key, mean.shape)
        act = jnp.tanh(mean + jnp.exp(wide_) * noise)
        logp = -0.5 * noise**2 - wide_ - jnp.log1p(-(act**2) + 1e-6)
        return act, logp.sum(-1)

    def train(state, memory, seed):
        def one(state, key):
            actor, critic, slow, heat = state
            pick, again, own, chosen = jax.random.split(key, 4)
            part = jax.random.choice(pick, held, (rows,), replace=False)
            some = jax.tree.map(lambda a: a[part], memory)
            ahead, logp = drawn(actor, some["next"], again)
            two = jax.random.permutation(chosen, members)[:2]
            least = valued(slow, some["next"], ahead)[two].min(0) - jnp.exp(heat) * logp
            aim = some["gain"] + 0.99 * jnp.where(some["end"] > 0, 0.0, least)
            act = some["act"].astype(jnp.float32)

            def critical(c):
                off = valued(c, some["seen"], act) - lax.stop_gradient(aim)
                return jnp.where(jnp.abs(off) < 1, 0.5 * off**2, jnp.abs(off) - 0.5).mean()

            def acting(p, heat):
                act, logp = drawn(p, some["seen"], own)
                value = valued(critic, some["seen"], act).mean(0)
                aside = -heat * lax.stop_gradient(logp + acts).mean()
                return (jnp.exp(lax.stop_gradient(heat)) * logp - value).mean() + aside

            lost, slope = jax.value_and_grad(critical)(critic)
            slopes = jax.grad(acting, (0, 1))(actor, heat)
            critic = jax.tree.map(lambda w, g: w - 3e-3 * g, critic, slope)
            actor = jax.tree.map(lambda w, g: w - 3e-3 * g, actor, slopes[0])
            slow = jax.tree.map(lambda a, b: 0.995 * a + 0.005 * b, slow, critic)
            return (actor, critic, slow, heat - 3e-3 * slopes[1]), lost

        return lax.scan(one, state, jax.random.split(jax.random.wrap_key_data(seed), 4))

    state = actor, critic, critic, arr(over, ())
    return train, state, memory, arr(over, (2,), dtype="uint32")


if __name__ == "__main__":
    compiled(globals())
