"""Makes build/packages of a repository whose presets windows and linux are built.
usage: make_packages.py REPOSITORY SECONDS [--sign CERTIFICATE] [--key KEY] [--password-file FILE] [--timestamp URL]
SECONDS: since 1970, the time of all files in the archives, and of the signatures."""

import argparse
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

import archives
import notices
import signing
import tool_packages

# Of Debian's cross compiler, and of the native one.
BINUTILS = {"windows": "x86_64-w64-mingw32-", "linux": ""}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def stripped(program, prefix, folder):
    """(the program without its debug data, that debug data): each finds the other by name and build id."""
    name = os.path.basename(program)
    debug, bare = os.path.join(folder, name + ".debug"), os.path.join(folder, name)
    # Images of Windows get the time of the copying otherwise.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0"}
    for options in (["--only-keep-debug", program, debug],
                    ["--strip-all", "--add-gnu-debuglink=" + debug, program, bare]):
        subprocess.run([prefix + "objcopy", *options], check=True, env=environment)
    return read(bare), read(debug)


def programs_of(build, preset, signer):
    """({name: (bytes, True)} of the programs as users get them, {name: (bytes, False)} of their debug data). Each archive
    has the same programs, so each of them has the signed ones. signer: None, or the one of Windows' programs."""
    programs, symbols = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for image in notices.IMAGES[preset]:
            bare, debug = stripped(os.path.join(build, "bin", image), BINUTILS[preset], folder)
            if preset == "windows" and signer is not None:
                bare = signer.sign(bare)
            programs[image], symbols[image + ".debug"] = (bare, True), (debug, False)
    return programs, symbols


def documents(repository):
    """{name: (bytes, False)} of what every package has beside the programs."""
    listed = subprocess.run(["git", "-C", repository, "ls-files", "-z", "LICENSE", "README.md", "docs"], check=True,
                            capture_output=True, text=True).stdout
    return {name: (read(os.path.join(repository, name)), False) for name in listed.split("\0") if name}


def completions(repository):
    """{name: (bytes, False)}: by the program for Linux, which writes what the one for Windows writes."""
    program = os.path.join(repository, "build/linux/bin/mixwalk")
    written = lambda shell: subprocess.run([program, "completions", shell], check=True, capture_output=True).stdout
    return {"completions/mixwalk.bash": (written("bash"), False),
            "completions/mixwalk.ps1": (written("powershell"), False)}


def for_linux(files, seconds):
    """The files of a package, with the man page also where `man` looks for it."""
    page, _ = files["docs/mixwalk.1"]
    return {**files, "man/man1/mixwalk.1.gz": (gzip.compress(page, 9, mtime=seconds), False)}


def source_of_libdwarf(repository):
    """Its licence asks for it. Without what only its own tests and documents need."""
    folder, files = os.path.join(repository, "build/sources/dwarfutils"), {}
    for where, _, names in os.walk(folder):
        inside = os.path.relpath(where, folder)
        if inside.split(os.sep)[0] in ("test", "doc", "bugxml", "fuzz"):
            continue
        for name in names:
            if name not in (".ready", "log"):
                path = os.path.join(where, name)
                files["libdwarf/" + os.path.normpath(os.path.join(inside, name))] = (read(path), False)
    return files


def main(repository, seconds, signer):
    build = lambda preset: os.path.join(repository, "build", preset)
    version = notices.project_version(build("windows"))
    if notices.project_version(build("linux")) != version:
        raise SystemExit("build/linux is of another version than build/windows: build it again")
    packages = os.path.join(repository, "build/packages")
    shutil.rmtree(packages, ignore_errors=True)
    os.makedirs(packages)
    base, tools = "mixwalk-" + version, {}
    for preset, platform, write, ending in (("windows", "win-x64", archives.write_zip, ".zip"),
                                            ("linux", "linux-x64", archives.write_tar, ".tar.gz")):
        name = f"{base}-{platform}"
        found = notices.libraries(repository, preset)
        bill = notices.bill_of_materials(found, version, preset).encode()
        files = {"THIRD-PARTY-NOTICES.txt": (notices.notices(found).encode(), False), "mixwalk.cdx.json": (bill, False)}
        programs, symbols = programs_of(build(preset), preset, signer)
        tools[platform] = {**programs, **files, "LICENSE": (read(os.path.join(repository, "LICENSE")), False)}
        inside = lambda content: {f"{name}/{file}": value for file, value in content.items()}
        content = {**programs, **files, **documents(repository), **completions(repository)}
        if preset == "linux":
            content = for_linux(content, seconds)
        write(os.path.join(packages, name + ending), inside(content), seconds)
        write(os.path.join(packages, name + "-symbols" + ending), inside(symbols), seconds)
        with open(os.path.join(packages, name + ".cdx.json"), "wb") as file:
            file.write(bill)
    archives.write_tar(os.path.join(packages, base + "-libdwarf-source.tar.gz"), source_of_libdwarf(repository), seconds)
    tool_packages.write(packages, version, tools, seconds)
    names = sorted(os.listdir(packages))
    with open(os.path.join(packages, "SHA256SUMS"), "w", encoding="utf-8") as sums:
        for name in names:
            sums.write(f"{hashlib.sha256(read(os.path.join(packages, name))).hexdigest()}  {name}\n")
    for name in names:
        print(f"{os.path.getsize(os.path.join(packages, name)):>10,}  build/packages/{name}")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("repository")
    parser.add_argument("seconds", type=int)
    parser.add_argument("--sign", metavar="CERTIFICATE")
    for option in ("--key", "--password-file", "--timestamp"):
        parser.add_argument(option)
    read_arguments = parser.parse_args()
    if not read_arguments.sign and (read_arguments.key or read_arguments.password_file or read_arguments.timestamp):
        parser.error("--key, --password-file and --timestamp need --sign")
    return read_arguments


if __name__ == "__main__":
    given = arguments()
    main(os.path.abspath(given.repository), given.seconds,
         signing.Signer(given.sign, given.key, given.password_file, given.timestamp, given.seconds) if given.sign else None)
