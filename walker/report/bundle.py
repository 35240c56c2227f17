#!/usr/bin/env python3
"""Makes a source file of the page's parts (page_pack.h), packed together to a third of their bytes.

usage: bundle.py OUT.cpp --page HTML CSS --scripts JS… --libraries JS…
A library is the file PACKAGE/dist/NAME.js of an npm package, unchanged. Before it comes its licence, and before that
the licences of packages that its file contains: those that it depends on and that are no library of the page.
"""
import argparse
import json
import pathlib
import re
import zlib


def licence(package):
    text = (package / "LICENSE").read_text(encoding="utf-8")
    if "*/" in text:
        raise SystemExit(f"the licence of {package.name} would end its comment")
    version = json.loads((package / "package.json").read_text(encoding="utf-8"))["version"]
    return f"/*! {package.name} {version}\n\n{text}*/\n"


def with_licences(file, packages):
    package = file.parent.parent
    needed = json.loads((package / "package.json").read_text(encoding="utf-8")).get("dependencies", {})
    contained = [package.parent / name for name in needed if package.parent / name not in packages]
    return "".join(map(licence, contained + [package])) + file.read_text(encoding="utf-8") + "\n"


def style_of(library):
    """d3-flame-graph adds a style of its own to the page, which the page's policy must know by its hash."""
    found = re.search(r'createElement\("style"\);[A-Za-z_]+\.textContent=`([^`\\]+)`', library)
    if found is None or "${" in found[1]:
        raise SystemExit("the style that the last library adds is not found")
    return found[1]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out", type=pathlib.Path)
    for group in ("page", "scripts", "libraries"):
        arguments.add_argument("--" + group, nargs="+", type=pathlib.Path)
    given = arguments.parse_args()
    texts = [file.read_text(encoding="utf-8") for file in given.page]
    texts.append("".join(file.read_text(encoding="utf-8") for file in given.scripts))
    packages = [file.parent.parent for file in given.libraries]
    texts.append("".join(with_licences(file, packages) for file in given.libraries))
    texts.append(style_of(given.libraries[-1].read_text(encoding="utf-8")))
    parts = [text.encode() for text in texts]

    packing = zlib.compressobj(9, wbits=31)  # as gzip does it, without a time
    packed = packing.compress(b"".join(parts)) + packing.flush()
    given.out.write_text(f"""#include "walker/report/page_pack.h"

namespace mixwalk::page_pack {{
namespace {{

constexpr unsigned char kPacked[] = {{{",".join(map(str, packed))}}};
constexpr std::size_t kSizes[] = {{{", ".join(str(len(part)) for part in parts)}}};

}}  // namespace

std::span<const unsigned char> packed() noexcept {{ return kPacked; }}
std::span<const std::size_t> sizes() noexcept {{ return kSizes; }}

}}  // namespace mixwalk::page_pack
""", encoding="utf-8")


main()
