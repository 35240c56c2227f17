#!/usr/bin/python3
"""Loads symbol files from servers of this machine, over http and https, with every failure that a server can have.

usage: symbol_servers.py SYMBOL_GET [MIXWALK | --wine WINE MIXWALK FIXTURES]

SYMBOL_GET is run natively (libcurl) or, with WINE, under Wine (WinHTTP). MIXWALK then shows what it can show only with
files of the server: a dump's PDB; a published DLL and its PDB of 20 MB (build/nuget); and under Wine the debugging
library of a program of the folder FIXTURES, and the portable PDB and debugging library of one of FIXTURES-net8.0. What
it shows must be what it shows with the files on the disk.
Certificates are made by openssl. The limits are short, so that no failure takes long; no check depends on how quick
this machine is.
"""

import http.server
import json
import os
import re
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BODY = b"right " + b"x" * 300_000 + b" end"
CORPUS = os.path.join(ROOT, "tests", "fuzz", "corpus")
PAGE = b"<!DOCTYPE html><html><body>Please sign in.</body></html>"
PDB_ID = "07" * 16 + "1"  # of the PDBs in the corpus
# In ms: to connect, without a byte, for all files. A busy machine needs no more.
LIMITS = ("30000", "30000", "100000")


class Handler(http.server.BaseHTTPRequestHandler):
    """The first part of the path says how the server behaves: /short/NAME/ID/NAME."""

    protocol_version = "HTTP/1.1"
    http_port = None
    https = None
    files = {}  # of the way "folder": the file at each path behind it, which is in lower case
    asked = []
    slow_bodies = 0  # of the way "slow", that were sent to their end
    cookies = []
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.close_connection = True

    def send(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.send_header("Set-Cookie", "known=yes; Path=/")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def wait_for_the_end(self):
        """Until the client closes the connection. A silent server that would close it after a while might be quicker
        than the client's clock, which stands still while wineserver is busy."""
        self.wfile.flush()
        self.connection.recv(1)

    def good(self, body=BODY):
        self.send(200, {"Content-Length": len(body)}, body)

    def do_GET(self):
        with Handler.lock:
            Handler.asked.append(self.path)
            Handler.cookies += self.headers.get_all("Cookie", [])
        try:
            self.answer(self.path.split("/")[1])
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError, OSError):
            pass

    def answer(self, way):
        name = self.path.split("/")[-1]
        if name == "index2.txt" or name.endswith("_") or name == "file.ptr":
            return self.send(404, {"Content-Length": 0})
        if way in ("good", "again"):
            return self.good()
        if way in ("folder", "changed-folder"):
            path = Handler.files.get(self.path.split("/", 2)[2].lower())
            if path is None:
                return self.send(404, {"Content-Length": 0})
            with open(path, "rb") as file:
                body = bytearray(file.read())
            if way == "changed-folder":  # a byte far behind the headers is another
                body[len(body) // 2] ^= 1
            return self.good(body)
        if way in ("pdb", "pdb-of-another"):
            with open(os.path.join(CORPUS, "pdb_fuzz", "inlining"), "rb") as pdb:
                body = pdb.read()
            if way == "pdb-of-another":
                body = body.replace(b"\7" * 16, b"\6" * 16)
            return self.good(body) if f"/{PDB_ID}/" in self.path else self.send(404, {"Content-Length": 0})
        if way == "chunked":
            self.send(200, {"Transfer-Encoding": "chunked"})
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))
        elif way == "chunked-cut":
            self.send(200, {"Transfer-Encoding": "chunked"})
            self.wfile.write(b"%x\r\n%s" % (len(BODY), BODY[:1000]))
        elif way == "short":
            self.send(200, {"Content-Length": 2 * len(BODY)}, BODY)
        elif way == "less":  # than what comes
            self.send(200, {"Content-Length": 1000}, BODY)
        elif way == "no-http":
            self.wfile.write(b"\0\1\2\3 no answer of HTTP \xFF\r\n\r\n")
            self.close_connection = True
        elif way == "status-0":
            self.wfile.write(b"HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n")
            self.close_connection = True
        elif way == "negative":  # a length
            self.send(200, {"Content-Length": -5}, BODY)
        elif way == "to-file":
            self.send(302, {"Content-Length": 0, "Location": "file:///etc/passwd"})
        elif way == "page":
            self.send(200, {"Content-Length": len(PAGE), "Content-Type": "text/html"}, PAGE)
        elif way == "silent-before":
            self.wait_for_the_end()
        elif way == "silent-within":
            self.send(200, {"Content-Length": len(BODY)}, BODY[:1000])
            self.wait_for_the_end()
        elif way == "trickle":
            self.send(200, {"Content-Length": 1_000_000})
            while True:
                self.wfile.write(b"r")
                time.sleep(0.1)
        elif way == "flood":
            self.send(200, {"Content-Length": 1 << 29})
            while True:
                self.wfile.write(b"r" * 4096)
                time.sleep(0.005)
        elif way == "slow":
            self.send(200, {"Content-Length": len(BODY)})
            part = len(BODY) // 20 + 1
            for i in range(0, len(BODY), part):
                with Handler.lock:
                    Handler.slow_bodies += i + part >= len(BODY)
                self.wfile.write(BODY[i:i + part])
                self.wfile.flush()
                time.sleep(0.1)
        elif way == "other":
            self.good(b"wrong " * 100)
        elif way == "huge":
            self.send(200, {"Content-Length": 1 << 40}, b"right ")
        elif way == "to-http":
            self.send(302, {"Content-Length": 0,
                            "Location": f"http://localhost:{Handler.http_port}/good/a.pdb/1/a.pdb"})
        elif way == "to-https-to-http":  # begins with http
            self.send(302, {"Content-Length": 0, "Location": f"{Handler.https}/to-http/a.pdb/1/a.pdb"})
        elif way == "to-good":
            self.send(302, {"Location": "/good/a.pdb/1/a.pdb", "Content-Length": 0})
        elif way == "by-sum":
            known = (self.headers.get_all("SymbolChecksum") == ["SHA256:0123abc"] and
                     self.headers.get_all("SymbolChecksumValidationSupported") == ["1"])
            self.good() if known else self.send(403, {"Content-Length": 0})
        elif way == "to-sum":
            self.send(302, {"Location": "/by-sum/a.pdb/1/a.pdb", "Content-Length": 0})
        elif way == "to-itself":
            self.send(302, {"Location": self.path, "Content-Length": 0})
        elif way.isdigit():
            self.send(int(way), {"Content-Length": 0})
        else:
            self.send(404, {"Content-Length": 0})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


class Image:
    """A PE file for x64, as far as it is needed here."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        pe = struct.unpack_from("<I", self.bytes, 0x3C)[0]
        self.timestamp, self.size = (struct.unpack_from("<I", self.bytes, pe + at)[0] for at in (8, 80))
        self.functions_at, self.functions_bytes = struct.unpack_from("<2I", self.bytes, pe + 24 + 112 + 8 * 3)
        count, optional = struct.unpack_from("<H12xH", self.bytes, pe + 6)
        self.sections = [struct.unpack_from("<4I", self.bytes, pe + 24 + optional + 40 * i + 8) for i in range(count)]
        guid, age, self.pdb = re.search(rb"RSDS(.{16})(.{4})([ -~]+\.pdb)\0", self.bytes, re.DOTALL).groups()
        self.guid, self.age = uuid.UUID(bytes_le=guid).hex.upper(), struct.unpack("<I", age)[0]
        self.code_view = b"RSDS" + guid + age + self.pdb + b"\0"

    def at(self, rva, count):
        for size, begin, _, file in self.sections:
            if begin <= rva < begin + size:
                return self.bytes[file + rva - begin:file + rva - begin + count]
        raise ValueError(f"no section has {rva:x}")

    def functions(self):
        """The beginning and the end of each."""
        return [entry[:2] for entry in struct.iter_unpack("<3I", self.at(self.functions_at, self.functions_bytes))]


def publish(path, pdb=None):
    """Puts an image and its PDB on the server."""
    image, name = Image(path), os.path.basename(path).lower()
    Handler.files[f"{name}/{image.timestamp:08X}{image.size:x}/{name}".lower()] = path
    if pdb:
        with open(pdb, "rb") as file:
            portable = file.read(4) == b"BSJB"
        name = os.path.basename(pdb).lower()
        Handler.files[f"{name}/{image.guid}{'FFFFFFFF' if portable else f'{image.age:x}'}/{name}".lower()] = pdb


def dump_of(path, threads):
    """A dump file with so many threads, each in the middle of another function of an image, without the image."""
    image = Image(path)
    base, stack, stack_bytes = 0x7FF0_0000_0000, 0x10_0000, 0x1_0000
    functions = image.functions()
    functions = functions[::max(1, len(functions) // threads)][:threads]
    out = bytearray(32 + 4 * 12)

    def put(data):
        out.extend(bytes(-len(out) % 8))
        out.extend(data)
        return len(out) - len(data)

    name = ("C:\\app\\" + os.path.basename(path)).encode("utf-16-le")
    name_at, code_view_at = put(struct.pack("<I", len(name)) + name + b"\0\0"), put(image.code_view)
    module = struct.pack("<Q4I52x4I16x", base, image.size, 0, image.timestamp, name_at, len(image.code_view),
                         code_view_at, 0, 0)
    zeros = put(bytes(stack_bytes))
    entries = b""
    for i, (begin, end) in enumerate(functions):
        context = bytearray(1232)
        struct.pack_into("<I", context, 0x30, 0x10_0003)  # CONTEXT_AMD64, control and integer registers
        struct.pack_into("<Q", context, 0x98, stack)  # Rsp
        struct.pack_into("<Q", context, 0xA0, stack + stack_bytes // 2)  # Rbp
        struct.pack_into("<Q", context, 0xF8, base + (begin + end) // 2)  # Rip
        entries += struct.pack("<4I2Q4I", i + 1, 0, 0, 0, 0, stack, stack_bytes, zeros, len(context), put(context))
    streams = [(7, struct.pack("<HHHBBIIII", 9, 0, 0, 1, 1, 10, 0, 19045, 2).ljust(56, b"\0")),  # SystemInfo
               (3, struct.pack("<I", len(functions)) + entries),  # ThreadList
               (4, struct.pack("<I", 1) + module),  # ModuleList
               (5, struct.pack("<IQII", 1, stack, stack_bytes, zeros))]  # MemoryList
    struct.pack_into("<4sIIIIIQ", out, 0, b"MDMP", 0xA793, len(streams), 32, 0, 1_795_239_973, 0)
    for i, (kind, data) in enumerate(streams):
        struct.pack_into("<III", out, 32 + 12 * i, kind, len(data), put(data))
    return bytes(out)


def serve(certificate=None):
    server = Server(("localhost", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_authority(folder, name):
    key, certificate = os.path.join(folder, name + ".key"), os.path.join(folder, name + ".pem")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
            "-subj", f"/CN={name} of the test", "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign")
    return key, certificate


def make_certificate(folder, authority, host):
    base = os.path.join(folder, os.path.basename(authority[1])[:-4] + "-" + host)
    extensions = base + ".ext"
    with open(extensions, "w") as out:
        out.write(f"subjectAltName=DNS:{host}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", base + ".key", "-out", base + ".csr", "-subj",
            f"/CN={host}")
    openssl("x509", "-req", "-in", base + ".csr", "-CA", authority[1], "-CAkey", authority[0], "-CAcreateserial",
            "-out", base + ".pem", "-days", "2", "-extfile", extensions)
    return base + ".pem", base + ".key"


class Test:
    def __init__(self, program, wine):
        self.program, self.wine = program, wine
        self.folder = tempfile.mkdtemp(prefix="symbol_servers")
        self.failures = 0
        authority = make_authority(self.folder, "ca")
        stranger = make_authority(self.folder, "stranger")
        self.certificate = authority[1]
        if wine:
            self.certificate = os.path.join(self.folder, "ca.der")
            openssl("x509", "-in", authority[1], "-outform", "DER", "-out", self.certificate)
        Handler.http_port = serve()
        self.http = f"http://localhost:{Handler.http_port}"
        self.https = f"https://localhost:{serve(make_certificate(self.folder, authority, 'localhost'))}"
        Handler.https = self.https
        self.other_host = f"https://localhost:{serve(make_certificate(self.folder, authority, 'elsewhere'))}"
        self.untrusted = f"https://localhost:{serve(make_certificate(self.folder, stranger, 'localhost'))}"
        self.authority = authority[1]

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print(f"FAILED: {what}", flush=True)

    def path(self, path):
        """A path as the program knows it."""
        return "Z:" + path.replace("/", "\\") if self.wine else path

    def command(self, *cases):
        """The command for cases, each (name, URL, limits, keys), that all run at once."""
        with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False) as file:
            for name, url, limits, keys in cases:
                file.write("\t".join([self.path(self.store(name)), url, *limits, *keys]) + "\n")
        return [*self.wine, self.program, self.path(self.certificate), self.path(file.name)]

    def store(self, name):
        return os.path.join(self.folder, "store-" + name)

    def files(self, store):
        found = []
        for folder, _, names in os.walk(store):
            found += [os.path.relpath(os.path.join(folder, name), store) for name in names if name != "mixwalk.lock"]
        return sorted(found)

    def get_all(self, cases):
        """The lines that the program prints for each case."""
        run = subprocess.run(self.command(*cases), capture_output=True, text=True, timeout=120)
        self.expect(run.returncode == 0, f"exit code {run.returncode}: {run.stderr}")
        outputs = [output.splitlines() for output in ("\n" + run.stdout).split("\ncase\n")[1:]]
        self.expect(len(outputs) == len(cases), f"{len(outputs)} of {len(cases)} cases: {run.stdout}")
        return outputs

    def get(self, name, url, *keys):
        return self.get_all([(name, url, LIMITS, keys or ["a.pdb/1"])])[0]

    def loads(self, name, lines):
        self.expect(len(lines) == 1 and lines[0].startswith("a.pdb ") and lines[0] != "a.pdb -", f"{name}: {lines}")
        self.expect(self.files(self.store(name)) == ["a.pdb/1/a.pdb"], f"{name}: {self.files(self.store(name))}")
        if self.files(self.store(name)):
            with open(os.path.join(self.store(name), "a.pdb/1/a.pdb"), "rb") as got:
                self.expect(got.read() == BODY, f"{name}: the file is another")

    def fails(self, name, lines, *words):
        """Without the file, with one line that has one of the words; without words, with no line."""
        self.expect(lines and lines[0] == "a.pdb -", f"{name}: {lines}")
        self.expect(self.files(self.store(name)) == [], f"{name}: {self.files(self.store(name))} is in the store")
        text = " ".join(lines[1:])
        self.expect(len(lines) == 2 if words else len(lines) == 1, f"{name}: {lines}")
        self.expect(not words or any(word in text for word in words), f"{name}: {text!r} has none of {words}")

    def one_server(self):
        off = "is not asked any more"
        # Wine's WinHTTP says that a request was sent only when the first byte of the answer has come.
        silent = ["no byte came for", *(["no connection stood within"] if self.wine else [])]
        silence, little_time = ("3000", "1500", "100000"), ("30000", "30000", "2500")
        limit = "the limit for loading"
        # Name and path, whether the file comes, limits, words; by http and by https.
        both = [
            ("good", True, LIMITS),
            ("chunked", True, LIMITS),
            ("to-good", True, LIMITS),
            ("404", False, LIMITS),
            ("500", False, LIMITS, "status 500"),
            ("503", False, LIMITS, "status 503"),
            ("403", False, LIMITS, "status 403"),
            ("407", False, LIMITS, "status 407"),
            ("short", False, LIMITS, off),
            ("chunked-cut", False, LIMITS, off, "is not used"),
            ("less", False, LIMITS, off, "it is another file"),
            ("no-http", False, LIMITS, off),
            ("status-0", False, LIMITS, "no answer of HTTP", "Unsupported response code"),
            ("to-file", False, LIMITS, "not of the web", "not supported", "not https"),
            ("page", False, LIMITS, "it is another file"),
            ("other", False, LIMITS, "it is another file"),
            ("huge", False, LIMITS, "is larger than 1 GiB"),
            ("to-itself", False, LIMITS, off),
            ("silent-before", False, silence, *silent),
            ("silent-within", False, ("30000", "1500", "100000"), "no byte came for"),
            ("trickle", False, little_time, limit),
            ("flood", False, little_time, limit),
        ]
        cases = [(f"{scheme}-{way}", f"{url}/{way}", *case)
                 for scheme, url in (("http", self.http), ("https", self.https)) for way, *case in both]
        cases += [
            ("to-http", self.https + "/to-http", False, LIMITS, off),
            ("to-https-to-http", self.http + "/to-https-to-http", False, LIMITS, off),
            ("other-host", self.other_host + "/good", False, LIMITS, off),
            ("untrusted", self.untrusted + "/good", False, LIMITS, off),
            ("nobody", "http://localhost:1/x", False, LIMITS, off),
            ("no-name", "http://no-such-machine.invalid/x", False, LIMITS, off),
        ]
        outputs = self.get_all([(name, url, limits, ["a.pdb/1"]) for name, url, _, limits, *_ in cases])
        for (name, _, comes, _, *words), lines in zip(cases, outputs):
            if comes:
                self.loads(name, lines)
            else:
                self.fails(name, lines, *words)

        lines = self.get("negative", self.http + "/negative")
        self.expect(lines and "larger" not in " ".join(lines), f"negative: {lines}")

    def password_of_a_proxy(self):
        """libcurl quotes the address of a proxy that it does not understand."""
        run = subprocess.run(self.command(("proxy", "http://machine.test/x", LIMITS, ["a.pdb/1"])), text=True,
                             capture_output=True, timeout=100, env=dict(os.environ, http_proxy="odd://me:secret@x"))
        self.expect("is not asked any more: " in run.stdout and "secret" not in run.stdout, f"proxy: {run.stdout}")

    def keys(self):
        Handler.asked.clear()
        bad = ["../1", "a\\b/1", "con/1", "a.pdb/../x", "a.pdb/zz", "..\\..\\x/1"]
        lines = self.get("keys", self.http + "/good", *bad)
        self.expect(all(line.endswith(" -") for line in lines), f"keys: {lines}")
        self.expect(Handler.asked == [], f"keys: the server was asked for {Handler.asked}")
        self.expect(self.files(self.store("keys")) == [], "keys: files")

    def checksums(self):
        """A server that gives a file only to a client that says which sum it must have."""
        self.fails("no-sum", self.get("no-sum", self.https + "/by-sum"), "status 403")
        self.loads("sum", self.get("sum", self.https + "/by-sum", "a.pdb/1#SHA256:0123abc"))
        self.loads("sum-http", self.get("sum-http", self.http + "/to-sum", "a.pdb/1#SHA256:0123abc"))

    def missing_once(self):
        Handler.asked.clear()
        self.get("once", self.http + "/404", "a.pdb/1", "A.pdb/1", "a.pdb/1")
        self.expect(len(Handler.asked) == 4, f"once: {Handler.asked}")

    def hundred(self):
        """A hundred requests at once, for other files and for the same, into one store."""
        cases = [("hundred", self.https + "/good", LIMITS, [f"f{i % 50}.pdb/1"]) for i in range(100)]
        outputs = self.get_all(cases)
        self.expect(not any(lines[1:] or lines[0].endswith(" -") for lines in outputs), f"hundred: {outputs[:3]}")
        files = self.files(self.store("hundred"))
        self.expect(files == sorted(f"f{i}.pdb/1/f{i}.pdb" for i in range(50)), f"hundred: {files}")
        for file in files:
            with open(os.path.join(self.store("hundred"), file), "rb") as got:
                self.expect(got.read() == BODY, f"hundred: {file} is another")
        self.expect(not Handler.cookies, f"cookies were sent: {Handler.cookies[:3]}")

    def two_processes(self):
        command = self.command(("two", self.http + "/slow", LIMITS, ["a.pdb/1"]))
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for run in runs:
            out, _ = run.communicate(timeout=100)
            self.expect(out.strip().endswith("a.pdb"), f"two processes: {out}")
        self.expect(self.files(self.store("two")) == ["a.pdb/1/a.pdb"], f"two: {self.files(self.store('two'))}")
        # Both ask, and one ends its request as soon as it knows that the other loads the file.
        self.expect(Handler.slow_bodies == 1, f"two: {Handler.slow_bodies} whole files were sent")

    def killed(self):
        """A process that is killed while it loads, and one that waits for it."""
        store = self.store("killed")
        run = subprocess.Popen(self.command(("killed", self.http + "/silent-within", LIMITS, ["a.pdb/1"])),
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
        while self.files(store) != ["a.pdb/1/a.pdb.part"]:
            self.expect(run.poll() is None, "killed: it ended too early")
            if run.poll() is not None:
                return
            time.sleep(0.02)
        Handler.asked.clear()
        waiting = subprocess.Popen(self.command(("killed", self.http + "/good", LIMITS, ["a.pdb/1"])),
                                   stdout=subprocess.PIPE, text=True)
        while not Handler.asked and waiting.poll() is None:
            time.sleep(0.02)
        self.expect(self.files(store) == ["a.pdb/1/a.pdb.part"], f"killed: {self.files(store)}")
        os.killpg(run.pid, signal.SIGKILL)
        run.wait(30)
        out, _ = waiting.communicate(timeout=100)
        self.loads("killed", out.splitlines()[1:])

    def full_disk(self):
        """A disk that is always full."""
        partial = os.path.join(self.store("full"), "a.pdb/1/a.pdb.part")
        os.makedirs(os.path.dirname(partial))
        os.symlink("/dev/full", partial)
        lines = self.get("full", self.http + "/good")
        if os.path.islink(partial):  # which Wine does not remove
            os.remove(partial)
        self.fails("full", lines, "a.pdb cannot be kept: ")

    def no_store(self):
        """A store that is a file."""
        with open(self.store("file"), "w") as out:
            out.write("x")
        self.fails("file", self.get("file", self.http + "/good"), "a.pdb cannot be kept: ")

    def silent_names(self):
        """Only where this user may have a network: a name for which no answer comes. libcurl looks it up in a thread of
        its own, which asks a second time after 5 s."""
        inner = """if True:
            import fcntl, socket, struct, subprocess, sys
            names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            fcntl.ioctl(names, 0x8914, struct.pack("16sh22x", b"lo", 0x41))  # SIOCSIFFLAGS: the loopback is up
            names.bind(("127.0.0.1", 53))
            names.setblocking(False)
            run = subprocess.run(sys.argv[1:], capture_output=True, text=True)
            asked = 0
            try:
                while names.recv(4096):
                    asked += 1
            except BlockingIOError:
                print(asked, run.stdout)
            """
        resolver = os.path.join(self.folder, "resolv.conf")
        with open(resolver, "w") as out:
            out.write("nameserver 127.0.0.1\n")
        script = f"mount --bind '{resolver}' /etc/resolv.conf && exec /usr/bin/python3 -c \"$0\" \"$@\""
        command = self.command(("names", "http://machine.test/x", ("500", "30000", "9000"), ["a.pdb/1"]))
        run = subprocess.run(["unshare", "-rmn", "sh", "-c", script, inner, *command], capture_output=True, text=True,
                             timeout=60)
        if "mount:" in run.stderr or "unshare" in run.stderr:
            print(f"a silent server for names was not tried: {run.stderr.strip()}")
            return
        asked = run.stdout.split(" ")[0]
        self.expect(asked in ("1", "2") and "a.pdb -" in run.stdout, f"silent names: {run.stdout}{run.stderr}")

    def mixwalk(self, program):
        """A dump whose PDB is on the server only."""
        store = self.store("mixwalk")
        dump = [*self.wine, program, "dump", self.path(os.path.join(CORPUS, "minidump_fuzz", "two_frames"))]
        variables = dict(os.environ, SSL_CERT_FILE=self.authority, HOME=self.folder, XDG_CACHE_HOME="")
        variables.pop("_NT_SYMBOL_PATH", None)

        def shown(*options, **more):
            return subprocess.run([*dump, *options], capture_output=True, text=True, timeout=60,
                                  env={**variables, **more})

        before = shown()
        self.expect("1 PDB was not found: app.pdb; with --symbols online," in before.stderr, before.stderr)
        url = self.https + "/pdb"
        online = shown("--symbol-path", f"srv*{self.path(store)}*{url}")
        self.expect("loaded 1 file (" in online.stderr and url in online.stderr, online.stderr)
        self.expect(self.files(store) == [f"app.pdb/{PDB_ID}/app.pdb"], f"mixwalk: {self.files(store)}")
        self.expect("app.exe!ns::outer" in online.stdout, online.stdout)
        on_disk = os.path.join(self.folder, "disk")
        os.mkdir(on_disk)
        shutil.copy(os.path.join(CORPUS, "pdb_fuzz", "inlining"), os.path.join(on_disk, "app.pdb"))
        disk = shown("--symbol-path", self.path(on_disk))
        self.expect(disk.stdout == online.stdout and disk.stderr == "", f"on the disk: {disk.stdout}{disk.stderr}")
        for way, why in (("pdb-of-another", "is not used: "), ("page", "is not used: ")):
            other = shown("--symbol-path", f"srv*{self.path(self.store(way))}*{self.https}/{way}")
            self.expect(f"app.pdb of {self.https}/{way} {why}" in other.stderr, f"{way}: {other.stderr}")
            self.expect(self.files(self.store(way)) == [] and other.stdout == before.stdout, f"{way}: {other.stdout}")
        again = shown(_NT_SYMBOL_PATH=f"srv*{self.path(store)}*{self.http}/404")
        self.expect(again.stderr == "" and again.stdout == online.stdout, again.stderr)
        offline = shown("--symbols", "offline", _NT_SYMBOL_PATH=f"srv*{self.http}/500")
        self.expect(offline.stderr == "" and offline.stdout == before.stdout, offline.stderr)
        failed = shown("--symbol-path", f"srv*{self.store('none')}*http://localhost:1/x")
        self.expect("http://localhost:1/x is not asked any more: " in failed.stderr, failed.stderr)
        self.expect(failed.returncode == before.returncode and failed.stdout == before.stdout, failed.stdout)
        limited = shown("--symbol-path", f"srv*{self.store('none')}*{self.http}/silent-before", "--symbol-limits",
                        "1s,1s,20s")
        # (Wine: as in one_server().)
        silent = ["no byte came for 1 s", *(["no connection stood within 1 s"] if self.wine else [])]
        self.expect(any(words in limited.stderr for words in silent), limited.stderr)
        self.default_store(shown, online.stdout, url)
        if self.wine:
            return  # Wine cannot send Ctrl-C to one program alone.
        self.without_libcurl(shown, before.stdout, url)
        # Ctrl-C ends the loading, and not the command.
        run = subprocess.Popen([*dump, "--symbol-path", f"srv*{self.store('ctrl-c')}*{self.http}/silent-before"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)
        Handler.asked.clear()
        while not Handler.asked and run.poll() is None:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.expect("the loading of symbol files was stopped" in err and out == before.stdout, f"Ctrl-C: {err}")


    def default_store(self, shown, online, url):
        """In the user's own folder, if the path names none. What is there is not asked for again. (What it lacks is,
        by each command.)"""
        own = os.path.join(self.folder, ".cache")
        if self.wine:  # Each prefix has a user's folder, whatever the environment says.
            local = self.out_of_wine("cmd", "/c", "echo %LOCALAPPDATA%")
            own = self.out_of_wine("winepath", "-u", local)
        self.expect(os.path.isdir(own) or not self.wine, f"default store: no folder {own}")
        store = os.path.join(own, "mixwalk", "symbols")
        shutil.rmtree(store, ignore_errors=True)  # of a run that was ended
        Handler.asked.clear()
        first = shown("--symbols", "online", "--symbol-path", url)
        self.expect(self.files(store) == [f"app.pdb/{PDB_ID}/app.pdb"], f"default store: {self.files(store)}")
        self.expect("loaded 1 file (" in first.stderr and first.stdout == online and Handler.asked, first.stderr)
        Handler.asked.clear()
        second = shown("--symbols", "online", "--symbol-path", url)
        self.expect(second.stderr == "" and second.stdout == online, f"default store, again: {second.stderr}")
        again = [path for path in Handler.asked if "app.pdb" in path]
        self.expect(not again, f"default store: asked again for {again}")
        if not self.wine:  # where a user always has a folder
            nowhere = shown("--symbols", "online", HOME="")
            self.expect("has no store for its files, and is left out: " in nowhere.stderr and
                        "--symbols online" not in nowhere.stderr, f"no default store: {nowhere.stderr}")
        shutil.rmtree(store, ignore_errors=True)

    def out_of_wine(self, *command):
        return subprocess.run([*self.wine, *command], capture_output=True, text=True, timeout=60).stdout.strip()

    def without_libcurl(self, shown, before, url):
        """On a machine that has none. (The loader does not look further if the first file of a name is no library.)"""
        libraries = os.path.join(self.folder, "libraries")
        os.mkdir(libraries)
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            open(os.path.join(libraries, name), "w").close()
        lacks = shown("--symbol-path", f"srv*{self.store('lacks')}*{url}", LD_LIBRARY_PATH=libraries)
        self.expect(lacks.stdout == before and lacks.stderr.count("libcurl.so.4 is not installed") == 1 and
                    "Debian: libcurl4" in lacks.stderr, f"without libcurl: {lacks.stderr}")

    def published(self, program):
        """A dump of a published DLL. The DLL and its PDB of 20 MB are on the server only."""
        nuget, store, file = os.path.join(ROOT, "build", "nuget"), self.store("published"), self.store("published.dmp")
        dll, pdb = (os.path.join(nuget, "libHarfBuzzSharp." + extension) for extension in ("dll", "pdb"))
        publish(dll, pdb)
        threads = 200
        with open(file, "wb") as out:
            out.write(dump_of(dll, threads))

        def shown(path):
            run = subprocess.run([*self.wine, program, "dump", self.path(file), "--symbol-path", path],
                                 capture_output=True, text=True, timeout=100,
                                 env=dict(os.environ, SSL_CERT_FILE=self.authority))
            self.expect(run.returncode == 0, f"published: {run.stderr}")
            return run

        online = shown(f"srv*{self.path(store)}*{self.https}/folder")
        self.expect("loaded 2 files (" in online.stderr and "not used" not in online.stderr, online.stderr)
        self.expect(len(self.files(store)) == 2, f"published: {self.files(store)}")
        frames = [line for line in online.stdout.splitlines() if "libHarfBuzzSharp.dll!" in line]
        named = [line for line in frames if "!sub_" not in line]
        lines = [line for line in frames if re.search(r"\.(cc?|hh?|cpp):\d+", line)]
        self.expect(len(frames) >= threads and len(named) >= 0.95 * len(frames) and len(lines) >= threads // 2,
                    f"published: {len(frames)} frames, {len(named)} names, {len(lines)} lines")
        disk = shown(self.path(nuget))
        self.expect(disk.stdout == online.stdout and disk.stderr == "", f"published, on the disk: {disk.stderr}")

    def run_into_files(self, program, *options):
        """What Wine starts for the check of a signature keeps a pipe open. Returns standard output and error."""
        out, err = os.path.join(self.folder, "out"), os.path.join(self.folder, "err")
        with open(out, "w") as to, open(err, "w") as errors:
            subprocess.run([*self.wine, program, "dump", *options], stdout=to, stderr=errors, timeout=200)
        with open(out) as text, open(err) as errors:
            return text.read(), errors.read()

    def debugging_library(self, program, fixtures):
        """A process whose debugging library is on the server only."""
        publish(os.path.join(fixtures, "mscordaccore.dll"))
        # Not beside its debugging library.
        single = os.path.join(self.folder, "single.exe")
        os.symlink(os.path.join(fixtures, "single.exe"), single)

        def shown(name, way):
            text, errors = self.run_into_files(program, "-p", pid, "--outside", "--runtime-data", "dac",
                                               "--symbol-path", f"srv*{self.path(self.store(name))}*{self.https}/{way}")
            self.expect("loaded 1 file" in errors, f"{name}: {errors}")
            self.expect(any("mscordaccore" in file for file in self.files(self.store(name))), f"{name}: no file")
            return text, errors

        with subprocess.Popen([*self.wine, single], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as target:
            pid = target.stdout.readline().split()[-1]
            text, errors = shown("dac", "folder")
            self.expect("Single.Program.Wait(" in text, f"dac: {text[:2000]}{errors}")
            # It is code, so whoever has changed it must not get it into this machine.
            text, errors = shown("changed-dac", "changed-folder")
            self.expect("Single.Program" not in text, f"changed dac: {text[:2000]}")
            self.expect("mscordaccore.dll is not trusted: its signature" in errors, f"changed dac: {errors}")
            target.communicate("STOP\n", timeout=100)

    def only_on_the_server(self, program, fixtures):
        """A dump file of a runtime whose debugging library and portable PDBs are on the server only."""
        # As on another machine: nothing that can be asked is beside the program.
        folder, dump = os.path.join(self.folder, "net8"), os.path.join(self.folder, "net8.dmp")
        leave_out = shutil.ignore_patterns("mscordaccore*", "*.pdb", "hangs*", "monitors*")
        shutil.copytree(fixtures, folder, ignore=leave_out)
        with subprocess.Popen([*self.wine, os.path.join(folder, "hang.exe")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as target:
            pid = target.stdout.readline().split()[-1]
            self.run_into_files(program, "-p", pid, "-o", self.path(dump))
            target.communicate("STOP\n", timeout=100)
        shutil.rmtree(folder)
        publish(os.path.join(fixtures, "mscordaccore.dll"))
        publish(os.path.join(fixtures, "hang.dll"), os.path.join(fixtures, "hang.pdb"))

        def shown(path):
            text, errors = self.run_into_files(program, self.path(dump), "-f", "json", "--symbol-path", path)
            self.expect(text.startswith("{"), f"only on the server: {errors}")
            return json.loads(text or "{}"), errors

        online, errors = shown(f"srv*{self.path(self.store('net8'))}*{self.https}/folder")
        files = [os.path.basename(file) for file in self.files(self.store("net8"))]
        self.expect("mscordaccore.dll" in files and "hang.pdb" in files, f"only on the server: {files} {errors}")
        threads = online.get("threads", [])
        managed = [frame for thread in threads for frame in thread["frames"] if frame["kind"] == "managed"]
        own = [frame for frame in managed if frame["name"].startswith("Hang.")]
        self.expect(online.get("unasked") is None and len(own) > 10, f"only on the server: {len(own)} frames {errors}")
        self.expect(all(frame["name"] for frame in managed), "only on the server: a method has no name")
        self.expect(all(frame.get("line") for frame in own), f"only on the server: no line: {own}")
        lost = [thread["os_id"] for thread in threads if not thread["whole"]]
        self.expect(not lost, f"only on the server: the stacks of {lost} are not whole")
        disk, errors = shown(self.path(fixtures))
        self.expect("loaded" not in errors, errors)

        # The folder has files of native code that the server lacks, so only managed frames have the same names.
        def known(document):
            facts = ("kind", "address", "stack_pointer", "name", "file", "line")
            return [[[frame.get(fact) for fact in facts[:3 if frame["kind"] == "native" else None]]
                     for frame in thread["frames"] if frame.get("inline_depth") is None]
                    for thread in document.get("threads", [])]

        for one, other in zip(known(disk), known(online), strict=True):
            self.expect(one == other, f"only on the server: {other} in place of {one}")
        self.expect(disk.get("locks") == online.get("locks"), "only on the server: other locks than on the disk")


def main():
    wine = sys.argv[3:4] if sys.argv[2:3] == ["--wine"] else []
    test = Test(sys.argv[1], wine)
    try:
        test.one_server()
        test.keys()
        test.checksums()
        test.missing_once()
        test.hundred()
        test.two_processes()
        test.killed()
        test.full_disk()
        test.no_store()
        mixwalk = sys.argv[4] if wine else sys.argv[2]
        test.mixwalk(mixwalk)
        test.published(mixwalk)
        if wine:
            test.debugging_library(*sys.argv[4:6])
            test.only_on_the_server(sys.argv[4], sys.argv[5] + "-net8.0")
        else:
            test.silent_names()
            test.password_of_a_proxy()
    finally:
        shutil.rmtree(test.folder, ignore_errors=True)
    print("passed" if test.failures == 0 else f"{test.failures} failures")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
