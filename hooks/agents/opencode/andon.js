// Written by `andon agent install @CLIENT@`; `andon agent uninstall @CLIENT@` removes it.
//
// Hands what happens to `andon agent hook @CLIENT@ EVENT`, as JSON on standard input. Exit code 2 refuses a tool call, with
// the reason on standard error. Standard output is JSON: `context` is for the model, `args` takes the place of arguments, and
// `continue: false` ends a session that goes on after a halt.
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
    const child = spawn(PROGRAM, ["agent", "hook", "@CLIENT@", event], { cwd, timeout: LIMIT })
    // A program that is missing, or ends early, refuses nothing.
    child.on("error", () => resolve({ code: 0, answer: {}, err: "" }))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.on("close", (code) => resolve({ code, answer: parse(out), err: err.trim() }))
    child.stdin.end(JSON.stringify(payload))
  })

// Of all that the bus tells: sessions that begin and end a turn, tokens of a finished message, tools that failed.
const matters = ({ type, properties }) =>
  ["session.created", "session.idle", "session.compacted"].includes(type) ||
  (type === "message.updated" && properties?.info?.time?.completed) ||
  (type === "message.part.updated" && properties?.part?.state?.status === "error")

export const Andon = async ({ client, directory, worktree }) => {
  const tell = (event, payload) => andon(event, payload, directory || worktree)
  // The state of the loop, by session: the system prompt is made anew for every request. A session that was there before is asked about
  // at its first one.
  const standing = new Map()
  return {
    event: async ({ event }) => {
      if (!matters(event)) return
      const told = tell(event.type, event)
      if (event.type === "session.created") standing.set(event.properties?.info?.id, told)
      await told
    },
    "chat.message": async (input, output) => {
      await tell("chat.message", { input, output })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID ?? ""
      if (!standing.has(session)) standing.set(session, tell("experimental.chat.system.transform", { input }))
      const { answer } = await standing.get(session)
      if (answer.context) output.system.push(answer.context)
    },
    "tool.execute.before": async (input, output) => {
      const { code, answer, err } = await tell("tool.execute.before", { input, output })
      if (answer.continue === false) client?.session.abort({ path: { id: input.sessionID } }).catch(() => {})
      if (code === 2) throw new Error(err || "refused by andon")
      if (answer.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const { answer } = await tell("tool.execute.after", { input, output })
      if (answer.context && typeof output?.output === "string") output.output += `\n\n${answer.context}`
    },
    "shell.env": async (input, output) => {
      if (input?.sessionID) output.env.ANDON_SESSION = input.sessionID
    },
    "experimental.session.compacting": async (input, output) => {
      const { answer } = await tell("experimental.session.compacting", { input })
      if (answer.context) output.context.push(answer.context)
    },
  }
}
