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

let connections = 0
function createTimingServer() {
  const server = createBareServer(record, { now: sharedMicros })
  server.on('connection', () => {
    connections += 1
  })
  return server
}

/** Requests of a group that were published in a time range. */
const within = ({ group, from, to }) =>
  (requests.get(group) ?? []).filter(([published]) => published >= from && published < to)

handleRequests({
  listen: () => listen(createTimingServer()),
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
  /** Latencies in ms. */
  latencies: (range) => within(range).map(([published, arrived]) => (arrived - published) / 1000),
})
