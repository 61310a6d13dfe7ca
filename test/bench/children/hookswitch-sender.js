/** Deliveries end to end: published, matched, signed, sent, answered, recorded. */
import { answerParent, sharedMicros, timed } from '../processes.js'
import { accountName, eventAt, stamped } from './events.js'
import { makeAccounts, startInstance } from './instance.js'
import { watched } from './watched.js'

const ACCOUNTS = 20

let hs
let published = 0
let inFlight
let onDelivered = () => {}
let onFailure = () => {}

/** Publishes as fast as it is delivered: as many as are in flight wait behind them. */
function deliver(count) {
  let started = 0
  let delivered = 0
  return watched(
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

answerParent(
  {
    /** @param {{ place: import('../places.js').Place, port: number, concurrency: number }} input */
    async prepare({ place, port, concurrency }) {
      inFlight = concurrency
      const caps = { inFlight, inFlightPerAccount: inFlight, inFlightPerEndpoint: inFlight }
      hs = await startInstance(place, caps)
      await makeAccounts(hs, {
        accounts: ACCOUNTS,
        perAccount: 1,
        atOnce: 1,
        settings: (account) => ({
          uri: `http://127.0.0.1:${port}/hooks/${accountName(account)}`,
          hook: 'channel_answer',
        }),
      })
      hs.events.on('delivered', () => onDelivered())
      for (const end of ['exhausted', 'cancelled', 'quarantined', 'expired']) {
        hs.events.on(end, ({ reason }) => onFailure(new Error(`${end}: ${reason}`)))
      }
    },
    run: ({ count }) => timed(() => deliver(count)),
    /** One event with the moment of its publishing in it, until it was delivered. */
    one: () =>
      new Promise((resolve, reject) => {
        onFailure = reject
        onDelivered = resolve
        const event = eventAt(published++, ACCOUNTS)
        hs.publish(stamped(event, sharedMicros())).catch(reject)
      }),
    /** What was recorded of the last attempts: proof that the whole way was gone. */
    async recorded() {
      const attempts = await hs.webhooks.attempts(accountName(0), undefined, { limit: 10 })
      return attempts.map(({ result, status }) => `${result} ${status}`)
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
