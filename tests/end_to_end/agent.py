#!/usr/bin/env python3
"""What a launcher can use in place of ssh, without keys: commands go to another host over TCP.

    agent.py serve ADDRESS FILE     runs on a host all that comes; FILE is made once it listens
    agent.py [OPTIONS] HOST WORDS   runs a command there, as ssh does: in a shell, with its output and exit code

As with ssh, a cut link ends neither end: the one waits, the other runs on.
"""

import os
import socket
import subprocess
import sys

PORT = 2222
# That of ssh.
UNREACHABLE = 255


def serve(address: str, file: str) -> None:
    listener = socket.create_server((address, PORT), backlog=16)
    open(file, "w").close()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            answer(connection)
        connection.close()
        reap()


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def answer(connection: socket.socket) -> None:
    command = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    ended = subprocess.Popen(
        ["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=connection, stderr=connection, start_new_session=True
    ).wait()
    try:
        connection.sendall(bytes([ended & 255]))
        # A process that it leaves behind, such as a daemon, has the connection too.
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # Who has asked is gone.
    os._exit(0)


def run(host: str, words: list[str]) -> int:
    try:
        connection = socket.create_connection((host, PORT), timeout=10)
    except OSError as error:
        print(f"agent: {host}: {error.strerror or error}", file=sys.stderr)
        return UNREACHABLE
    connection.settimeout(None)
    connection.sendall(" ".join(words).encode())
    connection.shutdown(socket.SHUT_WR)
    # The last byte is the exit code.
    last = b""
    while some := connection.recv(4096):
        sys.stderr.buffer.write((last + some)[:-1])
        sys.stderr.buffer.flush()
        last = some[-1:]
    return last[0] if last else UNREACHABLE


def main() -> int:
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    words = sys.argv[1:]
    while words[0].startswith("-"):
        words.pop(0)
    host, *words = words
    if host in (os.uname().nodename, "10.9.0.1"):
        os.execvp("bash", ["bash", "-c", " ".join(words)])
    return run(host, words)


sys.exit(main())
