/** Processor time of servers, which are other processes: from Linux's `/proc`. */
import { readdirSync, readFileSync } from 'node:fs'

/** `USER_HZ`, the unit of these files: 100 a second on every architecture that Node runs on. */
const MS_A_TICK = 10

/** Fields of proc(5), counted from behind the name, in which there may be spaces. */
function ticksOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, user, system, userOfEnded, systemOfEnded] = [1, 11, 12, 13, 14].map((at) =>
    Number(fields[at]),
  )
  return { parent, ticks: user + system + userOfEnded + systemOfEnded }
}

/** Of a process, its children and those of them that have ended, ms; NaN where it cannot be known. */
export function processorMs(pid) {
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
      // It has ended meanwhile: it is among those of its parent now.
    }
  }
  return ticks * MS_A_TICK
}
