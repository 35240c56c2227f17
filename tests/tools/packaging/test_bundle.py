"""Makes build/packages/mixwalk-tests-VERSION-win-x64.zip of a repository whose preset windows is built with all its tests.
usage: test_bundle.py REPOSITORY SECONDS
SECONDS: since 1970, the time of all files in the archive."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile

import archives
import linked
import notices

OBJCOPY = "x86_64-w64-mingw32-objcopy"
RUNNER = "tests/tools/bundle/run-tests.cmd"
BY_THE_SYSTEM = "runs cases of another test once more, with Microsoft's dbghelp.dll, which Windows has"
# Tests that run no program of Windows, or run it only under Wine: {name: why}. A new one of these must be named here.
NOT_FOR_WINDOWS = {
    "frozen_imports": "looks at the archives of the build",
    "no_winpthreads": "looks at the symbols of the build's mixwalk.dll, with a program of the compiler's",
    "notices": "looks at the map of the linker",
    "signing": "signs programs of the build, with a program of Linux",
    "dbghelp_dump_file": BY_THE_SYSTEM, "dbghelp_real_windows": BY_THE_SYSTEM,
    "dbghelp_three_ways": BY_THE_SYSTEM, "dbghelp_write_dump": BY_THE_SYSTEM,
    "stalled": "stops threads by the freezer of Linux",
}
# Programs of the build that no test starts.
NOT_OF_TESTS = {"big_recording.exe", "dbghelp_names.exe", "pdb_names.exe"}
FIXTURES = ("fixtures", "fixtures-kestrel", "fixtures-net8.0", "fixtures-net9.0")
# What the build leaves in the folders of the fixtures, and no program there reads.
NOT_OF_FIXTURES = ("CTestTestfile.cmake", "cmake_install.cmake", "createdump.exe")
# What tests read of the repository (tests/support/repository_files.h).
READ_BY_TESTS = ("tests/golden", "docs", "README.md", "walker/base/exit_code.h", "fixtures/hang")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def output_of(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def listed_tests(repository, build, programs):
    """What ctest would run, as run_tests.exe reads it. Nothing that ctest knows is left out without a reason.
    googletest: the program writes what GoogleTest writes, so it has not passed unless its last line is there."""
    listed = json.loads(output_of(["ctest", "--show-only=json-v1"], cwd=build))
    wine = os.path.join(repository, "tests/tools/wine")
    tests, others = [], {}
    for test in listed["tests"]:
        name, command = test["name"], test.get("command")
        if not command:
            raise SystemExit(f"{name} is not built: cmake --build --preset windows")
        if command[0] != wine:
            if name not in NOT_FOR_WINDOWS:
                raise SystemExit(f"{name} starts no program of Windows, and NOT_FOR_WINDOWS says nothing of it")
            others[name] = NOT_FOR_WINDOWS[name]
            continue
        program = os.path.relpath(command[1], build)
        if program not in programs:
            raise SystemExit(f"{name} starts {program}, which the bundle does not have")
        if any(os.sep in argument for argument in command[2:]):
            raise SystemExit(f"{name} has an argument that may be a path of this machine: {command[2:]}")
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        tests.append({"name": name, "command": [program, *command[2:]], "seconds": int(properties["TIMEOUT"]),
                      "environment": environment, "googletest": program.endswith("_test.exe")})
    return tests, others


def programs_of(build, folder):
    """{name in the bundle: bytes} of what the build knows in bin, without debug data."""
    targets = (line.split(":")[0] for line in linked.ninja(build, "-t", "targets", "all").splitlines())
    programs, environment = {}, {**os.environ, "SOURCE_DATE_EPOCH": "0"}
    for target in sorted(set(targets)):
        if not target.startswith("bin/") or not target.endswith((".exe", ".dll")):
            continue
        name, program = os.path.basename(target), os.path.join(build, target)
        # Some are built only when they are named.
        if name in NOT_OF_TESTS or not os.path.exists(program):
            continue
        bare = os.path.join(folder, name)
        subprocess.run([OBJCOPY, "--strip-all", program, bare], check=True, env=environment)
        programs[target] = read(bare)
        os.remove(bare)
    return programs


def fixtures_of(build):
    """As they are: their debug data is what tests look at."""
    files = {}
    for top in FIXTURES:
        if not os.path.isdir(os.path.join(build, top)):
            raise SystemExit(f"there is no {top}: cmake --build --preset windows")
        for where, folders, names in os.walk(os.path.join(build, top)):
            folders[:] = [folder for folder in folders if folder != "CMakeFiles"]
            for name in names:
                if name not in NOT_OF_FIXTURES and not name.endswith(".dll.a"):
                    path = os.path.join(where, name)
                    files[os.path.relpath(path, build)] = read(path)
    return files


def licences_of_fixtures(build):
    """{name in the bundle: bytes} of the licences of the .NET packages that the fixtures contain."""
    cache = output_of(["dotnet", "nuget", "locals", "global-packages", "--list"]).split(":", 1)[1].strip()
    packages = set()
    for top in FIXTURES:
        for name in os.listdir(os.path.join(build, top)):
            if name.endswith(".deps.json"):
                for key, library in json.loads(read(os.path.join(build, top, name)))["libraries"].items():
                    if library["type"] in ("package", "runtimepack"):
                        packages.add(key.removeprefix("runtimepack.").lower())
    files = {}
    for package in sorted(packages):
        folder = os.path.join(cache, package)
        if not os.path.isdir(folder):
            raise SystemExit(f"{package} is part of a fixture, and is not in {cache}")
        for name in sorted(os.listdir(folder)):
            if name.lower().startswith(("license", "third-party")) or name.endswith(".nuspec"):
                files[f"licences/{package.replace('/', '-')}/{name}"] = read(os.path.join(folder, name))
    return files


def main(repository, seconds):
    build = os.path.join(repository, "build/windows")
    version = notices.project_version(build)
    base = f"mixwalk-tests-{version}-win-x64"
    git = lambda *arguments: output_of(["git", "-C", repository, *arguments])
    with tempfile.TemporaryDirectory() as folder:
        files = programs_of(build, folder)
    tests, others = listed_tests(repository, build, files)
    if not tests:
        raise SystemExit("ctest knows no test")
    executables = set(files)
    files |= fixtures_of(build) | licences_of_fixtures(build)
    for name in git("ls-files", "-z", *READ_BY_TESTS).split("\0"):
        if name:
            files["source/" + name] = read(os.path.join(repository, name))
    files["tests.json"] = json.dumps({"version": version, "commit": git("rev-parse", "HEAD").strip(), "tests": tests,
                                      "not_for_windows": others}, indent=1).encode()
    files["run-tests.cmd"] = read(os.path.join(repository, RUNNER)).replace(b"\n", b"\r\n")
    files["LICENSE"] = read(os.path.join(repository, "LICENSE"))
    files["THIRD-PARTY-NOTICES.txt"] = notices.notices(notices.libraries(repository, "windows")).encode()
    files["licences/googletest/copyright"] = read("/usr/share/doc/googletest/copyright")
    packages = os.path.join(repository, "build/packages")
    os.makedirs(packages, exist_ok=True)
    path = os.path.join(packages, base + ".zip")
    archives.write_zip(path, {f"{base}/{name}": (content, name in executables) for name, content in files.items()},
                       seconds)
    add_sum(packages, base + ".zip")
    print(f"{os.path.getsize(path):>10,}  build/packages/{base}.zip: {len(tests)} tests, {len(others)} not for Windows, "
          f"{sum(map(len, files.values())):,} bytes unpacked")


def add_sum(packages, name):
    """SHA256SUMS with the line of one file new."""
    path, lines = os.path.join(packages, "SHA256SUMS"), []
    if os.path.exists(path):
        lines = [line for line in read(path).decode().splitlines() if line.split("  ")[1] != name]
    lines.append(hashlib.sha256(read(os.path.join(packages, name))).hexdigest() + "  " + name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in sorted(lines, key=lambda line: line.split("  ")[1])))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]))
