import type { Register, RegisterStep } from './history.js'

/** The value of a deleted webhook. */
const DELETED = ''

/**
 * Searches an order of the steps in which each lies between its begin and its end, and returns its result (Wing and
 * Gong). A step with an unknown outcome may have been executed at any time after its begin, or never.
 */
export function isLinearizable({ first, steps: recorded }: Register): boolean {
  const steps = recorded.filter(
    ({ kind, outcome }) => outcome !== 'rejected' && (kind !== 'read' || outcome !== 'unknown'),
  )
  const failed = new Set<string>()

  function canComplete(left: readonly RegisterStep[], value: string): boolean {
    if (left.every(({ outcome }) => outcome === 'unknown')) return true
    const key = `${value} ${left.map((step) => steps.indexOf(step)).join()}`
    if (failed.has(key)) return false
    failed.add(key)
    const earliestEndMs = Math.min(...left.map(({ toMs }) => toMs))
    return left.some((step) => {
      if (step.fromMs > earliestEndMs) return false
      const next = valueAfter(step, value)
      return (
        next !== undefined &&
        canComplete(
          left.filter((other) => other !== step),
          next,
        )
      )
    })
  }
  return canComplete(steps, first)
}

/** The value after a step; undefined if the step cannot have had its result. */
function valueAfter({ kind, value, outcome }: RegisterStep, before: string): string | undefined {
  if (outcome === 'not found') return before === DELETED ? DELETED : undefined
  if (kind === 'read') return before === value ? before : undefined
  if (before === DELETED) return outcome === 'unknown' ? DELETED : undefined
  const [name, path] = before.split(' ')
  if (kind === 'write name') return `${value} ${path}`
  return kind === 'write path' ? `${name} ${value}` : DELETED
}
