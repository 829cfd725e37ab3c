"""Tables of numbers in few bits: how large they are, and how far the receiver's numbers are off."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scdn.learning.number_coding import (
    CODE_BITS,
    CodedTable,
    decode_table,
    encode_table,
    rounded_table,
)
from scdn.learning.round_protocol import table_bits

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)

bits_per_number = st.sampled_from(CODE_BITS)
shapes = array_shapes(min_dims=2, max_dims=2, max_side=12)
seeds = st.integers(0, 2**32)


def _tables(largest=LARGEST, dtypes=(np.float32, np.float64)):
    """Return tables of all magnitudes; those of one size only would hide the range's rounding."""
    limits = st.sampled_from([SMALLEST, 1e-30, 1.0, 1e4, largest])
    return st.tuples(st.sampled_from(dtypes), limits).flatmap(
        lambda drawn: arrays(
            drawn[0],
            shapes,
            elements=st.floats(
                -float(drawn[0](drawn[1])),
                float(drawn[0](drawn[1])),
                width=np.dtype(drawn[0]).itemsize * 8,
            ),
        )
    )


def _level(coded, bits):
    """Return how far the levels of each column are apart."""
    lowest, highest = coded.ranges.astype(np.float64)
    return (highest - lowest) / (2**bits - 1)


class ConstantDraws:
    """Draws that always round up (0), or always down (just below 1)."""

    def __init__(self, number):
        self.number = number

    def random(self, shape):
        return np.full(shape, self.number)


ROUND_UP, ROUND_DOWN = ConstantDraws(0.0), ConstantDraws(np.nextafter(1.0, 0.0))


@given(_tables(), bits_per_number, seeds)
def test_numbers_are_off_by_less_than_a_level_and_stay_in_range(table, bits, seed):
    coded = encode_table(table, bits, np.random.default_rng(seed))
    lowest, highest = coded.ranges
    assert (lowest <= table).all()
    assert (table <= highest).all()
    for dtype in (np.float32, np.float64):
        decoded = decode_table(coded, len(table), bits, dtype)
        assert decoded.dtype == dtype
        assert decoded.shape == table.shape
        assert (lowest <= decoded).all()
        assert (decoded <= highest).all()
        error = np.abs(decoded.astype(np.float64) - table)
        slack = np.finfo(dtype).eps * np.abs(coded.ranges.astype(np.float64)).max(axis=0)
        assert (error <= _level(coded, bits) * (1 + 1e-9) + slack + SMALLEST).all()


@given(_tables())
def test_ranges_are_the_nearest_32_bit_numbers_outside_the_column(table):
    lowest, highest = encode_table(table, 8, ROUND_UP).ranges
    with np.errstate(over="ignore"):  # infinity is next to the largest number
        assert (np.nextafter(lowest, np.float32(np.inf)) > table.min(axis=0)).all()
        assert (np.nextafter(highest, np.float32(-np.inf)) < table.max(axis=0)).all()


@given(_tables(), bits_per_number, seeds)
def test_numbers_are_right_on_average(table, bits, seed):
    """Draws are right up to 0.07 of a level, but for one number in 10^15 (Hoeffding's bound)."""
    copies = 4000
    repeated = np.repeat(table[None], copies, axis=0).reshape(-1, table.shape[1])
    coded = encode_table(repeated, bits, np.random.default_rng(seed))
    decoded = decode_table(coded, len(repeated), bits, np.float64)
    mean = decoded.reshape(copies, *table.shape).mean(axis=0)
    slack = 1e-12 * np.abs(coded.ranges.astype(np.float64)).max(axis=0)  # of adding 4000 numbers
    assert (np.abs(mean - table) <= 0.07 * _level(coded, bits) + slack).all()


@given(_tables(), bits_per_number)
@example(np.array([[8193.0], [0.0032]], np.float32), 2)
@example(np.array([[8193.0], [0.0032]], np.float32), 4)
@example(np.array([[8193.0], [0.0032]], np.float32), 8)
@example(np.array([[8193.0], [0.0032]], np.float32), 16)
def test_draws_choose_between_the_levels_above_and_below(table, bits):
    up, down = (encode_table(table, bits, draws) for draws in (ROUND_UP, ROUND_DOWN))
    above, below = (decode_table(coded, len(table), bits, np.float64) for coded in (up, down))
    slack = 1e-14 * np.abs(up.ranges.astype(np.float64)).max(axis=0)
    assert (below <= table + slack).all()
    assert (table <= above + slack).all()


@given(_tables())
def test_more_bits_never_have_a_larger_worst_case(table):
    """The levels of fewer bits are levels of more bits as well: 3, 15, 255 and 65535 divide.

    Numbers next to a level are left out: which of them are on it depends on the last digit.
    """
    for fewer, more in pairwise(CODE_BITS):
        coarse, fine = _errors_up_and_down(table, fewer), _errors_up_and_down(table, more)
        level = _level(encode_table(table, fewer, ROUND_UP), fewer)
        next_to_level = coarse.min(axis=0) <= 1e-9 * level
        assert (next_to_level | (fine.max(axis=0) <= coarse.max(axis=0))).all()


def _errors_up_and_down(table, bits):
    coded = [encode_table(table, bits, draws) for draws in (ROUND_UP, ROUND_DOWN)]
    return np.abs([decode_table(one, len(table), bits, np.float64) - table for one in coded])


@given(st.data(), bits_per_number, shapes, seeds)
def test_packing_loses_nothing_and_has_no_gaps(data, bits, shape, seed):
    """Whole numbers from 0 to the highest level are levels; the first is in the lowest bits."""
    top = 2**bits - 1
    levels = data.draw(arrays(np.int64, shape, elements=st.integers(0, top)))
    levels = np.concatenate([[[0] * shape[1], [top] * shape[1]], levels])
    coded = encode_table(levels.astype(np.float64), bits, np.random.default_rng(seed))
    one_number = sum(int(level) << (bits * k) for k, level in enumerate(levels.ravel()))
    assert coded.codes.tobytes() == one_number.to_bytes(-(-levels.size * bits // 8), "little")
    assert (decode_table(coded, len(levels), bits, np.float32) == levels).all()


@given(_tables(), bits_per_number, seeds)
def test_size_is_the_protocols(table, bits, seed):
    coded = encode_table(table, bits, np.random.default_rng(seed))
    assert coded.codes.dtype == np.uint8
    assert coded.ranges.dtype == np.float32
    assert 8 * (coded.codes.nbytes + coded.ranges.nbytes) == table_bits(*table.shape, bits)


@given(_tables(), bits_per_number, seeds)
def test_the_same_generator_gives_the_same_codes(table, bits, seed):
    first, second = (encode_table(table, bits, np.random.default_rng(seed)) for _ in range(2))
    assert (first.codes == second.codes).all()
    assert (first.ranges == second.ranges).all()


@given(
    st.floats(-LARGEST, LARGEST, width=32), st.integers(1, 5), st.integers(1, 5), bits_per_number
)
def test_a_constant_column_is_exact(number, rows, width, bits):
    table = np.full((rows, width), number)
    coded = encode_table(table, bits, np.random.default_rng(0))
    assert (decode_table(coded, rows, bits, np.float64) == table).all()


@pytest.mark.parametrize("bits", CODE_BITS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_an_empty_table_has_no_codes_and_costs_nothing(bits, shape):
    coded = encode_table(np.zeros(shape), bits, np.random.default_rng(0))
    assert coded.codes.shape == (0,)
    assert coded.ranges.shape == (2, shape[1])
    assert table_bits(*shape, bits) == 0
    assert decode_table(coded, shape[0], bits, np.float32).shape == shape
    assert rounded_table(torch.zeros(shape), bits, np.random.default_rng(0)).shape == shape


@given(_tables(largest=1e37), bits_per_number, seeds)
def test_errors_of_a_table_that_is_sent_again_shrink_geometrically(table, bits, seed):
    """The first sending is off by less than a level, up or down: the differences that are sent next
    have a range of two levels at most. So each sending divides the error by half the levels, until
    the precision of the numbers themselves is reached.
    """
    values = torch.from_numpy(table)
    draw = np.random.default_rng(seed)
    exact = table.astype(np.float64)
    precision = 2 * np.finfo(table.dtype).eps * np.abs(exact).max(axis=0) + 2 * SMALLEST
    factor = 2 * (1 + 1e-6) / (2**bits - 1)
    received = rounded_table(values, bits, draw)
    bound = _level(encode_table(table, bits, ROUND_UP), bits) * (1 + 1e-6) + precision
    for _ in range(6):
        assert (np.abs(received.numpy().astype(np.float64) - exact) <= bound).all()
        received = rounded_table(values, bits, draw, reference=received)
        bound = factor * bound + precision


def test_four_bits_sent_eight_times_are_as_good_as_32():
    draw = np.random.default_rng(0)
    values = torch.from_numpy(draw.normal(size=(320, 10)).astype(np.float32))
    received = None
    for _ in range(8):
        received = rounded_table(values, 4, draw, reference=received)
    assert float((received - values).abs().max()) < 1e-6


@given(_tables(largest=1e37), bits_per_number, seeds)
def test_the_receiver_adds_what_it_decodes_to_its_reference(table, bits, seed):
    """A receiver with arrays has the same numbers, to the last bit."""
    reference = table[::-1] / 3
    received = rounded_table(
        torch.from_numpy(table),
        bits,
        np.random.default_rng(seed),
        torch.from_numpy(reference.copy()),
    )
    coded = encode_table(table - reference, bits, np.random.default_rng(seed))
    expected = decode_table(coded, len(table), bits, table.dtype) + reference
    assert received.numpy().dtype == table.dtype
    assert (received.numpy() == expected).all()


@given(_tables(), seeds)
def test_32_bits_change_and_draw_nothing(table, seed):
    draw = np.random.default_rng(seed)
    before = draw.bit_generator.state
    values = torch.from_numpy(table)
    assert rounded_table(values, 32, draw) is values
    assert rounded_table(values, 32, draw, reference=torch.zeros_like(values)) is values
    assert draw.bit_generator.state == before


@pytest.mark.parametrize("bits", CODE_BITS)
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e39, -1e39, LARGEST * (1 + 1e-9)])
def test_numbers_that_cannot_be_coded(bits, number):
    table = np.array([[0.0, 1.0], [2.0, number]])
    with pytest.raises(ValueError, match="must be finite and fit in 32 bits"):
        encode_table(table, bits, np.random.default_rng(0))
    draw = np.random.default_rng(0)
    values = torch.from_numpy(table)
    assert rounded_table(values, bits, draw) is values
    assert rounded_table(values, bits, draw, reference=torch.zeros_like(values)) is values


def test_a_difference_that_overflows_is_not_coded():
    values = torch.full((2, 2), LARGEST)
    assert rounded_table(values, 4, np.random.default_rng(0), reference=-values) is values


def test_rounding_has_no_gradient_and_keeps_the_values():
    values = torch.randn(5, 3, requires_grad=True)
    before = values.detach().clone()
    received = rounded_table(values, 2, np.random.default_rng(0))
    assert not received.requires_grad
    assert torch.equal(values.detach(), before)


@given(_tables(), bits_per_number, st.integers(-3, 3).filter(bool))
def test_codes_of_another_length_are_refused(table, bits, more):
    coded = encode_table(table, bits, np.random.default_rng(0))
    codes = np.resize(coded.codes, max(coded.codes.size + more, 0))
    with pytest.raises(ValueError, match="bytes of codes"):
        decode_table(CodedTable(codes, coded.ranges), len(table), bits, np.float32)


def test_tables_that_are_none_are_refused():
    draw = np.random.default_rng(0)
    coded = encode_table(np.arange(8.0).reshape(4, 2), 8, draw)
    wrong = [
        (coded, -4, 8, "bytes of codes"),
        (encode_table(np.zeros((0, 1)), 2, draw), -1, 2, "bytes of codes"),
        (coded, 5, 8, "bytes of codes"),
        (coded, 4, 16, "bytes of codes"),
        (coded, 4, 3, "2, 4, 8 or 16 bits, got 3"),
        (coded, 4, 32, "2, 4, 8 or 16 bits, got 32"),
        (coded._replace(codes=coded.codes.astype(np.int8)), 4, 8, "bytes of codes"),
        (coded._replace(codes=coded.codes[None]), 4, 8, "bytes of codes"),
        (coded._replace(ranges=coded.ranges[0]), 4, 8, "ranges have two rows"),
        (coded._replace(ranges=coded.ranges[:1]), 4, 8, "ranges have two rows"),
        (coded._replace(ranges=coded.ranges[:, :1]), 4, 8, "bytes of codes"),
        (coded._replace(ranges=coded.ranges[::-1]), 4, 8, "lowest numbers first"),
        (coded._replace(ranges=coded.ranges * np.float32(np.nan)), 4, 8, "must be finite"),
    ]
    for table, rows, bits, message in wrong:
        with pytest.raises(ValueError, match=message):
            decode_table(table, rows, bits, np.float32)
    with pytest.raises(ValueError, match="rows and columns"):
        encode_table(np.zeros(3), 8, draw)
    with pytest.raises(ValueError, match="got 1"):
        encode_table(np.zeros((1, 1)), 1, draw)
