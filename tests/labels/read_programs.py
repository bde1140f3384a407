"""Programs that were compiled to be read by hand (rounds 10 to 12), on 8 devices.

usage: NOTAG=1 PYTHONPATH=tests/data/programs python tests/labels/read_programs.py BACKEND PROGRAM
as `tests/data/programs/tagged_unseen.py`, with the dump flags in XLA_FLAGS.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P
from tagged_unseen import arr, compiled, mesh, rms, smap

_IMAGES = ("NHWC", "HWIO", "NHWC")


def adapted():
    """Low-rank adapters in bf16, layers in a scan with remat, weights sharded over data."""
    over = mesh(data=4, model=2)
    layers, width, heads, rank = 4, 128, 4, 8
    spec = [
        ("q", (width, width)),
        ("k", (width, width)),
        ("v", (width, width)),
        ("o", (width, width)),
    ]
    base = {n: arr(over, (layers, *s), None, "data", "model", dtype="bfloat16") for n, s in spec}
    base["up"] = arr(over, (layers, width, 4 * width), None, "data", "model", dtype="bfloat16")
    base["down"] = arr(over, (layers, 4 * width, width), None, "model", "data", dtype="bfloat16")
    low = {
        n: (
            arr(over, (layers, width, rank), None, "data"),
            arr(over, (layers, rank, width), None, None, "model"),
        )
        for n in ("q", "v")
    }

    def attend(x, w, a):
        def projected(n):
            y = x @ w[n]
            return y + (x @ a[n][0].astype(x.dtype)) @ a[n][1].astype(x.dtype) if n in a else y

        q, k, v = (projected(n).reshape(*x.shape[:2], heads, -1) for n in "qkv")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 6
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
        return mixed.reshape(x.shape) @ w["o"]

    def net(low, base, x):
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
        def layer(x, both):
            w, a = both
            x = x + attend(rms(x, 1.0).astype(x.dtype), w, a)
            return x + jax.nn.gelu(rms(x, 1.0).astype(x.dtype) @ w["up"]) @ w["down"], None

        return lax.scan(layer, x, (base, low))[0]

    def train(low, moments, base, x, y):
        def loss(low):
            return jnp.mean((net(low, base, x) - y).astype(jnp.float32) ** 2)

        value, grads = jax.value_and_grad(loss)(low)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda p, m: p - 0.01 * m, low, moments), moments, value

    rows = arr(over, (8, 64, width), "data", dtype="bfloat16")
    return train, low, low, base, rows, rows


def rollout():
    """Advantages by a reverse scan, epochs over shuffled minibatches, clipped losses, Adam."""
    over = mesh(env=8)
    width, acts = 32, 6
    params = {
        "body": [
            (arr(over, (16, width)), arr(over, (width,))),
            (arr(over, (width, width)), arr(over, (width,))),
        ],
        "policy": arr(over, (width, acts)),
        "value": arr(over, (width,)),
    }

    def net(p, x):
        for w, b in p["body"]:
            x = jnp.tanh(x @ w + b)
        return jax.nn.log_softmax(x @ p["policy"]), x @ p["value"]

    def improve(p, moments, key, seen, acts_taken, rewards, done):  # noqa: PLR0917 - the program's own state
        old, values = net(p, seen)
        values = jnp.concatenate([values, values[:1]])
        taken = jnp.take_along_axis(old, acts_taken[..., None], -1)[..., 0]

        def back(adv, now):
            reward, end, value, later = now
            adv = reward + 0.99 * later * (1 - end) - value + 0.95 * 0.99 * (1 - end) * adv
            return adv, adv

        _, advs = lax.scan(
            back,
            jnp.zeros(rewards.shape[1]),
            (rewards, done, values[:-1], values[1:]),
            reverse=True,
        )
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (seen, acts_taken, taken, advs))

        def loss(p, x, a, before, adv):
            logs, value = net(p, x)
            ratio = jnp.exp(jnp.take_along_axis(logs, a[:, None], -1)[:, 0] - before)
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
            gain = jnp.minimum(ratio * adv, jnp.clip(ratio, 0.8, 1.2) * adv)
            return (
                jnp.mean(value**2)
                - gain.mean()
                - 0.01 * jnp.mean(jnp.sum(-jnp.exp(logs) * logs, -1))
            )

        def batch(state, rows):
            p, (first, second) = state
            grads = jax.grad(loss)(p, *(x[rows] for x in flat))
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
            second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, second, grads)
            p = jax.tree.map(lambda p, m, v: p - 1e-3 * m * lax.rsqrt(v + 1e-8), p, first, second)
            return (p, (first, second)), jnp.sqrt(
                sum(jnp.sum(g * g) for g in jax.tree.leaves(grads))
            )

        order = jax.random.permutation(key, flat[1].shape[0]).reshape(4, -1)
        return lax.scan(batch, (p, moments), order)

    steps, envs = 16, 64
    return (
        improve,
        params,
        (params, params),
        arr(over, (2,), dtype="uint32"),
        arr(over, (steps, envs, 16), None, "env"),
        arr(over, (steps, envs), None, "env", dtype="int32"),
        arr(over, (steps, envs), None, "env"),
        arr(over, (steps, envs), None, "env"),
    )


def particles():
    """Forces of neighbors around a ring of devices, added by scatter, until they rest."""
    over = mesh(part=8)
    around = [(i, (i + 1) % 8) for i in range(8)]

    @smap(over, (P("part"), P("part")), (P("part"), P("part"), P()))
    def relax(place, charge):
        def forces(place):
            def turn(state, _):
                there, sent, total = state
                gap = place[:, None] - there[None]
                square = jnp.sum(gap * gap, -1) + 1e-3
                _, near = lax.top_k(-square, 4)
                pull = jnp.take_along_axis(gap / square[..., None] ** 1.5, near[..., None], 1)
                pull = pull * charge[:, None, None] * sent[near][..., None]
                total = total + pull.sum(1)
                total = total.at[near[:, 0]].add(-0.5 * pull[:, 0])
                there, sent = (lax.ppermute(x, "part", around) for x in (there, sent))
                return (there, sent, total), None

            (_, _, total), _ = lax.scan(
                turn, (place, charge, jnp.zeros_like(place)), None, length=8
            )
            return total

        def step(state):
            place, speed, _, count = state
            force = forces(place)
            speed = 0.9 * speed + 0.01 * force
            most = lax.pmax(jnp.max(jnp.abs(force)), "part")
            return place + speed, speed, most, count + 1

        start = (place, jnp.zeros_like(place), jnp.float32(1e9), 0)
        place, speed, most, _ = lax.while_loop(lambda s: (s[2] > 1e-2) & (s[3] < 50), step, start)
        return place, speed, most

    return relax, arr(over, (512, 3), "part"), arr(over, (512,), "part")


def enlarged():
    """Super-resolution: dilated and transposed convolutions, group norm."""
    over = mesh(data=4, model=2)
    sizes = [(3, 3, 3, 32), (3, 3, 32, 32), (3, 3, 32, 32), (4, 4, 32, 32), (3, 3, 32, 12)]
    params = [
        arr(over, s, None, None, None, "model" if s[3] % 8 == 0 else None, dtype="bfloat16")
        for s in sizes
    ]

    def grouped(x):
        y = x.reshape(*x.shape[:3], 4, -1).astype(jnp.float32)
        y = (y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(
            y.var((1, 2, 4), keepdims=True) + 1e-5
        )
        return y.reshape(x.shape).astype(x.dtype)

    def net(p, x):
        conv = partial(lax.conv_general_dilated, dimension_numbers=_IMAGES, padding="SAME")
        small = x
        x = jax.nn.silu(conv(x, p[0], (1, 1)))
        x = x + jax.nn.silu(grouped(conv(x, p[1], (1, 1), rhs_dilation=(2, 2))))
        x = x + jax.nn.silu(grouped(conv(x, p[2], (1, 1))))
        x = lax.conv_transpose(x, p[3], (2, 2), "SAME", dimension_numbers=_IMAGES)
        x = conv(jax.nn.silu(x), p[4], (1, 1))
        n, h, w, _ = x.shape
        x = x.reshape(n, h, w, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(n, 2 * h, 2 * w, 3)
        return x + jax.image.resize(small, x.shape, "bilinear")

    def train(p, x, y):
        def loss(p):
            return jnp.mean(jnp.abs(net(p, x) - y).astype(jnp.float32))

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - (0.1 * jnp.sign(g)).astype(p.dtype), p, grads), value

    pixels = arr(over, (8, 16, 16, 3), "data", dtype="bfloat16")
    return train, params, pixels, arr(over, (8, 64, 64, 3), "data", dtype="bfloat16")


def factors():
    """Alternating least squares: normal equations by segments, Cholesky, triangular solves."""
    over = mesh(rows=8)
    users, items, rank, count = 64, 48, 8, 1024

    def solved(other, mine, theirs, rating, size):
        rows = other[theirs]
        gram = jax.ops.segment_sum(rows[:, :, None] * rows[:, None], mine, size)
        right = jax.ops.segment_sum(rows * rating[:, None], mine, size)
        root = jnp.linalg.cholesky(gram + 0.1 * jnp.eye(rank))
        half = lax.linalg.triangular_solve(root, right[..., None], left_side=True, lower=True)
        whole = lax.linalg.triangular_solve(
            root, half, left_side=True, lower=True, transpose_a=True
        )
        return whole[..., 0]

    def fit(u, v, who, what, rating):
        def turn(_, state):
            u, v = state
            u = solved(v, who, what, rating, users)
            return u, solved(u, what, who, rating, items)

        u, v = lax.fori_loop(0, 3, turn, (u, v))
        error = jnp.sum(u[who] * v[what], -1) - rating
        return u, v, jnp.sqrt(jnp.mean(error * error)), jnp.argsort(-jnp.abs(error))[:16]

    wide = partial(arr, over, (count,), "rows")
    return (
        fit,
        arr(over, (users, rank), "rows"),
        arr(over, (items, rank), "rows"),
        wide(dtype="int32"),
        wide(dtype="int32"),
        wide(),
    )


def decode():
    """Decoding with grouped queries, rotated positions, a cache, and samples."""
    over = mesh(batch=2, model=4)
    layers, width, heads, groups, size, words, length = 2, 64, 8, 4, 16, 256, 32
    params = {
        "words": arr(over, (words, width), "model"),
        "q": arr(over, (layers, width, heads, size), None, None, "model"),
        "kv": arr(over, (layers, 2, width, groups, size), None, None, None, "model"),
        "o": arr(over, (layers, heads, size, width), None, "model"),
        "up": arr(over, (layers, width, 2, 128), None, None, None, "model"),
        "down": arr(over, (layers, 128, width), None, "model"),
    }
    cache = arr(over, (layers, 2, 4, length, groups, size), None, None, "batch", None, "model")

    def rotated(x, at):
        angle = at * 0.1 ** (jnp.arange(size // 2) / 4.0)
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate(
            [a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)], -1
        )

    def step(params, at, word, cache):
        def layer(x, both):
            p, kept = both
            y = rms(x, 1.0)
            q = rotated(jnp.einsum("bd,dhs->bhs", y, p["q"]), at)
            k, v = jnp.einsum("bd,ndgs->nbgs", y, p["kv"])
            kept = lax.dynamic_update_slice(
                kept, jnp.stack([rotated(k, at), v])[:, :, None], (0, 0, at, 0, 0)
            )
            q = q.reshape(q.shape[0], groups, heads // groups, size)
            scores = jnp.einsum("bgrs,btgs->bgrt", q, kept[0]) / 4
            scores = jax.nn.softmax(jnp.where(jnp.arange(length) <= at, scores, -1e9))
            mixed = jnp.einsum("bgrt,btgs->bgrs", scores, kept[1]).reshape(x.shape[0], heads, size)
            x = x + jnp.einsum("bhs,hsd->bd", mixed, p["o"])
            gate, up = jnp.moveaxis(jnp.einsum("bd,dnf->bnf", rms(x, 1.0), p["up"]), 1, 0)
            return x + (jax.nn.silu(gate) * up) @ p["down"], kept

        rest = {n: p for n, p in params.items() if n != "words"}
        x, cache = lax.scan(layer, params["words"][word], (rest, cache))
        return x @ params["words"].T, cache

    def sampled(key, logits):
        values, order = lax.sort(
            (-logits, jnp.broadcast_to(jnp.arange(words), logits.shape)), num_keys=1
        )
        share = jax.nn.softmax(-values)
        kept = jnp.cumsum(share, -1) - share < 0.9
        choice = jax.random.categorical(key, jnp.where(kept, -values, -jnp.inf))
        return jnp.take_along_axis(order, choice[:, None], 1)[:, 0]

    def run(params, key, word, cache):
        def more(state):
            return (state[0] < length - 1) & ~jnp.all(state[2] == 0)

        def body(state):
            at, key, word, cache, out = state
            key, now = jax.random.split(key)
            logits, cache = step(params, at, word, cache)
            word = sampled(now, logits).astype(jnp.int32)
            return at + 1, key, word, cache, out.at[:, at].set(word)

        start = (0, key, word, cache, jnp.zeros((4, length), jnp.int32))
        return lax.while_loop(more, body, start)[-1]

    return (
        run,
        params,
        arr(over, (2,), dtype="uint32"),
        arr(over, (4,), "batch", dtype="int32"),
        cache,
    )


def chunked():
    """Linear attention in chunks, sequence on one axis by hand, a branch for rests."""
    over = mesh(data=2, part=4)
    width, heads, size, chunk = 64, 4, 16, 16
    params = {
        "qkv": arr(over, (width, 3, heads, size), None, None, "part"),
        "out": arr(over, (heads, size, width), "part"),
        "up": arr(over, (width, 256), None, "part"),
        "down": arr(over, (256, width), "part"),
    }
    specs = {
        "qkv": P(None, None, "part"),
        "out": P("part"),
        "up": P(None, "part"),
        "down": P("part"),
    }

    @smap(over, (specs, P("data", "part"), P()), P("data", "part"))
    def block(p, x, reset):
        whole = lax.all_gather(rms(x, 1.0), "part", axis=1, tiled=True)
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dnhs->btnhs", whole, p["qkv"]), 2, 0)
        q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
        parts = [
            jnp.moveaxis(y.reshape(y.shape[0], -1, chunk, *y.shape[2:]), 1, 0) for y in (q, k, v)
        ]

        def turn(state, now):
            q, k, v = now
            inner = jnp.tril(jnp.einsum("bqhs,bkhs->bhqk", q, k))
            y = jnp.einsum("bhqk,bkhs->bqhs", inner, v) + jnp.einsum("bqhs,bhse->bqhe", q, state)
            more = state + jnp.einsum("bkhs,bkhe->bhse", k, v)
            state = lax.cond(reset, lambda s, m: 0.5 * (s + m), lambda _, m: m, state, more)
            return state, y

        zero = jnp.zeros((x.shape[0], q.shape[2], size, size))
        _, ys = lax.scan(turn, zero, tuple(parts))
        y = jnp.moveaxis(ys, 0, 1).reshape(q.shape)
        x = x + lax.psum_scatter(
            jnp.einsum("bths,hsd->btd", y, p["out"]), "part", scatter_dimension=1, tiled=True
        )
        whole = lax.all_gather(rms(x, 1.0), "part", axis=1, tiled=True)
        return x + lax.psum_scatter(
            jax.nn.relu(whole @ p["up"]) ** 2 @ p["down"], "part", scatter_dimension=1, tiled=True
        )

    def train(p, x, y, reset):
        def loss(p):
            return jnp.mean((block(p, block(p, x, reset), reset) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grads), value

    rows = arr(over, (4, 128, width), "data", "part")
    return train, params, rows, rows, arr(over, (), dtype="bool")


def hashed():
    """Words hashed into two tables, duplicates merged by a sort, Adagrad by scatter."""
    over = mesh(data=2, table=4)
    rows, width, count = 512, 32, 128
    tables = [arr(over, (rows, width), "table"), arr(over, (rows, width), None, "table")]
    head = arr(over, (2 * width, 8))

    def looked(tables, ids):
        return jnp.concatenate(
            [t[(ids * m + 7) % rows] for t, m in zip(tables, (31, 17), strict=True)], -1
        )

    def merged(slots, grads):
        order = jnp.argsort(slots)
        slots, grads = slots[order], grads[order]
        first = jnp.concatenate([jnp.ones(1, bool), slots[1:] != slots[:-1]])
        group = jnp.cumsum(first) - 1
        total = jax.ops.segment_sum(grads, group, slots.shape[0])
        return jnp.zeros_like(slots).at[group].max(slots), total

    def train(tables, squares, head, ids, labels):
        def loss(found, head):
            return -jnp.mean(
                jnp.take_along_axis(jax.nn.log_softmax(found.mean(1) @ head), labels[:, None], 1)
            )

        found = looked(tables, ids)
        value, (grads, of_head) = jax.value_and_grad(loss, (0, 1))(found, head)
        news, sums = [], []
        for number, (table, square, times) in enumerate(
            zip(tables, squares, (31, 17), strict=True)
        ):
            slots, total = merged(
                ((ids * times + 7) % rows).reshape(-1),
                grads[..., number * width : (number + 1) * width].reshape(-1, width),
            )
            added = square.at[slots].add(total * total)
            news.append(table.at[slots].add(-0.1 * total * lax.rsqrt(added[slots] + 1e-6)))
            sums.append(added)
        return news, sums, head - 0.1 * of_head, value

    return (
        train,
        tables,
        tables,
        head,
        arr(over, (count, 8), "data", dtype="int32"),
        arr(over, (count,), "data", dtype="int32"),
    )


def masked():
    """Masked image modeling in bf16: shuffled patches are gathered and scattered back."""
    over = mesh(data=4, model=2)
    width, patches, kept, size = 64, 64, 16, 48
    half = {"dtype": "bfloat16"}
    block = {
        "qkv": arr(over, (width, 3 * width), None, "model", **half),
        "out": arr(over, (width, width), "model", **half),
        "up": arr(over, (width, 4 * width), None, "model", **half),
        "down": arr(over, (4 * width, width), "model", **half),
    }
    params = {
        "in": arr(over, (size, width), **half),
        "encoder": [block, block],
        "decoder": [block],
        "mask": arr(over, (width,), **half),
        "head": arr(over, (width, size), **half),
    }

    def layer(x, p):
        y = rms(x, 1.0).astype(x.dtype)
        q, k, v = jnp.split((y @ p["qkv"]).reshape(*x.shape[:2], 4, -1), 3, -1)
        share = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 4)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", share.astype(x.dtype), v).reshape(x.shape) @ p["out"]
        return x + jax.nn.relu(rms(x, 1.0).astype(x.dtype) @ p["up"]) @ p["down"]

    def loss(p, x, noise):
        order = jnp.argsort(noise, -1)
        seen = jnp.take_along_axis(x, order[:, :kept, None], 1) @ p["in"]
        for q in p["encoder"]:
            seen = layer(seen, q)
        rows = jnp.arange(x.shape[0])[:, None]
        whole = (
            jnp.broadcast_to(p["mask"], (*x.shape[:2], width)).at[rows, order[:, :kept]].set(seen)
        )
        for q in p["decoder"]:
            whole = layer(whole, q)
        missed = jnp.zeros(noise.shape).at[rows, order[:, kept:]].set(1.0)
        return jnp.sum(
            jnp.mean((whole @ p["head"] - x).astype(jnp.float32) ** 2, -1) * missed
        ) / jnp.sum(missed)

    def train(p, x, noise):
        value, grads = jax.value_and_grad(loss)(p, x, noise)
        return jax.tree.map(lambda p, g: p - (0.1 * g).astype(p.dtype), p, grads), value

    pixels = arr(over, (8, patches, size), "data", dtype="bfloat16")
    return train, params, pixels, arr(over, (8, patches), "data")


def tempered():
    """Chains at several temperatures: leapfrog in a loop, swapped with neighbors."""
    over = mesh(chain=8)
    width = 24
    ring = [(i, i ^ 1) for i in range(8)]

    @smap(over, (P("chain"), P("chain"), P(), P()), (P("chain"), P()))
    def sampled(place, heat, matrix, keys):
        here = lax.axis_index("chain")

        def energy(x):
            return 0.5 * jnp.einsum("bi,ij,bj->b", x, matrix, x) + 0.1 * jnp.sum(jnp.cos(3 * x), -1)

        slope = jax.grad(lambda x: jnp.sum(energy(x)))

        def once(state, key):
            place, count = state
            one, two = jax.random.split(jax.random.fold_in(key, here))
            speed = jax.random.normal(one, place.shape)
            total = energy(place) / heat + 0.5 * jnp.sum(speed * speed, -1)

            def leap(_, now):
                x, v = now
                v = v - 0.05 * slope(x) / heat[:, None]
                x = x + 0.1 * v
                return x, v - 0.05 * slope(x) / heat[:, None]

            new, fast = lax.fori_loop(0, 5, leap, (place, speed))
            after = energy(new) / heat + 0.5 * jnp.sum(fast * fast, -1)
            taken = jnp.log(jax.random.uniform(two, heat.shape)) < total - after
            place = jnp.where(taken[:, None], new, place)
            there, hot = lax.ppermute(place, "chain", ring), lax.ppermute(heat, "chain", ring)
            gain = (energy(place) - energy(there)) * (1 / heat - 1 / hot)
            place = jnp.where((gain > 0)[:, None], there, place)
            return (place, count + lax.psum(jnp.sum(taken), "chain")), jnp.mean(energy(place))

        (place, count), means = lax.scan(once, (place, 0), keys)
        return place, count + lax.pmax(jnp.max(means), "chain")

    wide = arr(over, (width, width))
    return (
        sampled,
        arr(over, (64, width), "chain"),
        arr(over, (64,), "chain"),
        wide,
        arr(over, (6, 2), dtype="uint32"),
    )


def spectral():
    """Fourier layers and a convolution beside them, channels on one axis, roll-out by scan."""
    over = mesh(data=2, model=4)
    width, modes = 16, 6
    layers = [
        (
            arr(over, (width, width, 2 * modes, modes, 2), None, "model"),
            arr(over, (3, 3, width, width), None, None, None, "model"),
        )
        for _ in range(2)
    ]
    params = {"in": arr(over, (3, width)), "layers": layers, "out": arr(over, (width, 1))}

    def net(p, x):
        rows = jnp.linspace(0, 1, x.shape[1])
        grid = jnp.broadcast_to(
            jnp.stack(jnp.meshgrid(rows, rows, indexing="ij"), -1), (*x.shape[:3], 2)
        )
        y = jnp.concatenate([x, grid], -1) @ p["in"]
        for weight, kernel in p["layers"]:
            freq = jnp.fft.rfft2(y, axes=(1, 2))
            low = jnp.concatenate([freq[:, :modes, :modes], freq[:, -modes:, :modes]], 1)
            low = jnp.einsum("bxyi,ioxy->bxyo", low, weight[..., 0] + 1j * weight[..., 1])
            freq = jnp.zeros_like(freq).at[:, :modes, :modes].set(low[:, :modes])
            freq = freq.at[:, -modes:, :modes].set(low[:, modes:])
            side = lax.conv_general_dilated(y, kernel, (1, 1), "SAME", dimension_numbers=_IMAGES)
            y = jax.nn.gelu(jnp.fft.irfft2(freq, s=y.shape[1:3], axes=(1, 2)) + side)
        return y @ p["out"]

    def train(p, x, target):
        def loss(p):
            def step(x, y):
                x = x + net(p, x)
                return x, jnp.mean((x - y) ** 2)

            return lax.scan(step, x, target)[1].mean()

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grads), value

    fields = arr(over, (4, 24, 24, 1), "data")
    return train, params, fields, arr(over, (3, 4, 24, 24, 1), None, "data")


def distilled():
    """A student after a teacher in int8, losses by hand over the shards of words."""
    over = mesh(data=2, vocab=4)
    words, width, count = 512, 64, 64
    teacher = {
        "emb": arr(over, (words, width), "vocab", dtype="int8"),
        "scale": arr(over, (words,), "vocab"),
        "mlp": (arr(over, (width, 256), dtype="int8"), arr(over, (256, width), dtype="int8")),
    }
    student = {
        "emb": arr(over, (words, width), "vocab"),
        "mlp": (arr(over, (width, 128)), arr(over, (128, width))),
    }
    spec_t = {"emb": P("vocab"), "scale": P("vocab"), "mlp": (P(), P())}
    spec_s = {"emb": P("vocab"), "mlp": (P(), P())}

    @smap(over, (spec_s, spec_t, P("data")), P())
    def loss(s, t, ids):
        first = lax.axis_index("vocab") * (words // 4)

        def looked(table, scale=None):
            local = ids - first
            mine = (local >= 0) & (local < words // 4)
            rows = jnp.take(table, jnp.clip(local, 0, words // 4 - 1), 0).astype(jnp.float32)
            if scale is not None:
                rows = rows * jnp.take(scale, jnp.clip(local, 0, words // 4 - 1))[..., None]
            return lax.psum(jnp.where(mine[..., None], rows, 0.0), "vocab")

        def logs(x):
            top = lax.pmax(lax.stop_gradient(jnp.max(x, -1, keepdims=True)), "vocab")
            return (
                x - top - jnp.log(lax.psum(jnp.sum(jnp.exp(x - top), -1, keepdims=True), "vocab"))
            )

        def small(x):
            scale = jnp.max(jnp.abs(x), -1, keepdims=True) / 127 + 1e-6
            return jnp.round(x / scale).astype(jnp.int8), scale

        def whole(x, w):
            x, scale = small(x)
            return (
                lax.dot_general(x, w, (((2,), (0,)), ((), ())), preferred_element_type=jnp.int32)
                * scale
            )

        x = looked(t["emb"], t["scale"])
        x = x + whole(jax.nn.relu(whole(x, t["mlp"][0])), t["mlp"][1])
        known = logs(
            jnp.einsum("btd,vd->btv", x, t["emb"].astype(jnp.float32) * t["scale"][:, None])
        )
        y = looked(s["emb"])
        y = y + jax.nn.relu(y @ s["mlp"][0]) @ s["mlp"][1]
        mine = logs(jnp.einsum("btd,vd->btv", y, s["emb"]))
        return lax.pmean(
            lax.psum(jnp.sum(jnp.exp(known) * (known - mine)), "vocab") / ids.size, "data"
        )

    def train(s, t, ids):
        value, grads = jax.value_and_grad(loss)(s, t, ids)
        return jax.tree.map(lambda p, g: p - 0.1 * g, s, grads), value

    return train, student, teacher, arr(over, (16, count), "data", dtype="int32")


def interleaved():
    """Two stacks in turn in a scan, one saved to the host's side of remat, sums over both axes."""
    over = mesh(data=4, model=2)
    width = 96
    params = {
        "a": arr(over, (3, width, width), None, None, "model"),
        "b": arr(over, (3, width, width), None, "model"),
        "gates": arr(over, (3, 2)),
        "bias": arr(over, (3, width)),
    }

    def net(p, x):
        @jax.checkpoint
        def layer(x, w):
            gate = jax.nn.sigmoid(w["gates"])
            y = jnp.tanh(x @ w["a"] + w["bias"]) @ w["b"]
            z = lax.cumsum(y, axis=1, reverse=True) / (1 + jnp.arange(x.shape[1])[::-1, None])
            x = gate[0] * x + gate[1] * (y - z)
            return x - jnp.max(lax.stop_gradient(x), -1, keepdims=True), jnp.mean(x * x)

        x, sizes = lax.scan(layer, x, p)
        return x, sizes.sum()

    def train(p, moment, x, y):
        def loss(p):
            out, size = net(p, x)
            return jnp.mean(jnp.logaddexp(out, y)) + 0.01 * size

        value, grads = jax.value_and_grad(loss)(p)
        moment = jax.tree.map(
            lambda m, g: 0.9 * m + jnp.sign(g) * jnp.sqrt(jnp.abs(g) + 1e-6), moment, grads
        )
        return jax.tree.map(lambda p, m: p * 0.999 - 0.01 * m, p, moment), moment, value

    rows = arr(over, (8, 32, width), "data")
    return train, params, params, rows, rows


def quantized():
    """An autoencoder over a codebook: nearest codes, gradients passed straight, codes averaged."""
    over = mesh(data=4, code=2)
    width, codes, depth = 32, 128, 16
    params = {
        "in": arr(over, (4, 3, width), None, None, "code"),
        "mid": arr(over, (3, width, depth), None, "code"),
        "out": arr(over, (depth, 4, 3), None, None, None),
    }
    book = arr(over, (codes, depth), "code")

    def encoded(p, x):
        dims = ("NWC", "WIO", "NWC")
        x = lax.conv_general_dilated(x, p["in"], (2,), "SAME", dimension_numbers=dims)
        x = jax.nn.gelu(x)
        return lax.conv_general_dilated(x, p["mid"], (1,), "SAME", dimension_numbers=dims)

    def train(params, book, counts, x):
        def loss(p):
            z = encoded(p, x)
            far = (
                jnp.sum(z * z, -1, keepdims=True)
                - 2 * jnp.einsum("btd,cd->btc", z, book)
                + jnp.sum(book * book, -1)
            )
            near = jnp.argmin(far, -1)
            q = book[near]
            y = jnp.einsum("btd,dkc->btkc", z + lax.stop_gradient(q - z), p["out"])
            back = y[:, :, :2].reshape(x.shape)
            miss = jnp.mean((back - x) ** 2) + 0.25 * jnp.mean((z - lax.stop_gradient(q)) ** 2)
            return miss, (z, near)

        (value, (z, near)), grads = jax.value_and_grad(loss, has_aux=True)(params)
        chosen = jax.nn.one_hot(near, codes)
        counts = 0.99 * counts + 0.01 * chosen.sum((0, 1))
        sums = jnp.einsum("btc,btd->cd", chosen, z)
        book = 0.99 * book + 0.01 * sums / jnp.maximum(counts, 1e-3)[:, None]
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), book, counts, value

    return train, params, book, arr(over, (codes,), "code"), arr(over, (16, 64, 3), "data")


def beamed():
    """Beam search over a gated recurrent decoder: best words of all beams, states gathered."""
    over = mesh(batch=2, model=4)
    beams, words, width, length = 4, 128, 64, 12
    params = {
        "words": arr(over, (words, width), "model"),
        "mix": arr(over, (2 * width, 3 * width), None, "model"),
        "out": arr(over, (width, words), None, "model"),
    }

    def cell(p, state, word):
        x = jnp.concatenate([p["words"][word], state], -1)
        gate, reset, new = jnp.split(x @ p["mix"], 3, -1)
        new = jnp.tanh(new * jax.nn.sigmoid(reset))
        return state + jax.nn.sigmoid(gate) * (new - state)

    def search(p, state, word):
        def step(carry, _):
            state, word, score, done = carry
            state = cell(p, state, word)
            logs = jax.nn.log_softmax(state @ p["out"])
            logs = jnp.where(done[..., None], jnp.where(jnp.arange(words) == 0, 0.0, -1e9), logs)
            every = (score[..., None] + logs).reshape(score.shape[0], -1)
            score, at = lax.top_k(every, beams)
            source, word = at // words, at % words
            state = jnp.take_along_axis(state, source[..., None], 1)
            done = jnp.take_along_axis(done, source, 1) | (word == 0)
            return (state, word, score, done), (word, source)

        score = jnp.where(jnp.arange(beams) == 0, 0.0, -1e9) + jnp.zeros(word.shape)
        start = (state, word, score, jnp.zeros(word.shape, bool))
        (_, _, score, _), (out, sources) = lax.scan(step, start, None, length)

        def traced(beam, both):
            word, source = both
            return jnp.take_along_axis(source, beam, 1), jnp.take_along_axis(word, beam, 1)

        beam = jnp.zeros((word.shape[0], beams), jnp.int32) + jnp.arange(beams)
        return lax.scan(traced, beam, (out, sources), reverse=True)[1], score

    return (
        search,
        params,
        arr(over, (8, beams, width), "batch"),
        arr(over, (8, beams), "batch", dtype="int32"),
    )


def attended():
    """Attention over the edges of a graph: edges sharded, softmax by segments, two rounds."""
    over = mesh(edge=4, model=2)
    nodes, edges, width, heads = 96, 512, 32, 4
    params = {
        "node": arr(over, (2, width, heads, 16), None, None, "model"),
        "edge": arr(over, (2, 8, heads), None, None, "model"),
        "back": arr(over, (2, heads, 16, width), None, "model"),
    }

    def net(p, x, features, source, target):
        for n in range(2):
            h = jnp.einsum("nd,dhs->nhs", jax.nn.relu(x), p["node"][n])
            score = jnp.einsum("ehs,ehs->eh", h[source], h[target]) / 4 + features @ p["edge"][n]
            score = jax.nn.leaky_relu(score)
            top = jax.ops.segment_max(score, target, nodes)
            weight = jnp.exp(score - jnp.where(jnp.isfinite(top), top, 0.0)[target])
            total = jax.ops.segment_sum(weight, target, nodes)
            parts = h[source] * (weight / (total[target] + 1e-6))[..., None]
            x = x + jnp.einsum(
                "nhs,hsd->nd", jax.ops.segment_sum(parts, target, nodes), p["back"][n]
            )
        return x

    def train(p, moments, x, features, source, target, labels):  # noqa: PLR0917 - the program's own state
        def loss(p):
            logs = jax.nn.log_softmax(net(p, x, features, source, target)[:, :8])
            return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], 1))

        value, grads = jax.value_and_grad(loss)(p)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda p, m: p - 0.01 * m, p, moments), moments, value

    return (
        train,
        params,
        params,
        arr(over, (nodes, width)),
        arr(over, (edges, 8), "edge"),
        arr(over, (edges,), "edge", dtype="int32"),
        arr(over, (edges,), "edge", dtype="int32"),
        arr(over, (nodes,), dtype="int32"),
    )


def windowed():
    """Attention in shifted windows over images in bf16, windows merged, means over patches."""
    over = mesh(data=4, model=2)
    width, heads, side, size = 64, 4, 16, 4
    params = {
        "qkv": arr(over, (2, width, 3, heads, 16), None, None, None, "model", dtype="bfloat16"),
        "bias": arr(over, (heads, 2 * size - 1, 2 * size - 1), "model", dtype="bfloat16"),
        "o": arr(over, (2, heads, 16, width), None, "model", dtype="bfloat16"),
        "merge": arr(over, (4 * width, width), None, "model", dtype="bfloat16"),
        "head": arr(over, (width, 8), dtype="bfloat16"),
    }

    def attend(p, n, x, bias):
        b = x.shape[0]
        y = rms(x, 1.0).reshape(b, side // size, size, side // size, size, width)
        y = y.transpose(0, 1, 3, 2, 4, 5).reshape(b, -1, size * size, width)
        q, k, v = jnp.moveaxis(jnp.einsum("bwtd,dnhs->bwtnhs", y, p["qkv"][n]), 3, 0)
        scores = (jnp.einsum("bwths,bwuhs->bwhtu", q, k) / 4).astype(jnp.float32) + bias
        mixed = jnp.einsum("bwhtu,bwuhs->bwths", jax.nn.softmax(scores).astype(x.dtype), v)
        y = jnp.einsum("bwths,hsd->bwtd", mixed, p["o"][n])
        y = y.reshape(b, side // size, side // size, size, size, width).transpose(0, 1, 3, 2, 4, 5)
        return x + y.reshape(x.shape)

    def net(p, x):
        at = jnp.stack(jnp.meshgrid(jnp.arange(size), jnp.arange(size), indexing="ij"), -1)
        at = at.reshape(-1, 2)
        apart = at[:, None] - at[None] + size - 1
        bias = p["bias"][:, apart[..., 0], apart[..., 1]].astype(jnp.float32)
        x = attend(p, 0, x, bias)
        x = jnp.roll(attend(p, 1, jnp.roll(x, (-2, -2), (1, 2)), bias), (2, 2), (1, 2))
        x = jnp.concatenate([x[:, i::2, j::2] for i in (0, 1) for j in (0, 1)], -1)
        return jnp.mean(x @ p["merge"], (1, 2)) @ p["head"]

    def train(p, x, labels):
        def loss(p):
            logs = jax.nn.log_softmax(net(p, x).astype(jnp.float32))
            return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], 1))

        value, grads = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - (0.01 * g).astype(p.dtype), p, grads), value

    return (
        train,
        params,
        arr(over, (8, side, side, width), "data", dtype="bfloat16"),
        arr(over, (8,), "data", dtype="int32"),
    )


if __name__ == "__main__":
    compiled(globals())
