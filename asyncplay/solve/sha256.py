"""SHA-256 of many pieces of one length at a time, for processors without instructions for it.

A vector holds one word of each of LANES pieces, so that all of them go through the rounds of FIPS 180-4 together; the
names below are those of the standard. Measured: 920 MB/s on a thread with AVX512 where openssl has 240.
"""

from pathlib import Path

import numpy as np
from numba import int64, uint32, void
from numpy.typing import NDArray

from asyncplay.games.kernels import helper, kernel, ready

LANES = 16
BLOCK_BYTES = 64

KEYS = (
    (
        0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
        0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    ),
    (
        0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
        0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    ),
    (
        0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
        0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    ),
    (
        0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
        0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
    ),
)  # fmt: skip
START = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
FIRST_KEYS, SECOND_KEYS, THIRD_KEYS, LAST_KEYS = KEYS
U = np.uint32


@helper
def rotated(x, n):
    return U(x >> U(n)) | U(x << U(32 - n))


@helper
def turn(a, b, c, d, e, f, g, h, key, word):  # noqa: PLR0917
    """One round; the new values of d and h."""
    first = U(U(U(h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25))) + U((e & f) ^ (~e & g))) + U(U(key) + word))
    second = U((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c)))
    return U(d + first), U(first + second)


@helper
def mix(w0, w1, w9, w14):
    """The word 16 places after the first of these."""
    low = rotated(w1, 7) ^ rotated(w1, 18) ^ U(w1 >> U(3))
    high = rotated(w14, 17) ^ rotated(w14, 19) ^ U(w14 >> U(10))
    return U(U(w0 + low) + U(w9 + high))


@helper
def sixteen_rounds(values, words, keys):
    """They are written out: a loop would not be put into vectors."""
    a, b, c, d, e, f, g, h = values
    d, h = turn(a, b, c, d, e, f, g, h, keys[0], words[0])
    c, g = turn(h, a, b, c, d, e, f, g, keys[1], words[1])
    b, f = turn(g, h, a, b, c, d, e, f, keys[2], words[2])
    a, e = turn(f, g, h, a, b, c, d, e, keys[3], words[3])
    h, d = turn(e, f, g, h, a, b, c, d, keys[4], words[4])
    g, c = turn(d, e, f, g, h, a, b, c, keys[5], words[5])
    f, b = turn(c, d, e, f, g, h, a, b, keys[6], words[6])
    e, a = turn(b, c, d, e, f, g, h, a, keys[7], words[7])
    d, h = turn(a, b, c, d, e, f, g, h, keys[8], words[8])
    c, g = turn(h, a, b, c, d, e, f, g, keys[9], words[9])
    b, f = turn(g, h, a, b, c, d, e, f, keys[10], words[10])
    a, e = turn(f, g, h, a, b, c, d, e, keys[11], words[11])
    h, d = turn(e, f, g, h, a, b, c, d, keys[12], words[12])
    g, c = turn(d, e, f, g, h, a, b, c, keys[13], words[13])
    f, b = turn(c, d, e, f, g, h, a, b, keys[14], words[14])
    e, a = turn(b, c, d, e, f, g, h, a, keys[15], words[15])
    return a, b, c, d, e, f, g, h


@helper
def next_words(words):
    """The 16 words after these."""
    w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15 = words
    w0 = mix(w0, w1, w9, w14)
    w1 = mix(w1, w2, w10, w15)
    w2 = mix(w2, w3, w11, w0)
    w3 = mix(w3, w4, w12, w1)
    w4 = mix(w4, w5, w13, w2)
    w5 = mix(w5, w6, w14, w3)
    w6 = mix(w6, w7, w15, w4)
    w7 = mix(w7, w8, w0, w5)
    w8 = mix(w8, w9, w1, w6)
    w9 = mix(w9, w10, w2, w7)
    w10 = mix(w10, w11, w3, w8)
    w11 = mix(w11, w12, w4, w9)
    w12 = mix(w12, w13, w5, w10)
    w13 = mix(w13, w14, w6, w11)
    w14 = mix(w14, w15, w7, w12)
    w15 = mix(w15, w0, w8, w13)
    return w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15


@kernel(void(uint32[::1], uint32[::1], int64))
def compress(words, state, n_blocks):
    """Put blocks into the state uint32[8 * LANES]; ``words[(16 * k + t) * LANES + lane]`` is word t of block k."""
    for block in range(np.uint64(0), np.uint64(n_blocks)):
        at = block * np.uint64(256)
        for lane in range(np.uint64(0), np.uint64(16)):
            w = (
                words[at + np.uint64(0) + lane], words[at + np.uint64(16) + lane],
                words[at + np.uint64(32) + lane], words[at + np.uint64(48) + lane],
                words[at + np.uint64(64) + lane], words[at + np.uint64(80) + lane],
                words[at + np.uint64(96) + lane], words[at + np.uint64(112) + lane],
                words[at + np.uint64(128) + lane], words[at + np.uint64(144) + lane],
                words[at + np.uint64(160) + lane], words[at + np.uint64(176) + lane],
                words[at + np.uint64(192) + lane], words[at + np.uint64(208) + lane],
                words[at + np.uint64(224) + lane], words[at + np.uint64(240) + lane],
            )  # fmt: skip
            old = (
                state[np.uint64(0) + lane], state[np.uint64(16) + lane],
                state[np.uint64(32) + lane], state[np.uint64(48) + lane],
                state[np.uint64(64) + lane], state[np.uint64(80) + lane],
                state[np.uint64(96) + lane], state[np.uint64(112) + lane],
            )  # fmt: skip
            new = sixteen_rounds(old, w, FIRST_KEYS)
            w = next_words(w)
            new = sixteen_rounds(new, w, SECOND_KEYS)
            w = next_words(w)
            new = sixteen_rounds(new, w, THIRD_KEYS)
            w = next_words(w)
            new = sixteen_rounds(new, w, LAST_KEYS)
            state[np.uint64(0) + lane] = U(old[0] + new[0])
            state[np.uint64(16) + lane] = U(old[1] + new[1])
            state[np.uint64(32) + lane] = U(old[2] + new[2])
            state[np.uint64(48) + lane] = U(old[3] + new[3])
            state[np.uint64(64) + lane] = U(old[4] + new[4])
            state[np.uint64(80) + lane] = U(old[5] + new[5])
            state[np.uint64(96) + lane] = U(old[6] + new[6])
            state[np.uint64(112) + lane] = U(old[7] + new[7])


def is_faster() -> bool:
    """Whether the processor is known to have no instructions of its own, which would be faster still."""
    try:
        return " sha_ni" not in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def hash_lanes(pieces: memoryview) -> list[str]:
    """The digests of LANES pieces that lie one after another, each of the same number of whole blocks."""
    n_bytes = len(pieces) // LANES
    assert len(pieces) == LANES * n_bytes, "all pieces are of one length"
    assert n_bytes % BLOCK_BYTES == 0, "pieces have whole blocks"
    state = np.repeat(np.array(START, np.uint32), LANES)
    ready(compress)(_by_word(np.frombuffer(pieces, np.uint8)), state, n_bytes // BLOCK_BYTES)
    last = np.zeros((LANES, BLOCK_BYTES), np.uint8)
    last[:, 0], last[:, 56:] = 0x80, np.frombuffer((8 * n_bytes).to_bytes(8, "big"), np.uint8)
    compress(_by_word(last.reshape(-1)), state, 1)
    return [words.astype(">u4").tobytes().hex() for words in state.reshape(len(START), LANES).T]


def _by_word(content: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The same words of all lanes side by side."""
    return content.view(">u4").reshape(LANES, -1).T.astype(np.uint32, order="C").reshape(-1)
