"""The third-party notices and the bill of materials of an image.
usage: notices.py REPOSITORY PRESET --check     ends with 1 where a library that was linked is missing in them"""

import json
import os
import sys

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


def check(repository, preset):
    """Reads the maps once more, by eye: every archive and script in them must be named in both texts."""
    build = os.path.join(repository, "build", preset)
    found = libraries(repository, preset)
    text, bill = notices(found), bill_of_materials(found, project_version(build), preset)
    missing, names = [], set()
    for image in IMAGES[preset]:
        with open(os.path.join(build, "walker", image + ".map"), encoding="utf-8", errors="replace") as file:
            for path, member in linked.of_map(file.name):
                path = os.path.normpath(os.path.join(build, path))
                if member and not linked.is_ours(path, build):
                    names.add(os.path.basename(path))
    names |= {"d3-flamegraph.umd.min.js", "d3-selection.min.js"}  # of the report's page
    for name in sorted(names):
        for where, content in (("notices", text), ("bill of materials", bill)):
            if name not in content:
                missing.append(f"{name} is not in the {where}")
    for component in found:
        if len("".join(function() for function in component.texts)) < 500:
            missing.append(f"{component.name} has no text of its licence")
    print(f"{len(names)} archives and scripts, {len(found)} libraries: " + ", ".join(c.name for c in found))
    # What is known to be in every image of mixwalk: the check itself works.
    for name in ("CLI11", "{fmt}", "zlib", "GCC's runtime: libstdc++, libgcc", "Capstone", "libdwarf"):
        if name not in {component.name for component in found}:
            missing.append(f"{name} was not found in the link maps at all")
    if missing:
        raise SystemExit("FAILED: " + "\n".join(missing))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] != "--check":
        raise SystemExit(__doc__)
    check(os.path.abspath(sys.argv[1]), sys.argv[2])
