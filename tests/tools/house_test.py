#!/usr/bin/python3
"""Holds the table of docs/house.md against the folders and the includes: house_test.py REPOSITORY."""
import os
import re
import sys

FOLDERS = ("walker", "symbols", "unmanaged")


def rooms_of(page):
    return {room: int(floor) for floor, room in re.findall(r"^\| (\d+) \| ([\w/]+) \|", page, re.M)}


def room_of(path, rooms):
    """The innermost room that the file is in."""
    return max((room for room in rooms if path.startswith(room + "/")), key=len, default=None)


def faults(rooms, includes):
    """`includes`: for each file the files that it includes."""
    used = set()
    for path, targets in sorted(includes.items()):
        room = room_of(path, rooms)
        if room is None:
            yield f"{path} is in no room"
            continue
        used.add(room)
        for target in targets:
            other = room_of(target, rooms)
            if other is not None and other != room and rooms[other] >= rooms[room]:
                yield f"{path} is on floor {rooms[room]} and includes {target} of floor {rooms[other]}"
    for room in sorted(set(rooms) - used):
        yield f"{room} has no file"


def includes_of(repository):
    includes = {}
    for top in FOLDERS:
        for folder, _, files in os.walk(os.path.join(repository, top)):
            for file in files:
                if file.endswith((".cpp", ".h")):
                    path = os.path.join(folder, file)
                    with open(path, encoding="utf-8") as text:
                        includes[os.path.relpath(path, repository)] = re.findall(r'#include "([^"]+)"', text.read())
    return includes


def main(repository):
    # The check must be able to fail.
    rooms = {"walker/high": 2, "walker/low": 1, "walker/empty": 1}
    wrong = {"walker/low/a.h": ["walker/high/b.h"], "walker/high/b.h": ["walker/low/a.h"], "walker/c.h": []}
    assert len(list(faults(rooms, wrong))) == 3, list(faults(rooms, wrong))

    with open(os.path.join(repository, "docs", "house.md"), encoding="utf-8") as page:
        rooms = rooms_of(page.read())
    found = list(faults(rooms, includes_of(repository)))
    print("\n".join(found) if found else f"{len(rooms)} rooms, no include upwards")
    return 1 if found or len(rooms) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
