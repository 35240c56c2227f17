#!/usr/bin/python3
"""Dumps two builds of one program, and compares the managed frames of their threads.

usage: same_program.py WINDOWS_BUILD PROGRAM OTHER_PROGRAM [ARGUMENT…]

PROGRAM and OTHER_PROGRAM are two builds of one fixture by one compiler, such as monitors.exe with an image for each
assembly and with one composite image. (Another compiler inlines other methods.) Each is dumped from inside, from
outside and as a dump file. In each way, each named thread must have the same managed frames: kind, name, file and line.
By hand: tests/tools/runtime-kinds.
"""

import os
import sys
import tempfile

from three_ways import Failed, Program, dump_of, run

FACTS = ["kind", "name", "line", "line_approximate"]
WAYS = {"inside": ["--inside", "--wait", "20s"], "outside": ["--outside"], "dump file": None}


def frames(dump):
    """Of each named thread, those that have a name."""
    found = {}
    for thread in dump["threads"]:
        if thread["name"]:
            found[thread["name"]] = [(*(frame.get(fact) for fact in FACTS), os.path.basename(frame.get("file") or ""))
                                     for frame in thread["frames"] if frame["kind"] == "managed"]
    return found


def dumps(wine, mixwalk, path, arguments):
    """The frames of each way."""
    program, found = Program(wine, path, arguments), {}
    try:
        process = program.wait()
        for way, options in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                file = os.path.join(folder, "x.dmp")
                if options is None:
                    run([*wine, mixwalk, "dump", *process, "-o", "Z:" + file], f"{path}, writing a dump")
                    dump, _ = dump_of([*wine, mixwalk, "dump"], "Z:" + file, f"{path}, {way}")
                else:
                    dump, _ = dump_of([*wine, mixwalk, "dump", *process, *options], "--no-host", f"{path}, {way}")
            found[way] = frames(dump)
    finally:
        program.end()
    return found


def main():
    build, path, other, *arguments = sys.argv[1:]
    repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    wine, mixwalk = [os.path.join(repository, "tests/tools/wine")], os.path.join(build, "bin", "mixwalk.exe")
    try:
        one, two = (dumps(wine, mixwalk, program, arguments) for program in (path, other))
    except Failed as failed:
        print(failed)
        return 1
    wrong = compared = lines = 0
    for way in WAYS:
        for name in sorted(one[way].keys() | two[way].keys()):
            left, right = one[way].get(name, []), two[way].get(name, [])
            compared += len(left)
            lines += sum(frame[2] is not None for frame in left)
            if left != right:
                wrong += 1
                print(f"{way}: thread {name}:\n  {left}\n  {right}")
    print(f"{compared} managed frames of {len(WAYS)} ways ({lines} with a line), {wrong} threads differ")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
