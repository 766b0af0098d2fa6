// Written by `memoir install`; `memoir uninstall` removes it. Gives each session of pi or oh-my-pi the
// memory of its project, and the command /memory.
import { execFile, spawn } from "node:child_process";

const program = "{{program}}";
const flags: string[] = "{{flags}}";
const agent = "{{agent}}";

export default function (pi: any) {
  let context = "";

  // call runs memoir and resolves to what it printed, also where it failed.
  const call = (ctx: any, args: string[], input?: object) =>
    new Promise<string>((resolve) => {
      const child = execFile(program, [...args, ...flags], { cwd: ctx?.cwd, timeout: 10000, maxBuffer: 1 << 24 },
        (error: any, stdout: string, stderr: string) => resolve(input ? (error ? "" : stdout) : stdout + stderr));
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ? JSON.stringify(input) : "");
    });

  const input = (ctx: any, event: string, source?: string) =>
    ({ hook_event_name: event, session_id: ctx?.sessionManager?.getSessionId?.(), cwd: ctx?.cwd, source });

  const load = async (ctx: any, source?: string) => {
    context = await call(ctx, ["inject", "--agent", agent, "--run"], input(ctx, "SessionStart", source));
  };

  pi.on("session_start", (event: any, ctx: any) => load(ctx, event?.reason));
  pi.on("session_compact", (_: any, ctx: any) => load(ctx, "compact"));
  pi.on("before_agent_start", () => {
    if (!context) return;
    const content = context;
    context = "";
    return { message: { customType: "memoir", content, display: false } };
  });
  pi.on("session_shutdown", (_: any, ctx: any) => {
    const child = spawn(program, ["run", "--startup", "--ended", agent, ...flags],
      { cwd: ctx?.cwd, detached: true, stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => {});
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(input(ctx, "SessionEnd")));
    child.unref();
  });

  const actions: Record<string, string[]> = {
    view: ["view"], clear: ["clear", "--yes"], reset: ["clear", "--yes"], enqueue: ["enqueue"], rebuild: ["enqueue"],
  };
  pi.registerCommand("memory", {
    description: "The memory of this project: view, clear, reset, enqueue, rebuild",
    handler: async (args: string, ctx: any) => {
      const name = String(args ?? "").trim() || "view";
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (!action) return ctx.ui.notify("/memory " + Object.keys(actions).join(" | "), "warning");
      if (action[0] === "clear" && !(await ctx.ui.confirm("memoir", "Remove what is stored of this project?"))) return;
      ctx.ui.notify((await call(ctx, action)).trim() || "memoir: done", "info");
    },
  });
}
