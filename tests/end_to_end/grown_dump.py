"""Makes a dump with memory of many GiB from one with less: a sparse file, which takes hardly more room on the disk."""

import os
import struct

MEMORY64_LIST = 9  # MINIDUMP_STREAM_TYPE


def grow(path, to_bytes):
    """Lets the last range of memory of a dump file be so long that the file has `to_bytes`. The new memory is zeros.

    The memory must be at the end of the file, as mixwalk and MiniDumpWriteDump write it.
    """
    with open(path, "r+b") as dump:
        _, _, streams, directory = struct.unpack("<4sIII", dump.read(16))
        dump.seek(directory)
        entries = struct.iter_unpack("<III", dump.read(12 * streams))
        at = next(place for kind, _, place in entries if kind == MEMORY64_LIST)
        dump.seek(at)
        count, base = struct.unpack("<QQ", dump.read(16))
        ranges = list(struct.iter_unpack("<QQ", dump.read(16 * count)))
        held, old = sum(size for _, size in ranges), os.path.getsize(path)
        if base + held != old:
            raise ValueError(f"{path} has {old - base - held} bytes behind its memory")
        dump.seek(at + 16 * count)  # the last of the ranges, which is at the highest address
        start, size = ranges[-1]
        dump.write(struct.pack("<QQ", start, size + to_bytes - old))
        dump.truncate(to_bytes)
