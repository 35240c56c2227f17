"""What was really linked into an image, and compiled into that: by the linker's map, and by what ninja knows of how the
linked objects were made."""

import os
import re
import subprocess


class Linked:
    """files: archives and objects of other libraries. members: how many objects of each of these archives.
    headers: files that our own objects were compiled from, but for the sources of this repository."""

    def __init__(self, build, link_map):
        self.build = build
        self.members = {}
        self.files = set()
        own = {}
        for path, member in of_map(link_map):
            path = os.path.normpath(os.path.join(build, path))
            if path.startswith(build + os.sep):
                own.setdefault(os.path.relpath(path, build), set()).add(member)
            if not is_ours(path, build):
                self.files.add(path)
                if member:
                    self.members.setdefault(path, set()).add(member)
        self.objects = sorted(objects_of(build, own))
        self.headers = headers_of(build, self.objects)


def is_ours(path, build):
    name = os.path.basename(path)
    return path.startswith(build + os.sep) and (name.startswith("libmixwalk_") or "/CMakeFiles/mixwalk_" in path)


def of_map(link_map):
    """(archive, member) of each member that was needed, and (object, "") of each object that was named."""
    with open(link_map, encoding="utf-8", errors="replace") as file:
        text = file.read()
    # "LIBRARY.a(MEMBER.o)", and on the next line for whom. The first list of the map.
    head, _, rest = text.partition("\nDiscarded input sections\n")
    if not rest:
        head, _, rest = text.partition("\nMemory Configuration\n")
    if not rest:
        head, _, rest = text.partition("\nThere are no discarded input sections\n")
    found = re.findall(r"^([^\s(]+\.a)\(([^()\n]+)\)(?:\s|$)", head, re.M)
    for path in re.findall(r"^LOAD (.+)$", rest, re.M):
        if path.endswith((".o", ".obj")):
            found.append((path, ""))
    if not found:
        raise SystemExit(f"{link_map}: no link map")
    return found


def ninja(build, *arguments):
    return subprocess.run(["ninja", "-C", build, *arguments], check=True, capture_output=True, text=True).stdout


def objects_of(build, own):
    """Paths of the objects, by the archives and their members. own: {path: members}"""
    archives = [path for path in own if path.endswith(".a")]
    objects = [path for path in own if not path.endswith(".a")]
    for archive in archives:
        text = ninja(build, "-t", "query", archive)
        inputs = re.findall(r"^    (?:\| )?(\S+\.(?:obj|o))$", text, re.M)
        objects += [path for path in inputs if os.path.basename(path) in own[archive]]
    return objects


def headers_of(build, objects):
    """Paths, in full."""
    source = os.path.dirname(os.path.dirname(build))
    found = set()
    text = ninja(build, "-t", "deps", *objects)
    for line in re.findall(r"^    (\S.*)$", text, re.M):
        # Not os.path.realpath: build/…/header-only is a folder of links.
        found.add(os.path.normpath(os.path.join(build, line)))
    # The scripts of the page are no dependencies of an object, but inputs of the source that holds them.
    page = "walker/report/page_pack.cpp"
    if any("page_pack.cpp" in path for path in objects):
        for line in re.findall(r"^    (?:\| )?(\S+)$", ninja(build, "-t", "query", page), re.M):
            found.add(os.path.normpath(os.path.join(build, line)))
    sources = tuple(os.path.join(source, folder) + os.sep for folder in ("walker", "unmanaged", "symbols"))
    generated = os.path.join(build, "generated") + os.sep
    return {path for path in found
            if os.path.isfile(path) and not path.startswith(sources) and not path.startswith(generated)
            and not path.startswith(os.path.join(build, "walker") + os.sep)
            and "/CMakeFiles/mixwalk_" not in path}
