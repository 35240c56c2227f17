"""The libraries of others that an image may be made of: how each is known by the files that were linked and compiled,
its version, its licence, and where its text lies."""

import glob
import json
import os
import re
import subprocess

COMMON = "/usr/share/common-licenses/"

# The exception of that name in Linux's LICENSES/exceptions, which no file of Debian has.
LINUX_SYSCALL_NOTE = """\
   NOTE! This copyright does *not* cover user programs that use kernel
 services by normal system calls - this is merely considered normal use
 of the kernel, and does *not* fall under the heading of "derived work".
 Also note that the GPL below is copyrighted by the Free Software
 Foundation, but the instance of code that it refers to (the Linux
 kernel) is copyrighted by me and others who actually wrote it.

 Also note that the only valid version of the GPL as far as the kernel
 is concerned is _this_ particular version of the license (ie v2, not
 v2.2 or v3.x or whatever), unless explicitly otherwise stated.

			Linus Torvalds
"""


class Component:
    """name; version; licence: an SPDX expression; files: regular expressions of paths, and sets of paths;
    texts: functions that give the licence's text; source: where the library comes from; purl: its package."""

    def __init__(self, name, licence, files, texts, version, purl, source):
        self.name, self.licence = name, licence
        self.patterns = [re.compile(file) for file in files if isinstance(file, str)]
        self.paths = set().union(*(file for file in files if not isinstance(file, str)))
        self.texts, self.version, self.purl, self.source = texts, version, purl, source

    def claims(self, path):
        return path in self.paths or any(pattern.search(path) for pattern in self.patterns)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip() + "\n"


def debian_version(package):
    result = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"the package {package} is not installed")
    return result.stdout


def upstream(version):
    """Of a version of Debian: "1:1.10.0+ds-0.4" is 1.10.0."""
    return re.match(r"(?:\d+:)?([0-9][0-9.]*)", version)[1].rstrip(".")


def debian(name, package, licence, files, source, common=(), paragraph=None, note=None):
    """A package of Debian, with what its own copyright file says. note: what that file lacks, such as an
    exception to the licences in common."""
    version = debian_version(package)

    def copyright_file():
        text = read(f"/usr/share/doc/{package}/copyright")
        if paragraph is None:
            return text
        # Boost's file lists some thousand holders of copyrights; the licence asks for its own text.
        found = re.search(rf"^License: {re.escape(paragraph)}\n((?: .*\n)+)", text, re.M)
        if not found:
            raise SystemExit(f"the copyright file of {package} has no text of {paragraph}")
        return re.sub(r"^ \.?", "", found[1], flags=re.M)

    texts = [copyright_file] + [lambda path=COMMON + text: read(path) for text in common]
    if note:
        texts.insert(1, lambda: note)
    return Component(name, licence, files, texts, upstream(version), f"pkg:deb/debian/{package}@{version}", source)


def stl_notice(folders):
    """Of the headers of the standard library that come from HP and SGI: the notice that must appear in documentation.
    folders: where the C++ headers lie, a pattern of paths."""
    for header in glob.glob(os.path.join(folders, "bits/stl_algo.h")):
        found = re.search(r"^/\*\n((?: \*.*\n)*?) \*/", read(header), re.M)
        if found and "Hewlett-Packard Company" in found[1]:
            return re.sub(r"^ \* ?", "", found[1], flags=re.M).strip() + "\n"
    raise SystemExit(f"no header in {folders} has the notice of HP and SGI")


def fetched(name, package, licence, files, texts, source, repository):
    """A source that tests/tools/install fetches into build/sources."""
    folder = os.path.join(repository, "build/sources", package)
    version = read(os.path.join(folder, ".ready")).strip().partition("=")[2]
    return Component(name, licence, files, [lambda path=os.path.join(folder, text): read(path) for text in texts],
                     upstream(version), f"pkg:deb/debian/{package}@{version}?arch=source", source)


def files_of_debian(package):
    """Paths, in full: of folders in which other packages have files too."""
    listed = subprocess.run(["dpkg-query", "-L", package], check=True, capture_output=True, text=True).stdout
    return set(listed.splitlines())


def package_json(modules, name):
    with open(os.path.join(modules, name, "package.json"), encoding="utf-8") as file:
        return json.load(file)


def npm(modules, name, holders=()):
    """holders: packages whose scripts contain this one."""
    package, folder = package_json(modules, name), os.path.join(modules, name)
    version = package["version"]
    text = next(os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.upper().startswith("LICENSE"))
    files = [rf"/node_modules/{re.escape(folder)}/" for folder in (name, *holders)]
    return Component(name, package["license"], files, [lambda: read(text)], version, f"pkg:npm/{name}@{version}",
                     package.get("homepage", "https://www.npmjs.com/package/" + name))


def npm_components(modules):
    names, holders = [name for name in sorted(os.listdir(modules)) if name.startswith("d3-")], {}
    # The script of a package of d3 leaves out what it needs of d3, and contains whatever else it needs.
    for name in names:
        for needed in package_json(modules, name).get("dependencies", {}):
            if needed not in names:
                holders.setdefault(needed, []).append(name)
    return [npm(modules, name) for name in names] + [npm(modules, name, holders[name]) for name in sorted(holders)]


def all_components(repository, windows):
    """windows: of the image for Windows, else of the one for Linux."""
    header = lambda name: rf"(/header-only|^/usr/include)/{name}/"
    components = [
        debian("CLI11", "libcli11-dev", "BSD-3-Clause", [header("CLI")], "https://github.com/CLIUtils/CLI11"),
        debian("Boost", "libboost1.81-dev", "BSL-1.0", [header("boost")], "https://www.boost.org", paragraph="BSL-1.0"),
        debian("{fmt}", "libfmt-dev", "MIT", [header("fmt")], "https://github.com/fmtlib/fmt"),
        debian("spdlog", "libspdlog-dev", "MIT", [header("spdlog")], "https://github.com/gabime/spdlog"),
        debian("JSON for Modern C++", "nlohmann-json3-dev", "MIT", [header("nlohmann")],
               "https://github.com/nlohmann/json"),
        debian("protozero", "libprotozero-dev", "BSD-2-Clause AND Apache-2.0", [header("protozero")],
               "https://github.com/mapbox/protozero", common=["Apache-2.0"]),
        fetched("libdwarf", "dwarfutils", "LGPL-2.1-only", [r"/build/sources/dwarfutils/", r"/libdwarf\.a$",
                                                          r"/build/[^/]+/libdwarf/"],
                ["COPYING", "src/lib/libdwarf/COPYING", "src/lib/libdwarf/LGPL.txt"],
                "https://www.prevanders.net/dwarf.html", repository),
        fetched("Capstone", "capstone", "BSD-3-Clause AND NCSA",
                [r"/build/sources/capstone/", r"/capstone-tables/", r"/libcapstone\.a$"],
                ["LICENSE.TXT", "LICENSE_LLVM.TXT"], "https://www.capstone-engine.org", repository),
        fetched("LLVM's demanglers", "llvm-toolchain-19", "Apache-2.0 WITH LLVM-exception",
                [r"/build/sources/llvm-toolchain-19/", r"/llvm/MicrosoftDemangle\.cpp$",
                 r"/libmixwalk_llvm_demangle\.a$"], ["llvm/LICENSE.TXT"],
                "https://llvm.org", repository),
    ]
    components += npm_components(os.path.join(repository, "build/npm/node_modules"))
    if windows:
        components += [
            debian("zlib", "libz-mingw-w64-dev", "Zlib",
                   [r"/libz\.a$", r"/x86_64-w64-mingw32/include/(zlib|zconf)\.h$"], "https://zlib.net"),
            debian("GCC's runtime: libstdc++, libgcc", "gcc-mingw-w64-x86-64-posix-runtime",
                   "GPL-3.0-or-later WITH GCC-exception-3.1", [r"^/usr/lib/gcc/x86_64-w64-mingw32/"],
                   "https://gcc.gnu.org", common=["GPL-3"],
                   note=stl_notice("/usr/lib/gcc/x86_64-w64-mingw32/*-posix/include/c++")),
            debian("mingw-w64's runtime, winpthreads", "mingw-w64-x86-64-dev", "ZPL-2.1 AND MIT",
                   [files_of_debian("mingw-w64-x86-64-dev"), files_of_debian("mingw-w64-common")],
                   "https://www.mingw-w64.org"),
        ]
    else:
        components += [
            debian("zlib", "zlib1g-dev", "Zlib", [r"/libz\.a$", r"^/usr/include/(zlib|zconf)\.h$"], "https://zlib.net"),
            debian("GCC's runtime: libstdc++, libgcc", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1",
                   [r"^/usr/lib/gcc/x86_64-linux-gnu/", r"^/usr/include/(x86_64-linux-gnu/)?c\+\+/"],
                   "https://gcc.gnu.org", common=["GPL-3"], note=stl_notice("/usr/include/c++/*")),
            # Linked at run time, but for what starts a program and a few functions that are always linked in.
            debian("GNU C library", "libc6-dev", "LGPL-2.1-or-later",
                   [r"^/usr/lib/x86_64-linux-gnu/(lib[cm]_nonshared\.a|S?crt[1in]\.o)$", r"^/lib/x86_64-linux-gnu/",
                    files_of_debian("libc6-dev")], "https://www.gnu.org/software/libc/", common=["LGPL-2.1"]),
            debian("Linux's headers", "linux-libc-dev", "GPL-2.0-only WITH Linux-syscall-note",
                   [files_of_debian("linux-libc-dev")], "https://www.kernel.org", common=["GPL-2"],
                   note=LINUX_SYSCALL_NOTE),
        ]
    return components


def used(components, linked):
    """{component: its files among what was linked}, in the order of the components; a file may be of several. Ends the
    program where a file belongs to none of them: its licence is not known then."""
    found, unknown = {}, []
    for path in sorted(linked.files | linked.headers):
        claimants = [component for component in components if component.claims(path)]
        if not claimants:
            unknown.append(path)
        for component in claimants:
            found.setdefault(component, []).append(path)
    if unknown:
        raise SystemExit("no library in tests/tools/packaging/components.py has these files, which are part of the "
                         "image:\n  " + "\n  ".join(unknown))
    return {component: found[component] for component in components if component in found}
