/** A service with default limits, but a small queue, that many accounts use over HTTP. */
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createServer } from 'hookswitch/node'
import { handleRequests } from '../processes.js'
import { eventAt } from './events.js'
import { forEachConcurrently, setUpConcurrency, startInstance } from './instance.js'

const RESOLUTION_MS = 5

let hs
let server
let delivered = 0
let onDelivered = () => {}
let delays
let cpuBefore
let waitedBefore

/** How long the main thread was ready to run and had no core, ms (Linux, proc_pid_schedstat). */
const waitedForCoreMs = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6

const createAccount = async (id) => {
  const { apiKey } = await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
  return { account: id, token: (await hs.auth.signIn({ apiKey })).token }
}

handleRequests(
  {
    /**
     * @param {{ location: import('../stores.js').StoreLocation, maxPending: number, accounts: readonly string[],
     *   webhooks: readonly { accountId: string, uri: string, hook: string }[] }} input
     * @returns {Promise<{ port: number, targets: Record<string, { account: string, token: string }> }>} targets by account
     */
    async listen({ location, maxPending, accounts, webhooks }) {
      hs = await startInstance(location, { ingest: true, maxPending })
      hs.events.on('delivered', () => {
        delivered += 1
        onDelivered()
      })
      const concurrency = setUpConcurrency(location)
      const targets = {}
      await forEachConcurrently(
        accounts,
        async (id) => {
          targets[id] = await createAccount(id)
        },
        concurrency,
      )
      await forEachConcurrently(
        webhooks,
        ({ accountId, uri, hook }) => hs.webhooks.create(accountId, { name: 'bench', uri, hook }),
        concurrency,
      )
      server = createServer(hs)
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      return { port: server.address().port, targets }
    },
    /** Delivers events with large payloads: their attempts are a history to list. */
    async fill({ accountId, hook, events, bytes, deliveries }) {
      const text = 'x'.repeat(bytes)
      const expected = delivered + deliveries
      const done = new Promise((resolve) => {
        onDelivered = () => delivered >= expected && resolve()
      })
      await forEachConcurrently(Array(events).keys(), (index) => {
        const event = { ...eventAt(index, 1), accountId, hook }
        event.customChannelVars.text = text
        return hs.publish(event)
      })
      await done
      onDelivered = () => {}
    },
    begin() {
      delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      delays.enable()
      cpuBefore = process.cpuUsage()
      waitedBefore = waitedForCoreMs()
    },
    /**
     * The longest block of the event loop, the processor time and the wait of the main thread for a core since `begin`, and the
     * largest resident memory so far.
     */
    end() {
      delays.disable()
      const { user, system } = process.cpuUsage(cpuBefore)
      return {
        blockMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS),
        cpuMs: (user + system) / 1_000,
        waitedMs: waitedForCoreMs() - waitedBefore,
        // In KiB.
        rssMb: (process.resourceUsage().maxRSS * 1_024) / 1e6,
      }
    },
  },
  () => {
    server?.close()
    server?.closeAllConnections()
    return hs?.close({ drainMs: 0 })
  },
)
