// One session of the official TypeScript client: reads what to do from stdin, writes what it saw to stdout.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

let input = "";
for await (const part of process.stdin) input += part;
const asked = JSON.parse(input);
const { command, args } = asked.server;
const transport = new StdioClientTransport({ command, args, env: asked.env, cwd: asked.cwd });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);
const listed = await client.listTools();
const resources = await client.listResources();
const templates = await client.listResourceTemplates();
const prompts = await client.listPrompts();
const guide = await client.readResource({ uri: "od://guide" });
const view = await client.readResource({ uri: "ui://od/artifact" });
const prompt = await client.getPrompt({ name: "make_live_artifact", arguments: { what: "numbers" } });
const seen = {
  server: client.getServerVersion().name,
  tools: listed.tools.map((tool) => tool.name),
  resources: resources.resources.map((resource) => resource.uri),
  templates: templates.resourceTemplates.map((template) => template.uriTemplate),
  prompts: prompts.prompts.map((each) => each.name),
  guide: guide.contents[0].mimeType,
  view: view.contents[0].mimeType,
  prompt: prompt.messages.map((message) => message.content.type),
  calls: [],
};
let created;
for (const call of asked.calls) {
  const given = JSON.parse(JSON.stringify(call.arguments).replaceAll("$created", created ?? "$created"));
  // The client refuses a payload that breaks the tool's output schema.
  const result = await client.callTool({ name: call.tool, arguments: given });
  created ??= call.tool.endsWith("_create") ? result.structuredContent?.artifact.id : undefined;
  const texts = result.content.map((block) => block.text);
  seen.calls.push({
    tool: call.tool,
    isError: Boolean(result.isError),
    payload: result.structuredContent ?? null,
    text: result.isError ? texts : texts.slice(1),
  });
}
await client.close();
process.stdout.write(JSON.stringify(seen));
