/** An outage of the network of a node: what it says, what it counts, and what it charges. */
import { createHookswitch, type Hookswitch, type HookswitchOptions, memoryStore } from 'hookswitch'
import type { GaugeReading, Sender } from 'hookswitch/adapter'
import { manualClock } from 'hookswitch/testkit'
import { expect, it, onTestFinished } from 'vitest'
import type { DefaultSender, Dialled, Observation } from '../../src/ports.js'
import { responseWith } from '../delivery/harness.js'
import { createRecordingMetrics } from '../delivery/recording-metrics.js'

const timeout: Observation = { kind: 'no_response', failure: 'timeout', detail: '' }

/** A service with receivers by name: `public-1.example`, `private-1.example`, …; `down` has the networks that are away. */
async function start(options: Pick<HookswitchOptions, 'autoDisable'> = {}) {
  const clock = manualClock()
  const down = new Set<Dialled>()
  const sender: DefaultSender = {
    sendWithCallback(request, onEnd) {
      const network = /\/\/(public|private|loopback)/.exec(request.url)![1] as Dialled
      onEnd(down.has(network) ? timeout : responseWith(200), network)
    },
    send: () => Promise.reject(new Error('not used')),
    connect: () => Promise.reject(new Error('not used')),
    cancel() {},
    releaseIdle() {},
    close: async () => {},
  }
  const lines: string[] = []
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${message}`)
  const recording = createRecordingMetrics()
  let read: () => Promise<readonly GaugeReading[]> = async () => []
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    sender: sender as Sender,
    pauses: false,
    ...options,
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)), fraction: () => 0.5 },
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    metrics: {
      ...recording.metrics,
      watch(reader) {
        read = reader
      },
    },
  } as Parameters<typeof createHookswitch>[0]) as Hookswitch
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  let calls = 0
  return {
    hs,
    clock,
    down,
    counter: (network: string) => recording.count('hookswitch_outages_total', network),
    lines: () => lines.filter((line) => line.includes('network')),
    async gauges() {
      const readings = await read()
      return Object.fromEntries(
        readings.flatMap(({ name, label, value }) =>
          name === 'hookswitch_outage_start_timestamp_seconds' ? [[label, value]] : [],
        ),
      )
    },
    webhook: async (name: string) =>
      (await hs.webhooks.create('acme', { name, uri: `https://${name}.example/`, hook: 'all' })).id,
    async publish() {
      await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: `call-${calls++}` })
      await clock.settle()
    },
  }
}

it('an outage of the internet is logged, measured and shown, although an internal receiver answers', async () => {
  const { hs, clock, down, counter, lines, gauges, webhook, publish } = await start()
  for (let n = 0; n < 6; n++) await webhook(`public-${n}`)
  await webhook('private-1')
  await webhook('loopback-1')
  await publish()
  expect(hs.nodeHealth()).toEqual({ problems: [], outages: [] })
  await clock.advance(60_000)
  down.add('public')
  const beganMs = clock.now()
  await publish()
  expect(lines()).toEqual([
    'error {"network":"public","origins":5} no receiver of this network answers: this node seems to be cut off from it, and attempts without an answer are not charged',
  ])
  expect(await gauges()).toEqual({ public: beganMs / 1000, private: 0, loopback: 0 })
  expect([counter('public'), counter('private'), counter('loopback')]).toEqual([1, 0, 0])
  expect(hs.nodeHealth()).toEqual({ problems: [], outages: [{ network: 'public', sinceMs: beganMs }] })
  // The internal receivers still answer.
  await publish()
  await publish()
  expect(lines()).toHaveLength(1)
  down.delete('public')
  await clock.advance(60_000)
  expect(lines().slice(1)).toEqual([
    expect.stringMatching(
      /^info \{"network":"public","seconds":\d+\} a receiver of this network answers again$/,
    ),
  ])
  expect(await gauges()).toEqual({ public: 0, private: 0, loopback: 0 })
  expect(counter('public')).toBe(1)
  expect(hs.nodeHealth()).toEqual({ problems: [], outages: [] })
})

it('an outage of the internal network disables no internal receiver, and the others as always', async () => {
  const { hs, clock, down, lines, webhook, publish } = await start({
    autoDisable: { kind: 'burst', failures: 3, withinMs: 60_000 },
  })
  const internal = []
  for (let n = 0; n < 5; n++) internal.push(await webhook(`private-${n}`))
  const external = await webhook('public-1')
  await publish()
  await clock.advance(60_000)
  down.add('private')
  await publish()
  expect(hs.nodeHealth().outages.map(({ network }) => network)).toEqual(['private'])
  down.add('public')
  for (let n = 0; n < 3; n++) await publish()
  await clock.advance(20_000)
  const read = (id: string) => hs.webhooks.read('acme', id)
  expect((await read(external)).enabled).toBe(false)
  for (const id of internal) {
    const { enabled, health } = await read(id)
    expect(enabled).toBe(true)
    expect(health.failuresInRow).toBeGreaterThanOrEqual(3)
  }
  expect(lines()).toHaveLength(1)
})
