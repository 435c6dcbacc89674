"""redis-cli on a terminal: the hint that it shows after the first word of a command, its help, and a reply. As JSON."""
import fcntl
import json
import os
import pty
import re
import select
import signal
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


def typed(keys, until):
    """Types on an empty line until the answer is there: what is typed while redis-cli sets the terminal up is lost."""
    for _ in range(8):
        os.write(terminal, b"\x15" + keys)
        text = read(until, 5)
        if re.search(until, text):
            break
    return text


read(r"> ")
hint = typed(b"EXPIRE ", r"LT\]")
help_text = typed(b"help BF.INSERT\r", r"group: ")
reply = typed(b"SCARD urls\r", r"\(integer\)")
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
print(json.dumps({"hint": hint, "help": help_text, "reply": reply}))
