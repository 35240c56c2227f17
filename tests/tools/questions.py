#!/usr/bin/python3
"""The outputs in docs/questions.md, which are real: programs of fixtures/ were recorded, and mixwalk shows the recordings.

usage: questions.py check MIXWALK REPOSITORY   compares the page with what MIXWALK (for Linux) prints now
       questions.py write MIXWALK REPOSITORY   writes what MIXWALK prints now into the page
       questions.py record REPOSITORY          records the programs again, under Wine (tests/tools/wine), which takes some
                                               minutes; needs the target `fixtures` and mixwalk.exe of build/windows

In the page, a comment stands before each block whose output is held: <!-- FILE…: ARGUMENTS -->. FILE is in
tests/golden/questions, and may be given another name, as FILE=NAME. MIXWALK runs with ARGUMENTS in a folder with these
files. The block begins with the commands that a reader types, and has the output behind an empty line. A line "…" stands
for lines that are left out, "… " at the beginning of a line and " …" at its end for the rest of the line.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib

BLOCK = re.compile(r"<!-- ([^:>]*): ([^>]*) -->\n```\n(.*?\n)\n(.*?)```\n", re.S)
FOLDER = "tests/golden/questions"


def output_of(mixwalk, repository, files, arguments):
    """What mixwalk prints, and its exit code behind that if it is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files.split():
            name, _, shown = file.partition("=")
            shutil.copy(os.path.join(repository, FOLDER, name), os.path.join(folder, shown or name))
        run = subprocess.run([mixwalk, *shlex.split(arguments)], cwd=folder, text=True, encoding="utf-8",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return run.stdout + (f"exit code {run.returncode}\n" if run.returncode and not run.stdout else "")


def fits(shown, line):
    middle = shown.removeprefix("… ").removesuffix(" …")
    if not shown.startswith("… "):
        return line.startswith(middle) if shown.endswith(" …") else shown == line
    return middle in line if shown.endswith(" …") else line.endswith(middle)


def is_shown(shown, output):
    """Whether the lines of the page are those of the output, but for what the page leaves out."""
    lines, at, skips = output.splitlines(), 0, False
    for text in shown.splitlines():
        if text == "…":
            skips = True
            continue
        while skips and at < len(lines) and not fits(text, lines[at]):
            at += 1
        if at == len(lines) or not fits(text, lines[at]):
            return False
        at, skips = at + 1, False
    return skips or at == len(lines)


def shortened(shown, output):
    """The output with the omissions of the page, as far as they are still found; otherwise the whole output."""
    texts, lines, result, at = shown.splitlines(), output.splitlines(), [], 0
    for i, text in enumerate(texts):
        if text != "…":
            continue
        kept = len([before for before in texts[:i] if before != "…"]) - len([line for line in result if line != "…"])
        result += lines[at:at + kept] + ["…"]
        after = next((later for later in texts[i + 1:] if later != "…"), None)
        at = next((k for k in range(at + kept, len(lines)) if after is None or fits(after, lines[k])), len(lines))
        if after is None:
            return "\n".join(result) + "\n"
    result += lines[at:]
    cut = [text for text in texts if text.endswith(" …") or text.startswith("… ")]
    result = [next((text for text in cut if fits(text, line)), line) for line in result]
    return "\n".join(result) + "\n"


def hold(mixwalk, repository, write):
    path = os.path.join(repository, "docs/questions.md")
    with open(path, encoding="utf-8") as file:
        page = file.read()
    faults, blocks = [], 0

    def held(match):
        nonlocal blocks
        blocks += 1
        files, arguments, commands, shown = match.groups()
        output = output_of(mixwalk, repository, files, arguments)
        if is_shown(shown, output):
            return match[0]
        faults.append(f"{path}: the output of `mixwalk {arguments}` ({files}) is now:\n{output}")
        return match[0][:match.start(4) - match.start()] + shortened(shown, output) + "```\n"

    page = BLOCK.sub(held, page)
    if blocks < 15:
        faults.append(f"{path} has {blocks} outputs that are held")
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return 0
    for fault in faults:
        print(fault)
    if not faults:
        print(f"{blocks} outputs are those of mixwalk")
    return 1 if faults else 0


# Each recording: its file, the fixture with its arguments, and mixwalk's arguments. PID stands for the fixture's process.
# Fixture None: mixwalk starts it.
ATTACHED = [
    ("orders.mixwalk", ["orders-demo.exe"], ["dump", "-p", "PID", "--at-once"]),
    ("deadlock.mixwalk", ["hangs.exe", "--way", "crossed-monitors"], ["dump", "-p", "PID", "--repeat", "3"]),
    ("pool.mixwalk", ["hangs.exe", "--way", "starved-pool"], ["dump", "-p", "PID", "--repeat", "3"]),
    ("native.mixwalk", ["hangs.exe", "--way", "monitor-in-native-code"], ["dump", "-p", "PID", "--repeat", "3"]),
    ("spin.mixwalk", ["hangs.exe", "--way", "spin"],
     ["dump", "-p", "PID", "--repeat", "3", "--every", "3s"]),
    ("idle.mixwalk", ["hangs.exe", "--way", "idle"], ["dump", "-p", "PID", "--repeat", "3"]),
    ("calm.mixwalk", ["hangs.exe", "--way", "idle"], ["dump", "-p", "PID", "--repeat", "3"]),
    ("cpu.mixwalk", ["sqlite.exe", "--work"], ["record", "-p", "PID", "--mode", "cpu", "-d", "10s"]),
    ("yesterday.mixwalk", ["bench.exe", "--work", "2", "--managed", "2", "--pause", "100"],
     ["record", "-p", "PID", "-d", "10s"]),
    ("today.mixwalk", ["bench.exe", "--work", "2", "--managed", "2", "--pause", "0"],
     ["record", "-p", "PID", "-d", "10s"]),
]
STARTED = [
    ("exceptions.mixwalk", ["record", "--on", "exception"],
     ["events.exe", "--now", "--rounds", "10"]),
    ("allocations.mixwalk", ["record", "--on", "allocation", "--every", "100"],
     ["events.exe", "--now", "--rounds", "300"]),
    ("loads.mixwalk", ["record", "--on", "module-load"],
     ["events.exe", "--now", "--loads", "--rounds", "1"]),
    ("start.mixwalk", ["record", "--on", "exception"], ["events.exe", "--now", "--throws"]),
]


def records(content):
    """Each record of a .mixwalk file (docs/format.md): the magic, the header, chunks, the footer."""
    at = 0
    while at < len(content):
        begin, length, shift, at = at, 0, 0, at + 1
        while True:
            byte, at = content[at], at + 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        at += length
        yield content[begin:at]


def without_folder(content, folder):
    """The file with another folder of the same length in place of that of the repository, which is one of this machine."""
    other = ("/src/" + "-" * len(folder))[:len(folder)]
    result = b""
    for number, record in enumerate(records(content)):
        for old, new in ((folder, other), (folder.replace("/", "\\"), other.replace("/", "\\"))):
            record = record.replace(old.encode(), new.encode())
        if number > 0:
            record = record[:-4] + zlib.crc32(record[:-5]).to_bytes(4, "little")
        result += record
    return result


class Recorder:
    def __init__(self, repository):
        self.repository = repository
        self.wine = os.path.join(repository, "tests/tools/wine")
        self.folder = os.path.join(repository, FOLDER)
        # A folder of Wine's own disk, so that no path of this machine is in the files.
        self.run("mixwalk.exe", "--version")
        programs = os.path.join(repository, "build/wine/drive_c/app")
        shutil.rmtree(programs, ignore_errors=True)
        shutil.copytree(os.path.join(repository, "build/windows/fixtures"), programs, copy_function=os.link,
                        ignore=shutil.ignore_patterns("CMakeFiles"))

    def run(self, program, *arguments):
        program = os.path.join(self.repository, "build/windows/bin", program)
        return subprocess.run([self.wine, program, *arguments], stdin=subprocess.DEVNULL, text=True, cwd=self.folder,
                              timeout=500).returncode

    def attached(self, file, fixture, arguments):
        process = subprocess.Popen([self.wine, "C:\\app\\" + fixture[0], *fixture[1:]], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        pid = next(line.split()[1] for line in process.stdout if line.startswith("READY"))
        code = self.run("mixwalk.exe", *[pid if word == "PID" else word for word in arguments], "-o", file)
        process.kill()
        process.stdout.close()
        if code:
            raise SystemExit(f"{file}: mixwalk ends with {code}")

    def started(self, file, arguments, program):
        code = self.run("mixwalk.exe", *arguments, "-o", file, "--", "C:\\app\\" + program[0], *program[1:])
        if code:
            raise SystemExit(f"{file}: mixwalk ends with {code}")


def record(repository, only):
    recorder, recorded = Recorder(repository), []
    for file, fixture, arguments in ATTACHED:
        if not only or file in only:
            recorder.attached(file, fixture, arguments)
            recorded.append(file)
    for file, arguments, program in STARTED:
        if not only or file in only:
            recorder.started(file, arguments, program)
            recorded.append(file)
    for file in recorded:
        path = os.path.join(recorder.folder, file)
        with open(path, "rb") as recording:
            content = recording.read()
        with open(path, "wb") as recording:
            recording.write(without_folder(content, repository))


def main():
    if len(sys.argv) == 4 and sys.argv[1] in ("check", "write"):
        return hold(os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[1] == "write")
    if len(sys.argv) >= 3 and sys.argv[1] == "record":
        return record(os.path.abspath(sys.argv[2]), sys.argv[3:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
