"""Chat with a real agent over the Agent Client Protocol: `od chat` at a terminal, as a person uses it.

One agent at a time: its shell command is asked about and allowed, it makes an artifact with od's tools, its turn is
stopped while a command runs, and its conversation goes on in a new process. What is looked at afterwards is not what
the agent says: the questions at the terminal, the artifacts of the store, the processes of the system, the requests
that reached the model, and every file below the agent's home and od's folders.
"""

import fcntl
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import termios
import time

TOKEN = b"odt.v1."
ASKS = "y, n or a number: "
# The number is the name by which its process is found again; some agents refuse a command that only sleeps.
SLEEP = "python3 -c 'import time; time.sleep(41793)'"
MARK = b"time.sleep(41793)"
MAKE = ("od_live_artifacts_create", {
    "input": {"title": "Visits", "document": {
        "format": "html_template_v1", "dataJson": {"visits": 1},
        "sourceJson": {"type": "local_file", "input": {"path": "metrics.json"}}}},
    "templateHtml": "<!doctype html><title>Visits</title><h1>{{data.visits}}</h1>"})
PACKAGES = {"claude": ("claude-acp", "@agentclientprotocol/claude-agent-acp"),
            "codex": ("codex-acp", "@agentclientprotocol/codex-acp")}


def prompt(*calls):
    return "Do exactly this, in this order.\n" + "\n".join(f"CALL {name} {json.dumps(given)}" for name, given in calls)


def shell(command):
    return "SHELL", {"command": command}


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, words, cwd, env):
        self.end, side = pty.openpty()

        def take_terminal():
            os.setsid()
            # Without it Ctrl-C is a letter like any other.
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(words, cwd=cwd, env=env, stdin=side, stdout=side, stderr=side,
                                        preexec_fn=take_terminal)
        os.close(side)
        self.said, self.questions, self.seen, self.asked = "", [], 0, 0

    def read(self, seconds):
        ready, _, _ = select.select([self.end], [], [], seconds)
        if not ready:
            return True
        try:
            part = os.read(self.end, 65536)
        except OSError:
            return False
        self.said += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)

    def until(self, wanted, seconds, answer="y"):
        """Reads until `wanted` holds for what was said since the last call; answers every question meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            new = self.said[self.seen:]
            if wanted(new):
                self.seen = len(self.said)
                return True
            at = self.said.find(ASKS, self.asked)
            if at >= 0:
                self.questions.append(self.said[self.said.rfind("The agent asks:", 0, at):at])
                self.asked = at + len(ASKS)
                # A line that is typed before the question is there is not taken.
                time.sleep(0.2)
                os.write(self.end, answer.encode() + b"\n")
                continue
            if not self.read(0.5):
                return False
        return False

    def close(self):
        os.write(self.end, b"\x04")
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.end)


def processes(home):
    """Processes of an agent: those that have its home, or its sleep, and their command lines."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            env = (folder / "environ").read_bytes()
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        is_od = b"\0chat\0" in line or b"\0serve\0" in line or b"model.py" in line
        if state != "Z" and not is_od and (f"HOME={home}".encode() in env or sleeps(line)):
            found[int(folder.name)] = line
    return found


def sleeps(line):
    return MARK in line


def files_with_token(folders):
    found = []
    for folder in folders:
        for path in pathlib.Path(folder).rglob("*"):
            try:
                if path.is_file() and not path.is_symlink() and TOKEN in path.read_bytes():
                    found.append(str(path))
            except OSError:
                continue
    return found


def is_idle(said):
    return said.rstrip(" ").endswith("\n>") or "\n> " in said


def play(world, inside, od, name, env, seconds):
    """Returns (mark, whether it holds) of each step, and what was said."""
    env = {**env, "OD_AGENTS_PATH": env["PATH"], "OD_AGENTS_HOME": str(world.home), "SHELL": "/bin/sh"}
    marks, heard = [], ""
    home = str(world.home)

    def turns():
        return [json.loads(line) for line in world.log.read_text().splitlines()]

    words = [*inside, od, "chat", "--agent", name]
    first = prompt(shell("touch asked.txt"), MAKE)
    chat = Terminal([*words, first], world.project, env)
    finished = chat.until(lambda said: "FINISHED" in said and is_idle(said), seconds)
    running = processes(home)
    in_argv = [line for line in running.values() if TOKEN in line or b"CALL SHELL" in line]
    asked = any("touch asked.txt" in question for question in chat.questions)
    marks.append(("asked", asked and (world.project / "asked.txt").exists()))
    _, listed = world.run([od, "artifacts", "list", "--json"], env)
    marks.append(("made", finished and '"title":"Visits"' in listed.replace(": ", ":")))
    # A turn that is stopped while a command runs: nothing of the agent is left when that is said.
    chat.seen = len(chat.said)
    os.write(chat.end, (prompt(shell(SLEEP)).replace("\n", " ") + "\n").encode())
    began = time.monotonic()
    slept = False
    while time.monotonic() - began < seconds and not slept:
        chat.until(lambda _: False, 1)
        slept = any(sleeps(line) for line in processes(home).values())
    began = time.monotonic()
    os.write(chat.end, b"\x03")
    stopped = chat.until(lambda said: "no program of the agent is left" in said, 60, "n")
    left = processes(home)
    marks.append(("stopped", slept and stopped))
    marks.append(("left", len(left) if stopped else "?"))
    marks.append(("seconds", round(time.monotonic() - began, 1)))
    chat.until(is_idle, 10)
    chat.close()
    heard += chat.said
    # Its conversation in a new process: the model is sent the first prompt again.
    _, chats = world.run([od, "chat", "--list", "--json"], env)
    try:
        session = json.loads(chats[chats.index("{"):])["sessions"][0]
    except (ValueError, LookupError):
        session = {"id": "none", "made": []}
    marks.append(("named", [made["title"] for made in session.get("made", [])] == ["Visits"]))
    before = len(turns())
    again = Terminal([*inside, od, "chat", "--resume", session["id"], prompt(("od_live_artifacts_list", {}))],
                     world.project, env)
    again.until(lambda said: "FINISHED" in said and is_idle(said), seconds)
    again.close()
    heard += again.said
    later = turns()[before:]
    marks.append(("resumed", any(turn["prompts"] > 1 for turn in later)))
    tokens = files_with_token([world.home, world.base / "od", world.project])
    marks.append(("secret", not tokens and not in_argv and TOKEN.decode() not in heard))
    if tokens or in_argv:
        heard += f"\nTOKENS {tokens} {in_argv}"
    for turn in turns()[-12:]:
        heard += f"\n{json.dumps(turn)[:700]}"
    return marks, heard
