/** A node whose stored bytes and memory are measured. Needs `--expose-gc`. */
import { readFileSync } from 'node:fs'
import { handleRequests, sleep } from '../processes.js'
import { accountName, eventAt } from './events.js'
import { createAccounts, forEachConcurrently, setUpConcurrency, startInstance } from './instance.js'
import { withProgressTimeout } from './progress-timeout.js'

const ACCOUNTS = 20
/** Few enough for a slow machine: what waits for a connection for 5 s is refused. */
const ACCOUNTS_AT_ONCE = 200
const CONNECTIONS = 8
/** Above what a run sends to one webhook: nothing is removed meanwhile. */
const ATTEMPTS_PER_WEBHOOK = 100_000

let hs
let published = 0
let webhooksPerAccount
let delivered = 0
let onDelivered = () => {}

handleRequests(
  {
    /**
     * @param {{ location: import('../stores.js').StoreLocation, port: number, webhooks: number, options?: object }} input
     *   `webhooks`: those of each account, all of which get every event
     */
    async prepare({ location, port, webhooks, options }) {
      webhooksPerAccount = webhooks
      const inFlight = 64
      hs = await startInstance(location, {
        inFlight,
        inFlightPerAccount: inFlight,
        inFlightPerEndpoint: inFlight,
        inFlightPerOrigin: inFlight,
        attemptsPerWebhook: ATTEMPTS_PER_WEBHOOK,
        maxPendingPerAccount: 1_000_000,
        ...options,
      })
      await createAccounts(hs, {
        accounts: ACCOUNTS,
        perAccount: webhooks,
        concurrency: setUpConcurrency(location),
        settings: (account, index) => ({
          uri: `http://127.0.0.1:${port}/hooks/${accountName(account)}/${index}`,
          hook: 'channel_answer',
        }),
      })
      hs.events.on('delivered', () => {
        delivered += 1
        onDelivered()
      })
    },
    /** Publishes events, of which `concurrency` are waiting or in flight, until all are delivered. */
    deliver({ events, concurrency }) {
      const goal = delivered + events * webhooksPerAccount
      const last = published + events
      return withProgressTimeout(
        () => delivered,
        (resolve, reject) => {
          onDelivered = () => {
            const outstanding = () => (goal - delivered) / webhooksPerAccount - (last - published)
            while (published < last && outstanding() < concurrency)
              hs.publish(eventAt(published++, ACCOUNTS)).catch(reject)
            if (delivered >= goal) resolve()
          }
          onDelivered()
        },
      )
    },
    /** Publishes events: their deliveries wait, or nobody wants them (another `hook`). */
    async publish({ events, hook = 'channel_answer' }) {
      const range = Array.from({ length: events }, () => ({ ...eventAt(published++, ACCOUNTS), hook }))
      await forEachConcurrently(range, (event) => hs.publish(event))
    },
    /** Creates accounts with a user and a webhook each. */
    async createAccounts({ location, count }) {
      hs ??= await startInstance(location)
      const numbers = Array.from({ length: count }, (_, number) => `many-${number}`)
      for (let first = 0; first < count; first += ACCOUNTS_AT_ONCE) {
        const part = numbers.slice(first, first + ACCOUNTS_AT_ONCE)
        await hs.accounts.ensure(
          part.map((id) => ({
            id,
            name: id,
            realm: `${id}.example.com`,
            users: [{ username: 'user', password: 'password' }],
          })),
        )
      }
      await forEachConcurrently(
        numbers,
        (id) =>
          hs.webhooks.create(id, { name: 'Calls', uri: 'https://hooks.example.com/calls', hook: 'all' }),
        Math.min(CONNECTIONS, setUpConcurrency(location)),
      )
    },
    /** Bytes of the objects of this thread, once the node is idle. */
    async memory() {
      await sleep(500)
      for (let collection = 0; collection < 3; collection += 1) {
        globalThis.gc()
        await sleep(50)
      }
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    },
    /** Bytes that this process has written to the disk so far; `undefined` where the system does not count them. */
    written() {
      try {
        return Number(/^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
      } catch {
        return undefined
      }
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
