/** Deliveries from an array, by a number of loops that post and try again: nothing is kept. */
import { answerParent, sleep, timed } from '../processes.js'
import { byHand } from './by-hand.js'

const TRIES = 4
const BASE_MS = 2_000

let work
let inFlight

async function withRetries(event) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work.deliver(event)
    } catch (thrown) {
      if (tries === TRIES) throw thrown
      await sleep(BASE_MS * 3 ** tries)
    }
  }
}

answerParent({
  prepare(input) {
    inFlight = input.concurrency
    work = byHand(input)
  },
  run: ({ count }) =>
    timed(async () => {
      const queue = []
      let added = 0
      const fill = () => {
        for (; added < count && queue.length < inFlight; added += 1) queue.push(work.event())
      }
      const loop = async () => {
        for (fill(); queue.length > 0; fill()) await withRetries(queue.shift())
      }
      await Promise.all(Array.from({ length: inFlight }, loop))
    }),
})
