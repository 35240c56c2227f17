#!/usr/bin/python3
"""Compares what mixwalk reads by the runtime's data contracts with the answers of the runtime's debugging library.

usage: runtime_data.py WINDOWS_BUILD NATIVE_MIXWALK [--all] [--only TEXT] [--fixtures FOLDER] [--wine PROGRAM]
                       [--minidump [--type NUMBER] [--images FOLDER]] [--environment NAME=VALUE] [--sanitized]

Programs of the fixtures, with .NET 9 and 10, are dumped (mixwalk dump -o NAME.dmp). Each dump is read three ways
(three_ways.py). All stacks, names, P/Invoke targets, lines and locks must be the same, and so must be what `report`
finds in the dump under Wine and on this system. The walk must find each caller that the runtime has noted itself.

--all: all programs of the fixtures, some twenty minutes. --only: the programs whose name or arguments contain TEXT.
--fixtures: the folder with the programs, such as one that tests/tools/runtime-versions has made; by default those of the
build. --minidump: dumps by MiniDumpWriteDump; with `--wine tests/tools/wine-dbghelp`, by Microsoft's. --type: its
MINIDUMP_TYPE, by default one with all memory. --images: where this system finds images that a small dump lacks.
--environment: of the programs, such as DOTNET_gcServer=1. --sanitized: NATIVE_MIXWALK has AddressSanitizer, which takes
memory itself.
"""

import argparse
import os
import sys

from three_ways import Comparison

SKIPPED = 77
# For the dumps of SOME, which have 120 to 150 MB, and 4 GiB after they have grown.
MOST_MIB = 64
MOST_MIB_SANITIZED = 150  # 112 with AddressSanitizer's own memory, where 41 are without it
GROWN_BYTES = 4 << 30
DYNAMIC = {"DOTNET_EnableWriteXorExecute": "0"}  # scoped_environment.cpp: dynamic_methods_may_end()
# Folder beside fixtures/, program, arguments.
SOME = [("fixtures", "hang.exe", []), ("fixtures-net9.0", "monitors.exe", [])]

# All programs that a folder of fixtures may have: program, arguments, number of dumps.
HANGS = ["crossed-monitors", "monitor-in-native-code", "crossed-section", "apartment", "apartments", "context",
         "starved-pool", "class-constructor", "inlined", "callback", "finalizer", "exit", "collection", "collections",
         "loader-lock", "turns", "reader-writer-lock", "reader-writer-turns", "semaphore-turns", "interpreter",
         "spin-lock", "cancellation", "polls"]
HUNTS = ["fibers", "coroutines", "small-stacks", "stack-growth", "cpp-exceptions", "longjmp", "seh", "vectored",
         "terminated", "apcs", "waits", "erased-headers", "corrupt-function-table", "mapped-by-hand",
         "mapped-without-unwind-data", "many-images", "growable-tables", "engine", "retabled", "stale-table",
         "libraries", "moved-limits", "contexts", "native-threads", "turns", "own-suspensions", "table-callbacks",
         "moves-rsp", "dynamic-methods", "gc", "long-loops", "tiering", "expressions", "throw", "caught", "tasks",
         "apartments", "null", "end-of-stack", "deep", "thousand", "threads", "pool", "chains", "cancelled"]
DYNAMIC_HUNTS = ["dynamic-methods", "expressions", "tiering"]
ALL = [
    ("hang.exe", [], 1),
    ("hang.exe", ["--finalizer"], 1),
    ("hang.exe", ["--lock-step"], 2),
    ("hang.exe", ["--many", "100"], 1),
    ("monitors.exe", [], 1),
    ("monitors.exe", ["--collect"], 1),
    ("monitors.exe", ["--motion"], 3),
    ("monitors.exe", ["--lock-motion"], 3),
    ("monitors.exe", ["--moved"], 1),
    ("monitors.exe", ["--many", "3000"], 1),
    # A thousand and more managed frames, over calls into native code and back.
    ("bench.exe", ["--native", "4", "--managed", "4", "--depth", "200"], 1),
    ("bench.exe", ["--native", "20", "--managed", "20", "--work", "2", "--depth", "30"], 1),
    ("ladder.exe", ["--seed", "1", "--chains", "3", "--threads", "8", "--depth", "8", "--park", "native"], 3),
    ("ladder.exe", ["--seed", "2", "--chains", "3", "--threads", "8", "--depth", "8", "--park", "managed"], 3),
    ("ladder.exe", ["--seed", "3", "--chains", "3", "--threads", "8", "--depth", "8", "--park", "com"], 3),
    ("ladder.exe", ["--seed", "4", "--chains", "2", "--threads", "4", "--depth", "8", "--handlers"], 2),
    ("sqlite.exe", [], 1),
    ("sqlite.exe", ["--work"], 2),
    ("torture.exe", ["--seconds", "200"], 4),
    ("threads.exe", ["--situation", "spawn"], 2),
    ("threads.exe", ["--situation", "suspend", "--frames", "5000"], 1),
    ("single.exe", [], 2),
    ("orders-demo.exe", [], 1),
    ("locks.exe", ["--lock", "jit"], 2),
    ("locks.exe", ["--lock", "heap"], 1),
    ("locks.exe", ["--lock", "suspension"], 2),
    ("events.exe", ["--threads", "4"], 1),
    ("ends.exe", ["--way", "main", "--wait"], 1),
    ("passing.exe", ["methods"], 3),
    ("passing.exe", ["throws"], 2),
    ("passing.exe", ["assemblies"], 3),
    ("passing.exe", ["images"], 2),
    ("faults.exe", ["callback"], 1),
    ("lost_frames.exe", [], 1),
    ("kestrel.exe", [], 3),
    *(("hangs.exe", ["--way", way], 1) for way in HANGS),
    *(("hunt.exe", [situation], 1) for situation in HUNTS),
]


def main():
    parser = argparse.ArgumentParser(add_help=False, usage=__doc__)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("native", type=os.path.abspath)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--fixtures", type=os.path.abspath)
    parser.add_argument("--wine")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--minidump", action="store_true")
    parser.add_argument("--type")
    parser.add_argument("--images", type=os.path.abspath)
    parser.add_argument("--environment", action="append", default=[])
    options = parser.parse_args()
    build = options.build
    repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    mixwalk = os.path.join(build, "bin", "mixwalk.exe")
    if not os.path.exists(mixwalk) or not (options.fixtures or os.path.exists(os.path.join(build, "fixtures.stamp"))):
        print(f"runtime_data: skipped: {build} has no mixwalk.exe or no fixtures")
        return SKIPPED
    writer = os.path.join(build, "bin", "write_minidump.exe") if options.minidump else None
    comparison = Comparison([options.wine or os.path.join(repository, "tests/tools/wine")], mixwalk, options.native,
                            writer, options.type)
    environment = dict(variable.split("=", 1) for variable in options.environment)
    if options.fixtures or options.all:
        folders = [options.fixtures] if options.fixtures else [
            os.path.join(build, folder) for folder in ("fixtures", "fixtures-kestrel", "fixtures-net9.0")]
        programs = [(folder, *program) for folder in folders for program in ALL
                    if os.path.exists(os.path.join(folder, program[0]))]
    else:
        programs = [(os.path.join(build, folder), program, arguments, 1) for folder, program, arguments in SOME]
    for folder, program, arguments, dumps in programs:
        name = " ".join([os.path.basename(folder) + "/" + program, *arguments])
        if options.only in name:
            dynamic = program == "passing.exe" or any(word in DYNAMIC_HUNTS for word in arguments)
            images = ";".join([folder, options.images]) if options.images else folder
            comparison.dump(name, os.path.join(folder, program), arguments, images, dumps,
                            {**environment, **(DYNAMIC if dynamic else {})},
                            0 if options.all or options.fixtures or options.minidump else GROWN_BYTES)
    most = MOST_MIB_SANITIZED if options.sanitized else MOST_MIB
    if not (options.all or options.fixtures) and comparison.peak_mib > most:
        comparison.is_wrong(f"reading a dump takes {comparison.peak_mib:.0f} MiB, which is more than {most}")
    agreement = comparison.agreement
    if agreement.contradicted != 0 or agreement.found != agreement.callers:
        comparison.is_wrong(f"the runtime's notes about calls contradict {agreement.contradicted} native runs; "
                            f"{agreement.found} of {agreement.callers} callers were found")
    print(f"the runtime's notes about calls confirm {agreement.confirmed} of {agreement.runs} native runs")
    print(f"{comparison.dumps} dumps, {comparison.threads} threads ({comparison.whole} whole), "
          f"{comparison.frames} frames ({comparison.managed} managed), {comparison.findings} findings, "
          f"{comparison.wrong} differences; here, a dump takes {comparison.peak_mib:.0f} MiB and "
          f"{comparison.slowest_ms:.0f} ms at most")
    return 1 if comparison.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
