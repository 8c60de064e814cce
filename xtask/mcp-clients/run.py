#!/usr/bin/env python3
"""Runs real MCP clients against `od mcp live-artifacts` and checks what they saw.

Three clients: the official Python client (`mcp`) and the reference inspector's command line
(`@modelcontextprotocol/inspector --cli`), each in both lifecycles, and the official TypeScript client
(`@modelcontextprotocol/sdk`). They launch the server exactly as `od mcp config` tells an agent to, make the calls of
calls.json, and write a transcript that is compared with the one in expected/. A client that cannot be installed here
is skipped, with the reason.

    python3 xtask/mcp-clients/run.py [--od target/debug/od] [--update]
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Pinned, so that a transcript differs only when the server does.
PYTHON_CLIENT = "mcp==2.3.0"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
TYPESCRIPT_CLIENT = "@modelcontextprotocol/sdk@1.32.2"
# The inspector asks for a newer Node than many systems have; this one comes from the same place.
NODE = "node@22"
NODE_OLDEST = (22, 19)
INSTALL_SECONDS = 600
CALL_SECONDS = 60


class Skipped(Exception):
    """The client cannot be had here."""


def quietly(command, **options):
    """Runs an installer; a failure is a reason to skip."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Skipped(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "it failed").splitlines()[-1]
        raise Skipped(f"{' '.join(map(str, command[:4]))}: {last}")
    return done.stdout


def install_python_client(work):
    """Returns the Python that has the client."""
    python = work / "venv" / "bin" / "python"
    if not python.exists():
        quietly([sys.executable, "-m", "venv", str(work / "venv")])
    quietly([str(python), "-m", "pip", "install", "--quiet", PYTHON_CLIENT])
    return python


def install_inspector(work):
    """Returns the inspector's command line."""
    folder = work / "inspector"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{ "private": true }\n')
    wanted = [INSPECTOR]
    node = shutil.which("node")
    if node is None or node_version(node) < NODE_OLDEST:
        wanted.append(NODE)
    quietly(["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--engine-strict=false", *wanted], cwd=folder)
    own = folder / "node_modules" / ".bin" / "node"
    node = str(own) if own.exists() else node
    return [node, str((folder / "node_modules" / ".bin" / "mcp-inspector").resolve())]


def install_typescript_client(work):
    """Returns Node and the client's script, which stands beside the client."""
    folder = work / "typescript"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{ "private": true }\n')
    node = shutil.which("node")
    if node is None:
        raise Skipped("there is no node")
    quietly(["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", TYPESCRIPT_CLIENT], cwd=folder)
    script = folder / "typescript_client.mjs"
    shutil.copyfile(HERE / "typescript_client.mjs", script)
    return [node, str(script)]


def node_version(node):
    text = quietly([node, "--version"]).strip().lstrip("v")
    return tuple(int(part) for part in text.split(".")[:2])


class World:
    """A home, a project and the daemon that `od run` starts for them."""

    def __init__(self, od):
        self.od = str(od)
        self.folder = tempfile.TemporaryDirectory(prefix="od-mcp-clients-")
        base = pathlib.Path(self.folder.name)
        self.project = base / "numbers"
        self.project.mkdir()
        (self.project / "metrics.json").write_text('{ "n": 2 }\n')
        (base / "user").mkdir()
        self.env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(base / "user"),
            "OD_HOME": str(base / "home"),
        }

    def __enter__(self):
        made = self.json("init", "--name", "Numbers")
        self.project_id = made["project"]["id"]
        self.server = self.json("mcp", "config", "--agent", "claude")["descriptor"]["mcpServers"]["od"]
        return self

    def __exit__(self, *_):
        announced = pathlib.Path(self.env["OD_HOME"]) / "data" / "daemon.json"
        if announced.exists():
            os.kill(json.loads(announced.read_text())["pid"], signal.SIGTERM)
        self.folder.cleanup()

    def json(self, *words):
        done = subprocess.run(
            [self.od, *words, "--json"], cwd=self.project, env=self.env, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    def settled(self, value):
        """Replaces what is another one every time: ids, times, addresses."""
        text = json.dumps(value, ensure_ascii=False)
        text = text.replace(self.project_id, "PROJECT")
        text = re.sub(r"\bla-[a-z0-9-]+?-[0-9a-f]{12}\b", "ARTIFACT", text)
        # The place where the next page of a list begins: when an artifact was changed, and which.
        text = re.sub(r"\b\d{13}\.ARTIFACT\b", "CURSOR", text)
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME", text)
        text = re.sub(r"http://127\.0\.0\.1:\d+", "DAEMON", text)
        text = re.sub(r'(\\?"requestId\\?": ?\\?")[^"\\]+', r"\1REQUEST", text)
        text = re.sub(r'(\\?"age\\?": ?\\?")\d+[smhd]', r"\1AGE", text)
        text = re.sub(r'("serverVersion": ")[^"]+', r"\1VERSION", text)
        return json.loads(text)


def filled_in(arguments, created):
    return json.loads(json.dumps(arguments).replace("$created", created or "$created"))


def created_id(call, payload):
    if call["tool"].endswith("_create") and payload:
        return payload["artifact"]["id"]
    return None


def play_python(world, python):
    """Both lifecycles through the Python client, which checks every payload against its schema."""
    sessions = []
    for mode in ("legacy", "auto"):
        asked = {"server": world.server, "cwd": str(world.project), "env": world.env, "mode": mode,
                 "calls": json.loads((HERE / "calls.json").read_text())}
        done = subprocess.run([str(python), str(HERE / "python_client.py")], input=json.dumps(asked), text=True,
                              capture_output=True, timeout=CALL_SECONDS, check=False)
        if done.returncode != 0:
            raise SystemExit(f"the Python client failed:\n{done.stderr}")
        sessions.append(json.loads(done.stdout))
    return sessions


def play_typescript(world, client):
    """One session of the TypeScript client, which checks every payload against its schema."""
    asked = {"server": world.server, "cwd": str(world.project), "env": world.env,
             "calls": json.loads((HERE / "calls.json").read_text())}
    done = subprocess.run(client, input=json.dumps(asked), text=True, capture_output=True, timeout=CALL_SECONDS, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the TypeScript client failed:\n{done.stderr}")
    return [json.loads(done.stdout)]


def play_inspector(world, inspector):
    """Both eras through the inspector, one process for each call."""
    config = pathlib.Path(world.folder.name) / "inspector.json"
    config.write_text(json.dumps({"mcpServers": {"od": {**world.server, "env": world.env, "cwd": str(world.project)}}}))
    # What the inspector keeps for itself stays out of the person's home.
    env = {**world.env, "PATH": str(pathlib.Path(inspector[0]).parent) + os.pathsep + world.env["PATH"]}
    sessions = []
    for era in ("legacy", "modern"):
        base = [*inspector, "--cli", "--config", str(config), "--server", "od", "--cwd", str(world.project),
                "--protocol-era", era, "--format", "json", "--quiet"]

        def ask(*words, base=base):
            done = subprocess.run([*base, *words], capture_output=True, text=True, timeout=CALL_SECONDS, env=env,
                                  check=False)
            try:
                said = json.loads(done.stdout or done.stderr)
            except ValueError:
                raise SystemExit(f"the inspector said no JSON:\n{done.stdout}\n{done.stderr}") from None
            return done.returncode, said.get("result", said)

        exit_code, listed = ask("--method", "tools/list", "--strict")
        session = {"era": era, "strictExit": exit_code, "tools": [tool["name"] for tool in listed["tools"]], "calls": []}
        created = None
        for call in json.loads((HERE / "calls.json").read_text()):
            arguments = json.dumps(filled_in(call["arguments"], created))
            exit_code, result = ask("--method", "tools/call", "--tool-name", call["tool"], "--tool-args-json", arguments)
            created = created or created_id(call, result.get("structuredContent"))
            session["calls"].append({"tool": call["tool"], "exit": exit_code, "isError": bool(result.get("isError")),
                                     "text": [block["text"] for block in result.get("content", [])]})
        sessions.append(session)
    return sessions


CLIENTS = {
    "python": (PYTHON_CLIENT, install_python_client, play_python),
    "typescript": (TYPESCRIPT_CLIENT, install_typescript_client, play_typescript),
    "inspector": (INSPECTOR, install_inspector, play_inspector),
}


def check(name, transcript, update):
    """Compares a transcript with the expected one; True if they agree."""
    path = HERE / "expected" / f"{name}.json"
    text = json.dumps(transcript, indent=2, ensure_ascii=False) + "\n"
    if update:
        path.write_text(text)
        return True
    expected = path.read_text() if path.exists() else ""
    if text == expected:
        return True
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), text.splitlines(True), f"expected/{name}.json", "now"))
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--od", type=pathlib.Path, default=ROOT / "target" / "debug" / "od")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target" / "mcp-clients")
    parser.add_argument("--update", action="store_true", help="write the transcripts to expected/")
    asked = parser.parse_args()
    if not asked.od.exists():
        raise SystemExit(f"there is no {asked.od}: build it with `cargo build`, or name it with --od")
    asked.work.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, (package, install, play) in CLIENTS.items():
        try:
            client = install(asked.work)
        except Skipped as reason:
            print(f"skipped {package}: cannot be installed here: {reason}")
            continue
        with World(asked.od.resolve()) as world:
            transcript = world.settled(play(world, client))
        good = check(name, transcript, asked.update)
        calls = sum(len(session["calls"]) for session in transcript)
        print(f"{'ok' if good else 'FAILED'} {package}: {len(transcript)} sessions, {calls} calls")
        failed |= not good
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
