/** The baseline of deliveries: undici's pool posts the same bytes and does nothing else. */
import { Pool } from 'undici'
import { handleRequests, measureTime, sharedMicros } from '../processes.js'
import { replaceTimestamp } from './events.js'
import { parseRequest } from './parse-request.js'

let pool
let request
let inFlight

handleRequests({
  prepare({ port, concurrency, sample }) {
    pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency, pipelining: 1 })
    request = parseRequest(sample)
    inFlight = concurrency
  },
  run: ({ count }) =>
    measureTime(async () => {
      let left = count
      const post = async () => {
        while (left-- > 0) {
          const { statusCode, body } = await pool.request(request)
          await body.dump()
          if (statusCode !== 200) throw new Error(`responded ${statusCode}`)
        }
      }
      await Promise.all(Array.from({ length: inFlight }, post))
    }),
  /** Sends one request with the current time in it, and with the group as the first part of its path. */
  async sendOne({ group }) {
    const path = request.path.replace(/^\/[^/]+/, `/${group}`)
    const { body } = await pool.request({
      ...request,
      path,
      body: replaceTimestamp(request.body, sharedMicros()),
    })
    await body.dump()
  },
})
