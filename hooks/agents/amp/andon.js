// Written by `andon agent install amp`; `andon agent uninstall amp` removes it.
//
// Hands what happens to `andon agent hook amp EVENT`, as JSON on standard input. Exit code 2 refuses a tool call, with the
// reason on standard error. Amp's interface of plugins is experimental by its own words.
import { spawn } from "node:child_process"

const PROGRAM = @ANDON_JSON@
const LIMIT = 30000

const andon = (event, payload) =>
  new Promise((resolve) => {
    let err = ""
    const child = spawn(PROGRAM, ["agent", "hook", "amp", event], { timeout: LIMIT })
    // A program that is missing, or ends early, refuses nothing.
    child.on("error", () => resolve({ code: 0, err: "" }))
    child.stdin.on("error", () => {})
    child.stdout.resume()
    child.stderr.on("data", (data) => (err += data))
    child.on("close", (code) => resolve({ code, err: err.trim() }))
    child.stdin.end(JSON.stringify(payload))
  })

const call = (event) => ({
  session_id: event.thread?.id,
  tool_name: event.tool,
  tool_use_id: event.toolUseID,
  tool_input: event.input,
})

export default function (amp) {
  amp.on("session.start", async (event) => {
    await andon("session.start", { session_id: event.thread?.id })
  })
  amp.on("agent.start", async (event) => {
    await andon("agent.start", { session_id: event.thread?.id, prompt: event.message })
  })
  amp.on("tool.call", async (event) => {
    const { code, err } = await andon("tool.call", call(event))
    return code === 2 ? { action: "reject-and-continue", message: err || "refused by andon" } : { action: "allow" }
  })
  amp.on("tool.result", async (event) => {
    const tool_response = { output: event.output, is_error: event.status === "error", interrupted: event.status === "cancelled" }
    await andon("tool.result", { ...call(event), tool_response })
  })
  amp.on("agent.end", async (event) => {
    await andon("agent.end", { session_id: event.thread?.id })
  })
}
