/** The baseline of deliveries: undici's pool posts the same bytes, and nothing else happens. */
import { Pool } from 'undici'
import { answerParent, timed } from '../processes.js'

/** Headers that the client writes by itself. */
const OWN = new Set(['host', 'connection', 'content-length'])

let pool
let request
let inFlight

/** @param {string} text a request as it came in */
function parse(text) {
  const end = text.indexOf('\r\n\r\n')
  const [first, ...lines] = text.slice(0, end).split('\r\n')
  const [method, path] = first.split(' ')
  const headers = lines
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    .filter(([name]) => !OWN.has(name.toLowerCase()))
    .flat()
  return { method, path, headers, body: text.slice(end + 4) }
}

answerParent({
  prepare({ port, concurrency, sample }) {
    pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency, pipelining: 1 })
    request = parse(sample)
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
})
