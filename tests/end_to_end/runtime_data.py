#!/usr/bin/python3
"""Compares what mixwalk reads by the runtime's data contracts with the answers of the runtime's debugging library.

usage: runtime_data.py WINDOWS_BUILD NATIVE_MIXWALK [WINE]

Programs of the fixtures, with .NET 9 and 10, are dumped (mixwalk dump -o NAME.dmp). Each dump is read three ways: by
the debugging library under Wine, by the contracts under Wine, and by the contracts on this system. All stacks, names,
P/Invoke targets, lines and locks must be the same. The walk must find each caller that the runtime has noted itself.
MIXWALK_ALL_PROGRAMS=1 adds more programs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
# Folder beside fixtures/, program, arguments.
SOME = [("fixtures", "hang.exe", []), ("fixtures-net9.0", "monitors.exe", [])]
MORE = [
    ("fixtures", "monitors.exe", []),
    ("fixtures-net9.0", "hang.exe", []),
    ("fixtures", "threads.exe", ["--situation", "spawn"]),
    ("fixtures", "single.exe", []),
    ("fixtures", "sqlite.exe", ["--loop", "60"]),
    ("fixtures", "torture.exe", ["--seconds", "100"]),
    ("fixtures", "locks.exe", ["--lock", "jit"]),
    ("fixtures", "orders-demo.exe", []),
    ("fixtures-kestrel", "kestrel.exe", []),
]
# Of a frame. The names, lines and inlined functions of native code depend on which files of the system each way finds,
# so they are not compared.
FACTS = ["kind", "address", "return_address", "stack_pointer", "trust", "run", "target"]
MANAGED_FACTS = FACTS + ["name", "display", "file", "line", "line_approximate"]
READ_SECONDS = 120


class Program:
    """A program under Wine that prints READY and its id, and ends when its input does."""

    def __init__(self, wine, path, arguments):
        self.process = subprocess.Popen([*wine, path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.id = None
        for line in self.process.stdout:
            found = re.match(r"READY (\d+)", line)
            if found:
                self.id = int(found.group(1))
                break

    def end(self):
        try:
            self.process.stdin.write("STOP\n")
            self.process.stdin.close()
            self.process.wait(60)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()


def dump_of(command, path):
    """The dump, and what is said beside it."""
    result = subprocess.run([*command, path, "-v", "-f", "json"], capture_output=True, timeout=READ_SECONDS)
    said = result.stderr.decode(errors="replace")
    if result.returncode != 0:
        sys.exit(f"runtime_data: {command} {path}: {said}")
    return json.loads(result.stdout), said


class Agreement:
    """How far the walk and the runtime's own notes about calls agree."""

    def __init__(self):
        self.confirmed = self.runs = self.contradicted = self.callers = self.found = 0

    def add(self, said):
        words = re.search(r"notes about calls confirm (\d+) of (\d+) native runs .* contradict (\d+); "
                          r"of (\d+) callers .* found (\d+)", said)
        numbers = [int(number) for number in words.groups()] if words else [0] * 5
        self.confirmed += numbers[0]
        self.runs += numbers[1]
        self.contradicted += numbers[2]
        self.callers += numbers[3]
        self.found += numbers[4]
        return words is not None


def frames_of(thread):
    return [frame for frame in thread["frames"] if "inline_depth" not in frame]


def facts_of(frame):
    return {fact: frame.get(fact) for fact in (FACTS if frame["kind"] == "native" else MANAGED_FACTS)}


def differences(name, wanted, found):
    """Yields a line for each difference."""
    for fact in ("unasked", "locks_missing"):
        if wanted[fact] != found[fact]:
            yield f"{name}: {fact}: {wanted[fact]} / {found[fact]}"
    if wanted["locks"] != found["locks"]:
        yield f"{name}: locks: {wanted['locks']} / {found['locks']}"
    for thread, other in zip(wanted["threads"], found["threads"], strict=True):
        where = f"{name}: thread {thread['os_id']}"
        for fact in ("os_id", "clr_id", "managed", "whole"):
            if thread[fact] != other[fact]:
                yield f"{where}: {fact}: {thread[fact]} / {other[fact]}"
        frames, others = frames_of(thread), frames_of(other)
        if len(frames) != len(others):
            yield f"{where}: {len(frames)} / {len(others)} frames"
        for number, (frame, same) in enumerate(zip(frames, others)):
            for fact, value in facts_of(frame).items():
                if value != same.get(fact):
                    yield f"{where}: frame {number} {frame.get('name')}: {fact}: {value} / {same.get(fact)}"


def main():
    build, native = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    wine = [sys.argv[3] if len(sys.argv) > 3 else os.path.join(repository, "tests/tools/wine")]
    mixwalk = os.path.join(build, "bin", "mixwalk.exe")
    if not os.path.exists(mixwalk) or not os.path.exists(os.path.join(build, "fixtures.stamp")):
        print(f"runtime_data: skipped: {build} has no mixwalk.exe or no fixtures")
        return SKIPPED
    programs = SOME + (MORE if os.environ.get("MIXWALK_ALL_PROGRAMS") == "1" else [])
    frames, wrong, agreement = 0, [], Agreement()
    with tempfile.TemporaryDirectory() as folder:
        for place, program, arguments in programs:
            name = f"{place}/{program}"
            running = Program(wine, os.path.join(build, place, program), arguments)
            if running.id is None:
                sys.exit(f"runtime_data: {name} did not start")
            file = os.path.join(folder, "x.dmp")
            try:
                written = subprocess.run([*wine, mixwalk, "dump", "-p", str(running.id), "-o", "Z:" + file],
                                         capture_output=True, timeout=READ_SECONDS)
            finally:
                running.end()
            if written.returncode != 0:
                sys.exit(f"runtime_data: {name}: {written.stderr.decode(errors='replace')}")
            # Where the files of assemblies and their PDBs are, for the way that does not read the paths in the dump.
            images = ["--symbol-path", os.path.join(build, place)]
            by_library, _ = dump_of([*wine, mixwalk, "dump", "--runtime-data", "dac"], "Z:" + file)
            by_contracts, _ = dump_of([*wine, mixwalk, "dump", "--runtime-data", "contracts"], "Z:" + file)
            here, said = dump_of([native, "dump", "--runtime-data", "contracts", *images], file)
            os.remove(file)
            count = sum(len(frames_of(thread)) for thread in by_library["threads"])
            managed = sum(frame["kind"] == "managed" and bool(frame["name"])
                          for thread in by_library["threads"] for frame in thread["frames"])
            if managed == 0:
                wrong.append(f"{name}: the debugging library has named no frame")
            frames += count
            if not agreement.add(said):
                wrong.append(f"{name}: the runtime has noted no call")
            wrong += differences(f"{name}, contracts", by_library, by_contracts)
            wrong += differences(f"{name}, here", by_library, here)
            print(f"{name}: {count} frames, {managed} of them managed", flush=True)
    if agreement.contradicted != 0 or agreement.found != agreement.callers:
        wrong.append(f"the runtime's notes about calls contradict {agreement.contradicted} native runs; "
                     f"{agreement.found} of {agreement.callers} callers were found")
    print(f"the runtime's notes about calls confirm {agreement.confirmed} of {agreement.runs} native runs")
    for line in wrong[:50]:
        print(line)
    print(f"{len(programs)} programs, {frames} frames, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.TimeoutExpired as late:
        sys.exit(f"runtime_data: {late}")
