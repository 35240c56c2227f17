"""The golden .mixwalk files, read by programs that nobody here wrote: protoc, by docs/mixwalk.proto,
must see what tests/golden has as text; zlib's CRC-32 must be that of every record.

usage: read_with_protoc.py SOURCE_DIR WORKING_DIR
"""

import pathlib
import subprocess
import sys
import zlib

MAGIC = b"\n\x07mixwalk"
CHECKSUM_TAG = 0x7D


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def check_records(data):
    """Each record's field number, in order; an error where a checksum is another one."""
    assert data.startswith(MAGIC), "no magic"
    kinds = []
    start = len(MAGIC)
    while start < len(data):
        tag, at = varint(data, start)
        length, at = varint(data, at)
        end = at + length
        assert tag & 7 == 2 and end <= len(data), f"no record at byte {start}"
        assert data[end - 5] == CHECKSUM_TAG, f"no checksum before byte {end}"
        crc = int.from_bytes(data[end - 4 : end], "little")
        assert crc == zlib.crc32(data[start : end - 5]), f"wrong checksum before byte {end}"
        kinds.append(tag >> 3)
        start = end
    return kinds


def main(source, working):
    golden = source / "tests/golden"
    failed = False
    for name in ("wall", "dump", "async"):
        data = (golden / f"{name}.mixwalk").read_bytes()
        kinds = check_records(data)
        assert kinds == [2, 3, 4], f"{name}: records {kinds}"
        decoded = subprocess.run(
            ["protoc", "--decode=mixwalk.File", f"-I{source}/docs", "mixwalk.proto"],
            input=data, stdout=subprocess.PIPE, check=True).stdout
        # protoc prints fields that the schema does not have by their numbers.
        unknown = [line for line in decoded.splitlines() if line.strip()[:1].isdigit()]
        assert not unknown, f"{name}: not in the schema: {unknown}"
        expected = golden / f"{name}.mixwalk.txt"
        if not expected.exists() or decoded != expected.read_bytes():
            (working / f"{name}.mixwalk.txt.actual").write_bytes(decoded)
            print(f"protoc reads {name}.mixwalk differently: {name}.mixwalk.txt.actual")
            failed = True
    return failed


sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
