import { errorCode } from '../../errors.js'
import type { SeededRandom } from '../random.js'
import type { Cluster, Running } from './cluster.js'
import type { Ledger, Register, RegisterStep } from './ledger.js'
import { paced } from './paced.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

export interface RegisterDoors {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly random: SeededRandom
  readonly cluster: Cluster
  fired(what: string): void
}

/** Several owners who read and change the same webhooks at once, on whichever node, and write down what they were told. */
export interface Registers {
  /** `haste`: how many times as often as in a run of an hour. */
  begin(untilMs: number, haste: number): void
}

const ACCOUNT = 'rival'
const PLACE = 'http://r1.example/'
const GAP_MS = 300_000
const PATIENCE_MS = 60_000
/** So many of them there are at a time, and so many changes of one, at most: each order of them is looked at. */
const MOST = 3
const MOST_STEPS = 40

export function createRegisters({ queue, trace, ledger, random, cluster, fired }: RegisterDoors): Registers {
  let marks = 0

  /** Writes down one step: when it began and ended, and how. */
  async function note(
    { id, steps }: Register,
    what: Pick<RegisterStep, 'kind' | 'mark'>,
    { life }: Running,
    work: () => Promise<string | undefined>,
  ): Promise<void> {
    const step: RegisterStep = {
      kind: what.kind,
      mark: what.mark,
      fromMs: queue.now(),
      toMs: Infinity,
      outcome: 'unknown',
    }
    steps.push(step)
    const end = (outcome: RegisterStep['outcome'], mark = step.mark) => {
      step.outcome = outcome
      step.mark = mark
      if (outcome !== 'unknown') step.toMs = queue.now()
      fired(`register ${step.kind} ${outcome}`)
      trace.step(queue.now(), `${step.kind} ${step.mark}: ${outcome}`, id, life.name)
    }
    // A node that died answers nobody.
    const silence = queue.sleep(PATIENCE_MS).then(() => ({ outcome: 'unknown' as const, mark: step.mark }))
    const told = work().then(
      (mark = step.mark) => ({ outcome: 'done' as const, mark }),
      (thrown) => ({ outcome: outcomes[errorCode(thrown) ?? ''] ?? ('unknown' as const), mark: step.mark }),
    )
    const { outcome, mark } = await Promise.race([told, silence])
    end(outcome, mark)
  }

  const write = (one: Register, on: Running, kind: 'write name' | 'write path') => {
    const mark = `m${++marks}`
    const change = kind === 'write name' ? { name: mark } : { uri: `${PLACE}${mark}` }
    return note(one, { kind, mark }, on, async () => {
      await on.hs.webhooks.patch(ACCOUNT, one.id, change)
      return undefined
    })
  }

  const verbs: Readonly<Record<RegisterStep['kind'], (one: Register, on: Running) => Promise<void>>> = {
    'write name': (one, on) => write(one, on, 'write name'),
    'write path': (one, on) => write(one, on, 'write path'),
    read: (one, on) =>
      note(one, { kind: 'read', mark: '' }, on, async () => {
        const { name, uri } = await on.hs.webhooks.read(ACCOUNT, one.id)
        return `${name} ${uri.slice(PLACE.length)}`
      }),
    remove: (one, on) =>
      note(one, { kind: 'remove', mark: '' }, on, async () => {
        await on.hs.webhooks.remove(ACCOUNT, one.id)
        return undefined
      }),
  }

  async function make(on: Running): Promise<void> {
    const mark = `m${++marks}`
    const wish = { name: mark, uri: `${PLACE}${mark}`, hook: 'channel_hold', enabled: false }
    const { id } = await on.hs.webhooks.create(ACCOUNT, wish)
    ledger.registers.push({ id, first: `${mark} ${mark}`, steps: [] })
  }

  function round(): void {
    const up = cluster.up()
    if (up.length === 0) return
    const live = ledger.registers.filter(
      ({ steps }) => steps.length < MOST_STEPS && !steps.some(({ kind }) => kind === 'remove'),
    )
    if (live.length < MOST) make(random.pick(up)).catch(() => {})
    if (live.length === 0) return
    const one = random.pick(live)
    const count = random.integer(1, 5)
    for (let index = 0; index < count; index += 1) {
      const kind = random.weighted({ 'write name': 4, 'write path': 4, read: 8, remove: 1 })
      const on = random.pick(up)
      // Some at once, some while others are under way, some after them.
      queue.after(random.exponential(30), () => void verbs[kind](one, on))
    }
  }

  return {
    begin: (untilMs, haste) => paced(queue, random, { gapMs: GAP_MS / haste, untilMs }, round),
  }
}

/** What an error says of whether it was carried out. */
const outcomes: Readonly<Record<string, RegisterStep['outcome']>> = {
  NotFound: 'gone',
  RevisionConflict: 'refused',
  Closing: 'refused',
}
