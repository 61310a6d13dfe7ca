// @ts-check
/** The situations: a service at work, the trouble that comes, and how it ends. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fakeAsteriskAmi } from 'hookswitch/testkit'
import { findPrograms, startProxy, startReplication } from '../crash/replication.js'
import {
  createNode,
  createWebhooks,
  publish,
  sleep,
  startLoad,
  startReceivers,
  startTunnels,
} from './parts.js'

/**
 * What a situation is given.
 *
 * @typedef {object} Context
 * @property {string} folder empty, its own
 * @property {(clean: () => unknown) => void} defer called at the end, the last first
 * @property {(targets: readonly string[]) => Promise<void>} setTargets of Prometheus
 */
/**
 * @typedef {object} Situation
 * @property {string} name
 * @property {readonly string[]} expected alerts, without `Hookswitch`
 * @property {(context: Context) => Promise<Trouble | string>} setUp resolves while the service is well; a sentence: the
 *   situation cannot be made on this machine
 * @property {boolean} [isQuick] is played by `--quick`
 * @property {boolean} [isReal] is always played at the speed of the deployed rules: a restart takes as long as it takes
 */
/**
 * @typedef {object} Trouble
 * @property {() => unknown} begin
 * @property {() => unknown} [end] absent: it is over by itself
 */

const RECORDING = new URL('../../examples/switches/recordings/asterisk-ami.txt.gz', import.meta.url)

/**
 * A node with a SQLite file, webhooks and events.
 *
 * @param {Context} context
 * @param {object} [options]
 * @param {readonly string[]} [options.flags]
 * @param {readonly string[]} [options.nodeFlags]
 * @param {Readonly<Record<string, string>>} [options.env]
 * @param {readonly string[]} [options.store] flags. Default: a file in the folder
 * @param {number} [options.receivers]
 * @param {number} [options.webhooks]
 * @param {object} [options.settings] of each webhook
 * @param {number} [options.perSecond] events
 */
async function single(context, options = {}) {
  const { folder, defer, setTargets } = context
  const { receivers: count = 8, webhooks = 24, perSecond = 5, flags = [], store } = options
  const receivers = await startReceivers(count)
  defer(() => receivers.map((receiver) => receiver.close()))
  const node = await createNode({
    folder,
    name: 'node',
    flags: [...(store ?? ['--data', join(folder, 'hookswitch.db')]), ...flags],
    nodeFlags: options.nodeFlags ?? [],
    env: options.env ?? {},
  })
  defer(node.close)
  await node.start()
  await createWebhooks(node, webhooks, receivers, options.settings)
  if (perSecond > 0) defer(startLoad([node], perSecond))
  await setTargets([node.target])
  return { node, receivers }
}

/**
 * Nodes on one PostgreSQL, each behind a relay of its own.
 *
 * @param {Context} context
 * @param {number} count
 */
async function cluster(context, count) {
  if (findPrograms() === undefined) return 'PostgreSQL is not installed'
  const { folder, defer, setTargets } = context
  const servers = await startReplication()
  defer(servers.end)
  const receivers = await startReceivers(8)
  defer(() => receivers.map((receiver) => receiver.close()))
  const members = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const relay = await startProxy(servers.primary.port)
      defer(relay.close)
      const flags = ['--postgres', relay.url]
      const node = await createNode({ folder, name: `node-${index + 1}`, flags })
      defer(node.close)
      return { node, relay }
    }),
  )
  for (const { node } of members) await node.start()
  const nodes = members.map(({ node }) => node)
  const [first] = /** @type {[import('./parts.js').Node]} */ (/** @type {unknown} */ (nodes))
  await createWebhooks(first, 24, receivers)
  defer(startLoad(nodes, 5))
  await setTargets(nodes.map(({ target }) => target))
  return { servers, members, nodes, first, receivers }
}

/** Stops a server with all of its processes, or continues them. @param {number} postmaster @param {string} signal */
const signalAll = (postmaster, signal) =>
  spawnSync('sh', ['-c', `kill -${signal} ${postmaster} $(pgrep -P ${postmaster})`])

/** @param {readonly import('./parts.js').Receiver[]} receivers @param {number} status @param {number} [afterMs] */
const answerAll = (receivers, status, afterMs) => {
  for (const receiver of receivers) receiver.answer(status, afterMs)
}

/** @type {readonly Situation[]} */
export const SITUATIONS = [
  {
    name: 'nothing wrong, with restarts and a crash of three nodes',
    expected: [],
    isReal: true,
    async setUp(context) {
      const found = await cluster(context, 3)
      if (typeof found === 'string') return found
      return {
        async begin() {
          for (const node of found.nodes) {
            await node.stop()
            await node.start()
            await sleep(5_000)
          }
          await found.first.end('SIGKILL')
          await found.first.start()
          await sleep(25_000)
        },
      }
    },
  },
  {
    name: 'nothing wrong, with a restart, a dead and a slow webhook',
    expected: [],
    isQuick: true,
    isReal: true,
    async setUp(context) {
      const { node } = await single(context)
      const [dead, slow] = await startReceivers(2)
      if (!dead || !slow) throw new Error('no receivers')
      context.defer(dead.close)
      context.defer(slow.close)
      dead.answer(503)
      slow.answer(200, 4_000)
      return {
        async begin() {
          await createWebhooks(node, 1, [dead], { name: 'dead' })
          await createWebhooks(node, 1, [slow], { name: 'slow' })
          await sleep(3_000)
          await node.stop()
          await node.start()
          await sleep(15_000)
        },
      }
    },
  },
  {
    name: 'all receivers refuse connections',
    expected: ['WebhooksPaused', 'Outage'],
    async setUp(context) {
      const { receivers } = await single(context)
      return {
        begin: () => Promise.all(receivers.map((receiver) => receiver.refuse())),
        end: () => Promise.all(receivers.map((receiver) => receiver.accept())),
      }
    },
  },
  {
    name: 'all receivers answer 503',
    expected: ['AttemptsFail', 'WebhooksPaused'],
    isQuick: true,
    async setUp(context) {
      const { receivers } = await single(context)
      return { begin: () => answerAll(receivers, 503), end: () => answerAll(receivers, 200) }
    },
  },
  {
    name: 'the receivers of one zone are away, a fifth of all',
    expected: ['WebhooksPaused'],
    async setUp(context) {
      const { receivers } = await single(context, { receivers: 5, webhooks: 60 })
      const zone = receivers.slice(0, 1)
      return {
        begin: () => Promise.all(zone.map((receiver) => receiver.refuse())),
        end: () => Promise.all(zone.map((receiver) => receiver.accept())),
      }
    },
  },
  {
    name: 'requests to receivers fail on this side: the proxy is away',
    expected: ['OwnFaults'],
    async setUp(context) {
      const proxy = await startTunnels()
      context.defer(proxy.close)
      await single(context, { flags: ['--proxy', proxy.url] })
      return { begin: () => proxy.refuse(), end: () => proxy.accept() }
    },
  },
  {
    name: 'receivers answer too slowly for the slots of the node',
    expected: ['DeliveriesLate'],
    async setUp(context) {
      const { receivers } = await single(context, { flags: ['--in-flight', '20'], perSecond: 2 })
      return { begin: () => answerAll(receivers, 200, 3_000), end: () => answerAll(receivers, 200) }
    },
  },
  {
    name: 'PostgreSQL hangs',
    expected: ['NodeProblem', 'EventsRefused'],
    async setUp(context) {
      const found = await cluster(context, 2)
      if (typeof found === 'string') return found
      const { pid } = found.servers.primary
      context.defer(() => signalAll(pid, 'CONT'))
      return { begin: () => signalAll(pid, 'STOP'), end: () => signalAll(pid, 'CONT') }
    },
  },
  {
    name: 'one of three nodes is cut off from PostgreSQL',
    expected: ['NodeProblem'],
    async setUp(context) {
      const found = await cluster(context, 3)
      if (typeof found === 'string') return found
      const [member] = found.members
      return {
        begin: () => member?.relay.pointTo(undefined),
        end: () => member?.relay.pointTo(found.servers.primary.port),
      }
    },
  },
  {
    name: 'a failover loses what was not replicated',
    expected: ['DeliveriesLost'],
    async setUp(context) {
      const found = await cluster(context, 2)
      if (typeof found === 'string') return found
      const { servers, members, receivers } = found
      return {
        async begin() {
          answerAll(receivers, 503)
          await sleep(2_000)
          servers.cutReplication()
          await sleep(3_000)
          servers.killPrimary()
          for (const { relay } of members) relay.pointTo(undefined)
          await servers.promote()
          for (const { relay } of members) relay.pointTo(servers.standby.port)
        },
        end: () => answerAll(receivers, 200),
      }
    },
  },
  {
    name: 'the disk of the SQLite file is full',
    expected: ['DiskFilling', 'NodeProblem'],
    async setUp(context) {
      const disk = join(context.folder, 'disk')
      mkdirSync(disk)
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]).status !== 0)
        return 'a file system of 96 MiB cannot be mounted: that needs root'
      context.defer(() => spawnSync('umount', ['-l', disk]))
      await single(context, { store: ['--data', join(disk, 'hookswitch.db')] })
      const filler = join(disk, 'filler')
      return {
        begin() {
          const { bavail, bsize } = statfsSync(disk)
          writeFileSync(filler, Buffer.alloc(bavail * bsize - 6 * 1024 * 1024))
        },
        end: () => truncateSync(filler, 0),
      }
    },
  },
  {
    name: 'the backlog of one account grows to its limit',
    expected: ['AccountBacklog', 'BacklogFull'],
    async setUp(context) {
      const flags = ['--max-pending-per-account', '200']
      const { receivers } = await single(context, { flags, receivers: 1, webhooks: 8 })
      return { begin: () => answerAll(receivers, 503), end: () => answerAll(receivers, 200) }
    },
  },
  {
    name: 'more than half of what may wait waits',
    expected: ['QueueFilling'],
    async setUp(context) {
      const flags = ['--max-pending', '2000', '--max-pending-per-account', '2000']
      const { receivers } = await single(context, { flags, perSecond: 10 })
      return { begin: () => answerAll(receivers, 503), end: () => answerAll(receivers, 200) }
    },
  },
  {
    name: 'deliveries are given up',
    expected: ['DeliveriesGivenUp'],
    async setUp(context) {
      const flags = ['--default-retries', '0', '--no-pauses']
      const { receivers } = await single(context, { flags })
      return { begin: () => answerAll(receivers, 503), end: () => answerAll(receivers, 200) }
    },
  },
  {
    name: 'the service disables webhooks that fail',
    expected: ['WebhooksDisabled'],
    async setUp(context) {
      const flags = ['--auto-disable', '{"kind":"burst","failures":6,"withinMs":60000}']
      const { receivers } = await single(context, { flags })
      return { begin: () => answerAll(receivers, 503) }
    },
  },
  {
    name: 'a node crashes three times while it sends a delivery',
    expected: ['Quarantined'],
    async setUp(context) {
      const { node, receivers } = await single(context, { receivers: 1, webhooks: 1, perSecond: 0 })
      const [receiver] = receivers
      return {
        async begin() {
          receiver?.answer(200, Number.POSITIVE_INFINITY)
          await publish(node)
          for (let crash = 0; crash < 3; crash += 1) {
            while (receiver?.open === 0) await sleep(20)
            await node.end('SIGKILL')
            while (receiver?.open !== 0) await sleep(20)
            await node.start()
          }
        },
      }
    },
  },
  {
    name: 'a hold was forgotten for five hours',
    expected: ['Held'],
    async setUp(context) {
      const { node } = await single(context, { perSecond: 0 })
      const hold = (/** @type {boolean} */ held) =>
        node.client('platform').setHold({ data: { held, account_id: 'acme' } })
      return {
        async begin() {
          await hold(true)
          await publish(node, 3)
          // The clock of the machine with the file is five hours later.
          await node.stop()
          await node.start({ AHEAD_MS: String(5 * 3_600_000) })
        },
        end: () => hold(false),
      }
    },
  },
  {
    name: 'the clock of a node is an hour behind',
    expected: ['ClockWrong'],
    async setUp(context) {
      const found = await cluster(context, 2)
      if (typeof found === 'string') return found
      return {
        begin: () => found.first.makeIll({ clockMs: -3_600_000 }),
        end: () => found.first.makeIll({ clockMs: 0 }),
      }
    },
  },
  {
    name: 'the clock of a machine with a SQLite file is ten minutes ahead',
    expected: ['ClockWrong'],
    async setUp(context) {
      const { node } = await single(context)
      return { begin: () => node.makeIll({ clockMs: 600_000 }), end: () => node.makeIll({ clockMs: 0 }) }
    },
  },
  {
    name: 'the event loop of a node is blocked',
    expected: ['EventLoopBlocked'],
    async setUp(context) {
      const { node } = await single(context)
      return { begin: () => node.makeIll({ blockMs: 1_500 }), end: () => node.makeIll({ blockMs: 0 }) }
    },
  },
  {
    name: 'the memory of a node is full',
    expected: ['MemoryFull'],
    async setUp(context) {
      const { node } = await single(context, { nodeFlags: ['--max-old-space-size=512'], perSecond: 1 })
      return {
        begin: () => node.makeIll({ heapPart: 0.83 }),
        async end() {
          await node.stop()
          await node.start()
        },
      }
    },
  },
  {
    name: 'the history is near its limit',
    expected: ['HistoryNearLimit'],
    async setUp(context) {
      const limit = (/** @type {number} */ bytes) => ({ HOOKSWITCH_MAX_HISTORY_BYTES: String(bytes) })
      const { node } = await single(context, { env: limit(1_048_576), perSecond: 1 })
      return {
        begin: () => publish(node, 500),
        async end() {
          await node.stop()
          await node.start(limit(1_073_741_824))
        },
      }
    },
  },
  {
    name: 'a node is stopped by its system',
    expected: ['NodeDown'],
    isQuick: true,
    async setUp(context) {
      const { node } = await single(context)
      return { begin: () => node.signal('SIGSTOP'), end: () => node.signal('SIGCONT') }
    },
  },
  {
    name: 'Prometheus knows no node',
    expected: ['Gone'],
    async setUp(context) {
      const { node } = await single(context)
      return { begin: () => context.setTargets([]), end: () => context.setTargets([node.target]) }
    },
  },
  {
    name: 'a switch is away',
    expected: ['SwitchDown'],
    async setUp(context) {
      const { fake } = await withSwitch(context)
      return {
        begin() {
          fake.refuse()
          fake.cut()
        },
        end: () => fake.accept(),
      }
    },
  },
  {
    name: 'a switch hangs',
    expected: ['SwitchDown'],
    async setUp(context) {
      const { fake } = await withSwitch(context)
      return { begin: () => fake.silence(), end: () => fake.speak() }
    },
  },
  {
    name: 'a switch sends old events, some of accounts that do not exist',
    expected: ['SwitchLate', 'SwitchEventsRefused'],
    async setUp(context) {
      const { fake } = await withSwitch(context)
      return { begin: () => fake.play({ speed: Number.POSITIVE_INFINITY }) }
    },
  },
]

/** @param {Context} context */
async function withSwitch(context) {
  const fake = fakeAsteriskAmi({
    recording: readFileSync(fileURLToPath(RECORDING)),
    username: 'hs',
    secret: 'sesame',
  })
  const port = await fake.start()
  context.defer(() => fake.end())
  const flags = ['--asterisk-ami', `hs@127.0.0.1:${port}`, '--account-from', 'account-code']
  return { fake, ...(await single(context, { flags, env: { HOOKSWITCH_AMI_SECRET: 'sesame' } })) }
}
