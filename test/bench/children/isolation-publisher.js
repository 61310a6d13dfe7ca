/**
 * A host with default limits that publishes to healthy and dead endpoints at steady rates, while tenants create
 * webhooks.
 */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { handleRequests, measureTime, sharedMicros, sleep } from '../processes.js'
import { addTimestamp, eventAt } from './events.js'
import { forEachConcurrently, setUpConcurrency, startInstance } from './instance.js'

let hs
let published = 0
let attempts = 0
let failed = 0

/** Makes all resolvers of this process query one name server, as an entry in `resolv.conf` would. */
function useNameServer(server) {
  const { Resolver } = dns
  dns.Resolver = class extends Resolver {
    constructor(options) {
      super(options)
      this.setServers([server])
    }
  }
  syncBuiltinESMExports()
}

/** Publishes an event; returns its time of publishing. Does not wait until it is accepted. */
function publishTo(accountId, hook) {
  const micros = sharedMicros()
  const event = { ...eventAt(published++, 1), accountId, hook }
  hs.publish(addTimestamp(event, micros)).catch((thrown) => console.error(thrown))
  return micros
}

/** Calls `act` with 0, 1, … at a steady rate until a time. Catches up if it is late. */
async function actSteadily(perSecond, until, act) {
  const started = sharedMicros()
  let done = 0
  for (let now = started; now < until; now = sharedMicros()) {
    const due = Math.floor(((now - started) / 1e6) * perSecond)
    for (; done < due; done += 1) act(done)
    await sleep(1)
  }
  return done
}

const createAccount = (id) => hs.accounts.create({ id, name: id, realm: `${id}.example.com` })

handleRequests(
  {
    /**
     * @param {{ location: import('../stores.js').StoreLocation, nameServer?: string, accounts: readonly string[],
     *   webhooks: readonly { accountId: string, uri: string, hook: string }[] }} input
     */
    async prepare({ location, nameServer, accounts, webhooks }) {
      if (nameServer !== undefined) useNameServer(nameServer)
      hs = await startInstance(location)
      const concurrency = setUpConcurrency(location)
      await forEachConcurrently(accounts, createAccount, concurrency)
      await forEachConcurrently(
        webhooks,
        ({ accountId, uri, hook }) => hs.webhooks.create(accountId, { name: 'bench', uri, hook }),
        concurrency,
      )
      hs.events.on('attempt', ({ result }) => {
        attempts += 1
        if (result !== 'success') failed += 1
      })
    },
    /**
     * Runs steady loads; each publishes to its accounts in turn. `creations`: webhooks that are created meanwhile,
     * in the order given, at a steady rate; an event follows each where it has `publishes`.
     *
     * @param {{ loads: readonly { accounts: readonly string[], hook: string, perSecond: number }[],
     *   creations: readonly { perSecond: number, webhooks: readonly { accountId: string, uri: string, hook: string,
     *   publishes: boolean }[] }[], ms: number }} input
     */
    async run({ loads, creations, ms }) {
      const from = sharedMicros()
      const to = from + ms * 1000
      const events = loads.map(() => 0)
      let created = 0
      let firstEvents = 0
      const create = async ({ accountId, uri, hook, publishes }) => {
        await hs.webhooks.create(accountId, { name: 'bench', uri, hook })
        created += 1
        if (publishes && publishTo(accountId, hook) < to) firstEvents += 1
      }
      const { cpuMs } = await measureTime(async () => {
        await Promise.all([
          ...loads.map(({ accounts, hook, perSecond }, index) =>
            actSteadily(perSecond, to, (count) => {
              if (publishTo(accounts[count % accounts.length], hook) < to) events[index] += 1
            }),
          ),
          ...creations.map(({ perSecond, webhooks }) =>
            actSteadily(perSecond, to, (count) => {
              const webhook = webhooks[count]
              if (webhook) create(webhook).catch((thrown) => console.error(thrown))
            }),
          ),
        ])
      })
      return { from, to, events, created, firstEvents, attempts, failed, cpu: cpuMs / ms }
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
