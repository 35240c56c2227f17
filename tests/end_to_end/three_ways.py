"""Reads one dump of a .NET program three ways, and compares them frame by frame: by the runtime's debugging library
under Wine, by the runtime's data contracts under Wine, and by the contracts on this system. Compares what `report` and
`compare` find in dumps under Wine and on this system."""

import json
import os
import queue
import re
import subprocess
import tempfile
import threading
import time

from grown_dump import grow

# Of a frame. The names, lines and inlined functions of native code depend on which files of the system each way finds,
# so they are not compared.
FACTS = ["kind", "address", "return_address", "stack_pointer", "trust", "run", "target"]
MANAGED_FACTS = FACTS + ["name", "display", "file", "line", "line_approximate"]
SECONDS = 120
SHOWN = 100  # differences that are printed
RUNS = 3     # the shortest of them counts


class Failed(Exception):
    """A program did not start, or a dump could not be written or read: one line."""


class Program:
    """A program under Wine that prints READY or PARKED when it can be dumped, and ends when its input does."""

    def __init__(self, wine, path, arguments, environment=None):
        self.name = os.path.basename(path)
        self.process = subprocess.Popen([*wine, path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, cwd=tempfile.gettempdir(),
                                        env={**os.environ, **(environment or {})})
        # Somebody must read what the program prints, or it waits for ever when the pipe is full.
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def wait(self):
        """Waits until the program can be dumped. Returns the options that name it; not every program prints its id."""
        while True:
            try:
                line = self.lines.get(timeout=SECONDS)
            except queue.Empty:
                raise Failed(f"{self.name} is not ready") from None
            if line is None:
                raise Failed(f"{self.name} did not start")
            if found := re.match(r"(?:READY|PARKED) (\d+)(?: \d+)*\s*$", line):
                return ["-p", found.group(1)]
            if line.startswith(("READY", "PARKED")):
                return ["-n", self.name]

    def go_on(self):
        """Lets a program that stands at PARKED go on to its next place."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        if self.process.stdin.closed:
            return
        try:
            self.process.stdin.write("STOP\n")
            self.process.stdin.close()
            self.process.wait(20)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def run(command, what):
    """Returns what the program writes: its output, and what it says beside it.

    Folklore: the debugging library's signature is checked, for which Wine starts "explorer.exe /desktop" now and then. It
    inherits the output of mixwalk.exe and may run for minutes. Whoever reads that output from a pipe waits for its end,
    although mixwalk.exe has ended (in 4 of some 200 dumps). Remedy: the output goes to files.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            code = subprocess.run(command, stdout=out, stderr=err, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            raise Failed(f"{what}: not ended after {SECONDS} s") from None
        if code not in (0, 20, 21, 22):  # what was found: a program that is stuck, a deadlock, a crash
            err.seek(0)
            words = err.read().decode(errors="replace").strip() or f"exit code {code}"
            raise Failed(f"{what}: {words.splitlines()[-1]}")
        out.seek(0)
        err.seek(0)
        return out.read(), err.read().decode(errors="replace")


def dump_of(command, path, what):
    """The dump, and what is said beside it."""
    dump, said = run([*command, path, "-v", "-f", "json"], what)
    return json.loads(dump), said


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


def cost(command):
    """The most memory that a program of this system takes, in MiB, and its time from start to end, in milliseconds."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    milliseconds = 1000 * (time.monotonic() - begin)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024, milliseconds


def frames_of(thread):
    """Without the inlined functions of native code. The inlined stubs of P/Invokes are among them."""
    return [frame for frame in thread["frames"] if "inline_depth" not in frame or frame["kind"] == "stub"]


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


def without_frame_numbers(value):
    """Only one of the systems may find the files that say which native functions are inlined; those count as frames."""
    if isinstance(value, list):
        return [without_frame_numbers(part) for part in value]
    if isinstance(value, dict):
        return {name: without_frame_numbers(part) for name, part in value.items()
                if name not in ("frame", "program_frame")}
    return re.sub(r" \(\d+ native frames?\)", "", value) if isinstance(value, str) else value


def found_in(document):
    """What `report -f json` or `compare -f json` says about the program."""
    facts = ("os_id", "roles", "verdict", "since", "sightings")
    threads = [{fact: thread[fact] for fact in facts} for thread in document["threads"]]
    return without_frame_numbers({"result": document["result"], "headline": document["headline"],
                                  "findings": document["findings"], "threads": threads})


def differences_of_findings(name, wanted, found):
    """Yields a line for each difference."""
    for fact in ("result", "headline"):
        if wanted[fact] != found[fact]:
            yield f"{name}: {fact}: {wanted[fact]} / {found[fact]}"
    for fact in ("findings", "threads"):
        if len(wanted[fact]) != len(found[fact]):
            yield f"{name}: {len(wanted[fact])} / {len(found[fact])} {fact}"
        for number, (one, other) in enumerate(zip(wanted[fact], found[fact])):
            if one != other:
                yield f"{name}: {fact} {number}: {one} / {other}"


class Comparison:
    """Counts what the three ways say about dumps, and keeps their differences."""

    def __init__(self, wine, mixwalk, native, writer=None, minidump_type=None):
        """`mixwalk`: mixwalk.exe; `native`: mixwalk for this system; `writer`: writes dumps instead of mixwalk.exe, of
        this MINIDUMP_TYPE."""
        self.wine, self.mixwalk, self.native, self.writer = wine, mixwalk, native, writer
        self.minidump_type = [minidump_type] if minidump_type else []
        self.frames = self.managed = self.threads = self.whole = self.dumps = self.findings = 0
        self.peak_mib = self.slowest_ms = 0  # of the native program
        self.agreement = Agreement()
        self.wrong = 0     # the number of differences; each is printed when it is found

    def is_wrong(self, what):
        self.wrong += 1
        if self.wrong <= SHOWN:
            print(what, flush=True)

    def write(self, name, process, path):
        if self.writer:
            run([*self.wine, self.writer, process[1], "Z:" + path, *self.minidump_type], f"{name}, writing a dump")
        else:
            run([*self.wine, self.mixwalk, "dump", *process, "-o", "Z:" + path], f"{name}, writing a dump")

    def read(self, name, path, images, grown_bytes=0):
        """`images`: the folders with assemblies, PDBs and images, for the way that does not read the paths in the dump.
        `grown_bytes`: if it is not 0, the dump is also read here after it has grown to this size."""
        by_library, _ = dump_of([*self.wine, self.mixwalk, "dump", "--runtime-data", "dac"], "Z:" + path, f"{name}, library")
        by_contracts, _ = dump_of([*self.wine, self.mixwalk, "dump", "--runtime-data", "contracts"], "Z:" + path,
                                  f"{name}, contracts")
        native = [self.native, "dump", "--runtime-data", "contracts", "--symbol-path", images]
        here, said = dump_of(native, path, f"{name}, here")
        costs = [cost([*native, path, "-o", os.devnull, "-f", "text"]) for _ in range(RUNS)]
        if grown_bytes:
            grow(path, grown_bytes)
            grown, _ = dump_of(native, path, f"{name}, with more memory")
            if grown != here:
                self.is_wrong(f"{name}: the same dump with more memory is shown in another way")
            costs.append(cost([*native, path, "-o", os.devnull, "-f", "text"]))
        self.peak_mib = max(self.peak_mib, *(mib for mib, _ in costs))
        self.slowest_ms = max(self.slowest_ms, min(milliseconds for _, milliseconds in costs))
        threads = by_library["threads"]
        self.dumps += 1
        self.threads += len(threads)
        self.whole += sum(thread["whole"] for thread in threads)
        frames = sum(len(frames_of(thread)) for thread in threads)
        managed = sum(frame["kind"] == "managed" and bool(frame["name"])
                      for thread in threads for frame in thread["frames"])
        if managed == 0:
            self.is_wrong(f"{name}: the debugging library has named no frame")
        if not self.agreement.add(said):
            self.is_wrong(f"{name}: the runtime has noted no call")
        self.frames += frames
        self.managed += managed
        for way, dump in (("contracts", by_contracts), ("here", here)):
            for difference in differences(f"{name}, {way}", by_library, dump):
                self.is_wrong(difference)
        return frames, managed

    def explain(self, name, paths, images):
        """Compares what is found in dumps, in one or in several of one program."""
        command = ["report" if len(paths) == 1 else "compare", "-f", "json"]
        under_wine, _ = run([*self.wine, self.mixwalk, *command, *("Z:" + path for path in paths)],
                            f"{name}, {command[0]}")
        here, _ = run([self.native, *command, *paths, "--symbol-path", images], f"{name}, {command[0]} here")
        wanted, found = found_in(json.loads(under_wine)), found_in(json.loads(here))
        self.findings += len(wanted["findings"])
        for difference in differences_of_findings(f"{name}, {command[0]}", wanted, found):
            self.is_wrong(difference)

    def dump(self, name, program, arguments, images, dumps=1, environment=None, grown_bytes=0):
        """Starts a program, and reads dumps of it. A program that hangs is dumped once more, for `compare`.
        `grown_bytes`: as for read()."""
        running = Program(self.wine, program, arguments, environment)
        try:
            process = running.wait()
            for number in range(dumps):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "x.dmp")
                    self.write(name, process, path)
                    paths = [path]
                    if running.name == "hangs.exe":
                        paths.append(os.path.join(folder, "y.dmp"))
                        self.write(name, process, paths[-1])
                    # The program's work would slow down the readers.
                    if number == dumps - 1:
                        running.end()
                    frames, managed = self.read(name, path, images, grown_bytes)
                    self.explain(name, paths, images)
                    print(f"{name}: {frames} frames, {managed} of them managed", flush=True)
                if running.name == "ladder.exe" and number < dumps - 1:
                    running.go_on()
                    process = running.wait()
        except Failed as failed:
            self.is_wrong(str(failed))
        finally:
            running.end()
