/**
 * Clients that read and change the same webhooks concurrently on any node, and record each step. The oracle checks that
 * the results are linearizable (I21).
 */

import { errorCode } from '../errors.js'
import type { RunningNode } from './cluster.js'
import type { Register, RegisterStep } from './history.js'
import { repeatedly, type Workload, type WorkloadDeps } from './workload.js'

interface RegisterDeps extends WorkloadDeps {
  cover(name: string): void
}

const ACCOUNT = 'rival'
const BASE_URI = 'http://r1.example/'
const GAP_MS = 300_000
/** A client gives up after this time. */
const TIMEOUT_MS = 60_000
/** Maximum registers in use, and steps per register: the search for an order is exponential in them. */
const MAX_REGISTERS = 3
const MAX_STEPS = 40

export function createRegisters(deps: RegisterDeps): Workload {
  const { queue, trace, history, random, cover } = deps
  let values = 0

  /** Runs one step and records its begin, end and outcome. */
  async function runStep(
    { id, steps }: Register,
    { kind, value: written }: Pick<RegisterStep, 'kind' | 'value'>,
    { life }: RunningNode,
    work: () => Promise<string | undefined>,
  ): Promise<void> {
    const step: RegisterStep = {
      kind,
      value: written,
      fromMs: queue.now(),
      toMs: Infinity,
      outcome: 'unknown',
    }
    steps.push(step)
    const end = (outcome: RegisterStep['outcome'], value = step.value) => {
      step.outcome = outcome
      step.value = value
      if (outcome !== 'unknown') step.toMs = queue.now()
      cover(`register ${step.kind} ${outcome}`)
      trace.step(queue.now(), `${step.kind} ${step.value}: ${outcome}`, id, life.name)
    }
    // A crashed node never answers.
    const timeout = queue.sleep(TIMEOUT_MS).then(() => ({ outcome: 'unknown' as const, value: step.value }))
    const answered = work().then(
      (value = step.value) => ({ outcome: 'done' as const, value }),
      (thrown) => ({ outcome: OUTCOMES[errorCode(thrown) ?? ''] ?? ('unknown' as const), value: step.value }),
    )
    const { outcome, value } = await Promise.race([answered, timeout])
    end(outcome, value)
  }

  const write = (register: Register, node: RunningNode, kind: 'write name' | 'write path') => {
    const value = `m${++values}`
    const change = kind === 'write name' ? { name: value } : { uri: `${BASE_URI}${value}` }
    return runStep(register, { kind, value }, node, async () => {
      await node.hs.webhooks.patch(ACCOUNT, register.id, change)
      return undefined
    })
  }

  const actions: Readonly<
    Record<RegisterStep['kind'], (register: Register, node: RunningNode) => Promise<void>>
  > = {
    'write name': (register, node) => write(register, node, 'write name'),
    'write path': (register, node) => write(register, node, 'write path'),
    read: (register, node) =>
      runStep(register, { kind: 'read', value: '' }, node, async () => {
        const { name, uri } = await node.hs.webhooks.read(ACCOUNT, register.id)
        return `${name} ${uri.slice(BASE_URI.length)}`
      }),
    remove: (register, node) =>
      runStep(register, { kind: 'remove', value: '' }, node, async () => {
        await node.hs.webhooks.remove(ACCOUNT, register.id)
        return undefined
      }),
  }

  async function create(node: RunningNode): Promise<void> {
    const value = `m${++values}`
    const input = { name: value, uri: `${BASE_URI}${value}`, hook: 'channel_hold', enabled: false }
    const { id } = await node.hs.webhooks.create(ACCOUNT, input)
    history.registers.push({ id, first: `${value} ${value}`, steps: [] })
  }

  function round(up: readonly RunningNode[]): void {
    const live = history.registers.filter(
      ({ steps }) => steps.length < MAX_STEPS && !steps.some(({ kind }) => kind === 'remove'),
    )
    if (live.length < MAX_REGISTERS) create(random.pick(up)).catch(() => {})
    if (live.length === 0) return
    const register = random.pick(live)
    const count = random.integer(1, 5)
    for (let index = 0; index < count; index += 1) {
      const kind = random.weighted({ 'write name': 4, 'write path': 4, read: 8, remove: 1 })
      const node = random.pick(up)
      // Some steps start together, some overlap, some follow others.
      queue.after(random.exponential(30), () => void actions[kind](register, node))
    }
  }

  return repeatedly(deps, GAP_MS, round)
}

/** Errors that tell whether a step was executed. */
const OUTCOMES: Readonly<Record<string, RegisterStep['outcome']>> = {
  NotFound: 'not found',
  RevisionConflict: 'rejected',
  Closing: 'rejected',
}
