"""redis-cli on a terminal: the hint that it shows after the first word of a command, its help, and a reply. As JSON."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    os.environ["TERM"] = "xterm"
    os.execvp("redis-cli", ["redis-cli", "-p", sys.argv[1], sys.argv[2]])


def read(until, seconds=20):
    raw, text, end = "", "", time.monotonic() + seconds
    while not re.search(until, text) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            raw += os.read(terminal, 65536).decode()
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", raw)
    return text


read(r"> ")
os.write(terminal, b"EXPIRE ")
hint = read(r"LT\]")
os.write(terminal, b"\x15help BF.INSERT\r")
help_text = read(r"group: ")
os.write(terminal, b"SCARD urls\r")
reply = read(r"\(integer\)")
os.write(terminal, b"exit\r")
os.waitpid(pid, 0)
print(json.dumps({"hint": hint, "help": help_text, "reply": reply}))
