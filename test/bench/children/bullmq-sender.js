/** Deliveries with BullMQ: a job for each event, and a worker that posts it. */
import { Queue, Worker } from 'bullmq'
import { handleRequests, measureTime } from '../processes.js'
import { createHandWrittenDelivery } from './hand-written-delivery.js'

const NAME = 'deliveries'
const OPTIONS = { attempts: 4, backoff: { type: 'exponential', delay: 2_000 }, removeOnComplete: true }

let queue
let worker
let delivery
let inFlight
let onCompleted = () => {}
let onFailure = () => {}

handleRequests({
  async prepare({ redisPort, ...input }) {
    inFlight = input.concurrency
    delivery = createHandWrittenDelivery(input)
    const connection = { host: '127.0.0.1', port: redisPort, maxRetriesPerRequest: null }
    queue = new Queue(NAME, { connection })
    worker = new Worker(NAME, ({ data }) => delivery.deliver(data), { connection, concurrency: inFlight })
    await queue.obliterate({ force: true })
    worker.on('completed', () => onCompleted())
    worker.on('failed', (_, error) => onFailure(error))
    await worker.waitUntilReady()
  },
  /** Adds jobs as fast as they complete: the queue holds as many as are in flight. */
  run: ({ count }) =>
    measureTime(
      () =>
        new Promise((resolve, reject) => {
          let started = 0
          let completed = 0
          const add = () => {
            for (; started < count && started - completed < 2 * inFlight; started += 1) {
              queue.add('event', delivery.nextEvent(), OPTIONS).catch(reject)
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
