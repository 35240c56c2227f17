"""Runs mixwalk with outputs that cannot be written, and checks what it says and what it leaves.
usage: check_outputs.py MIXWALK RECORDING"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

MIXWALK, RECORDING = sys.argv[1:]
OUTPUT_FAILED = 10


def convert(*options, setup=None, **how):
    how.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([MIXWALK, "convert", RECORDING, "-f", "firefox", *options], stderr=subprocess.PIPE,
                          preexec_fn=setup, timeout=60, check=False, **how)


def expect(condition, text):
    if not condition:
        sys.exit(f"failed: {text}")


def expect_failed(result, why):
    said = result.stderr.decode()
    expect(result.returncode == OUTPUT_FAILED, f"exit code {result.returncode}: {said}")
    expect(said.startswith("mixwalk: cannot write ") and why in said and said.count("\n") == 1, said)


def main():
    whole = convert("-o", "-").stdout
    with tempfile.TemporaryDirectory() as folder:
        old = pathlib.Path(folder, "old.json")
        old.write_text("old")

        def only_old():
            expect(old.read_text() == "old" and os.listdir(folder) == ["old.json"], "the old file alone stays")

        # A file that may not grow so far (as on a full disk).
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        expect_failed(convert("-o", str(old), setup=small), "File too large")
        only_old()
        expect_failed(convert("-o", "-", stdout=open("/dev/full", "wb")), "No space left on device")
        # A reader that has gone, as `head` does, and no standard output at all.
        reader, writer = os.pipe()
        os.close(reader)
        expect_failed(convert("-o", "-", stdout=writer), "Broken pipe")
        expect_failed(convert("-o", "-", setup=lambda: os.close(1)), "Bad file descriptor")
        # Without standard streams, nothing else is written into the file.
        def no_streams():
            for stream in range(3):
                os.close(stream)
        to_file = pathlib.Path(folder, "new.json")
        expect(convert("-o", str(to_file), setup=no_streams).returncode == 0, "a file needs no standard streams")
        expect(to_file.read_bytes() == whole, "the file is the whole output")
        to_file.unlink()
        # What is written through: earlier output of the shell stays in front of it.
        with open(to_file, "wb", buffering=0) as shared:
            shared.write(b"earlier\n")
            expect(convert("-o", "/dev/stdout", stdout=shared).returncode == 0, "/dev/stdout")
        expect(to_file.read_bytes() == b"earlier\n" + whole, "/dev/stdout is what is open there")
        to_file.unlink()
        expect(convert("-o", "/dev/stdout").stdout == whole, "/dev/stdout is a pipe")
        expect(convert("-o", "/dev/null").returncode == 0 and not pathlib.Path("/dev/null").is_file(), "/dev/null")
        # A signal leaves no incomplete file. The input is a pipe that never ends.
        pipe = pathlib.Path(folder, "pipe")
        os.mkfifo(pipe)
        compare = subprocess.Popen([MIXWALK, "compare", str(pipe), str(pipe), "-o", str(old)], stderr=subprocess.PIPE)
        with open(pipe, "wb"):  # open() waits until mixwalk reads it
            expect(sorted(os.listdir(folder)) == ["old.json", "old.json.partial", "pipe"], "the output is open")
            compare.send_signal(signal.SIGINT)
            expect(compare.wait(60) == -signal.SIGINT, "the signal ends mixwalk")
        pipe.unlink()
        only_old()


main()
