/** Records the latency of each request: from the time of publishing in its body to the arrival of its first byte. */
import { handleRequests, sharedMicros } from '../processes.js'
import { createBareServer, listen } from './bare-server.js'
import { timestampOf } from './events.js'

let sample = ''
/** Times of publishing and arrival of each request, by group: the first part of the path. */
let requests = new Map()

function record(buffer, length, arrived) {
  const text = buffer.latin1Slice(0, length)
  if (sample === '') sample = text
  const group = text.slice(text.indexOf('/') + 1, text.indexOf('/', text.indexOf('/') + 1))
  const times = requests.get(group)
  if (times) times.push([timestampOf(text), arrived])
  else requests.set(group, [[timestampOf(text), arrived]])
}

/** Delay of responses, ms. */
let delayMs = 0
function write(socket, response) {
  if (delayMs === 0) socket.write(response)
  else setTimeout(() => socket.write(response), delayMs)
}

let connections = 0
function createTimingServer() {
  const server = createBareServer(record, { now: sharedMicros, write })
  server.on('connection', () => {
    connections += 1
  })
  return server
}

/** Requests of a group that were published in a time range. */
const within = ({ group, from, to }) =>
  (requests.get(group) ?? []).filter(([published]) => published >= from && published < to)

handleRequests({
  listen(input) {
    delayMs = input?.delayMs ?? 0
    return listen(createTimingServer())
  },
  /** Opens several ports. */
  listenOnMany: async ({ ports }) =>
    (await Promise.all(Array.from({ length: ports }, () => listen(createTimingServer())))).map(
      ({ port }) => port,
    ),
  sample: () => sample,
  now: sharedMicros,
  /** Number of connections so far. */
  connections: () => connections,
  reset: () => {
    requests = new Map()
  },
  count: (range) => within(range).length,
  /** Arrival of the first request of a range after a time; `undefined`: there is none yet. */
  firstArrival({ after, ...range }) {
    const arrivals = within(range).map(([, arrived]) => arrived)
    return arrivals.filter((arrived) => arrived > after).sort((a, b) => a - b)[0]
  },
  /** Latencies in ms. */
  latencies: (range) => within(range).map(([published, arrived]) => (arrived - published) / 1000),
})
