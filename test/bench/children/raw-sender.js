/** The baseline of deliveries: undici's pool posts the same bytes, and nothing else happens. */
import { Pool } from 'undici'
import { answerParent, sharedMicros, timed } from '../processes.js'
import { restamped } from './events.js'
import { parseRequest } from './posted.js'

let pool
let request
let inFlight

answerParent({
  prepare({ port, concurrency, sample }) {
    pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency, pipelining: 1 })
    request = parseRequest(sample)
    inFlight = concurrency
  },
  run: ({ count }) =>
    timed(async () => {
      let left = count
      const post = async () => {
        while (left-- > 0) {
          const { statusCode, body } = await pool.request(request)
          await body.dump()
          if (statusCode !== 200) throw new Error(`answered ${statusCode}`)
        }
      }
      await Promise.all(Array.from({ length: inFlight }, post))
    }),
  /** One request of a kind of its own, with the moment of its sending in it. */
  async one({ group }) {
    const path = request.path.replace(/^\/[^/]+/, `/${group}`)
    const { body } = await pool.request({
      ...request,
      path,
      body: restamped(request.body, sharedMicros()),
    })
    await body.dump()
  },
})
