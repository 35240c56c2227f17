#!/usr/bin/python3
"""Holds docs/ together: pages_test.py REPOSITORY. Pages for users have no matter for developers; all links lead somewhere;
index.md names every page."""
import os
import re
import sys

# Pages that docs/index.md lists for users and for programs; the others are for those who want to know how it works.
SECTIONS_FOR_USERS = ("For users", "For programs that read files of mixwalk")
# README.md says how it was tested and how it is built, compatibility.md with what it was tested.
MATTER = {
    "a test program": (re.compile(r"`?\b[a-z_]+_test\b"), ()),
    "a source or a folder of the repository": (re.compile(r"\b(walker|symbols|unmanaged|tests|fixtures)/\w"),
                                               ("README.md",)),
    "a tool of the build": (re.compile(r"\b(CMake|ctest|CTest|ninja|gtest)\b"), ("README.md",)),
    "Wine": (re.compile(r"\bWine\b"), ("README.md", "compatibility.md")),
}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchors(page):
    """The names by which headings are linked, as GitHub makes them."""
    found = set()
    for line in re.sub(r"^```.*?^```", "", page, flags=re.M | re.S).splitlines():
        heading = re.match(r"#+ (.*)", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


def user_pages(index):
    pages, listed = ["README.md", "docs/index.md"], False
    for line in index.splitlines():
        if line.endswith(":") and not line.startswith((" ", "-")):
            listed = line[:-1] in SECTIONS_FOR_USERS
        elif listed:
            pages += ["docs/" + link for link in LINK.findall(line) if link.endswith(".md")]
    return pages


def verdicts(repository):
    """The words by which compare and report judge threads."""
    source = text_of(os.path.join(repository, "walker/hang/finding_words.cpp"))
    tables = re.findall(r"k(?:Verdict|WaitState)Words\{(.*?)\};", source, re.S)
    return [word for table in tables for word in re.findall(r'"([^"]*)"', table)]


def faults(repository):
    hang = text_of(os.path.join(repository, "docs/hang.md"))
    for word in verdicts(repository):
        if f"`{word}`" not in hang:
            yield f'docs/hang.md does not explain "{word}"'
    index = text_of(os.path.join(repository, "docs/index.md"))
    users = user_pages(index)
    pages = ["README.md"] + sorted("docs/" + name for name in os.listdir(os.path.join(repository, "docs"))
                                   if name.endswith(".md"))
    for path in pages:
        page = text_of(os.path.join(repository, path))
        for link in LINK.findall(re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S))):
            target, _, anchor = link.partition("#")
            if re.match(r"\w+:", target):
                continue
            to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(os.path.join(repository, to)):
                yield f"{path}: no {link}"
            elif anchor and anchor not in anchors(text_of(os.path.join(repository, to))):
                yield f"{path}: no heading {link}"
        if path.startswith("docs/") and path != "docs/index.md" and f"({path[5:]}" not in index:
            yield f"{path} is not in docs/index.md"
        if path in users:
            shown = re.sub(r"<!--.*?-->", "", page, flags=re.S)
            for number, line in enumerate(shown.splitlines(), 1):
                for what, (pattern, allowed) in MATTER.items():
                    found = pattern.search(line)
                    if found and os.path.basename(path) not in allowed:
                        yield f"{path}:{number}: {what} in a page for users: {found[0]}"


def main():
    found = list(faults(sys.argv[1]))
    for fault in found:
        print(fault)
    if not found:
        print("the pages hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
