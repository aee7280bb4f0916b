// Written by `andon agent install pi`; `andon agent uninstall pi` removes it.
//
// Hands what happens to `andon agent hook pi EVENT`, as JSON on standard input. Exit code 2 refuses a tool call, with the
// reason on standard error. Standard output is JSON: `additionalContext` is for the model, `updatedInput` takes the
// place of arguments, and `continue: false` ends a session that goes on after a halt. At the end of a turn exit code 2 says what is missing, and the turn goes on.
import { spawn } from "node:child_process"

const PROGRAM = @ANDON_JSON@
const LIMIT = 30000

const parse = (text) => {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

const andon = (event, payload, cwd) =>
  new Promise((resolve) => {
    let out = ""
    let err = ""
    const child = spawn(PROGRAM, ["agent", "hook", "pi", event], { cwd, timeout: LIMIT })
    // A program that is missing, or ends early, refuses nothing.
    child.on("error", () => resolve({ code: 0, answer: {}, err: "" }))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.on("close", (code) => resolve({ code, answer: parse(out), err: err.trim() }))
    child.stdin.end(JSON.stringify(payload))
  })

const said = (answer) => answer.hookSpecificOutput?.additionalContext

export default function (pi) {
  let context
  const tell = (event, ctx, payload) => {
    const base = { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd }
    return andon(event, { ...base, ...payload }, ctx.cwd)
  }
  pi.on("session_start", async (event, ctx) => {
    const { answer } = await tell("session_start", ctx, { source: event.reason })
    context = said(answer)
  })
  pi.on("before_agent_start", async (event, ctx) => {
    const { answer } = await tell("before_agent_start", ctx, { prompt: event.prompt })
    const content = [context, said(answer)].filter(Boolean).join("\n\n")
    context = undefined
    if (content) return { message: { customType: "andon", content, display: true } }
  })
  pi.on("tool_call", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input }
    const { code, answer, err } = await tell("tool_call", ctx, call)
    if (answer.continue === false) ctx.abort()
    if (code === 2) return { block: true, reason: err || "refused by andon" }
    const input = answer.hookSpecificOutput?.updatedInput
    if (input) Object.assign(event.input, input)
  })
  pi.on("tool_result", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input }
    const tool_response = { content: event.content, isError: event.isError }
    const { answer } = await tell("tool_result", ctx, { ...call, tool_response })
    const text = said(answer)
    if (text) return { content: [...event.content, { type: "text", text }] }
  })
  pi.on("session_before_compact", async (event, ctx) => {
    await tell("session_before_compact", ctx, {})
  })
  pi.on("session_compact", async (event, ctx) => {
    await tell("session_compact", ctx, {})
  })
  // The last moment at which a turn can go on.
  pi.on("agent_before_settle", async (event, ctx) => {
    const usage = ctx.getContextUsage()
    const tokens = usage?.tokens ? { context_tokens: usage.tokens, context_limit: usage.contextWindow } : {}
    const { code, answer, err } = await tell("agent_before_settle", ctx, tokens)
    if (answer.systemMessage && ctx.hasUI) ctx.ui.notify(answer.systemMessage, "warning")
    if (code !== 2) return
    const missing = { type: "custom_message", customType: "andon", content: err, display: true }
    return { entries: [...event.entries, missing], continue: true }
  })
}
