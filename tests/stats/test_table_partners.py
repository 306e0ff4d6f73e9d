"""Partners of chance controls through every way to cut a table."""

from __future__ import annotations

import numpy as np

from sago_harness.stats.reduce import reduce_task
from sago_harness.stats.scored import score_task
from tests.stats import made

NAMES = ("a", "b", "c")


def named(table, m: int) -> dict[tuple[str, int], str | None]:
    """Document and number of a control -> its document."""
    return {
        (document, k): None if place < 0 else table.documents[place]
        for document, places in zip(table.documents, table.partners[m], strict=True)
        for k, place in enumerate(places.tolist())
    }


def test_fewer_documents_keep_the_partners_that_are_left():
    table = made.shared_controls(np.random.default_rng(1), models=NAMES, documents=9)
    keep = np.array([True, False, True, True, False, False, True, True, True])
    whole, less = named(table, 1), named(table.with_documents(keep), 1)
    left = {name for name, kept in zip(table.documents, keep, strict=True) if kept}
    assert less == {key: one if one in left else None for key, one in whole.items() if key[0] in left}
    # Once more, with partners that are none already.
    again = table.with_documents(keep).with_documents(np.array([True, True, False, True, True, True]))
    left -= {"d0003"}
    assert named(again, 1) == {
        key: one if one in left else None for key, one in whole.items() if key[0] in left
    }


def test_models_and_variants_keep_their_partners():
    table = made.shared_controls(np.random.default_rng(2), models=NAMES, documents=9)
    table.distances["x_act"][0, 4] = np.nan
    places = np.array(table.partners)
    places[2] = -1
    table = made.replace(table, partners=places)
    turned = table.with_models(["c", "b"])
    assert (turned.partners[0] == -1).all()
    assert named(turned, 1) == named(table, 1)
    assert table.with_variants(np.array([True])).partners is places
    some = reduce_task(table)["x_act"].of_models([2, 0])
    np.testing.assert_array_equal(some.partners, places[[2, 0]])
    np.testing.assert_allclose(some.controls, np.square(table.controls["x_act"][[2, 0]]))
    less = reduce_task(table)["x_act"].without_operator(0)
    assert less.partners is places


def test_documents_that_are_left_out_are_cut_ones():
    """``of`` some documents is the same as a table of these documents."""
    table = made.shared_controls(np.random.default_rng(3), models=NAMES, documents=20)
    keep = np.arange(20) % 3 > 0
    ours = score_task(table).of(keep)["x_act"]
    cut = score_task(table.with_documents(keep)).quantities["x_act"]
    np.testing.assert_allclose(ours.influence[:, keep], cut.influence, atol=1e-15)
    np.testing.assert_allclose(ours.stderr, cut.stderr, rtol=1e-12)
    assert (ours.influence[:, ~keep] == 0.0).all()
