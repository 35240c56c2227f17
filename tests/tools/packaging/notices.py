"""The third-party notices and the bill of materials of an image.
usage: notices.py REPOSITORY PRESET --check     ends with 1 where a library that was linked is missing in them"""

import json
import os
import re
import shlex
import sys
import types
import zlib

import components
import linked

IMAGES = {"windows": ["mixwalk.exe", "mixwalk.dll"], "linux": ["mixwalk"]}


def project_version(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        for line in cache:
            if line.startswith("CMAKE_PROJECT_VERSION:"):
                return line.partition("=")[2].strip()
    raise SystemExit(f"{build}/CMakeCache.txt has no version")


def libraries(repository, preset):
    """{component: {image: its files}} of all images of the preset."""
    build = os.path.join(repository, "build", preset)
    known = components.all_components(repository, preset == "windows")
    found = {}
    for image in IMAGES[preset]:
        parts = linked.Linked(build, os.path.join(build, "walker", image + ".map"))
        for component, files in components.used(known, parts).items():
            found.setdefault(component, {})[image] = files
    return {component: found[component] for component in known if component in found}


def shown(files):
    """What is linked and named: archives, objects, scripts. Of headers only that there are some."""
    names = sorted({os.path.basename(file) for file in files if file.endswith((".a", ".o", ".js"))})
    return names or ["headers"]


def notices(found):
    parts = ["THIRD-PARTY NOTICES\n\nmixwalk is under the MIT License (LICENSE). These libraries of others are part of its "
             "programs, each under its\nown licence, whose text follows its name.\n"]
    for component, images in found.items():
        parts.append("-" * 100 + f"\n{component.name} {component.version}\n{component.source}\n"
                     f"Licence: {component.licence}\n" +
                     "".join(f"In {image}: {', '.join(shown(files))}\n" for image, files in images.items()))
        if "LGPL-2.1-only" in component.licence:
            parts.append("This library's source is published beside this package, in the archive whose name ends with "
                         f"-{component.name}-source.tar.gz.\nmixwalk's own source, with all that builds it, is public "
                         "too: whoever changes the library can link mixwalk with it again.\n")
        parts += [text() for text in component.texts]
    return "\n".join(parts)


def bill_of_materials(found, version, preset):
    """CycloneDX 1.5 (cyclonedx.org, "Specification overview"), without what differs between two runs."""
    main = {"type": "application", "bom-ref": "mixwalk", "name": "mixwalk", "version": version,
            "licenses": [{"license": {"id": "MIT"}}]}
    parts = []
    for component, images in found.items():
        simple = " " not in component.licence
        parts.append({
            "type": "library", "bom-ref": component.purl, "name": component.name, "version": component.version,
            "licenses": [{"license": {"id": component.licence}} if simple else {"expression": component.licence}],
            "purl": component.purl, "externalReferences": [{"type": "website", "url": component.source}],
            "properties": [{"name": "mixwalk:in:" + image, "value": ", ".join(shown(files))}
                           for image, files in images.items()]})
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": main, "properties": [{"name": "mixwalk:preset", "value": preset}]},
        "components": parts,
        "dependencies": [{"ref": "mixwalk", "dependsOn": [part["bom-ref"] for part in parts]}]}, indent=1) + "\n"


def of_link_command(build, image):
    """Names of the archives of other libraries that the linker was given by their paths: by ninja, not by the map."""
    command = shlex.split(linked.ninja(build, "-t", "commands", "-s", "bin/" + image))
    return {os.path.basename(part) for part in command
            if part.endswith(".a") and not part.startswith("-") and not os.path.basename(part).startswith("libmixwalk")}


def of_report_page(build, image):
    """"NAME VERSION" of the scripts in the report's page, which walker/report/bundle.py packed into the image."""
    with open(os.path.join(build, "bin", image), "rb") as file:
        content = file.read()
    scripts = set()
    for begin in re.finditer(rb"\x1f\x8b\x08\x00", content):  # of gzip
        try:
            page = zlib.decompressobj(wbits=31).decompress(content[begin.start():begin.start() + (1 << 20)])
        except zlib.error:
            continue
        scripts |= {match.decode() for match in re.findall(rb"/\*! ([a-z][a-z0-9-]+ [0-9][0-9.]*)\n\n", page)}
    return scripts


def refused(known, header):
    """Whether a header is none of a known library's."""
    try:
        components.used(known, types.SimpleNamespace(files=set(), headers={header}))
    except SystemExit:
        return True
    return False


def check(repository, preset):
    """What the linker was given, and what the image contains, must be named in both texts."""
    build = os.path.join(repository, "build", preset)
    found = libraries(repository, preset)
    text, bill = notices(found), bill_of_materials(found, project_version(build), preset)
    listed = {(part["name"], part["version"]) for part in json.loads(bill)["components"]}
    missing, archives, scripts = [], set(), set()
    for image in IMAGES[preset]:
        archives |= of_link_command(build, image)
        scripts |= of_report_page(build, image)
    for name in sorted(archives):
        for where, content in (("notices", text), ("bill of materials", bill)):
            if name not in content:
                missing.append(f"{name} is not in the {where}")
    for script in sorted(scripts):
        if f"\n{script}\n" not in text:
            missing.append(f"{script} is not in the notices")
        if tuple(script.split(" ")) not in listed:
            missing.append(f"{script} is not in the bill of materials")
    for component in found:
        if len("".join(function() for function in component.texts)) < 500:
            missing.append(f"{component.name} has no text of its licence")
    print(f"{len(archives)} archives, {len(scripts)} scripts, {len(found)} libraries: " +
          ", ".join(c.name for c in found))
    # What is known to be in every image of mixwalk: the check itself works.
    if not {"libz.a", "libdwarf.a", "libcapstone.a"} <= archives:
        missing.append("the commands that link have no libz.a, libdwarf.a or libcapstone.a")
    if not {"d3-array", "d3-flame-graph"} <= {script.split(" ")[0] for script in scripts}:
        missing.append("no image has the scripts of the report's page")
    for name in ("CLI11", "{fmt}", "zlib", "GCC's runtime: libstdc++, libgcc", "Capstone", "libdwarf", "internmap"):
        if name not in {component.name for component in found}:
            missing.append(f"{name} was not found at all")
    if "Hewlett-Packard Company" not in text:
        missing.append("the notices lack that of the standard library's headers (HP, SGI)")
    known = components.all_components(repository, preset == "windows")
    for folder in ("/usr/include", "/usr/x86_64-w64-mingw32/include"):
        if not refused(known, folder + "/library_of_a_stranger.h"):
            missing.append(f"any header in {folder} counts as one of a known library")
    if missing:
        raise SystemExit("FAILED: " + "\n".join(missing))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] != "--check":
        raise SystemExit(__doc__)
    check(os.path.abspath(sys.argv[1]), sys.argv[2])
