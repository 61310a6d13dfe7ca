/** A node that publishes at a steady rate until it is killed. */
import { handleRequests, sharedMicros, sleep } from '../processes.js'
import { accountName, addTimestamp, eventAt } from './events.js'
import { createAccounts, startInstance } from './instance.js'

let hs
let published = 0

const publish = (event) => hs.publish(addTimestamp(event, sharedMicros()))

handleRequests(
  {
    /** @param {{ location: import('../stores.js').StoreLocation, port?: number, accounts: number }} input `port`: of the receiver, the first time */
    async start({ location, port, accounts }) {
      // A backlog grows: every receiver is slower than the load.
      hs = await startInstance(location, { inFlightPerEndpoint: 1 })
      if (port === undefined) return
      const uri = (account) => `http://127.0.0.1:${port}/${account === 0 ? 'new' : 'load'}/hooks`
      const settings = (account) => ({ uri: uri(account), hook: 'channel_answer' })
      await createAccounts(hs, { accounts, perAccount: 1, concurrency: 16, settings })
    },
    /** Publishes to all accounts but the first, and never ends. */
    async load({ accounts, perSecond }) {
      const startedMs = performance.now()
      for (;;) {
        for (; published < ((performance.now() - startedMs) / 1000) * perSecond; published += 1) {
          const event = eventAt(published, accounts)
          event.accountId = accountName(1 + (published % (accounts - 1)))
          void publish(event)
        }
        await sleep(5)
      }
    },
    /** Publishes one event to the first account. */
    async publishOne() {
      await publish({ ...eventAt(0, 1), callId: `call-${sharedMicros()}@pbx.example.com` })
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
