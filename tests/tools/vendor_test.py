"""tests/tools/vendor on folders that have more than its libraries.
usage: vendor_test.py"""

import importlib.machinery
import importlib.util
import os
import tempfile
import unittest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vendor")
loader = importlib.machinery.SourceFileLoader("vendor", PATH)
vendor = importlib.util.module_from_spec(importlib.util.spec_from_loader("vendor", loader))
loader.exec_module(vendor)


class Vendor(unittest.TestCase):
    """A folder with an empty part for each of the lock, whose own text is a lock of these."""

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.folder = os.path.join(self.work.name, "libraries")
        for part in ("zlib", "include/fmt"):
            self.put(part + "/file.h")
        vendor.LOCK = os.path.join(self.work.name, "lock")
        with open(vendor.LOCK, "w", encoding="utf-8") as lock:
            for part in ("zlib", "include/fmt"):
                lock.write(f"{part} 1.0 {vendor.checksum(os.path.join(self.folder, part))}\n")

    def put(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(name)

    def refusal(self):
        with self.assertRaises(SystemExit) as refused:
            vendor.check(self.folder)
        self.assertFalse(os.path.exists(os.path.join(self.folder, ".checked")))
        return str(refused.exception)

    def test_libraries_alone_are_right_also_again(self):
        vendor.check(self.folder)
        vendor.check(self.folder)
        self.assertTrue(os.path.exists(os.path.join(self.folder, ".checked")))

    def test_a_changed_file(self):
        vendor.check(self.folder)
        self.put("zlib/more.h")
        self.assertEqual(self.refusal(), "zlib is not 1.0 as the lock has it")

    def test_a_header_that_the_compiler_would_find_first(self):
        vendor.check(self.folder)
        self.put("include/windows.h")
        self.assertEqual(self.refusal(), "include/windows.h is none of the libraries of the lock")

    def test_a_link_to_a_folder(self):
        os.symlink("/", os.path.join(self.folder, "zlib", "link"))
        self.assertEqual(self.refusal(), "zlib/link is none of the libraries of the lock")

    def test_make_empties_no_folder_of_the_users(self):
        self.put("thesis.txt")
        with self.assertRaises(SystemExit) as refused:
            vendor.make(self.folder)
        self.assertIn("would be emptied, and has thesis.txt", str(refused.exception))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "thesis.txt")))

    def test_only_a_make_that_writes_the_lock_takes_scripts_of_another_version(self):
        vendor.HERE = self.work.name
        said = os.path.join(self.work.name, "said")
        install = os.path.join(self.work.name, "install")
        with open(install, "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\necho "$1" >>"{said}"\nexit 1\n')
        os.chmod(install, 0o755)
        for arguments in (["make", self.folder], ["make", self.folder, "--new"]):
            with self.assertRaises(SystemExit):
                vendor.main(arguments)
        with open(said, encoding="utf-8") as file:
            self.assertEqual(file.read().split(), [vendor.ZLIB, "--new-lock"])


if __name__ == "__main__":
    unittest.main()
