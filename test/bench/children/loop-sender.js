/** Deliveries from an array, by concurrent loops that post and retry. Nothing is stored. */
import { handleRequests, measureTime, sleep } from '../processes.js'
import { createHandWrittenDelivery } from './hand-written-delivery.js'

const TRIES = 4
const BASE_MS = 2_000

let delivery
let inFlight

async function deliverWithRetries(event) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await delivery.deliver(event)
    } catch (thrown) {
      if (tries === TRIES) throw thrown
      await sleep(BASE_MS * 3 ** tries)
    }
  }
}

handleRequests({
  prepare(input) {
    inFlight = input.concurrency
    delivery = createHandWrittenDelivery(input)
  },
  run: ({ count }) =>
    measureTime(async () => {
      const queue = []
      let added = 0
      const fill = () => {
        for (; added < count && queue.length < inFlight; added += 1) queue.push(delivery.nextEvent())
      }
      const loop = async () => {
        for (fill(); queue.length > 0; fill()) await deliverWithRetries(queue.shift())
      }
      await Promise.all(Array.from({ length: inFlight }, loop))
    }),
})
