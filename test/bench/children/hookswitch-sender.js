/** End-to-end deliveries: published, matched, signed, sent, answered, recorded. */
import { handleRequests, measureTime, sharedMicros } from '../processes.js'
import { accountName, addTimestamp, eventAt } from './events.js'
import { createAccounts, startInstance } from './instance.js'
import { withProgressTimeout } from './progress-timeout.js'

const ACCOUNTS = 20

let hs
let published = 0
let inFlight
let onDelivered = () => {}
let onFailure = () => {}

/** Publishes as fast as it delivers: as many deliveries wait as are in flight. */
function deliver(count) {
  let started = 0
  let delivered = 0
  return withProgressTimeout(
    () => delivered,
    (resolve, reject) => {
      const publish = () => {
        while (started < count && started - delivered < 2 * inFlight) {
          started += 1
          hs.publish(eventAt(published++, ACCOUNTS)).catch(reject)
        }
      }
      onFailure = reject
      onDelivered = () => {
        delivered += 1
        if (delivered === count) resolve()
        else publish()
      }
      publish()
    },
  )
}

handleRequests(
  {
    /** @param {{ location: import('../stores.js').StoreLocation, port: number, concurrency: number }} input */
    async prepare({ location, port, concurrency }) {
      inFlight = concurrency
      // All webhooks have one origin.
      const limits = {
        inFlight,
        inFlightPerAccount: inFlight,
        inFlightPerEndpoint: inFlight,
        inFlightPerOrigin: inFlight,
      }
      hs = await startInstance(location, limits)
      await createAccounts(hs, {
        accounts: ACCOUNTS,
        perAccount: 1,
        concurrency: 1,
        settings: (account) => ({
          uri: `http://127.0.0.1:${port}/hooks/${accountName(account)}`,
          hook: 'channel_answer',
        }),
      })
      hs.events.on('delivered', () => onDelivered())
      for (const failure of ['exhausted', 'cancelled', 'quarantined', 'expired']) {
        hs.events.on(failure, ({ reason }) => onFailure(new Error(`${failure}: ${reason}`)))
      }
    },
    run: ({ count }) => measureTime(() => deliver(count)),
    /** Publishes one event with the time of publishing in it, and waits for its delivery. */
    sendOne: () =>
      new Promise((resolve, reject) => {
        onFailure = reject
        onDelivered = resolve
        const event = eventAt(published++, ACCOUNTS)
        hs.publish(addTimestamp(event, sharedMicros())).catch(reject)
      }),
    /** Results of the last attempts, to verify that deliveries succeeded and were recorded. */
    async lastAttempts() {
      const attempts = await hs.webhooks.attempts(accountName(0), undefined, { limit: 10 })
      return attempts.map(({ result, status }) => `${result} ${status}`)
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
