"""Programs that were compiled to be read by hand in round 30, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM
"""
# ruff: noqa: PLR0915, PLR0917 - a program is read in one piece

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

_BF = "bfloat16"


def folded():
    """Chains of residues folded by gradient flow: angles to points by products of turns."""
    over = mesh(batch=4, pair=2)
    chains, length, bins, wide = 8, 12, 6, 16
    net = {
        "one": arr(over, (3, wide), None, "pair", dtype=_BF),
        "two": arr(over, (wide, bins), "pair", dtype=_BF),
        "scale": arr(over, (bins,)),
    }

    def turns(angles):
        c, s = jnp.cos(angles), jnp.sin(angles)
        zero, one = jnp.zeros_like(c[..., 0]), jnp.ones_like(c[..., 0])
        rows = [
            jnp.stack([c[..., 0], -s[..., 0], zero], -1),
            jnp.stack([s[..., 0] * c[..., 1], c[..., 0] * c[..., 1], -s[..., 1]], -1),
            jnp.stack([s[..., 0] * s[..., 1], c[..., 0] * s[..., 1], c[..., 1]], -1),
        ]
        return jnp.stack(rows, -2) * one[..., None, None]

    def points(angles):
        frames = lax.associative_scan(
            lambda a, b: jnp.einsum("lbij,lbjk->lbik", a, b), jnp.moveaxis(turns(angles), 1, 0)
        )
        return jnp.cumsum(jnp.moveaxis(frames[..., 0], 0, 1), 1)

    def energy(net, angles, wanted):
        x = points(angles)
        x = lax.with_sharding_constraint(x, NamedSharding(over, P("batch")))
        apart = x[:, :, None] - x[:, None]
        far = jnp.sqrt((apart * apart).sum(-1) + 1e-3)
        marks = jnp.exp(-jnp.square(far[..., None] - np.arange(bins, dtype=np.float32)))
        seen = jnp.stack([far, jnp.tanh(far), 1 / (1 + far)], -1).astype(_BF)
        scores = jax.nn.silu(seen @ net["one"]) @ net["two"]
        log = jax.nn.log_softmax(scores.astype(jnp.float32) * net["scale"])
        near = (jnp.abs(np.arange(length)[:, None] - np.arange(length)) > 1).astype(jnp.float32)
        clash = jnp.square(jax.nn.relu(0.8 - far)) * near
        return (
            -(marks * log).sum((1, 2, 3)) + clash.sum((1, 2)) + jnp.square(x - wanted).sum((1, 2))
        )

    def train(net, angles, wanted, rate):
        def flow(state, _):
            angles, speed, rate = state
            value, slope = jax.vmap(
                jax.value_and_grad(lambda a, w: energy(net, a[None], w[None])[0])
            )(angles, wanted)
            new = 0.7 * speed - rate[:, None, None] * jnp.clip(slope, -1, 1)
            tried = jax.vmap(lambda a, w: energy(net, a[None], w[None])[0])(angles + new, wanted)
            better = tried < value
            angles = jnp.where(better[:, None, None], angles + new, angles)
            rate = jnp.where(better, rate * 1.1, rate * 0.5)
            return (angles, jnp.where(better[:, None, None], new, 0.0), rate), value

        (angles, _, rate), path = lax.scan(flow, (angles, jnp.zeros_like(angles), rate), None, 3)
        slope = jax.grad(lambda n: energy(n, angles, wanted).mean())(net)
        net = jax.tree.map(lambda w, g: (w - 0.01 * jnp.sign(g)).astype(w.dtype), net, slope)
        return net, angles, rate, path

    angles = arr(over, (chains, length, 2), "batch")
    wanted = arr(over, (chains, length, 3), "batch")
    return train, net, angles, wanted, arr(over, (chains,), "batch")


def drafted():
    """Words drafted by a small decoder and checked by a large one; caches keep what is accepted."""
    over = mesh(rows=2, model=4)
    rows, room, words, ahead = 8, 32, 64, 3
    sizes = {"small": (16, 2, 1), "large": (32, 4, 2)}

    def weights(wide, heads, layers):
        each = wide // heads
        return {
            "words": arr(over, (words, wide), "model", dtype=_BF),
            "qkv": arr(over, (layers, wide, 3, heads, each), None, None, None, None, "model"),
            "out": arr(over, (layers, heads, each, wide), None, None, "model"),
            "up": arr(over, (layers, wide, 2 * wide), None, None, "model"),
            "down": arr(over, (layers, 2 * wide, wide), None, "model"),
        }

    def cache(wide, heads, layers):
        shape = (layers, 2, rows, room, heads, wide // heads)
        return arr(over, shape, None, None, "rows", None, None, "model", dtype=_BF)

    def forward(p, kept, tokens, at):
        x = p["words"][tokens].astype(jnp.float32)
        span = tokens.shape[1]
        places = at[:, None] + np.arange(span)

        def layer(x, own):
            w, kept = own
            q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", x, w["qkv"]), 2, 0)
            new = jnp.stack([k, v]).astype(_BF)
            write = jax.vmap(
                lambda c, n, a: lax.dynamic_update_slice(c, n, (0, a, 0, 0)), (1, 1, 0), 1
            )
            kept = write(kept, new, at)
            scores = jnp.einsum("bthk,bshk->bhts", q.astype(_BF), kept[0]).astype(jnp.float32)
            seen = np.arange(room)[None, None] <= places[..., None]
            share = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e9))
            mixed = jnp.einsum("bhts,bshk->bthk", share.astype(_BF), kept[1])
            x = x + jnp.einsum("bthk,hkd->btd", mixed.astype(jnp.float32), w["out"])
            return x + jax.nn.gelu(x @ w["up"]) @ w["down"], kept

        x, kept = lax.scan(layer, x, ({k: v for k, v in p.items() if k != "words"}, kept))
        return (x.astype(_BF) @ p["words"].T).astype(jnp.float32), kept

    def decode(small, large, caches, tokens, ends, seed):
        def going(state):
            return jnp.any(state[3] < room - ahead - 1) & (state[4] < 6)

        def turn(state):
            low, high, tokens, ends, turns, key = state
            key, draw, take = jax.random.split(key, 3)
            last = jnp.take_along_axis(tokens, ends[:, None], 1)

            def draft(carry, key):
                low, word, at = carry
                scores, low = forward(small, low, word, at)
                chosen = jax.random.categorical(key, scores[:, -1])
                share = jax.nn.softmax(scores[:, -1])
                return (low, chosen[:, None], at + 1), (chosen, share)

            (low, _, _), (drafts, shares) = lax.scan(
                draft, (low, last, ends), jax.random.split(draw, ahead)
            )
            drafts, shares = drafts.T, jnp.moveaxis(shares, 0, 1)
            scores, high = forward(large, high, jnp.concatenate([last, drafts], 1), ends)
            wanted = jax.nn.softmax(scores)
            asked = jnp.take_along_axis(wanted[:, :-1], drafts[..., None], -1)[..., 0]
            given = jnp.take_along_axis(shares, drafts[..., None], -1)[..., 0]
            chance = jax.random.uniform(take, asked.shape)
            good = jnp.cumprod((chance * given < asked).astype(jnp.int32), 1).sum(1)
            left = jnp.pad(shares, ((0, 0), (0, 1), (0, 0)))
            rest = jnp.maximum(wanted - left, 1e-6)
            rest = jnp.take_along_axis(rest, good[:, None, None], 1)[:, 0]
            more = jnp.argmax(jnp.log(rest), -1)
            put = jnp.where(
                np.arange(ahead + 1) < good[:, None], jnp.pad(drafts, ((0, 0), (0, 1))), 0
            )
            put = jnp.where(np.arange(ahead + 1) == good[:, None], more[:, None], put)
            write = jax.vmap(lambda t, n, e: lax.dynamic_update_slice(t, n, (e,)))
            tokens = write(tokens, put, ends + 1)
            return low, high, tokens, jnp.minimum(ends + good + 1, room - ahead - 2), turns + 1, key

        key = jax.random.wrap_key_data(seed)
        low, high, tokens, ends, turns, key = lax.while_loop(
            going, turn, (*caches, tokens, ends, 0, key)
        )
        return (low, high), tokens, ends, turns, jax.random.key_data(key)

    both = cache(*sizes["small"]), cache(*sizes["large"])
    tokens = arr(over, (rows, room), "rows", dtype="int32")
    ends = arr(over, (rows,), "rows", dtype="int32")
    seed = arr(over, (2,), dtype="uint32")
    return decode, weights(*sizes["small"]), weights(*sizes["large"]), both, tokens, ends, seed


def ranked():
    """Documents in order of use: pairs, shares by rank, a tree of features, bins by scatter."""
    over = mesh(query=4, feature=2)
    queries, docs, features, bins, deep = 16, 10, 8, 16, 3

    def grow(seen, slope, bend, limits):
        place = jnp.zeros((queries * docs,), jnp.int32)
        flat = seen.reshape(-1, features)
        held = jax.vmap(jnp.searchsorted, (1, 1), 1)(limits, flat)
        values = jnp.stack([slope.reshape(-1), bend.reshape(-1)], -1)

        def level(place):
            slots = (place[:, None] * features + np.arange(features)) * bins + held
            counts = jnp.zeros((2**deep * features * bins, 2)).at[slots].add(values[:, None])
            counts = counts.reshape(2**deep, features, bins, 2)
            counts = lax.with_sharding_constraint(counts, NamedSharding(over, P(None, "feature")))
            left = jnp.cumsum(counts, 2)
            right = left[:, :, -1:] - left
            gain = sum(jnp.square(s[..., 0]) / (s[..., 1] + 1.0) for s in (left, right))
            best = jnp.argmax(gain.reshape(2**deep, -1), -1)
            which, cut = best // bins, best % bins
            mine = jnp.take_along_axis(held, which[place][:, None], 1)[:, 0]
            return place * 2 + (mine > cut[place]), (which, cut, gain.max((1, 2)))

        cuts = []
        for _ in range(deep):
            place, cut = level(place)
            cuts.append(cut)
        sums = jax.ops.segment_sum(values, place, 2**deep)
        leaves = -sums[:, 0] / (sums[:, 1] + 1.0)
        return leaves[place].reshape(queries, docs), leaves, cuts

    def train(scores, seen, use, limits):
        def turn(scores, limits):
            order = jnp.argsort(-scores, 1)
            rank = jnp.argsort(order, 1)
            worth = 1.0 / jnp.log2(rank + 2.0)
            gain = jnp.exp2(use.astype(jnp.float32)) - 1
            ideal = (jnp.sort(gain, 1)[:, ::-1] / np.log2(np.arange(docs) + 2.0)).sum(1)
            apart = scores[:, :, None] - scores[:, None]
            over_ = use[:, :, None] > use[:, None]
            moved = (
                jnp.abs((gain[:, :, None] - gain[:, None]) * (worth[:, :, None] - worth[:, None]))
                / jnp.maximum(ideal, 1e-3)[:, None, None]
            )
            share = jax.nn.sigmoid(-apart)
            pull = jnp.where(over_, share * moved, 0.0)
            slope = pull.sum(1) - pull.sum(2)
            bend = jnp.where(over_, share * (1 - share) * moved, 0.0)
            bend = bend.sum(1) + bend.sum(2) + 1e-3
            change, leaves, cuts = grow(seen, slope, bend, limits)
            value = (gain * worth).sum(1) / jnp.maximum(ideal, 1e-3)
            return scores + 0.1 * change, (leaves, cuts, value.mean(), jnp.median(value))

        return lax.scan(turn, scores, limits)

    scores = arr(over, (queries, docs), "query")
    seen = arr(over, (queries, docs, features), "query", None, "feature")
    use = arr(over, (queries, docs), "query", dtype="int32")
    return train, scores, seen, use, arr(over, (2, bins - 1, features), None, None, "feature")


def tiled():
    """Layers whose weights move around a ring while products are taken, forward and back."""
    over = mesh(ring=4, rows=2)
    depth, wide, batch, groups = 3, 32, 16, 4
    params = {
        "up": arr(over, (depth, wide, 2 * wide), None, None, "ring", dtype=_BF),
        "down": arr(over, (depth, 2 * wide, wide), None, "ring", dtype=_BF),
        "gain": arr(over, (depth, wide)),
        "head": arr(over, (wide, 8), "ring"),
    }
    specs = {
        "up": P(None, None, "ring"),
        "down": P(None, "ring"),
        "gain": P(),
        "head": P("ring"),
    }

    def passed(x):
        return lax.ppermute(x, "ring", [(i, (i + 1) % 4) for i in range(4)])

    def gathered_product(x, w):
        here = lax.axis_index("ring")
        own = w.shape[1]

        def turn(n, state):
            w, out = state
            place = (here - n) % 4 * own
            out = lax.dynamic_update_slice(out, x @ w, (0, place))
            return passed(w), out

        start = w, jnp.zeros((x.shape[0], 4 * own), x.dtype)
        return lax.fori_loop(0, 4, turn, start)[1]

    def scattered_product(x, w):
        here = lax.axis_index("ring")
        own = w.shape[0]
        part = lax.dynamic_slice_in_dim(x, here * own, own, 1)
        return lax.psum_scatter(
            (part @ w).astype(jnp.float32), "ring", scatter_dimension=1, tiled=True
        )

    def normed(x, gain):
        cut = x.reshape(x.shape[0], groups, -1)
        mean = cut.mean(-1, keepdims=True)
        spread = jnp.square(cut - mean).mean(-1, keepdims=True)
        return ((cut - mean) * lax.rsqrt(spread + 1e-5)).reshape(x.shape) * gain

    def inner(p, x, wanted):
        def loss(p):
            @jax.checkpoint
            def layer(x, w):
                y = normed(x, w["gain"]).astype(_BF)
                wide_ = jnp.square(jax.nn.relu(gathered_product(y, w["up"])))
                narrow = scattered_product(wide_, w["down"])
                return x + lax.all_gather(narrow, "ring", axis=1, tiled=True), None

            kept = {k: w for k, w in p.items() if k != "head"}
            x_, _ = lax.scan(layer, x, kept)
            here = lax.axis_index("ring")
            own = p["head"].shape[0]
            part = lax.dynamic_slice_in_dim(x_, here * own, own, 1)
            scores = lax.psum(part @ p["head"], "ring")
            log = jax.nn.log_softmax(scores)
            return -jnp.take_along_axis(log, wanted[:, None], 1).mean()

        value, slope = jax.value_and_grad(loss)(p)
        slope = jax.tree.map(lambda g: lax.pmean(g, "rows"), slope)
        slope["gain"] = lax.pmean(slope["gain"], "ring")
        size = sum(jnp.square(g.astype(jnp.float32)).sum() for g in jax.tree.leaves(slope))
        cut = lax.rsqrt(jnp.maximum(lax.psum(size, "ring"), 1.0))
        p = jax.tree.map(lambda w, g: (w - 0.1 * cut * g).astype(w.dtype), p, slope)
        return p, lax.pmean(value, ("rows", "ring"))

    ins = specs, P("rows"), P("rows")
    train = smap(over, ins, (specs, P()))(inner)
    return (
        train,
        params,
        arr(over, (batch, wide), "rows"),
        arr(over, (batch,), "rows", dtype="int32"),
    )


def heard():
    """Many microphones: spectra, covariances by masks, beams by solves, echoes taken off."""
    over = mesh(clip=2, band=4)
    clips, ears, length, window, bands, taps = 4, 3, 128, 16, 8, 2
    params = {
        "mask": arr(over, (3, bands, 12), None, "band"),
        "turn": arr(over, (12, 12)),
        "last": arr(over, (12, 2)),
    }

    def spectra(sound):
        cut = jnp.stack([sound[..., i : i + window] for i in range(0, length - window + 1, 8)], -2)
        return jnp.fft.rfft(cut * np.hanning(window).astype(np.float32))[..., 1:]

    def masks(p, power):
        def step(h, x):
            h = jnp.tanh(jnp.einsum("kf,kfd->d", x, p["mask"]) + h @ p["turn"])
            return h, h

        _, ahead = lax.scan(step, jnp.zeros(12), power)
        _, back = lax.scan(step, jnp.zeros(12), power, reverse=True)
        return jax.nn.softmax((ahead + back) @ p["last"])

    def beam(p, sound):
        x = spectra(sound)
        power = jnp.log1p(jnp.square(jnp.abs(x)))
        share = masks(p, jnp.moveaxis(power, 1, 0))
        x = lax.with_sharding_constraint(x, NamedSharding(over, P(None, None, "band")))
        cov = jnp.einsum("ts,etf,dtf->sfed", share.astype(x.dtype), x, x.conj())
        cov = cov / (share.sum(0)[:, None, None, None] + 1e-3) + 1e-2 * jnp.eye(ears)
        ratio = jnp.linalg.solve(cov[1], cov[0])
        weight = ratio[..., 0] / (jnp.trace(ratio, axis1=1, axis2=2)[:, None] + 1e-3)
        clean = jnp.einsum("fe,etf->tf", weight.conj(), x)

        def echo(clean, _):
            late = jnp.stack(
                [jnp.roll(clean, 2 + k, 0).at[: 2 + k].set(0) for k in range(taps)], -1
            )
            loud = jnp.square(jnp.abs(clean)) + 1e-2
            r = jnp.einsum("tfk,tfl,tf->fkl", late.conj(), late, 1 / loud.astype(late.dtype))
            q = jnp.einsum("tfk,tf,tf->fk", late.conj(), clean, 1 / loud.astype(late.dtype))
            g = jnp.linalg.solve(r + 1e-2 * jnp.eye(taps), q[..., None])[..., 0]
            return clean - jnp.einsum("tfk,fk->tf", late, g), None

        clean, _ = lax.scan(echo, clean, None, 2)
        return clean

    def train(p, sound, wanted):
        def loss(p):
            clean = jax.vmap(lambda s: beam(p, s))(sound)
            aim = spectra(wanted)
            off = jnp.log1p(jnp.abs(clean)) - jnp.log1p(jnp.abs(aim))
            loudest = lax.top_k(jnp.square(jnp.abs(clean)).sum(1), 2)
            return jnp.square(off).mean(), loudest

        (value, loudest), slope = jax.value_and_grad(loss, has_aux=True)(p)
        p = jax.tree.map(lambda w, g: w - 0.05 * g, p, slope)
        return p, value, loudest

    sound = arr(over, (clips, ears, length), "clip")
    return train, params, sound, arr(over, (clips, length), "clip")


if __name__ == "__main__":
    compiled(globals())
