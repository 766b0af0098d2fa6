// Written by `memoir install`; `memoir uninstall` removes it. Gives each session of pi or oh-my-pi the
// memory of its project, and the command /memory (in oh-my-pi /memoir).
import { execFile, spawn } from "node:child_process";

const program = "{{program}}";
const flags: string[] = "{{flags}}";
const agent = "{{agent}}";
const turns: boolean = "{{turns}}";

// brief cuts the texts of an edit. That there are some shows that it is one.
const brief = (key: string, value: any) =>
  typeof value === "string" && /^(?:content|file_text|(?:old|new)_?(?:string|text|str))$/i.test(key) ? value[0] : value;

export default function (pi: any) {
  let context = "";

  // on adds a hook that never throws into the agent.
  const on = (event: string, hook: (event: any, ctx: any) => any) => pi.on(event, async (what: any, ctx: any) => {
    try { return await hook(what, ctx); } catch {}
  });

  // call runs memoir with an input and resolves to what it printed, and to what it said. It never rejects.
  // What a tool got is no argument: those are limited, and other users see them.
  const call = (ctx: any, args: string[], input?: string) =>
    new Promise<[string, string]>((resolve) => {
      const options = { cwd: ctx?.cwd, timeout: 10000, maxBuffer: 1 << 24 };
      const child = execFile(program, [...args, ...flags], options,
        (error: any, stdout: string, stderr: string) => resolve([error ? "" : stdout, stderr]));
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    }).catch((error): [string, string] => ["", String(error)]);

  const input = (ctx: any, event: string, source?: string) => "--input=" + JSON.stringify(
    { hook_event_name: event, session_id: ctx?.sessionManager?.getSessionId?.(), cwd: ctx?.cwd, source });

  const load = async (ctx: any, source?: string) => {
    [context] = await call(ctx, ["inject", "--agent", agent, "--run", input(ctx, "SessionStart", source)]);
  };

  on("session_start", (event: any, ctx: any) => load(ctx, event?.reason));
  on("session_compact", (_: any, ctx: any) => load(ctx, "compact"));
  on("before_agent_start", () => {
    if (!context) return;
    const content = context;
    context = "";
    return { message: { customType: "memoir", content, display: false } };
  });
  // What earlier sessions know of a command that failed, and of a file after an edit.
  const tell = async (event: any, ctx: any): Promise<string> => {
    const name = String(event?.toolName ?? ""), failed = event?.isError === true;
    if (name === "bash" ? !failed : failed || !/^(?:edit|write|multiedit|apply_patch|ast_edit)$/.test(name)) return "";
    const texts = (event.content ?? []).filter((part: any) => part?.type === "text");
    const [told] = await call(ctx, ["inject", "--agent", agent, "--action"], JSON.stringify({
      hook_event_name: failed ? "PostToolUseFailure" : "PostToolUse", cwd: ctx?.cwd, tool_name: name,
      session_id: ctx?.sessionManager?.getSessionId?.(), tool_input: event.input,
      tool_response: texts.map((part: any) => failed ? part.text.slice(0, 6144) + "\n" + part.text.slice(-6144) : ""),
    }, brief));
    return told;
  };
  // It stands below the result. The result of a call that a script made is left to the script, so there it stands below
  // that of the script.
  const waiting = new Map<string, string>(); // by the call of the script
  on("tool_result", async (event: any, ctx: any) => {
    const text = (waiting.get(event.toolCallId) ?? "") + await tell(event, ctx);
    waiting.delete(event.toolCallId);
    const script = event.parentToolCallId;
    if (script && text) waiting.set(script, (waiting.get(script) ?? "") + text);
    else if (text) return { content: [...event.content, { type: "text", text }], structuredContent: event.structuredContent };
  });
  const report = (what: string, event: string) => (_: any, ctx: any) => {
    const args = ["run", "--startup", what, agent, input(ctx, event), ...flags];
    const child = spawn(program, args, { cwd: ctx?.cwd, detached: true, stdio: "ignore" });
    child.on("error", () => {});
    child.unref();
  };
  on("session_shutdown", report("--ended", "SessionEnd"));
  if (turns) on("agent_end", report("--turn", "Stop"));

  const actions: Record<string, string[]> = {
    view: ["view"], clear: ["clear", "--yes"], reset: ["clear", "--yes"], enqueue: ["enqueue"], rebuild: ["enqueue"],
  };
  // oh-my-pi has a command /memory for its own memory.
  const command = agent === "omp" ? "memoir" : "memory";
  pi.registerCommand(command, {
    description: "The memory of this project: view, clear, reset, enqueue, rebuild",
    handler: async (args: string, ctx: any) => {
      const name = String(args ?? "").trim() || "view";
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (!action) return ctx.ui.notify("/" + command + " " + Object.keys(actions).join(" | "), "warning");
      if (action[0] === "clear" && !(await ctx.ui.confirm("memoir", "Remove what is stored of this project?"))) return;
      ctx.ui.notify((await call(ctx, action)).join("").trim() || "memoir: done", "info");
    },
  });
}
