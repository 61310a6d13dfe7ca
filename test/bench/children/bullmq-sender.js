/** Deliveries over BullMQ: a job for each event, a worker that posts. */
import { Queue, Worker } from 'bullmq'
import { answerParent, timed } from '../processes.js'
import { byHand } from './by-hand.js'

const NAME = 'deliveries'
const OPTIONS = { attempts: 4, backoff: { type: 'exponential', delay: 2_000 }, removeOnComplete: true }

let queue
let worker
let work
let inFlight
let onCompleted = () => {}
let onFailure = () => {}

answerParent({
  async prepare({ redisPort, ...input }) {
    inFlight = input.concurrency
    work = byHand(input)
    const connection = { host: '127.0.0.1', port: redisPort, maxRetriesPerRequest: null }
    queue = new Queue(NAME, { connection })
    worker = new Worker(NAME, ({ data }) => work.deliver(data), { connection, concurrency: inFlight })
    await queue.obliterate({ force: true })
    worker.on('completed', () => onCompleted())
    worker.on('failed', (_, error) => onFailure(error))
    await worker.waitUntilReady()
  },
  /** Adds as fast as it is delivered: as many as are in flight wait behind them. */
  run: ({ count }) =>
    timed(
      () =>
        new Promise((resolve, reject) => {
          let started = 0
          let completed = 0
          const add = () => {
            for (; started < count && started - completed < 2 * inFlight; started += 1) {
              queue.add('event', work.event(), OPTIONS).catch(reject)
            }
          }
          onFailure = reject
          onCompleted = () => {
            completed += 1
            if (completed === count) resolve()
            else add()
          }
          add()
        }),
    ),
})
