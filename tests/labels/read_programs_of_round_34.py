"""Programs that were compiled to be read by hand in round 34, as `read_programs.py`.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python THIS BACKEND PROGRAM   (v4 is a backend too)
"""
# ruff: noqa: C901, PLR0915, PLR0917 - a program is read in one piece

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import tagged_unseen
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, smap

tagged_unseen.TOPO["v4"] = "v4:2x2x2"
_BF = "bfloat16"


def orthogonal():
    """Weights divided over all devices, steps made orthogonal by Newton-Schulz turns, in bf16."""
    over = mesh(data=4, model=2)
    rows, length, wide, deep, heads, words, layers = 8, 17, 32, 96, 4, 64, 3
    per = wide // heads
    shapes = {
        "qkv": (layers, wide, 3 * wide),
        "join": (layers, wide, wide),
        "up": (layers, wide, 2 * deep),
        "down": (layers, deep, wide),
    }
    specs = {
        "qkv": P(None, "data", "model"),
        "join": P(None, "model", "data"),
        "up": P(None, "data", "model"),
        "down": P(None, "model", "data"),
    }
    p = {n: arr(over, s, *specs[n]) for n, s in shapes.items()}
    p |= {"table": arr(over, (words, wide), "data", "model"), "gain": arr(over, (layers, 2, wide))}

    def norm(x, gain):
        y = x.astype(jnp.float32)
        return (y * lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6) * gain).astype(_BF)

    def turned(x, at):
        half = x.shape[-1] // 2
        angle = at[:, None] / 100 ** (np.arange(half) / half)
        a, b = x[..., :half], x[..., half:]
        sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
        return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(_BF)

    def loss(p, text):
        x = p["table"].astype(_BF)[text[:, :-1]]
        x = lax.with_sharding_constraint(x, NamedSharding(over, P("data", None, "model")))
        at = jnp.arange(length - 1, dtype=jnp.float32)

        @partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
        def layer(x, w):
            h = norm(x, w["gain"][0])
            q, k, v = jnp.split((h @ w["qkv"].astype(_BF)).reshape(*h.shape[:2], heads, -1), 3, -1)
            q, k = turned(norm(q, 1.0), at), turned(norm(k, 1.0), at)
            score = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32)
            score = 15.0 * jnp.tanh(score / (15.0 * per**0.5))
            score = jnp.where(np.tri(length - 1, dtype=bool), score, -1e9)
            y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(score).astype(_BF), v)
            x += y.reshape(x.shape) @ w["join"].astype(_BF)
            gate, up = jnp.split(norm(x, w["gain"][1]) @ w["up"].astype(_BF), 2, -1)
            return x + (jnp.square(jax.nn.relu(gate)) * up) @ w["down"].astype(_BF), None

        x, _ = lax.scan(layer, x, {n: w for n, w in p.items() if n != "table"})
        log = (norm(x, 1.0) @ p["table"].astype(_BF).T).astype(jnp.float32)
        log = 30 * jnp.tanh(log / 30)
        near = jnp.take_along_axis(log, text[:, 1:, None], -1)[..., 0]
        most = jax.nn.logsumexp(log, -1)
        return (most - near).mean() + 1e-4 * jnp.square(most).mean()

    def straight(g):
        """What is next to the gradient and orthogonal."""
        tall = g.shape[-2] > g.shape[-1]
        x = (g.swapaxes(-1, -2) if tall else g).astype(_BF)
        size = jnp.sqrt(jnp.square(x.astype(jnp.float32)).sum((-2, -1), keepdims=True))
        x /= (size + 1e-6).astype(_BF)

        def turn(_, x):
            a = jnp.einsum("lij,lkj->lik", x, x)
            b = -4.775 * a + 2.0315 * a @ a
            return 3.4445 * x + b @ x

        x = lax.fori_loop(0, 5, turn, x)
        return (x.swapaxes(-1, -2) if tall else x).astype(jnp.float32)

    def train(p, moment, second, count, text):
        value, slope = jax.value_and_grad(loss)(p, text)
        count += 1
        rate = 0.02 * jnp.minimum(1.0, count / 100)
        fresh, kept, squares = {}, {}, {}
        for n, w in p.items():
            m = 0.95 * moment[n] + slope[n]
            kept[n] = m
            if n in shapes:
                step = straight(0.95 * m + slope[n]) * max(1, w.shape[-2] / w.shape[-1]) ** 0.5
                fresh[n] = w * (1 - 0.1 * rate) - rate * step
            else:
                s = 0.99 * second[n] + 0.01 * jnp.square(slope[n])
                squares[n] = s
                fresh[n] = w - rate * m / (jnp.sqrt(s / (1 - 0.99**count)) + 1e-8)
        return fresh, kept, squares, count, value

    second = {n: p[n] for n in ("table", "gain")}
    text = arr(over, (rows, length), "data", dtype="int32")
    return train, p, p, second, arr(over, ()), text


def erased():
    """A memory that is erased by the delta rule, in chunks, the sequence around a ring."""
    over = mesh(data=2, sequence=4)
    rows, length, wide, heads, chunk, layers, words, taps = 4, 64, 32, 4, 4, 2, 64, 3
    per = wide // heads
    shapes = {
        "qkv": (layers, wide, 3, heads, per),
        "taps": (layers, taps, wide),
        "rates": (layers, wide, 2, heads),
        "out": (layers, wide, wide),
    }
    p = {n: arr(over, s) for n, s in shapes.items()}
    p["table"] = arr(over, (words, wide))
    ring = [(i, (i + 1) % 4) for i in range(4)]

    def unit(x):
        return x * lax.rsqrt(jnp.square(x).sum(-1, keepdims=True) + 1e-6)

    def memory(q, k, v, forget, write):
        """What queries find in a memory [keys, values] of the chunks before, by heads."""
        parts = jax.tree.map(
            lambda a: jnp.moveaxis(a.reshape(a.shape[0], -1, chunk, *a.shape[2:]), 1, 0),
            (q, k, v, forget, write),
        )

        def turn(state, at):
            q, k, v, forget, write = at
            fall = jnp.cumsum(forget, 1)
            between = jnp.exp(
                jnp.where(
                    np.tri(chunk, dtype=bool)[None, :, :, None],
                    fall[:, :, None] - fall[:, None],
                    -jnp.inf,
                )
            )
            alike = jnp.einsum("bihd,bjhd->bijh", k, k) * between * write[:, :, None]
            lower = jnp.moveaxis(
                jnp.where(np.tri(chunk, k=-1)[None, :, :, None] > 0, alike, 0), 3, 1
            )
            eye = lower + jnp.eye(chunk)
            known = jnp.einsum("bihd,bhde->bihe", k * jnp.exp(fall)[..., None], state)
            wanted = jnp.moveaxis((v - known) * write[..., None], 2, 1)
            new = lax.linalg.triangular_solve(
                eye, wanted, left_side=True, lower=True, unit_diagonal=True
            )
            score = jnp.einsum("bihd,bjhd->bijh", q, k) * between
            own = jnp.einsum("bijh,bhje->bihe", score, new)
            past = jnp.einsum("bihd,bhde->bihe", q * jnp.exp(fall)[..., None], state)
            last = fall[:, -1:]
            add = jnp.einsum("bjhd,bhje->bhde", k * jnp.exp(last - fall)[..., None], new)
            return state * jnp.exp(last[:, 0])[..., None, None] + add, own + past

        def along(state):
            state, out = lax.scan(turn, state, parts)
            return state, jnp.moveaxis(out, 0, 1).reshape(q.shape)

        me = lax.axis_index("sequence")
        state = jnp.zeros((q.shape[0], heads, per, per))
        result = jnp.zeros_like(q)
        for device in range(4):
            after, out = along(state)
            result = jnp.where(me == device, out, result)
            passed = lax.ppermute(jnp.where(me == device, after, state), "sequence", ring)
            state = jnp.where(me == device + 1, passed, state)
        return result

    def before(x):
        """The last items of the sequence of the device before."""
        edge = lax.ppermute(x[:, 1 - taps :], "sequence", ring[:-1])
        return jnp.concatenate([edge, x], 1)

    def inner(p, text, wanted):
        def layer(x, w):
            h = before(unit(x))
            h = sum(w["taps"][i] * h[:, i : i + x.shape[1]] for i in range(taps))
            q, k, v = jnp.moveaxis(jnp.einsum("bld,dghe->blghe", jax.nn.silu(h), w["qkv"]), 2, 0)
            rates = jnp.einsum("bld,dgh->gblh", x, w["rates"])
            y = memory(unit(q), unit(k), v, -jax.nn.softplus(rates[0]), jax.nn.sigmoid(rates[1]))
            return x + unit(y).reshape(x.shape) @ w["out"], None

        def loss(p):
            x = p["table"][text]
            x, _ = lax.scan(jax.checkpoint(layer), x, {n: w for n, w in p.items() if n != "table"})
            log = jax.nn.log_softmax(x @ p["table"].T)
            fit = -jnp.take_along_axis(log, wanted[..., None], -1).mean()
            return lax.pmean(fit, ("data", "sequence"))

        value, slope = jax.value_and_grad(loss)(p)
        slope = lax.pmean(slope, ("data", "sequence"))
        size = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(slope)))
        bad = ~jnp.isfinite(size)

        def moved(p):
            return jax.tree.map(lambda w, g: w - 0.1 / jnp.maximum(size, 1.0) * g, p, slope)

        return lax.cond(bad, lambda p: p, moved, p), value, bad

    text = P("data", "sequence")
    train = smap(over, (P(), text, text), (P(), P(), P()))(inner)
    given = [arr(over, (rows, length), *text, dtype="int32") for _ in range(2)]
    return train, p, *given


def compressed():
    """Decoding from a cache of narrow latents, weights in int4 with scales, until all rows end."""
    over = mesh(data=2, model=4)
    rows, room, words, wide, low, turn, heads, per, layers, most = 4, 24, 64, 32, 12, 4, 4, 8, 2, 8
    group = 8

    def packed(*shape, spec):
        scales = (*shape[:-2], shape[-2] // group, 1, shape[-1])
        weights = (*shape[:-2], shape[-2] // group, group, shape[-1])
        spec = (*spec[:-1], None, spec[-1])
        return {
            "w": arr(over, weights, *spec, dtype="int4"),
            "s": arr(over, scales, *spec[:-3], None, None, spec[-1], dtype=_BF),
        }

    p = {
        "q": packed(layers, wide, heads * (per + turn), spec=(None, None, "model")),
        "down": packed(layers, wide, low + turn, spec=(None, None, None)),
        "keys": arr(over, (layers, low, heads, per), None, None, "model", dtype=_BF),
        "values": arr(over, (layers, low, heads, per), None, None, "model", dtype=_BF),
        "join": packed(layers, heads * per, wide, spec=(None, None, None)),
        "up": packed(layers, wide, 2 * wide, spec=(None, None, "model")),
        "back": packed(layers, 2 * wide, wide, spec=(None, None, None)),
        "table": arr(over, (words, wide), "model", dtype=_BF),
    }

    def times(x, w):
        """The product with packed weights, by groups."""
        x = x.reshape(*x.shape[:-1], -1, group)
        parts = jnp.einsum("bgi,gio->bgo", x, w["w"].astype(_BF))
        return (parts * w["s"][:, 0]).sum(-2)

    def norm(x):
        y = x.astype(jnp.float32)
        return (y * lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)).astype(_BF)

    def turned(x, at):
        half = x.shape[-1] // 2
        angle = at.astype(jnp.float32).reshape(-1, *(1,) * (x.ndim - 1))
        angle /= 50 ** (np.arange(half) / half)
        a, b = x[..., :half].astype(jnp.float32), x[..., half:].astype(jnp.float32)
        sin, cos = jnp.sin(angle), jnp.cos(angle)
        return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(_BF)

    def layer(carry, at):
        x, place = carry
        w, cache, turns = at
        h = norm(x)
        q = times(h, w["q"]).reshape(-1, heads, per + turn)
        q, q_turn = q[..., :per], turned(q[..., per:], place)
        down = times(h, w["down"])
        rows_ = jnp.arange(x.shape[0])
        cache = cache.at[rows_, place].set(norm(down[:, :low]), mode="drop")
        turns = turns.at[rows_, place].set(turned(down[:, low:], place), mode="drop")
        asked = jnp.einsum("bhd,lhd->bhl", q, w["keys"])
        score = jnp.einsum("bhl,btl->bht", asked, cache, preferred_element_type=jnp.float32)
        score += jnp.einsum("bhr,btr->bht", q_turn, turns, preferred_element_type=jnp.float32)
        seen = jnp.arange(room) <= place[:, None]
        share = jax.nn.softmax(jnp.where(seen[:, None], score / (per + turn) ** 0.5, -1e30))
        found = jnp.einsum("bht,btl->bhl", share.astype(_BF), cache)
        y = jnp.einsum("bhl,lhd->bhd", found, w["values"]).reshape(-1, heads * per)
        x += times(y, w["join"])
        x += times(jax.nn.gelu(times(norm(x), w["up"])), w["back"])
        return (x, place), (cache, turns)

    def decode(p, cache, turns, prompt, lengths, seed):
        own = {n: w for n, w in p.items() if n != "table"}

        def following(cache, turns, word, place):
            x = p["table"][word]
            (x, _), (cache, turns) = lax.scan(layer, (x, place), (own, cache, turns))
            log = jnp.einsum("bd,vd->bv", norm(x), p["table"], preferred_element_type=jnp.float32)
            return cache, turns, log

        def fill(state, at):
            cache, turns, log = state
            word, place = at
            cache, turns, new = following(cache, turns, word, jnp.full(rows, place))
            return (cache, turns, jnp.where((place == lengths - 1)[:, None], new, log)), None

        start = cache, turns, jnp.zeros((rows, words))
        (cache, turns, log), _ = lax.scan(fill, start, (prompt.T, jnp.arange(prompt.shape[1])))

        def going(state):
            return (state[5] < most) & ~state[4].all()

        def pick(key, log, words_):
            """The next word of each row: likely words are less likely once they were taken."""
            taken = jax.vmap(lambda w: jnp.zeros(words).at[w].add(1.0, mode="drop"))(words_)
            log = log - 0.5 * taken
            edge = lax.top_k(log, 6)[0][:, -1:]
            log = jnp.where(log < edge, -jnp.inf, log)
            return jax.random.categorical(key, log / 0.8)

        def step(state):
            cache, turns, log, out, ended, count, key = state
            key, own_key = jax.random.split(key)
            word = lax.cond(
                count % 4 == 3,
                lambda: jnp.argmax(log, -1),
                lambda: pick(own_key, log, out),
            ).astype(jnp.int32)
            word = jnp.where(ended, 0, word)
            out = lax.dynamic_update_slice(out, word[:, None], (0, count))
            ended |= word == 1
            cache, turns, log = following(cache, turns, word, lengths + count)
            return cache, turns, log, out, ended, count + 1, key

        out = jnp.full((rows, most), words, jnp.int32)
        state = cache, turns, log, out, jnp.zeros(rows, bool), 0, jax.random.key(seed)
        cache, turns, _, out, ended, count, _ = lax.while_loop(going, step, state)
        return cache, turns, out, ended, count

    cache = arr(over, (layers, rows, room, low), None, "data", dtype=_BF)
    turns = arr(over, (layers, rows, room, turn), None, "data", dtype=_BF)
    prompt = arr(over, (rows, 6), "data", dtype="int32")
    lengths = arr(over, (rows,), "data", dtype="int32")
    return decode, p, cache, turns, prompt, lengths, arr(over, (), dtype="uint32")


def queued():
    """Two views told from a queue of others: residual convolutions, pools, norms over devices."""
    over = mesh(data=4, key=2)
    images, size, wide, features, queue = 16, 16, 8, 12, 32
    shapes = {
        "stem": (5, 5, 3, wide),
        "one": (3, 3, wide, wide),
        "two": (3, 3, wide, wide),
        "wider": (3, 3, wide, 2 * wide),
        "short": (1, 1, wide, 2 * wide),
        "last": (3, 3, 2 * wide, 2 * wide),
        "hidden": (2 * wide, 2 * wide),
        "head": (2 * wide, features),
    }
    p = {n: arr(over, s) for n, s in shapes.items()}
    p |= {n: arr(over, (2, c)) for n, c in zip("abcde", (wide,) * 3 + (2 * wide,) * 2, strict=True)}

    def conv(x, w, stride=1):
        return lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def norm(x, w):
        """Channels less their mean and over their spread, of all devices."""
        sums = jnp.stack([x.mean((0, 1, 2)), jnp.square(x).mean((0, 1, 2))])
        mean, square = lax.pmean(sums, ("data", "key"))
        return (x - mean) * lax.rsqrt(square - mean**2 + 1e-5) * (1 + w[0]) + w[1]

    def seen(p, x):
        x = jax.nn.relu(norm(conv(x, p["stem"], 2), p["a"]))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        y = jax.nn.relu(norm(conv(x, p["one"]), p["b"]))
        x = jax.nn.relu(x + norm(conv(y, p["two"]), p["c"]))
        y = jax.nn.relu(norm(conv(x, p["wider"], 2), p["d"]))
        x = jax.nn.relu(conv(x, p["short"], 2) + norm(conv(y, p["last"]), p["e"]))
        h = jax.nn.relu(x.mean((1, 2)) @ p["hidden"]) @ p["head"]
        return h * lax.rsqrt(jnp.square(h).sum(-1, keepdims=True) + 1e-8)

    def view(key, x):
        """A part of each image at a place of its own, mirrored or not, with other colors."""
        places, mirror, colors = jax.random.split(key, 3)
        n = x.shape[0]
        at = jax.random.randint(places, (n, 2), 0, 5)
        cut = jax.vmap(lambda x, at: lax.dynamic_slice(x, (at[0], at[1], 0), (size, size, 3)))
        x = cut(jnp.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0)), mode="reflect"), at)
        x = jnp.where(jax.random.bernoulli(mirror, 0.5, (n, 1, 1, 1)), x[:, :, ::-1], x)
        gain = jnp.exp(0.2 * jax.random.normal(colors, (n, 1, 1, 3)))
        return jnp.clip(x * gain, 0, 1)

    def inner(p, slow, moment, others, place, key, x):
        me = lax.axis_index("data") * 2 + lax.axis_index("key")
        one, two, order = jax.random.split(jax.random.fold_in(key, me), 3)
        a, b = view(one, x), view(two, x)
        slow = jax.tree.map(lambda s, w: 0.99 * s + 0.01 * w, slow, p)
        all_b = lax.all_gather(b, "key", tiled=True)
        mixed = jax.random.permutation(order, all_b.shape[0])
        k = lax.stop_gradient(seen(slow, all_b[mixed]))
        back = jnp.zeros_like(k).at[mixed].set(k, unique_indices=True)
        mine = lax.dynamic_slice_in_dim(back, lax.axis_index("key") * x.shape[0], x.shape[0])

        def loss(p):
            q = seen(p, a)
            near = (q * mine).sum(-1, keepdims=True)
            far = q @ others.T
            log = jnp.concatenate([near, far], 1) / 0.1
            fit = (jax.nn.logsumexp(log, 1) - log[:, 0]).mean()
            return lax.pmean(fit, ("data", "key")), (jnp.argmax(log, 1) == 0).mean()

        (value, hit), slope = jax.value_and_grad(loss, has_aux=True)(p)
        slope = lax.pmean(slope, ("data", "key"))
        moment = jax.tree.map(lambda m, g, w: 0.9 * m + g + 1e-4 * w, moment, slope, p)
        sizes = jax.tree.map(
            lambda w, m: jnp.sqrt(jnp.vdot(w, w) / (jnp.vdot(m, m) + 1e-9)), p, moment
        )
        p = jax.tree.map(lambda w, m, s: w - 0.02 * jnp.minimum(s, 10.0) * m, p, moment, sizes)
        new = lax.all_gather(mine, ("data", "key"), tiled=True)
        others = lax.dynamic_update_slice(others, new, (place, 0))
        place = (place + new.shape[0]) % queue
        return p, slow, moment, others, place, value, lax.pmean(hit, ("data", "key"))

    both = P(("data", "key"))
    train = smap(over, (P(),) * 6 + (both,), (P(),) * 7)(inner)

    def step(p, slow, moment, others, place, seed, x):
        return train(p, slow, moment, others, place, jax.random.key(seed), x)

    others = arr(over, (queue, features))
    x = arr(over, (images, size, size, 3), ("data", "key"))
    place, seed = arr(over, (), dtype="int32"), arr(over, (), dtype="uint32")
    return step, p, p, p, others, place, seed, x


if __name__ == "__main__":
    compiled(globals())
