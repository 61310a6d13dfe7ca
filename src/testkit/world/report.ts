import type { Finding } from './finding.js'
import type { SimulationOptions } from './options.js'
import { type Simulation, simulate } from './simulate.js'

/** Lines of a story that are shown. */
const MOST_LINES = 60

/**
 * The command that repeats a run.
 *
 * @param more flags that say what options of the command line became functions: which store
 */
export function replayCommand(seed: string, options: SimulationOptions, more = ''): string {
  const { minutes, nodes, faults, callsPerDay, leaseSeconds, crashes, without } = options
  const flag = (name: string, value: unknown) => (value === undefined ? '' : ` --${name} ${value}`)
  const points = [...(crashes ?? [])].map(([operation, side]) => `${operation}-${side}`).join(',')
  const list = (numbers: ReadonlySet<number> | undefined) =>
    numbers && numbers.size > 0 ? [...numbers].join(',') : undefined
  const kinds = typeof faults === 'object' ? `"${faults.join(',')}"` : faults
  const shape = `${flag('minutes', minutes)}${flag('nodes', nodes)}${flag('faults', kinds)}${flag('calls', callsPerDay)}`
  const kept = `${flag('lease-seconds', leaseSeconds)}${flag('crash-at', points || undefined)}`
  const left = `${flag('without-faults', list(without?.faults))}${flag('without-calls', list(without?.calls))}`
  return `npm run sim -- --seed ${seed}${shape}${kept}${left}${more}`
}

/** What people read of a run that failed: which promise was broken, how to see it again, and what led to it. */
export async function reportOf(
  failed: Simulation,
  options: SimulationOptions,
  finding: Finding = failed.findings[0]!,
  more = '',
): Promise<string> {
  const again = await simulate(failed.seed, { ...options, keepsStory: true })
  const steps = again.story(...finding.whom.filter(Boolean))
  const lines = steps
    .slice(-MOST_LINES)
    .map(({ atMs, what, whom }) => `${seconds(atMs)}  ${what}  ${whom.join(' ')}`)
  const left = again.faults.filter(({ number }) => !options.without?.faults?.has(number))
  return [
    `${finding.invariant}: ${finding.what}`,
    replayCommand(failed.seed, options, more),
    `faults: ${left.map(({ kind, atMs, node }) => `${kind} (${seconds(atMs).trim()}, node ${node})`).join(', ') || 'none'}`,
    ...(steps.length > MOST_LINES ? [`… ${steps.length - MOST_LINES} steps before`] : []),
    ...lines,
  ].join('\n')
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(3).padStart(12)} s`
