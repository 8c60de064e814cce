"""A model that does what its prompt says: real agent CLIs run against it without any account.

It speaks the three wire formats that they use: Anthropic Messages, OpenAI (Responses and Chat Completions) and
Gemini. A prompt holds `CALL <tool> <json>` lines; each turn the model calls the next one, the id of the artifact that
an earlier result names put in place of $ID, and after the last it says `FINISHED`. `SHELL` is the CLI's own tool for
commands, whatever it calls it. What the tools gave is written to
a log, which is what the checks read: they believe no agent's own words.

    python3 model.py PORT LOG
"""

import gzip
import json
import re
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINE = re.compile(r"CALL (\w+) (\{.*\})")
SEARCHES = ["ToolSearch", "tool_search"]
SHELLS = ["Bash", "bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command", "run_terminal_cmd"]
ARTIFACT = re.compile(r"la-[a-z0-9-]+-[0-9a-f]{12}")
LOG_LOCK = threading.Lock()


def plain(content):
    """The text of a content, however deep the format hides it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(plain(part) for part in content)
    if isinstance(content, dict):
        return plain(content.get("text") or content.get("content") or content.get("output") or "")
    return ""


def schema_of(tool):
    tool = tool.get("function") or tool
    return tool.get("input_schema") or tool.get("parameters") or tool.get("parametersJsonSchema") or {}


class Turn:
    """One request, whatever its format: what was said, what tools gave, which tools there are."""

    def __init__(self):
        self.prompt, self.results, self.tools, self.prompts, self.raw = [], [], {}, 0, ""
        self.called = []

    def user(self, text):
        if LINE.search(text):
            self.prompt, self.results, self.called = LINE.findall(text), [], []
            self.prompts += 1

    def next(self):
        """(name, arguments) of the next call, or None when everything was called."""
        if not self.prompt or not self.tools or len(self.results) >= len(self.prompt):
            return None
        wanted, arguments = self.prompt[len(self.results)]
        known = [ARTIFACT.search(result) for result in self.results]
        ids = [found.group(0) for found in known if found]
        arguments = arguments.replace("$ID", ids[0] if ids else "la-none-000000000000")
        try:
            arguments = json.loads(arguments)
        except ValueError:
            # opencode hands a prompt on in quotes, those inside escaped.
            arguments = json.loads(arguments.replace('\\"', '"'))
        if wanted == "SHELL":
            return self.shell(arguments["command"])
        return self.tool(wanted, arguments)

    def tool(self, wanted, arguments):
        """The call of a tool, by the name that this CLI has for it; looked for first where it is not listed."""
        found = [name for name in self.tools if name.endswith(wanted)]
        # Some hosts load tools when they are called: then the name stands in what they say of such tools, or is
        # the server's name, which a chat makes anew, and the tool's.
        # The last: a conversation that goes on has those of the chat before, too.
        named = re.findall(rf"mcp__od\w*?__{wanted}\b", self.raw)[-1:]
        name = (found or named or [f"mcp__od__{wanted}"])[0]
        search = next((name for name in SEARCHES if name in self.tools), None)
        if search and not found and search not in self.called[-1:]:
            # A second look is for the words: the name may be that of the chat before.
            return search, {"query": f"select:{name}" if named and search not in self.called else wanted}
        if not found and "tool_call" in self.tools:
            fields = schema_of(self.tools["tool_call"]).get("properties") or {}
            return "tool_call", {key: arguments if field.get("type") == "object" else name for key, field in fields.items()}
        return name, arguments


    def shell(self, command):
        """The call that runs a command, in the words of this CLI."""
        name = next((name for name in SHELLS if name in self.tools), "no_shell")
        schema = schema_of(self.tools.get(name) or {})
        fields, given = schema.get("properties") or {}, {}
        for key in ("command", "cmd"):
            if key in fields:
                given[key] = ["bash", "-lc", command] if fields[key].get("type") == "array" else command
        for key in schema.get("required") or []:
            kind = (fields.get(key) or {}).get("type")
            given.setdefault(key, {"boolean": False, "number": 60000, "integer": 60000}.get(kind, "Scripted"))
        if "sandbox_permissions" in fields:
            # Codex asks about what leaves its sandbox, and about nothing else.
            given.update({"sandbox_permissions": "require_escalated", "justification": "scripted"})
        return name, given or {"command": command}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.reply({})

    def do_GET(self):
        model = {"id": "scripted", "object": "model", "name": "models/scripted"}
        self.reply({"object": "list", "data": [model], "models": [model]})

    def do_POST(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            asked = json.loads(raw or b"{}")
        except ValueError:
            return self.reply({"error": {"message": "no JSON"}}, 400)
        path = self.path.split("?")[0]
        try:
            if path.endswith("/messages"):
                return self.anthropic(asked)
            if path.endswith("/responses"):
                return self.openai(asked)
            if path.endswith("/chat/completions"):
                return self.chat(asked)
            if "enerateContent" in path:
                return self.gemini(asked, "stream" in path)
            return self.reply({"input_tokens": 1, "totalTokens": 1})
        except (BrokenPipeError, ConnectionResetError):
            return None

    def reply(self, answer, status=200):
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def events(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()

    def decide(self, turn, asked):
        turn.raw = json.dumps(asked)
        if len(turn.called) == len(turn.results):
            # What a search found is no result of a call that was wanted.
            turn.results = [text for name, text in zip(turn.called, turn.results) if name not in SEARCHES]
        call = turn.next()
        said = None
        if call is None:
            said = "FINISHED" if turn.prompt else "nothing to do"
        with LOG_LOCK, open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write(json.dumps({"call": call, "said": said, "results": turn.results, "wanted": len(turn.prompt),
                                  "prompts": turn.prompts,
                                  "tools": sorted(turn.tools)}) + "\n")
        return call, said

    def anthropic(self, asked):
        turn = Turn()
        for message in asked.get("messages", []):
            content = message.get("content")
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
                if block.get("type") == "tool_use":
                    turn.called.append(block.get("name"))
                elif block.get("type") == "tool_result":
                    turn.results.append(plain(block.get("content")))
                elif message["role"] == "user" and block.get("type") == "text":
                    turn.user(block["text"])
        turn.tools = {tool.get("name", ""): tool for tool in asked.get("tools") or []}
        call, said = self.decide(turn, asked)
        # A conversation that goes on has the calls of the one before: an id that comes twice is dropped with its result.
        number = uuid.uuid4().hex[:12]
        block = ({"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": call[1]} if call
                 else {"type": "text", "text": said})
        stop = "tool_use" if call else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not asked.get("stream"):
            return self.reply({**message, "content": [block], "stop_reason": stop})
        empty = {**block, "input": {}} if call else {**block, "text": ""}
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call
                 else {"type": "text_delta", "text": said})
        steps = [{"type": "message_start", "message": message},
                 {"type": "content_block_start", "index": 0, "content_block": empty},
                 {"type": "content_block_delta", "index": 0, "delta": delta},
                 {"type": "content_block_stop", "index": 0},
                 {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
                 {"type": "message_stop"}]
        return self.events([(step["type"], step) for step in steps])

    def openai(self, asked):
        turn = Turn()
        given = asked.get("input")
        for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
            kind = item.get("type", "message")
            if kind.endswith("call_output"):
                turn.results.append(plain(item.get("output")))
            elif kind == "message" and item.get("role") == "user":
                turn.user(plain(item.get("content")))
        spaces = {}
        for tool in asked.get("tools") or []:
            inner = tool.get("tools") if tool.get("type") == "namespace" else [tool]
            for each in inner or []:
                name = each.get("name") or each.get("type")
                turn.tools[name] = each
                spaces[name] = tool.get("name") if tool.get("type") == "namespace" else None
        call, said = self.decide(turn, asked)
        # A conversation that goes on has the calls of the one before: an id that comes twice is dropped with its result.
        number = uuid.uuid4().hex[:12]
        if call:
            name = call[0].removeprefix("mcp__od__")
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name,
                    "arguments": json.dumps(call[1]), "status": "completed"}
            space = spaces.get(call[0], "mcp__od")
            if space:
                item["namespace"] = space
        else:
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": said, "annotations": []}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        whole = {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": asked.get("model"),
                 "status": "completed", "output": [item], "usage": usage}
        if not asked.get("stream"):
            return self.reply(whole)
        steps = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
                 {"type": "response.output_item.added", "output_index": 0, "item": item},
                 {"type": "response.output_item.done", "output_index": 0, "item": item},
                 {"type": "response.completed", "response": whole}]
        return self.events([(step["type"], {**step, "sequence_number": n}) for n, step in enumerate(steps)])

    def chat(self, asked):
        turn = Turn()
        for message in asked.get("messages", []):
            for called in message.get("tool_calls") or []:
                turn.called.append((called.get("function") or {}).get("name"))
            if message["role"] == "tool":
                turn.results.append(plain(message.get("content")))
            elif message["role"] == "user":
                turn.user(plain(message.get("content")))
        turn.tools = {tool["function"]["name"]: tool for tool in asked.get("tools") or [] if tool.get("function")}
        call, said = self.decide(turn, asked)
        # A conversation that goes on has the calls of the one before: an id that comes twice is dropped with its result.
        number = uuid.uuid4().hex[:12]
        calls = call and [{"index": 0, "id": f"call_{number}", "type": "function",
                           "function": {"name": call[0], "arguments": json.dumps(call[1])}}]
        message = {"role": "assistant", "content": said, **({"tool_calls": calls} if calls else {})}
        reason = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base = {"id": f"chat_{number}", "created": 0, "model": asked.get("model")}
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.reply({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        chunk = {**base, "object": "chat.completion.chunk"}
        return self.events([
            (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
            (None, "[DONE]")])

    def gemini(self, asked, stream):
        turn = Turn()
        contents = asked.get("contents")
        for content in contents if isinstance(contents, list) else [contents]:
            for part in (content or {}).get("parts") or []:
                if "functionResponse" in part:
                    turn.results.append(json.dumps(part["functionResponse"].get("response")))
                elif content.get("role") == "user":
                    turn.user(part.get("text", ""))
        for tool in asked.get("tools") or []:
            turn.tools.update({each["name"]: each for each in tool.get("functionDeclarations") or []})
        call, said = self.decide(turn, asked)
        if (asked.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            call, said = None, json.dumps({"reasoning": "scripted", "model_choice": "flash", "next_speaker": "user",
                                           "complexity_reasoning": "scripted", "complexity_score": 1})
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": said}
        answer = {"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}],
                  "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        return self.events([(None, answer)]) if stream else self.reply(answer)


if __name__ == "__main__":
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
