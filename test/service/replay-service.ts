/** A service whose receivers answer at once, on a manual clock. */
import { createHookswitch, type Hookswitch, memoryStore, type ReplayJob } from 'hookswitch'
import type { Observation } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { ACCOUNTS, type ServiceOptions } from './service-fixture.js'

const answer = (status: number): Observation => ({
  kind: 'response',
  status,
  headers: [],
  body: '',
  bodyEnd: 'complete',
})

export interface Sent {
  readonly webhook: string
  readonly call: string
  readonly event: string
  readonly sequence: number
  readonly atMs: number
}

const open: Hookswitch[] = []

/** Closes the services of a test. */
export async function closeServices(): Promise<void> {
  await Promise.all(open.splice(0).map((hs) => hs.close({ drainMs: 0 })))
}

/** A service on a manual clock, whose store outlives it. @param isShared whether several nodes work on it at a time */
export async function createService(options: ServiceOptions = {}, isShared = false) {
  const clock = manualClock()
  const kept = memoryStore({ clock, shared: isShared })
  await kept.open({ clock, log: { debug() {}, info() {}, warn() {}, error() {} } })
  const store = { ...kept, open: async () => {}, close: async () => {} }
  const sent: Sent[] = []
  const releases: ((observation: Observation) => void)[] = []
  const service = {
    clock,
    sent,
    store,
    status: 200,
    /** Names of webhooks whose receivers do not answer. */
    silent: new Set<string>(),
    hs: undefined as unknown as Hookswitch,
    /** All receivers answer, also the silent ones. */
    async release() {
      service.silent.clear()
      for (const release of releases.splice(0)) release(answer(200))
      await clock.settle()
    },
    /** Another process on the same store; the one before is not closed: it has crashed. */
    async start() {
      const hs = createHookswitch({
        clock,
        random: seededRandom(open.length),
        defaultRetries: 0,
        pauses: false,
        autoDisable: false,
        ...options,
        // Another object each time: an instance refuses the store of another one.
        store: { ...store },
        sender: {
          async send({ url, body }) {
            const { call_id: call, event_id: event, sequence } = JSON.parse(body!)
            sent.push({
              webhook: new URL(url).pathname.slice(1),
              call,
              event,
              sequence,
              atMs: clock.monotonic(),
            })
            return service.silent.has(new URL(url).pathname.slice(1))
              ? new Promise((resolve) => releases.push(resolve))
              : answer(service.status)
          },
          close: async () => {
            for (const release of releases.splice(0)) release(answer(200))
          },
        },
      })
      open.push(hs)
      await hs.start()
      service.hs = hs
      return hs
    },
    async create(name: string, input = {}, account = 'parent') {
      const uri = `https://receiver.example.com/${name}`
      return (await service.hs.webhooks.create(account, { name, uri, hook: 'all', ...input })).id
    },
    /** Publishes events of `calls` calls in turns, `events` of each. */
    async publish(calls: number, events: number, accountId = 'parent') {
      for (let event = 0; event < events; event++)
        for (let call = 0; call < calls; call++)
          await service.hs.publish({
            hook: 'channel_create',
            accountId,
            callId: `call-${call}`,
            timestampMs: 1,
          })
      await clock.settle()
    },
    /** Advances time until a job has ended. */
    async ended(id: string): Promise<ReplayJob> {
      for (let left = 100; left > 0; left--) {
        const job = await service.hs.replays.read(id)
        if (job.endedMs !== undefined) return job
        await clock.advance(1_000)
      }
      return service.hs.replays.read(id)
    },
  }
  await service.start()
  for (const account of ACCOUNTS) await service.hs.accounts.create({ ...account })
  return service
}
