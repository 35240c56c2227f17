"""Authenticode signatures of the programs for Windows, by osslsigncode. Without a time stamp of an authority, the same
program, certificate and time give the same bytes (with an RSA key)."""

import os
import subprocess
import tempfile

PASSWORD_VARIABLE = "MIXWALK_SIGN_PASSWORD"
NAME = "mixwalk"  # what Windows shows when it asks whether the file may run


class Signer:
    """certificate: a PKCS#12 file, or a PEM file with the certificate and those that lead to its root.
    key: of a PEM certificate; None: the key is in the same file. password_file: None: the password is in the variable
    MIXWALK_SIGN_PASSWORD, or there is none. timestamp: the URL of an authority (RFC 3161), or None. seconds: since 1970,
    the time that the signature names."""

    def __init__(self, certificate, key=None, password_file=None, timestamp=None, seconds=0):
        for path in (certificate, key, password_file):
            if path is not None and not os.path.isfile(path):
                raise SystemExit(f"{path}: there is no such file")
        with open(certificate, "rb") as file:
            self.pem = b"-----BEGIN " in file.read()
        if key is not None and not self.pem:
            raise SystemExit(f"{certificate} is no PEM file, and so contains its key itself")
        self.certificate, self.key, self.timestamp, self.seconds = certificate, key or certificate, timestamp, seconds
        self.password = os.environ.get(PASSWORD_VARIABLE)
        if password_file is not None:
            with open(password_file, encoding="utf-8") as file:
                self.password = file.read().rstrip("\r\n")

    def command(self, folder, source, target):
        """What signs one file. The password is in a file of the folder, since everybody sees a command line."""
        command = ["osslsigncode", "sign", "-h", "sha256", "-n", NAME, "-time", str(self.seconds)]
        command += (["-certs", self.certificate, "-key", self.key] if self.pem else ["-pkcs12", self.certificate])
        if self.password:
            path = os.path.join(folder, "password")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(self.password)
            command += ["-readpass", path]
        if self.timestamp:
            command += ["-ts", self.timestamp]
        return [*command, "-in", source, "-out", target]

    def sign(self, content):
        """The bytes of the program with its signature."""
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "unsigned"), os.path.join(folder, "signed")
            with open(source, "wb") as file:
                file.write(content)
            done = subprocess.run(self.command(folder, source, target), stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="replace", check=False)
            if done.returncode != 0 or not os.path.exists(target):
                said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
                raise SystemExit(f"osslsigncode cannot sign with {self.certificate}: " +
                                 (said[0].strip() if said else f"code {done.returncode}"))
            with open(target, "rb") as file:
                return file.read()
