/** Reports of failed runs: the broken invariant, the command that repeats the run, and the steps that led to it. */

import type { SimulationOptions } from './options.js'
import { type SimulationResult, simulate } from './simulate.js'
import type { Violation } from './violation.js'

/** Maximum number of trace steps in a report. */
const MAX_LINES = 60

/**
 * The command line that repeats a run.
 *
 * @param moreFlags flags for options that have no value of their own here, such as ` --store sqlite`
 */
export function formatReplayCommand(seed: string, options: SimulationOptions, moreFlags = ''): string {
  const { minutes, nodes, faults, callsPerDay, leaseSeconds, crashes, without } = options
  const flag = (name: string, value: unknown) => (value === undefined ? '' : ` --${name} ${value}`)
  const points = [...(crashes ?? [])].map(([operation, side]) => `${operation}-${side}`).join(',')
  const list = (numbers: ReadonlySet<number> | undefined) =>
    numbers && numbers.size > 0 ? [...numbers].join(',') : undefined
  const kinds = typeof faults === 'object' ? `"${faults.join(',')}"` : faults
  const shape = `${flag('minutes', minutes)}${flag('nodes', nodes)}${flag('faults', kinds)}${flag('calls', callsPerDay)}`
  const crashFlags = `${flag('lease-seconds', leaseSeconds)}${flag('crash-at', points || undefined)}`
  const leftOut = `${flag('without-faults', list(without?.faults))}${flag('without-calls', list(without?.calls))}`
  return `npm run sim -- --seed ${seed}${shape}${crashFlags}${leftOut}${moreFlags}`
}

/**
 * Repeats a failed run with its trace, and describes it: the violation, the command line that repeats it, its faults,
 * and the last trace steps that concern the violation.
 *
 * @param violation default: the first one of the run
 * @param moreFlags as of `formatReplayCommand`
 */
export async function createReport(
  failed: SimulationResult,
  options: SimulationOptions,
  violation: Violation = failed.violations[0]!,
  moreFlags = '',
): Promise<string> {
  const again = await simulate(failed.seed, { ...options, keepsTrace: true })
  const steps = again.stepsOf(...violation.subjects.filter(Boolean))
  const lines = steps
    .slice(-MAX_LINES)
    .map(({ atMs, message, subjects }) => `${seconds(atMs)}  ${message}  ${subjects.join(' ')}`)
  const faults = again.faults.filter(({ number }) => !options.without?.faults?.has(number))
  return [
    `${violation.invariant}: ${violation.message}`,
    formatReplayCommand(failed.seed, options, moreFlags),
    `faults: ${faults.map(({ kind, atMs, node }) => `${kind} (${seconds(atMs).trim()}, node ${node})`).join(', ') || 'none'}`,
    ...(steps.length > MAX_LINES ? [`… ${steps.length - MAX_LINES} earlier steps`] : []),
    ...lines,
  ].join('\n')
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(3).padStart(12)} s`
