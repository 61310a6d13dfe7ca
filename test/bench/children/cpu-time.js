/** CPU time of other processes (database servers), from Linux's `/proc`. */
import { readdirSync, readFileSync } from 'node:fs'

/** One tick (`USER_HZ`): 100 a second on every architecture that Node runs on. */
const MS_PER_TICK = 10

/** Fields of proc(5), counted from the end of the command name, because that may contain spaces. */
function ticksOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]))
  return { parent, ticks: user + system + endedUser + endedSystem }
}

/** CPU time in ms of a process and its children, ended ones included; NaN without `/proc`. */
export function cpuMsOf(pid) {
  let ticks = 0
  try {
    ticks = ticksOf(pid).ticks
  } catch {
    return Number.NaN
  }
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const child = ticksOf(name)
      if (child.parent === pid) ticks += child.ticks
    } catch {
      // The child has just ended: its parent's fields include it from now on.
    }
  }
  return ticks * MS_PER_TICK
}
