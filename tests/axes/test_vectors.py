"""Hidden states on disk: what is lost to half precision, and how they travel."""

from __future__ import annotations

import copy
import gc
import json
import multiprocessing
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sago_harness.axes import vectors
from sago_harness.axes.vectors import VectorFile, VectorRef, pack, unpack
from sago_harness.errors import SagoError
from sago_harness.logs import warn_once

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(hnp.arrays(np.float32, SHAPES, elements=FLOATS))
def test_a_value_is_off_by_at_most_half_a_unit_of_eleven_bits(states: np.ndarray) -> None:
    found = unpack(pack(states))
    assert found.dtype == np.float32
    assert found.shape == states.shape
    size = np.abs(states.astype(np.float64)).max(axis=1, keepdims=True)
    # Relative for what is not far smaller than its layer's largest value, absolute below that.
    allowed = np.maximum(np.abs(states.astype(np.float64)) * 2.0**-11, size * 2.0**-38)
    assert (np.abs(found.astype(np.float64) - states) <= allowed).all()


def test_large_activations_do_not_overflow_and_small_layers_do_not_vanish() -> None:
    states = np.array([[3.4e38, -1.0], [70000.0, 65505.0], [1e-30, 2e-30], [0.0, 0.0]], dtype=np.float32)
    found = unpack(pack(states))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[[0, 1, 2]][:, 0], states[:3, 0], rtol=2**-11)
    assert found[3].tolist() == [0.0, 0.0]


def test_eleven_bits_are_exact() -> None:
    states = np.array([[2047.0, -1023.5, 0.0], [2.0**100, 2.0**90, -(2.0**80)]], dtype=np.float32)
    assert unpack(pack(states)).tolist() == states.tolist()


def test_nan_and_infinity_stay_what_they_are() -> None:
    states = np.array([[np.nan, np.inf, -np.inf, 2.0], [np.nan] * 4], dtype=np.float32)
    np.testing.assert_array_equal(unpack(pack(states)), states)


def test_it_takes_two_bytes_a_number() -> None:
    assert len(pack(np.ones((33, 4096), dtype=np.float32))) == 2 * 33 * 4096 + 2 * 33 + 12


@pytest.mark.parametrize("blob", [b"", b"SGV1", b"\x80\x04N.", pack(np.ones((2, 3)))[:-1], b"x" * 40])
def test_other_bytes_are_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match=r"bytes are no|are not"):
        unpack(blob)


def test_one_axis_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        pack(np.ones(3))


def random_states(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(4, 5)).astype(np.float32)


def test_what_is_put_comes_back_whole_and_layer_by_layer() -> None:
    file = VectorFile()
    refs = [file.put(pack(random_states(seed))) for seed in range(20)]
    for seed, ref in enumerate(refs):
        expected = unpack(pack(random_states(seed)))
        assert ref.shape == (4, 5)
        np.testing.assert_array_equal(ref.load(), expected)
        for layer in range(4):
            np.testing.assert_array_equal(ref.layer(layer), expected[layer])
        with pytest.raises(IndexError):
            ref.layer(4)


def test_a_reference_is_a_short_hash_in_json() -> None:
    ref = VectorFile().put(pack(random_states(1)))
    assert json.loads(json.dumps({"states": ref})) == {"states": str(ref)}
    assert len(ref) == 16
    assert ref == VectorFile().put(pack(random_states(1)))
    assert ref != VectorFile().put(pack(random_states(2)))


def test_equal_states_are_written_once() -> None:
    file = VectorFile()
    blob = pack(random_states(3))
    for _ in range(5):
        file.put(blob)
    assert os.fstat(file._file.fileno()).st_size == len(blob)


def test_pickled_it_carries_its_bytes_into_the_receivers_file() -> None:
    ref = VectorFile().put(pack(random_states(4)))
    expected = ref.load()
    sent = pickle.dumps({"a": ref, "b": ref})
    # The same object twice is carried once.
    assert sent.count(ref.blob()) == 1
    del ref
    gc.collect()
    found = pickle.loads(sent)
    assert isinstance(found["a"], VectorRef)
    assert found["a"]._file is VectorFile.here()
    np.testing.assert_array_equal(found["b"].load(), expected)


def test_copies_are_the_same_reference() -> None:
    ref = VectorFile().put(pack(random_states(5)))
    assert copy.copy(ref) is ref
    assert copy.deepcopy({"a": ref})["a"] is ref


def _child(queue: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    for seed in range(50, 60):
        ref = VectorFile.here().put(pack(random_states(seed)))
    queue.put(ref)


def test_a_forked_process_writes_into_a_file_of_its_own() -> None:
    here = VectorFile.here()
    mine = [here.put(pack(random_states(seed))) for seed in range(5)]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue,))
    process.start()
    theirs = queue.get(timeout=60)
    process.join(timeout=60)
    more = here.put(pack(random_states(6)))
    for seed, ref in [*enumerate(mine), (6, more), (59, theirs)]:
        np.testing.assert_array_equal(ref.load(), unpack(pack(random_states(seed))))


def test_nothing_is_left_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(vectors.FOLDER_VARIABLE, str(tmp_path))
    ref = VectorFile().put(pack(random_states(7)))
    np.testing.assert_array_equal(ref.load(), unpack(pack(random_states(7))))
    del ref
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match="SAGO_VECTORS_DIR") as error:
        VectorFile(str(tmp_path / "no"))
    assert "\n" not in str(error.value)


def test_a_full_disk_costs_the_states_and_not_the_run(caplog: pytest.LogCaptureFixture) -> None:
    class Full:
        def seek(self, place: int) -> None: ...

        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

    warn_once.cache_clear()
    file = VectorFile()
    kept = file.put(pack(random_states(8)))
    working, file._file = file._file, Full()  # type: ignore[assignment]
    lost = [file.put(pack(random_states(seed))) for seed in (9, 10)]
    file._file = working
    assert [(str(ref), ref.blob()) for ref in lost] == [("", b"")] * 2
    assert pickle.loads(pickle.dumps(lost[0])) == ""
    assert [r.getMessage() for r in caplog.records if "No space left on device" in r.getMessage()] != []
    assert len(caplog.records) == 1
    # What was written before, and what is written after, is whole.
    after = file.put(pack(random_states(11)))
    for seed, ref in ((8, kept), (11, after)):
        np.testing.assert_array_equal(ref.load(), unpack(pack(random_states(seed))))
