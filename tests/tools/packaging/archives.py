"""Archives that are the same bytes for the same content: sorted names, one time for all files, no owners."""

import gzip
import io
import tarfile
import time
import zipfile


EARLIEST_OF_ZIP = 315532800  # the start of 1980, in seconds since 1970


def write_zip(path, files, seconds):
    """files: {name in the archive: (bytes, whether it is a program)}; seconds: since 1970, of each file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            content, program = files[name]
            entry = zipfile.ZipInfo(name, time.gmtime(max(seconds, EARLIEST_OF_ZIP))[:6])
            entry.create_system = 3  # Unix, so that the rights below count
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def write_tar(path, files, seconds):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            content, program = files[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), seconds, 0o755 if program else 0o644
            archive.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=seconds) as zipped:
        zipped.write(packed.getvalue())
