"""A small language model: a recurrent network learns the Zen of Python, letter by letter.

The network is a loop over the letters of a batch of lines; `value_and_grad` by a dict of weights is
backpropagation through time.  A few lines of Adam train it; then it writes.

    python examples/rnn.py
"""

import codecs
import contextlib
import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import srcdiff

with contextlib.redirect_stdout(io.StringIO()):
    import this

TEXT = codecs.decode(this.s, "rot13")
LETTERS = sorted(set(TEXT))
HIDDEN, WINDOW = 96, 32


def step(w, h, letters):
    """The next state of each line, after one letter more."""
    return np.tanh(w["embed"][letters] + h @ w["recur"] + w["bias"])


def loss(w, lines):
    """Mean cross entropy, in nats, of every letter but the first of each line."""
    h = np.zeros((len(lines), HIDDEN))
    total = 0.0
    for t in range(lines.shape[1] - 1):
        h = step(w, h, lines[:, t])
        scores = h @ w["out"]
        scores = scores - np.max(scores, axis=1, keepdims=True)
        log_sum = np.log(np.sum(np.exp(scores), axis=1))
        total += np.mean(log_sum - scores[np.arange(len(lines)), lines[:, t + 1]])
    return total / (lines.shape[1] - 1)


def initial(rng):
    """Small random weights."""
    n = len(LETTERS)
    return {
        "embed": 0.3 * rng.standard_normal((n, HIDDEN)),
        "recur": rng.standard_normal((HIDDEN, HIDDEN)) / np.sqrt(HIDDEN),
        "bias": np.zeros(HIDDEN),
        "out": 0.1 * rng.standard_normal((HIDDEN, n)),
    }


def adam(w, gradient, state, t, rate=5e-3):
    """One step of Adam, in place."""
    for name, g in gradient.items():
        m, v = state[name]
        m += 0.1 * (g - m)
        v += 0.01 * (g * g - v)
        w[name] -= rate * (m / (1.0 - 0.9**t)) / (np.sqrt(v / (1.0 - 0.99**t)) + 1e-8)


def write(w, first, length, rng):
    """Letters drawn one after the other, and how probable each letter was at each place."""
    h, text, seen = np.zeros((1, HIDDEN)), first, []
    for i in range(length):
        h = step(w, h, [LETTERS.index(text[i])])
        scores = np.exp((h @ w["out"])[0])
        seen.append(scores / np.sum(scores))
        if i + 1 == len(text):
            text += rng.choice(LETTERS, p=seen[-1])
    return text, np.array(seen)


def draw(losses, text, seen, path):
    """The loss, and the probabilities from which the text was written."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 2.2))
    left.plot(losses, color="C0")
    left.set(xlabel="step", ylabel="nats a letter", title="loss", ylim=(0, None))
    left.spines[["top", "right"]].set_visible(False)
    used = [i for i in range(len(LETTERS)) if seen[:, i].max() > 0.1]
    right.imshow(seen[:, used].T, cmap="Blues", aspect="auto", vmin=0, vmax=1)
    names = [repr(LETTERS[i])[1:-1].replace(" ", "␣") for i in used]
    right.set_yticks(range(len(used)), names, fontsize=7, family="DejaVu Sans Mono")
    written = text[1 : len(seen) + 1].replace("\n", "⏎")
    right.set_xticks(range(len(seen)), written, fontsize=8, family="DejaVu Sans Mono")
    right.set_title("what comes next, letter by letter")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    rng = np.random.default_rng(0)
    numbers = np.array([LETTERS.index(c) for c in TEXT])
    w = initial(rng)
    value_and_grad = srcdiff.value_and_grad(loss)

    lines = numbers[:WINDOW][None]
    shifted = {s: {**w, "recur": w["recur"] + s * 1e-6} for s in (-1.0, 1.0)}
    difference = (loss(shifted[1.0], lines) - loss(shifted[-1.0], lines)) / 2e-6
    assert np.isclose(np.sum(value_and_grad(w, lines)[1]["recur"]), difference, rtol=1e-5)

    state = {name: (np.zeros_like(part), np.zeros_like(part)) for name, part in w.items()}
    losses = []
    for t in tqdm(range(1, 401), unit="step", mininterval=0.5):
        starts = rng.integers(0, len(numbers) - WINDOW, size=24)
        value, gradient = value_and_grad(w, numbers[starts[:, None] + np.arange(WINDOW)])
        adam(w, gradient, state, t)
        losses.append(value)
    text, seen = write(w, "Beautiful", 200, rng)
    print(f"loss {losses[0]:.2f} at first, {np.mean(losses[-20:]):.2f} nats a letter at last")
    print(text)
    path = Path(__file__).parent / "build" / "rnn.png"
    draw(losses, text, seen[:50], path)
    print(f"drawn in {path.name}")
    assert np.mean(losses[-20:]) < 0.8


if __name__ == "__main__":
    main()
