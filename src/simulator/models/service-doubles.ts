/** Test doubles around a service instance: a store that can be disconnected, and a sender with scripted receivers. */

import type * as FastCheck from 'fast-check'
import type { Observation, Sender } from '../../ports.js'
import type { Store } from '../../store/contract.js'
import { SHARDS } from '../../store/shards.js'
import type { ManualClock } from '../../testkit/clock.js'
import { type Behaviour, SLOW_MS } from './service-calls.js'

/** The store of one service instance. After `disconnect` the instance gets no answer and no notification any more. */
export interface DisconnectableStore {
  readonly store: Store
  /** Calls that wait for their result. */
  readonly inProgress: ReadonlySet<Promise<unknown>>
  /** Whether the instance's last lease has all shards. */
  ownsAll(): boolean
  disconnect(): void
}

/** @param scheduler draws when each call is executed, and when its result arrives */
export function createDisconnectableStore(real: Store, scheduler?: FastCheck.Scheduler): DisconnectableStore {
  const inProgress = new Set<Promise<unknown>>()
  let isDisconnected = false
  let ownsAll = false
  const never = new Promise<never>(() => {})

  function tracked(name: string, call: () => Promise<unknown>): Promise<unknown> {
    if (isDisconnected) return never
    const answered = scheduler ? scheduled(scheduler, name, call) : call()
    const completed = answered.then(
      (result) => {
        if (name === 'own' || name === 'renew')
          ownsAll = (result as { shards: unknown[] }).shards.length === SHARDS
      },
      () => {},
    )
    inProgress.add(completed)
    void completed.then(() => inProgress.delete(completed))
    return answered.then(
      (result) => (isDisconnected ? never : result),
      (thrown) => (isDisconnected ? never : Promise.reject(thrown)),
    )
  }
  const wrapped = <Port extends object>(methods: Port): Port =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]: [string, (...args: unknown[]) => Promise<unknown>]) => [
        name,
        (...args: unknown[]) => tracked(name, async () => method(...args)),
      ]),
    ) as Port
  const { deliveries } = real
  return {
    store: {
      supports: { ...real.supports, transactions: false },
      // The harness opens and closes the real store.
      open: async () => {},
      close: async () => {},
      accounts: wrapped(real.accounts),
      tokens: wrapped(real.tokens),
      webhooks: wrapped(real.webhooks),
      openLegs: wrapped(real.openLegs),
      replays: wrapped(real.replays),
      encryption: wrapped(real.encryption),
      stats: wrapped(real.stats),
      deliveries: {
        ...wrapped(deliveries),
        subscribe: (listener) =>
          deliveries.subscribe(() => {
            if (!isDisconnected) listener()
          }),
      },
    },
    inProgress,
    ownsAll: () => ownsAll,
    disconnect() {
      isDisconnected = true
    },
  }
}

async function scheduled(scheduler: FastCheck.Scheduler, name: string, call: () => Promise<unknown>) {
  await scheduler.schedule(Promise.resolve(), `${name} is executed`)
  const result = await call()
  await scheduler.schedule(Promise.resolve(), `the result of ${name} arrives`)
  return result
}

/** A sender whose receivers behave as `behaviourOf` returns at the time of the request. */
export function createScriptedSender(
  clock: ManualClock,
  behaviourOf: (webhook: string) => Behaviour,
  onRequest: (webhook: string, body: string) => void,
): Sender {
  const open = new Set<(observation: Observation) => void>()
  const unreachable: Observation = { kind: 'no_response', failure: 'connection', detail: 'unreachable' }
  return {
    async send({ url, body }) {
      const webhook = new URL(url).pathname.slice(1)
      const behaviour = behaviourOf(webhook)
      onRequest(webhook, body ?? '')
      if (behaviour === 'is unreachable') return unreachable
      if (behaviour === 'is slow') return respondAfter(SLOW_MS)
      const status = behaviour === 'rejects' ? 500 : 200
      return { kind: 'response', status, headers: [], body: '', bodyEnd: 'complete' }
    },
    async close() {
      for (const resolve of open) resolve(unreachable)
    },
  }

  function respondAfter(ms: number): Promise<Observation> {
    return new Promise((resolve) => {
      open.add(resolve)
      void clock.sleep(ms).then(() => {
        open.delete(resolve)
        resolve({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' })
      })
    })
  }
}
