"""Signs the programs of a build with certificates that are made here, and looks at every archive that contains them.
usage: signing_test.py REPOSITORY FOLDER
FOLDER: of the build for Windows; its mixwalk.exe runs under Wine once it is signed."""

import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

import archives
import make_packages
import signing
import tool_packages

PASSWORD = "geheim ü $(x)"
SECONDS = 1_700_000_000
REPOSITORY, BUILD = "", ""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def verified(path, authority):
    """Whether osslsigncode finds a signature that leads to this root, and that fits the file."""
    return subprocess.run(["osslsigncode", "verify", "-CAfile", authority, "-in", path], check=False,
                          capture_output=True).returncode == 0


class Signing(unittest.TestCase):
    """A root, and a certificate of that root: as PEM with its key apart, as one PEM file, and as PKCS#12."""

    @classmethod
    def setUpClass(cls):
        work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(work.cleanup)
        cls.file = lambda _, name: os.path.join(work.name, name)
        file = lambda name: os.path.join(work.name, name)
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Root of a test",
            "-keyout", file("root.key"), "-out", file("root.pem"))
        run("openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Signer of a test",
            "-keyout", file("key.pem"), "-out", file("request.pem"))
        with open(file("extensions"), "w", encoding="utf-8") as extensions:
            extensions.write("extendedKeyUsage=codeSigning\n")
        run("openssl", "x509", "-req", "-in", file("request.pem"), "-CA", file("root.pem"), "-CAkey", file("root.key"),
            "-CAcreateserial", "-days", "2", "-extfile", file("extensions"), "-out", file("signer.pem"))
        with open(file("password"), "w", encoding="utf-8") as password:
            password.write(PASSWORD + "\n")
        run("openssl", "pkcs12", "-export", "-inkey", file("key.pem"), "-in", file("signer.pem"), "-out",
            file("signer.p12"), "-passout", "file:" + file("password"))
        run("openssl", "rsa", "-in", file("key.pem"), "-aes256", "-out", file("locked.pem"), "-passout",
            "file:" + file("password"))
        with open(file("both.pem"), "wb") as both:
            both.write(make_packages.read(file("signer.pem")) + make_packages.read(file("key.pem")))
        with tempfile.TemporaryDirectory() as folder:
            cls.program, _ = make_packages.stripped(os.path.join(BUILD, "bin", "mixwalk.exe"),
                                                    make_packages.BINUTILS["windows"], folder)

    def signer(self, certificate, key=None, **more):
        return signing.Signer(self.file(certificate), key and self.file(key), seconds=SECONDS, **more)

    def is_signed(self, content):
        with open(self.file("looked-at"), "wb") as file:
            file.write(content)
        return verified(self.file("looked-at"), self.file("root.pem"))

    def test_every_kind_of_certificate_gives_the_same_signature(self):
        self.assertFalse(self.is_signed(self.program))
        signed = self.signer("signer.pem", "key.pem").sign(self.program)
        self.assertTrue(self.is_signed(signed))
        for signer in (self.signer("both.pem"), self.signer("signer.p12", password_file=self.file("password")),
                       self.signer("signer.pem", "locked.pem", password_file=self.file("password"))):
            self.assertTrue(signer.sign(self.program) == signed, signer.certificate)
        with unittest.mock.patch.dict(os.environ, {signing.PASSWORD_VARIABLE: PASSWORD}):
            self.assertTrue(self.signer("signer.p12").sign(self.program) == signed)
        with open(self.file("looked-at"), "wb") as file:
            file.write(signed)
        said = run("osslsigncode", "verify", "-CAfile", self.file("root.pem"), "-in", self.file("looked-at")).stdout
        self.assertIn("Signing time: Nov 14 22:13:20 2023 GMT", said)  # SECONDS, and not the present time
        changed = bytearray(signed)
        changed[len(self.program) // 2] ^= 1
        self.assertFalse(self.is_signed(changed))

    def test_the_password_is_on_no_command_line(self):
        commands = []
        with unittest.mock.patch.object(signing.subprocess, "run", side_effect=lambda command, **_: commands.append(command) or
                                        subprocess.CompletedProcess(command, 1, "", "refused")):
            with self.assertRaises(SystemExit):
                self.signer("signer.p12", password_file=self.file("password")).sign(b"")
        self.assertEqual(len(commands), 1)
        self.assertIn("-readpass", commands[0])
        self.assertNotIn(PASSWORD, " ".join(commands[0]))

    def test_an_authority_for_time_is_asked_only_if_it_is_named(self):
        self.assertNotIn("-ts", self.signer("both.pem").command("", "in", "out"))
        self.assertIn("-ts http://authority", " ".join(self.signer("both.pem", timestamp="http://authority").command("", "in", "out")))

    def test_what_cannot_sign_says_so_without_the_password(self):
        with open(self.file("wrong"), "w", encoding="utf-8") as file:
            file.write("another password")
        for make in (lambda: self.signer("signer.p12", password_file=self.file("wrong")),
                     lambda: self.signer("signer.pem"),  # its key is in another file
                     lambda: self.signer("signer.p12", "key.pem"), lambda: self.signer("missing.pem")):
            with self.assertRaises(SystemExit) as refused:
                make().sign(self.program)
            self.assertRegex(str(refused.exception), r"(signer\.p12|signer\.pem|missing\.pem)")
            self.assertNotIn("another password", str(refused.exception))

    def test_every_archive_has_the_signed_programs_and_windows_runs_them(self):
        programs, _ = make_packages.programs_of(BUILD, "windows", self.signer("both.pem"))
        archives.write_zip(self.file("mixwalk.zip"), {"mixwalk/" + name: value for name, value in programs.items()}, SECONDS)
        tool_packages.write(self.file(""), "1.0.0", {"win-x64": programs}, SECONDS)
        for archive in ("mixwalk.zip", "mixwalk.win-x64.1.0.0.nupkg"):
            with zipfile.ZipFile(self.file(archive)) as opened:
                images = {os.path.basename(name): opened.read(name) for name in opened.namelist()
                          if name.endswith((".exe", ".dll"))}
            self.assertEqual(sorted(images), ["mixwalk.dll", "mixwalk.exe"], archive)
            for name, content in images.items():
                self.assertTrue(self.is_signed(content), f"{name} in {archive}")
        for name, content in images.items():
            with open(self.file(name), "wb") as file:
                file.write(content)
        said = run(os.path.join(REPOSITORY, "tests/tools/wine"), self.file("mixwalk.exe"), "doctor").stdout
        self.assertIn("good  mixwalk", said)
        unsigned, _ = make_packages.programs_of(BUILD, "windows", None)
        self.assertTrue(unsigned["mixwalk.exe"][0] == self.program)


if __name__ == "__main__":
    REPOSITORY, BUILD = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1], verbosity=2)
