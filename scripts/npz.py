# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays as NumPy stores them, for tests and benches that do without it."""
import io
import struct
import zipfile


def npy(descr, shape, data):
    """The bytes of a .npy file: an array of these sides, in C order."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(compression=zipfile.ZIP_STORED, **arrays):
    """The bytes of a .npz file of such arrays by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as z:
        for name, data in arrays.items():
            z.writestr(name + ".npy", data)
    return buffer.getvalue()
