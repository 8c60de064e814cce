"""One session of the official Python client: reads what to do from stdin, writes what it saw to stdout."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client


def filled_in(arguments, created):
    return json.loads(json.dumps(arguments).replace("$created", created or "$created"))


async def main():
    asked = json.load(sys.stdin)
    server = StdioServerParameters(
        command=asked["server"]["command"], args=asked["server"]["args"], env=asked["env"], cwd=asked["cwd"]
    )
    async with Client(stdio_client(server), mode=asked["mode"]) as client:
        listed = await client.list_tools()
        seen = {
            "mode": asked["mode"],
            "protocolVersion": client.protocol_version,
            "server": client.server_info.name,
            "serverVersion": client.server_info.version,
            "tools": [
                {"name": tool.name, "outputSchema": tool.output_schema is not None,
                 "annotations": tool.annotations.model_dump(by_alias=True, exclude_none=True)}
                for tool in listed.tools
            ],
            "calls": [],
        }
        created = None
        for call in asked["calls"]:
            # The client refuses a payload that breaks the tool's output schema.
            result = await client.call_tool(call["tool"], filled_in(call["arguments"], created))
            payload = result.structured_content
            if payload and call["tool"].endswith("_create"):
                created = created or payload["artifact"]["id"]
            seen["calls"].append({
                "tool": call["tool"],
                "isError": bool(result.is_error),
                "payload": payload,
                "text": [block.text for block in result.content][0 if result.is_error else 1:],
            })
        json.dump(seen, sys.stdout)


asyncio.run(main())
