# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""A model on a simulated accelerator in another process, which is used as a board's is."""
import os
import pathlib
import signal
import subprocess

import numpy
import pytest

import kaiten

KAITEN = pathlib.Path(os.environ.get("KAITEN_BUILD") or pathlib.Path(__file__).resolve().parents[2] / "build") / "kaiten"


@pytest.fixture
def bridge(tmp_path):
    if not KAITEN.exists():
        pytest.skip(f"there is no {KAITEN}")
    process = subprocess.Popen([KAITEN, "bridge", tmp_path / "bridge", "--latency", "20"], stdout=subprocess.PIPE, text=True)
    assert "nano" in process.stdout.readline()
    yield f"bridge:{tmp_path / 'bridge'}"
    process.send_signal(signal.SIGTERM)
    assert "register accesses" in process.communicate(timeout=60)[0] and process.returncode == 0


def test_a_board_gives_the_golden_answers(bridge, demo, images, golden):
    board = kaiten.load(demo).board(bridge, batch=2)
    assert board.config == "nano" and board.memory_bytes > 50_000
    for first in (0, 4):
        run = board.run(images[first:first + 2], check=True)
        numpy.testing.assert_array_equal(run["outputs"][0], golden[first:first + 2])
        assert run["exact"] is True and abs(run["cycles"] / board.modelled_cycles - 1) < 0.02
    assert board.run(images[:2])["exact"] is None
    with pytest.raises(kaiten.InputError, match="a batch of 2, given 1"):
        board.run(images[:1])
    with pytest.raises(kaiten.InputError, match="in use by another program"):
        kaiten.load(demo).board(bridge)


def test_devices_that_are_not_there(demo, tmp_path):
    with pytest.raises(kaiten.InputError, match="no bridge in"):
        kaiten.load(demo).board(f"bridge:{tmp_path}")
    with pytest.raises(kaiten.InputError, match="uio0,udmabuf0"):
        kaiten.load(demo).board("uio0")
