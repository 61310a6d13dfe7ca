import type * as FastCheck from 'fast-check'
import type { Observation, Sender } from '../../ports.js'
import type { Store } from '../../store/contract.js'
import type { ManualClock } from '../clock.js'
import { type Manner, SLOW_MS } from './service-calls.js'

/** The store of one instance of the service: what goes through it is known, and an instance that is dropped hears no more. */
export interface CuttableStore {
  readonly store: Store
  /** Calls that wait for their answer. */
  readonly underWay: ReadonlySet<Promise<unknown>>
  /** Whether the last lease that was asked for holds all shards. */
  ownsAll(): boolean
  cut(): void
}

/** @param scheduler draws when each call is carried out, and when its answer arrives */
export function cuttable(real: Store, scheduler?: FastCheck.Scheduler): CuttableStore {
  const underWay = new Set<Promise<unknown>>()
  let isCut = false
  let ownsAll = false
  const never = new Promise<never>(() => {})

  function noted(name: string, call: () => Promise<unknown>): Promise<unknown> {
    if (isCut) return never
    const answered = scheduler ? scheduled(scheduler, name, call) : call()
    const noticed = answered.then(
      (answer) => {
        if (name === 'own' || name === 'renew')
          ownsAll = (answer as { shards: unknown[] }).shards.length === 64
      },
      () => {},
    )
    underWay.add(noticed)
    void noticed.then(() => underWay.delete(noticed))
    return answered.then(
      (answer) => (isCut ? never : answer),
      (thrown) => (isCut ? never : Promise.reject(thrown)),
    )
  }
  const door = <Door extends object>(methods: Door): Door =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]: [string, (...args: unknown[]) => Promise<unknown>]) => [
        name,
        (...args: unknown[]) => noted(name, async () => method(...args)),
      ]),
    ) as Door
  const { deliveries } = real
  return {
    store: {
      supports: { ...real.supports, transactions: false },
      // The harness opens and closes it.
      open: async () => {},
      close: async () => {},
      accounts: door(real.accounts),
      tokens: door(real.tokens),
      webhooks: door(real.webhooks),
      deliveries: {
        ...door(deliveries),
        subscribe: (listener) => deliveries.subscribe((ready) => (isCut ? undefined : listener(ready))),
      },
    },
    underWay,
    ownsAll: () => ownsAll,
    cut() {
      isCut = true
    },
  }
}

async function scheduled(scheduler: FastCheck.Scheduler, name: string, call: () => Promise<unknown>) {
  await scheduler.schedule(Promise.resolve(), `${name} is carried out`)
  const answer = await call()
  await scheduler.schedule(Promise.resolve(), `the answer of ${name} arrives`)
  return answer
}

/** Receivers that answer as they were taught; every request is told. */
export function taughtSender(
  clock: ManualClock,
  mannerOf: (hook: string) => Manner,
  received: (hook: string, body: string) => void,
): Sender {
  const open = new Set<(seen: Observation) => void>()
  const away: Observation = { kind: 'no_response', failure: 'connection', detail: 'nobody is there' }
  return {
    async send({ url, body }) {
      const hook = new URL(url).pathname.slice(1)
      const manner = mannerOf(hook)
      received(hook, body ?? '')
      if (manner === 'is away') return away
      if (manner === 'is slow') return answeredAfter(SLOW_MS)
      const status = manner === 'fails' ? 500 : 200
      return { kind: 'response', status, headers: [], body: '', bodyEnd: 'complete' }
    },
    async close() {
      for (const answer of open) answer(away)
    },
  }

  function answeredAfter(ms: number): Promise<Observation> {
    return new Promise((resolve) => {
      open.add(resolve)
      void clock.sleep(ms).then(() => {
        open.delete(resolve)
        resolve({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' })
      })
    })
  }
}
