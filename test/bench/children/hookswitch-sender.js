/** Deliveries end to end: published, matched, signed, sent, answered, recorded. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { answerParent, sharedMicros, timed } from '../processes.js'
import { accountName, eventAt, stamped } from './events.js'

const ACCOUNTS = 20

let hs
let published = 0
let inFlight
let onDelivered = () => {}
let onFailure = () => {}

answerParent({
  async prepare({ port, concurrency }) {
    inFlight = concurrency
    hs = createHookswitch({
      store: memoryStore(),
      allowLocal: true,
      inFlight,
      inFlightPerAccount: inFlight,
      inFlightPerEndpoint: inFlight,
    })
    await hs.start()
    for (let index = 0; index < ACCOUNTS; index += 1) {
      const id = accountName(index)
      await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
      const uri = `http://127.0.0.1:${port}/hooks/${id}`
      await hs.webhooks.create(id, { name: 'bench', uri, hook: 'channel_answer' })
    }
    hs.events.on('delivered', () => onDelivered())
    for (const end of ['exhausted', 'cancelled', 'quarantined', 'expired']) {
      hs.events.on(end, ({ reason }) => onFailure(new Error(`${end}: ${reason}`)))
    }
  },
  /** Publishes as fast as it is delivered: as many as are in flight wait behind them. */
  run: ({ count }) =>
    timed(
      () =>
        new Promise((resolve, reject) => {
          let started = 0
          let delivered = 0
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
        }),
    ),
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
})
