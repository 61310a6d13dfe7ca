import type { Evidence } from './evidence.js'
import type { Register, RegisterStep } from './ledger.js'

/** No webhook of that id. */
const GONE = ''

/** Each webhook that several changed at once behaved as if they had come one after the other. */
export function judgeRegisters({ ledger, findings }: Evidence): void {
  for (const register of ledger.registers) {
    if (isLinearizable(register)) continue
    const told = register.steps.map(
      ({ kind, mark, outcome, fromMs, toMs }) =>
        `${kind} ${mark} ${outcome} (${fromMs.toFixed(1)} to ${toMs.toFixed(1)})`,
    )
    const what = `what was told of ${register.id} fits no order: ${register.first}, ${told.join(', ')}`
    findings.add('I21', register.steps[0]!.fromMs, what, register.id)
  }
}

/**
 * Looks for an order of the steps in which each comes between its beginning and its end, and says what was told (Wing
 * and Gong). What nobody knows the end of may have been carried out at any time since it began, or never.
 */
export function isLinearizable({ first, steps: told }: Register): boolean {
  const steps = told.filter(
    ({ kind, outcome }) => outcome !== 'refused' && (kind !== 'read' || outcome !== 'unknown'),
  )
  const tried = new Set<string>()

  function goesOn(left: readonly RegisterStep[], mark: string): boolean {
    if (left.every(({ outcome }) => outcome === 'unknown')) return true
    const key = `${mark} ${left.map((step) => steps.indexOf(step)).join()}`
    if (tried.has(key)) return false
    tried.add(key)
    const soonestMs = Math.min(...left.map(({ toMs }) => toMs))
    return left.some((step) => {
      if (step.fromMs > soonestMs) return false
      const next = after(step, mark)
      return (
        next !== undefined &&
        goesOn(
          left.filter((other) => other !== step),
          next,
        )
      )
    })
  }
  return goesOn(steps, first)
}

/** What is there after a step; undefined: it could not have told what it told. */
function after({ kind, mark, outcome }: RegisterStep, before: string): string | undefined {
  if (outcome === 'gone') return before === GONE ? GONE : undefined
  if (kind === 'read') return before === mark ? before : undefined
  if (before === GONE) return outcome === 'unknown' ? GONE : undefined
  const [name, path] = before.split(' ')
  if (kind === 'write name') return `${mark} ${path}`
  return kind === 'write path' ? `${name} ${mark}` : GONE
}
