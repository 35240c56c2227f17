"""tests/tools/package in a tree that was copied with its build folder says what to delete.
usage: copied_tree_test.py REPOSITORY"""

import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(tree):
    return subprocess.run([tree / "tests/tools/package"], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def main(repository):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder).resolve() / "copy"
        (tree / "tests/tools").mkdir(parents=True)
        shutil.copy(pathlib.Path(repository) / "tests/tools/package", tree / "tests/tools/package")
        # In place of the next step, which says that the script got as far as that.
        vendor = tree / "tests/tools/vendor"
        vendor.write_text("#!/bin/sh\necho vendor; exit 3\n")
        vendor.chmod(0o755)
        for preset, home in (("windows", "/elsewhere/original"), ("linux", str(tree))):
            cache = tree / "build" / preset / "CMakeCache.txt"
            cache.parent.mkdir(parents=True)
            cache.write_text("CMAKE_GENERATOR:INTERNAL=Ninja\nCMAKE_HOME_DIRECTORY:INTERNAL=%s\n" % home)
        refused = run(tree)
        assert refused.returncode == 1, refused
        assert refused.stdout == "", refused
        assert "for /elsewhere/original" in refused.stderr, refused
        assert "delete it: rm -r build/windows\n" in refused.stderr, refused  # and not build/linux
        shutil.rmtree(tree / "build/windows")
        goes_on = run(tree)
        assert goes_on.returncode == 3 and goes_on.stdout == "vendor\n", goes_on


if __name__ == "__main__":
    main(sys.argv[1])
