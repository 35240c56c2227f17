"""Completes command lines in a real bash, which has read what mixwalk writes for it.
usage: check_completions.py MIXWALK REPOSITORY"""

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import tempfile
import termios

SECONDS = 120  # until bash must have answered
READY, RESULT = "ready> ", "RESULT:"
TAB, ALL = "\t", "\x1b*"  # complete; insert all completions


class Bash:
    """An interactive bash, in the folder, in which a function takes mixwalk's place that says its arguments."""

    def __init__(self, folder, script):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", HOME=folder, INPUTRC="/dev/null", LC_ALL="C.UTF-8")
            # No line is too long to be shown whole.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 4000, 0, 0))
            os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
        self.said = ""
        # Quoted in two parts: the line's own echo is no prompt.
        self.run("PS1='%s''%s' PS2=" % (READY[:3], READY[3:]))
        for setting in ("enable-bracketed-paste off", "completion-query-items 0", "bell-style none"):
            self.run("bind 'set %s'" % setting)
        self.run("source " + shlex.quote(script))
        self.run("mixwalk() { printf '\\n" + RESULT + "'; printf ' %q' \"$@\"; printf '\\n'; }")

    def run(self, line, result=""):
        os.write(self.terminal, (line + "\n").encode())
        self.said = ""
        # Then the line editor reads again: its prompt stands where a line begins, and nothing follows it.
        while not re.search(result + r"(.*[\r\n])?" + READY + "$", self.said, re.DOTALL):
            if not select.select([self.terminal], [], [], SECONDS)[0]:
                raise SystemExit("FAILED: bash says nothing after " + repr(self.said))
            self.said += os.read(self.terminal, 1 << 16).decode()

    def completed(self, keys):
        """The arguments that mixwalk gets when these keys, and then Enter, are pressed."""
        self.run("mixwalk " + keys, RESULT)
        results = re.findall(RESULT + r"(.*)", self.said)
        if len(results) != 1:
            raise SystemExit("FAILED: " + repr(keys) + " gives " + repr(self.said))
        return shlex.split(results[0].strip())

    def end(self):
        os.write(self.terminal, b"exit\n")
        os.waitpid(self.child, 0)


def documented(repository):
    """{command: the names of its options} of docs/options.md, without second spellings."""
    commands = {}
    with open(os.path.join(repository, "docs/options.md"), encoding="utf-8") as page:
        for line in page:
            if line.startswith("## "):
                names = commands.setdefault(line[3:].strip(), [])
            elif line.startswith("| `-"):
                all_names = re.findall(r"(?<![\w-])--?[a-z][\w-]*", line.split("`")[1])
                short = [name for name in all_names if not name.startswith("--")]
                names += short + [name for name in all_names if name.startswith("--")][:1]
    commands.pop("mixwalk")
    return commands


def main(mixwalk, repository):
    wrong, checked = [], 0
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "completions.bash")
        with open(script, "w", encoding="utf-8") as file:
            written = subprocess.run([mixwalk, "completions", "bash"], check=True, capture_output=True, text=True)
            file.write(written.stdout)
        work = os.path.join(folder, "work")
        os.makedirs(os.path.join(work, "the symbols"))
        for name in ("first recording.mixwalk", "program.exe"):
            open(os.path.join(work, name), "w", encoding="utf-8").close()
        bash = Bash(work, script)

        def expect(keys, arguments):
            nonlocal checked
            got = bash.completed(keys)
            checked += 1
            if got != arguments:
                wrong.append(f"{keys!r} gives {got}, not {arguments}")

        commands = documented(repository)
        expect(ALL, sorted([*commands, "--help", "--version"]))
        expect("d" + ALL, ["doctor", "dump"])
        expect("symb" + TAB, ["symbolise"])
        for command, names in commands.items():
            expect(f"{command} -{ALL}", [command, *sorted(names)])
        expect("dump --proc" + TAB, ["dump", "--process-id"])
        expect("dump -p 1 --symbol-p" + TAB, ["dump", "-p", "1", "--symbol-path"])
        expect("dump --thr" + TAB, ["dump", "--thread"])
        expect("dump --engine " + ALL, ["dump", "--engine", "auto", "copy", "snapshot"])
        expect("dump --engine=" + ALL, ["dump", "--engine=auto", "copy", "snapshot"])
        expect("record --format=speed" + TAB, ["record", "--format=speedscope"])
        expect("record -f js" + TAB, ["record", "-f", "js"])
        expect("convert -f js" + TAB, ["convert", "-f", "json"])
        expect("record --on exc" + TAB, ["record", "--on", "exception"])
        expect("record --on exception=f" + TAB, ["record", "--on", "exception=f"])
        expect("completions " + ALL, ["completions", "bash", "powershell"])
        expect("report fi" + TAB, ["report", "first recording.mixwalk"])
        expect("report first\\ recording.mixwalk -o pro" + TAB,
               ["report", "first recording.mixwalk", "-o", "program.exe"])
        expect("dump --symbol-path " + TAB, ["dump", "--symbol-path", "the symbols/"])
        expect("dump -- pro" + TAB, ["dump", "--", "program.exe"])
        expect("dump -- program.exe --proc" + TAB, ["dump", "--", "program.exe", "--proc"])
        expect("dump -p pro" + TAB, ["dump", "-p", "pro"])
        expect("ps pro" + TAB, ["ps", "pro"])
        expect("record --otlp --process-" + TAB, ["record", "--otlp", "--process-id"])
        bash.end()
    if len(commands) < 9:
        wrong.append(f"docs/options.md has {len(commands)} commands")
    if wrong:
        raise SystemExit("FAILED: " + "\n".join(wrong))
    print(f"{checked} command lines were completed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
