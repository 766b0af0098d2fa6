// Written by `memoir install`; `memoir uninstall` removes it. Gives each session of OpenCode the memory of
// its project, and the command /memory.
import { execFile } from "node:child_process";

const program = "{{program}}";
const flags = "{{flags}}";
const agent = "{{agent}}";
const turns = "{{turns}}";

// brief cuts the texts of an edit. That there are some shows that it is one.
const brief = (key, value) =>
  typeof value === "string" && /^(?:content|file_text|(?:old|new)_?(?:string|text|str))$/i.test(key) ? value[0] : value;

const actions = {
  view: ["view"], clear: ["clear", "--yes"], reset: ["clear", "--yes"], enqueue: ["enqueue"], rebuild: ["enqueue"],
};

export const Memoir = async ({ directory }) => {
  const contexts = new Map(); // by session

  // call runs memoir with an input and resolves to what it printed, and to what it said. It never rejects.
  // What a tool got is no argument: those are limited, and other users see them.
  const call = (args, input) =>
    new Promise((resolve) => {
      const options = { cwd: directory, timeout: 10000, maxBuffer: 1 << 24 };
      const child = execFile(program, [...args, ...flags], options,
        (error, stdout, stderr) => resolve([error ? "" : stdout, stderr]));
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    }).catch((error) => ["", String(error)]);

  // quiet makes a hook that never throws into the agent.
  const quiet = (hook) => async (...args) => {
    try { await hook(...args); } catch {}
  };

  const contextOf = (session) => {
    if (!contexts.has(session)) {
      if (contexts.size > 100) contexts.delete(contexts.keys().next().value);
      const input = JSON.stringify({ hook_event_name: "SessionStart", session_id: session, cwd: directory });
      contexts.set(session, call(["inject", "--agent", agent, "--run", "--input=" + input]));
    }
    return contexts.get(session);
  };

  return {
    event: quiet(async ({ event }) => {
      if (!turns || event?.type !== "session.idle") return;
      const input = JSON.stringify(
        { hook_event_name: "Stop", session_id: event.properties?.sessionID, cwd: directory });
      call(["run", "--startup", "--turn", agent, "--input=" + input]);
    }),
    // The first part of the system prompt is the only one that all servers take.
    "experimental.chat.system.transform": quiet(async (input, output) => {
      const [context] = await contextOf(input?.sessionID ?? "");
      if (!context || output.system.some((part) => part.includes(context))) return;
      output.system[0] = output.system[0] ? output.system[0] + "\n\n" + context : context;
    }),
    // After a command that failed, and after an edit: what earlier sessions know of it, below the result.
    "tool.execute.after": quiet(async (input, output) => {
      const shell = input.tool === "bash", failed = shell && output.metadata?.exit !== 0;
      if (shell ? !failed : !/^(?:edit|multiedit|write|patch|apply_patch)$/.test(input.tool)) return;
      const text = failed ? String(output.output ?? "") : "";
      const [told] = await call(["inject", "--agent", agent, "--action"], JSON.stringify({
        hook_event_name: failed ? "PostToolUseFailure" : "PostToolUse", session_id: input.sessionID, cwd: directory,
        tool_name: input.tool, tool_input: input.args,
        tool_response: text.slice(0, 6144) + "\n" + text.slice(-6144) }, brief));
      if (told) output.output += "\n" + told;
    }),
    config: async (config) => {
      config.command = { ...config.command, memory: {
        description: "The memory of this project: view, clear, reset, enqueue, rebuild", template: "$ARGUMENTS" } };
    },
    "command.execute.before": async (input, output) => {
      if (input.command !== "memory") return;
      const name = String(input.arguments ?? "").trim() || "view";
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      const said = action ? (await call(action)).join("") : "/memory " + Object.keys(actions).join(" | ");
      const text = "`memoir` was called for me and printed what follows. Tell me so; do nothing else.\n\n" + said;
      output.parts.splice(0, output.parts.length, { type: "text", text });
    },
  };
};
