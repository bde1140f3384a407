"""Programs that were compiled to be read by hand in round 16, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: C901, FBT003, PLR0915, PLR0917 - a program is one function, of many operations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

_BF = "bfloat16"


def _layer_norm(x, gain):
    wide = x.astype(jnp.float32)
    wide -= wide.mean(-1, keepdims=True)
    return (wide * lax.rsqrt(wide.var(-1, keepdims=True) + 1e-6) * gain).astype(x.dtype)


def shifted():
    """Windowed attention with shifted windows and relative positions, patches merged, trained."""
    over = mesh(data=4, model=2)
    side, window, wide, heads, batch, kinds = 16, 4, 32, 4, 8, 20

    def block(wide):
        return {
            "norm": arr(over, (2, wide)),
            "qkv": arr(over, (wide, 3, heads, wide // heads), None, None, "model"),
            "place": arr(over, ((2 * window - 1) ** 2, heads), None, "model"),
            "out": arr(over, (heads, wide // heads, wide), "model"),
            "up": arr(over, (wide, 4 * wide), None, "model"),
            "down": arr(over, (4 * wide, wide), "model"),
        }

    params = {
        "patch": arr(over, (2, 2, 3, wide)),
        "first": [block(wide), block(wide)],
        "merge": arr(over, (4 * wide, 2 * wide), None, "model"),
        "second": [block(2 * wide), block(2 * wide)],
        "head": arr(over, (2 * wide, kinds)),
    }
    at = np.stack(np.meshgrid(*(np.arange(window),) * 2, indexing="ij"), -1).reshape(-1, 2)
    between = at[:, None] - at[None] + window - 1
    index = between[..., 0] * (2 * window - 1) + between[..., 1]

    def cut(x):
        b, h, w, c = x.shape
        x = x.reshape(b, h // window, window, w // window, window, c)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, window * window, c)

    def joined(x, like):
        b, h, w, c = like.shape
        x = x.reshape(b, h // window, w // window, window, window, c)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(like.shape)

    def regions(size):
        own = np.zeros((1, size, size, 1), np.int32)
        for i, rows in enumerate((slice(-window), slice(-window, -2), slice(-2, None))):
            for j, columns in enumerate((slice(-window), slice(-window, -2), slice(-2, None))):
                own[:, rows, columns] = 3 * i + j
        flat = own.reshape(1, size // window, window, size // window, window, 1)
        flat = flat.transpose(0, 1, 3, 2, 4, 5).reshape(-1, window * window)
        return flat[:, None] == flat[:, :, None]

    def attended(p, x, move):
        size = x.shape[1]
        moved = jnp.roll(x, (-2, -2), (1, 2)) if move else x
        q, k, v = jnp.moveaxis(
            jnp.einsum("nsc,cthd->nsthd", cut(moved), p["qkv"].astype(_BF)), 2, 0
        )
        score = jnp.einsum("nqhd,nkhd->nhqk", q, k).astype(jnp.float32) * q.shape[-1] ** -0.5
        score += p["place"][index].transpose(2, 0, 1)
        if move:
            near = jnp.tile(regions(size), (x.shape[0], 1, 1))
            score = jnp.where(near[:, None], score, -1e9)
        mixed = jnp.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(score).astype(_BF), v)
        out = joined(jnp.einsum("nqhd,hdc->nqc", mixed, p["out"].astype(_BF)), moved)
        return jnp.roll(out, (2, 2), (1, 2)) if move else out

    def net(p, images, keep, seed):
        x = lax.conv_general_dilated(
            images.astype(_BF),
            p["patch"].astype(_BF),
            (2, 2),
            "VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        for stage in ("first", "second"):
            if stage == "second":
                b, h, w, c = x.shape
                x = x.reshape(b, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 4, 2, 5)
                x = x.reshape(b, h // 2, w // 2, 4 * c) @ p["merge"].astype(_BF)
            for n, w in enumerate(p[stage]):
                seed, own = jax.random.split(seed)
                kept = jax.random.bernoulli(own, keep, (batch, 1, 1, 1)) / keep
                x += attended(w, _layer_norm(x, w["norm"][0]), n % 2 == 1) * kept.astype(_BF)
                h = jax.nn.gelu(_layer_norm(x, w["norm"][1]) @ w["up"].astype(_BF))
                x += (h @ w["down"].astype(_BF)) * kept.astype(_BF)
        return x.mean((1, 2), dtype=jnp.float32) @ p["head"]

    def train(p, moment, images, label, seed):
        def loss(p):
            logp = jax.nn.log_softmax(net(p, images, 0.9, jax.random.wrap_key_data(seed)))
            soft = 0.9 * jax.nn.one_hot(label, kinds) + 0.1 / kinds
            return -jnp.mean(jnp.sum(soft * logp, -1)), jnp.argmax(logp, -1)

        (value, best), grads = jax.value_and_grad(loss, has_aux=True)(p)
        moment = jax.tree.map(lambda m, g: 0.9 * m + g, moment, grads)

        def scaled(w, m):
            rate = jnp.linalg.norm(w) / (jnp.linalg.norm(m) + 1e-6)
            return w - 0.01 * jnp.clip(rate, 0.0, 10.0) * m

        return jax.tree.map(scaled, p, moment), moment, value, jnp.mean(best == label)

    images = arr(over, (batch, 2 * side, 2 * side, 3), "data")
    label = arr(over, (batch,), "data", dtype="int32")
    return train, params, params, images, label, arr(over, (2,), dtype="uint32")


def retrieved():
    """Two towers of LoRA layers, all embeddings gathered by hand, moments kept as int8 blocks."""
    over = mesh(batch=2, shard=4)
    layers, wide, rank, long, rows, marks, parts = 2, 64, 8, 12, 8, 256, 2
    frozen = {
        "emb": arr(over, (marks, wide), "shard", dtype=_BF),
        "mix": arr(over, (layers, wide, wide), None, None, "shard", dtype=_BF),
        "out": arr(over, (layers, wide, wide), None, "shard", dtype=_BF),
    }
    low = {
        n: {"a": arr(over, (layers, wide, rank)), "b": arr(over, (layers, rank, wide))}
        for n in ("mix", "out")
    }
    towers = {"query": low, "text": low, "scale": arr(over, ())}
    blocks = jax.tree.map(
        lambda a: (
            arr(over, (-(-int(np.prod(a.shape)) // 32), 32), dtype="int8"),
            arr(over, (-(-int(np.prod(a.shape)) // 32), 1)),
        ),
        towers,
    )

    def tower(base, adapter, tokens):
        x = base["emb"][tokens]

        @jax.checkpoint
        def layer(x, w):
            mix, out, la, lo = w
            h = x @ mix + (x @ la["a"].astype(_BF)) @ la["b"].astype(_BF) * 2.0
            h = jax.nn.silu(h) * jnp.tanh(jnp.cumsum(h, 1) / (1 + jnp.arange(long))[:, None])
            return (
                x
                + h.astype(_BF) @ out
                + (h.astype(_BF) @ lo["a"].astype(_BF)) @ lo["b"].astype(_BF)
            ).astype(_BF), None

        x, _ = lax.scan(layer, x, (base["mix"], base["out"], adapter["mix"], adapter["out"]))
        present = (tokens > 0)[..., None]
        x = jnp.sum(jnp.where(present, x, 0), 1, dtype=jnp.float32)
        return x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-6)

    @smap(over, (P(("batch", "shard")), P(("batch", "shard")), P()), P())
    def contrasted(one, two, scale):
        every = lax.all_gather(two, ("batch", "shard"), tiled=True)
        first = lax.axis_index(("batch", "shard")) * one.shape[0]
        logits = jnp.exp(scale) * one @ every.T
        own = jnp.arange(one.shape[0])
        gain = jax.nn.log_softmax(logits)[own, first + own]
        back = lax.psum_scatter(logits, ("batch", "shard"), scatter_dimension=1, tiled=True)
        return lax.pmean(-jnp.mean(gain) + 1e-4 * jnp.mean(back**2), ("batch", "shard"))

    def unpacked(held, like):
        return (held[0].astype(jnp.float32) * held[1]).reshape(-1)[: like.size].reshape(like.shape)

    def packed(value):
        flat = jnp.pad(value.reshape(-1), (0, -value.size % 32)).reshape(-1, 32)
        size = jnp.max(jnp.abs(flat), 1, keepdims=True) / 127
        return jnp.round(flat / jnp.where(size == 0, 1, size)).astype(jnp.int8), size

    def train(base, p, held, query, text):
        def loss(p, query, text):
            one, two = tower(base, p["query"], query), tower(base, p["text"], text)
            return contrasted(one, two, p["scale"])

        def step(total, both):
            value, grads = jax.value_and_grad(loss)(p, *both)
            return jax.tree.map(lambda t, g: t + g / parts, total, (value, grads)), None

        begun = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, p))
        (value, grads), _ = lax.scan(step, begun, (query, text))
        moment = jax.tree.map(
            lambda g, h: 0.9 * unpacked(h, g) + 0.1 * g,
            grads,
            held,
            is_leaf=lambda v: isinstance(v, tuple),
        )
        p = jax.tree.map(lambda w, m: w - 1e-3 * m / (jnp.abs(m) + 1e-3), p, moment)
        return p, jax.tree.map(packed, moment), value

    tokens = arr(over, (parts, rows, long), None, ("batch", "shard"), dtype="int32")
    return train, frozen, towers, blocks, tokens, tokens


def sampled():
    """Hamiltonian Monte Carlo, chains by vmap, steps adapted, paths ended early in while loops."""
    over = mesh(chain=4, data=2)
    chains, size, points, steps = 8, 24, 64, 6

    def density(w, x, label):
        spread, weights = jnp.exp(w[0]), w[1:]
        logits = x @ weights
        near = jnp.sum(jnp.where(label, -jax.nn.softplus(-logits), -jax.nn.softplus(logits)))
        return near - 0.5 * jnp.sum(weights**2) / spread**2 - size * w[0] - 0.5 * w[0] ** 2

    def path(w, speed, eps, x, label):
        slope = jax.grad(density)

        def going(state):
            n, _, _, turned = state
            return (n < 8) & ~turned

        def leap(state):
            n, w_, v, _ = state
            v = v + 0.5 * eps * slope(w_, x, label)
            w_ = w_ + eps * v
            v = v + 0.5 * eps * slope(w_, x, label)
            return n + 1, w_, v, jnp.dot(w_ - w, v) < 0

        return lax.while_loop(going, leap, (0, w, speed, jnp.bool_(False)))

    def run(w, eps, x, label, seed):
        def chain(w, eps, key):
            def step(carried, n):
                w, eps, key, mean = carried
                key, one, two = jax.random.split(key, 3)
                speed = jax.random.normal(one, w.shape)
                long, new, end, _ = path(w, speed, eps, x, label)
                gain = density(new, x, label) - 0.5 * end @ end
                gain -= density(w, x, label) - 0.5 * speed @ speed
                taken = jnp.log(jax.random.uniform(two)) < gain
                w = jnp.where(taken, new, w)
                rate = jnp.minimum(1.0, jnp.exp(jnp.where(jnp.isnan(gain), -jnp.inf, gain)))
                eps = lax.cond(
                    n < steps // 2,
                    lambda e: jnp.exp(jnp.log(e) + (rate - 0.65) / (n + 1.0)),
                    lambda e: e,
                    eps,
                )
                delta = w - mean
                return (w, eps, key, mean + delta / (n + 1)), (w, long, rate)

            begun = (w, eps, key, jnp.zeros_like(w))
            (w, eps, _, mean), (path_, long, rate) = lax.scan(step, begun, jnp.arange(steps))
            return w, eps, mean, path_, long.sum(), rate.mean()

        keys = jax.random.split(jax.random.wrap_key_data(seed), chains)
        w, eps, mean, kept, long, rate = jax.vmap(chain)(w, eps, keys)
        within = jnp.mean(jnp.var(kept, 1), 0)
        scale = jnp.sqrt(1 + jnp.var(mean, 0) / within)
        centered = kept - kept.mean(1, keepdims=True)
        waves = jnp.fft.rfft(centered, 2 * steps, axis=1)
        lag = jnp.fft.irfft(waves * jnp.conj(waves), axis=1)[:, :steps].mean((0, 2))
        low, high = jnp.quantile(kept.reshape(-1, size + 1), jnp.array([0.05, 0.95]), axis=0)
        return w, eps, scale, lag / lag[0], high - low, long, rate

    x = arr(over, (points, size), "data")
    label = arr(over, (points,), "data", dtype="bool")
    seed = arr(over, (2,), dtype="uint32")
    return (
        run,
        arr(over, (chains, size + 1), "chain"),
        arr(over, (chains,), "chain"),
        x,
        label,
        seed,
    )


def paged():
    """Decoding with a cache in pages, grouped heads, two of eight experts, nucleus sampling."""
    over = mesh(data=2, model=4)
    layers, wide, heads, kinds, head, marks = 2, 64, 8, 4, 16, 192
    experts, rows, page, pages, every, hidden = 8, 8, 4, 6, 64, 96
    weights = {
        "q": arr(over, (layers, wide, heads, head), None, None, "model", dtype=_BF),
        "kv": arr(over, (layers, 2, wide, kinds, head), None, None, None, "model", dtype=_BF),
        "o": arr(over, (layers, heads, head, wide), None, "model", dtype=_BF),
        "gate": arr(over, (layers, wide, experts)),
        "up": arr(over, (layers, experts, wide, 2 * hidden), None, "model", dtype=_BF),
        "down": arr(over, (layers, experts, hidden, wide), None, "model", dtype=_BF),
    }
    params = {"emb": arr(over, (marks, wide), "model", dtype=_BF), "layers": weights}
    cache = arr(
        over, (layers, 2, every, page, kinds, head), None, None, None, None, "model", dtype=_BF
    )

    def turned(x, at):
        rate = 10000.0 ** (-jnp.arange(0, head, 2) / head)
        angle = at[:, None, None] * rate
        one, two = x.astype(jnp.float32)[..., ::2], x.astype(jnp.float32)[..., 1::2]
        c, s = jnp.cos(angle), jnp.sin(angle)
        return jnp.stack([one * c - two * s, one * s + two * c], -1).reshape(x.shape).astype(_BF)

    def routed(w, x):
        share = jax.nn.softmax(x.astype(jnp.float32) @ w["gate"])
        best, chosen = lax.top_k(share, 2)
        best /= best.sum(-1, keepdims=True)
        room = 4
        picked = jax.nn.one_hot(chosen, experts)
        place = jnp.cumsum(picked.reshape(-1, experts), 0).reshape(picked.shape) - 1
        held = picked * (place < room)
        slot = jax.nn.one_hot(jnp.sum(place * picked, -1).astype(jnp.int32), room)
        sent = jnp.einsum("rke,rks->rkes", held, slot)
        given = jnp.einsum("rkes,rd->esd", sent.astype(_BF), x)
        h = jnp.einsum("esd,edf->esf", given, w["up"])
        h = jax.nn.silu(h[..., :hidden]) * h[..., hidden:]
        out = jnp.einsum("esf,efd->esd", h, w["down"])
        return jnp.einsum("rkes,rk,esd->rd", sent, best, out.astype(jnp.float32)).astype(_BF)

    def token(p, cache, table, lengths, mark):
        x = p["emb"][mark] * np.sqrt(wide).astype(_BF)
        here = jnp.take_along_axis(table, (lengths // page)[:, None], 1)[:, 0]
        within = lengths % page

        def layer(x, given):
            w, held = given
            n = _layer_norm(x, 1.0)
            q = turned(jnp.einsum("rd,dhk->rhk", n, w["q"]), lengths)
            k, v = jnp.einsum("rd,cdhk->crhk", n, w["kv"])
            k = turned(k, lengths)
            held = held.at[0, here, within].set(k).at[1, here, within].set(v)
            keys, values = held[:, table].reshape(2, rows, pages * page, kinds, head)
            q = q.reshape(rows, kinds, heads // kinds, head)
            score = jnp.einsum("rgjk,rtgk->rgjt", q, keys).astype(jnp.float32) / 4
            at = jnp.arange(pages * page)
            near = (at <= lengths[:, None]) & (at > lengths[:, None] - 16)
            score = 30 * jnp.tanh(score / 30)
            share = jax.nn.softmax(jnp.where(near[:, None, None], score, -1e9)).astype(_BF)
            mixed = jnp.einsum("rgjt,rtgk->rgjk", share, values).reshape(rows, heads, head)
            x += jnp.einsum("rhk,hkd->rd", mixed, w["o"])
            return x + routed(w, _layer_norm(x, 1.0)), held

        x, cache = lax.scan(layer, x, (p["layers"], cache))
        return (_layer_norm(x, 1.0) @ p["emb"].T).astype(jnp.float32), cache

    def serve(p, cache, table, lengths, mark, heat, seed):
        def step(n, state):
            cache, lengths, mark, seed, out = state
            logits, cache = token(p, cache, table, lengths, mark)
            seen = jnp.zeros_like(logits).at[jnp.arange(rows)[:, None], out].add(1.0)
            logits -= 0.3 * seen
            order = jnp.argsort(-logits, -1)
            ranked = jnp.take_along_axis(logits / heat[:, None], order, -1)
            mass = jnp.cumsum(jax.nn.softmax(ranked), -1)
            ranked = jnp.where(mass - jax.nn.softmax(ranked) < 0.9, ranked, -jnp.inf)
            seed, own = jax.random.split(seed)
            best = jax.random.categorical(own, ranked)
            new = jnp.take_along_axis(order, best[:, None], -1)[:, 0].astype(jnp.int32)
            new = jnp.where(mark == 1, 1, new)
            out = lax.dynamic_update_index_in_dim(out, new, n, 1)
            return cache, lengths + (new != 1), new, seed, out

        out = jnp.zeros((rows, 6), jnp.int32)
        begun = (cache, lengths, mark, jax.random.wrap_key_data(seed), out)
        cache, lengths, _, _, out = lax.fori_loop(0, 6, step, begun)
        return cache, lengths, out

    ids = arr(over, (rows,), "data", dtype="int32")
    table = arr(over, (rows, pages), "data", dtype="int32")
    heat, seed = arr(over, (rows,), "data"), arr(over, (2,), dtype="uint32")
    return serve, params, cache, table, ids, ids, heat, seed


def vectored():
    """A codebook of sound: dilated causal convolutions, nearest codes, codes moved by their use."""
    over = mesh(data=4, model=2)
    wide, codes, long, rows, levels = 32, 64, 128, 8, 3
    net = {
        "in": arr(over, (5, 1, wide)),
        "dilated": arr(over, (levels, 3, wide, 2 * wide), None, None, None, "model"),
        "back": arr(over, (levels, 1, wide, wide)),
        "out": arr(over, (5, wide, 1)),
    }
    params = {"down": net, "up": net, "shrink": arr(over, (8, wide, wide), None, None, "model")}
    book = {
        "codes": arr(over, (2, codes, wide), None, "model"),
        "count": arr(over, (2, codes), None, "model"),
        "sum": arr(over, (2, codes, wide), None, "model"),
    }

    def conv(x, w, rate=1, stride=1):
        return lax.conv_general_dilated(
            x,
            w,
            (stride,),
            [((w.shape[0] - 1) * rate, 0)],
            rhs_dilation=(rate,),
            dimension_numbers=("NWC", "WIO", "NWC"),
        )

    def through(p, x):
        x = conv(x, p["in"]) if x.shape[-1] == 1 else x
        summed = 0.0
        for n in range(levels):
            filtered, gate = jnp.split(conv(x, p["dilated"][n], 3**n), 2, -1)
            h = jnp.tanh(filtered) * jax.nn.sigmoid(gate)
            x += conv(h, p["back"][n])
            summed += h
        return jax.nn.elu(summed)

    def nearest(codes_, z):
        far = jnp.sum(z**2, -1, keepdims=True) - 2 * z @ codes_.T + jnp.sum(codes_**2, -1)
        return jnp.argmin(far, -1)

    def train(p, book, sound, seed):
        def loss(p):
            z = conv(through(p["down"], sound), p["shrink"], stride=4)
            rest, whole, used = z, 0.0, []
            for n in range(2):
                index = nearest(book["codes"][n], rest)
                found = book["codes"][n][index]
                used.append((index, rest))
                whole += found
                rest = rest - lax.stop_gradient(found)
            kept = 0.25 * jnp.mean((lax.stop_gradient(whole) - z) ** 2)
            z = z + lax.stop_gradient(whole - z)
            wider = jnp.repeat(z, 4, axis=1)
            made = conv(through(p["up"], wider), p["up"]["out"])
            waves, own = (
                jnp.abs(jnp.fft.rfft(v.reshape(rows, -1, 32), axis=-1)) for v in (made, sound)
            )
            tone = jnp.mean(jnp.abs(jnp.log(waves + 1e-4) - jnp.log(own + 1e-4)))
            return jnp.mean((made - sound) ** 2) + kept + 0.1 * tone, used

        (value, used), grads = jax.value_and_grad(loss, has_aux=True)(p)
        p = jax.tree.map(lambda w, g: w - 1e-2 * g, p, grads)
        new = []
        for n, (index, given) in enumerate(used):
            flat = given.reshape(-1, wide)
            count = 0.99 * book["count"][n] + 0.01 * jnp.bincount(index.reshape(-1), length=codes)
            total = jax.ops.segment_sum(flat, index.reshape(-1), codes)
            total = 0.99 * book["sum"][n] + 0.01 * total
            moved = total / jnp.maximum(count, 1e-3)[:, None]
            other = flat[
                jax.random.permutation(jax.random.wrap_key_data(seed), flat.shape[0])[:codes]
            ]
            new.append((jnp.where(count[:, None] < 0.5, other, moved), count, total))
        stacked = [jnp.stack(v) for v in zip(*new, strict=True)]
        share = stacked[1] / stacked[1].sum(-1, keepdims=True)
        used_ = jnp.exp(-jnp.sum(share * jnp.log(share + 1e-9), -1))
        return p, dict(zip(("codes", "count", "sum"), stacked, strict=True)), value, used_

    sound = arr(over, (rows, long, 1), "data")
    return train, params, book, sound, arr(over, (2,), dtype="uint32")


def assimilated():
    """Shallow water in blocks with halos sent on both axes, an ensemble corrected by a filter."""
    over = mesh(north=2, east=4)
    members, high, long, seen, dt = 4, 16, 32, 12, 0.05

    @smap(over, (P(None, None, "north", "east"),), P(None, None, "north", "east"))
    def advanced(state):
        def padded(f):
            up, down = [(0, 1), (1, 0)], [(1, 0), (0, 1)]
            f = jnp.concatenate(
                [
                    lax.ppermute(f[..., -1:, :], "north", up),
                    f,
                    lax.ppermute(f[..., :1, :], "north", down),
                ],
                -2,
            )
            right = [(n, (n + 1) % 4) for n in range(4)]
            left = [(b, a) for a, b in right]
            return jnp.concatenate(
                [
                    lax.ppermute(f[..., -1:], "east", right),
                    f,
                    lax.ppermute(f[..., :1], "east", left),
                ],
                -1,
            )

        def slope(state):
            u, v, h = padded(state)
            here = (..., slice(1, -1), slice(1, -1))

            def dx(f):
                return (f[..., 1:-1, 2:] - f[..., 1:-1, :-2]) / 2

            def dy(f):
                return (f[..., 2:, 1:-1] - f[..., :-2, 1:-1]) / 2

            def smooth(f):
                return (
                    f[..., 2:, 1:-1]
                    + f[..., :-2, 1:-1]
                    + f[..., 1:-1, 2:]
                    + f[..., 1:-1, :-2]
                    - 4 * f[here]
                )

            y = lax.axis_index("north") * (high // 2) + jnp.arange(high // 2)
            turn = (0.5 + 0.1 * y / high)[:, None]
            du = turn * v[here] - u[here] * dx(u) - v[here] * dy(u) - dx(h) + 0.01 * smooth(u)
            dv = -turn * u[here] - u[here] * dx(v) - v[here] * dy(v) - dy(h) + 0.01 * smooth(v)
            return jnp.stack([du, dv, -dx(u * (1 + h)) - dy(v * (1 + h))])

        def step(_, s):
            one = slope(s)
            two = slope(s + dt / 2 * one)
            three = slope(s + dt / 2 * two)
            return s + dt / 6 * (one + 2 * two + 2 * three + slope(s + dt * three))

        state = lax.fori_loop(0, 4, step, state)
        energy = jnp.sum(0.5 * (state[0] ** 2 + state[1] ** 2) + 0.5 * state[2] ** 2, (-2, -1))
        whole = lax.psum(energy, ("north", "east"))
        return state * jnp.minimum(1.0, 1e3 / (whole + 1e-6))[:, None, None]

    def corrected(state, where, value, noise, seed):
        flat = state.transpose(1, 0, 2, 3).reshape(members, -1)
        mean = flat.mean(0)
        apart = (flat - mean) / np.sqrt(members - 1)
        at = apart[:, where]
        spread = at.T @ at + jnp.diag(noise)
        drawn = value + jnp.sqrt(noise) * jax.random.normal(seed, (members, seen))
        half = jnp.linalg.cholesky(spread)
        gain = jax.scipy.linalg.cho_solve((half, True), (drawn - flat[:, where]).T)
        flat = flat + (apart.T @ (at @ gain)).T
        flat = flat.mean(0) + 1.02 * (flat - flat.mean(0))
        return flat.reshape(members, 3, high, long).transpose(1, 0, 2, 3)

    def run(state, where, values, noise, seed):
        def cycle(carried, given):
            state, key = carried
            key, own = jax.random.split(key)
            state = advanced(state)
            value, present = given
            state = lax.cond(
                present, lambda s: corrected(s, where, value, noise, own), lambda s: s, state
            )
            error = jnp.sqrt(
                jnp.mean((state.reshape(3, members, -1).mean(1)[2, :seen] - value) ** 2)
            )
            return (state, key), (error, jnp.var(state, 1).mean())

        begun = (state, jax.random.wrap_key_data(seed))
        (state, _), told = lax.scan(cycle, begun, values)
        waves = jnp.fft.rfft2(state[2].mean(0))
        power = jnp.abs(waves) ** 2
        ring = jnp.round(
            jnp.hypot(*jnp.meshgrid(jnp.arange(high), jnp.arange(long // 2 + 1), indexing="ij"))
        )
        by_ring = jax.ops.segment_sum(power.reshape(-1), ring.reshape(-1).astype(jnp.int32), 12)
        return state, told, by_ring

    state = arr(over, (3, members, high, long), None, None, "north", "east")
    values = arr(over, (5, seen)), arr(over, (5,), dtype="bool")
    where = arr(over, (seen,), dtype="int32")
    return run, state, where, values, arr(over, (seen,)), arr(over, (2,), dtype="uint32")


if __name__ == "__main__":
    compiled(globals())
