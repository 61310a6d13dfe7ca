/** Receives and notes how long each request was on its way: from the moment in its body to its first byte here. */
import { answerParent, sharedMicros } from '../processes.js'
import { bareServer, listen } from './bare-server.js'
import { stampOf } from './events.js'

let sample = ''
/** By the first part of the path: when it was published, and when it came. */
let seen = new Map()

function heard(buffer, length, arrived) {
  const text = buffer.latin1Slice(0, length)
  if (sample === '') sample = text
  const group = text.slice(text.indexOf('/') + 1, text.indexOf('/', text.indexOf('/') + 1))
  const known = seen.get(group)
  if (known) known.push([stampOf(text), arrived])
  else seen.set(group, [[stampOf(text), arrived]])
}

const server = bareServer(heard, { now: sharedMicros })

/** Of one kind of request, what was published in this time. */
const within = ({ group, from, to }) =>
  (seen.get(group) ?? []).filter(([published]) => published >= from && published < to)

let connections = 0
server.on('connection', () => {
  connections += 1
})

answerParent({
  listen: () => listen(server),
  sample: () => sample,
  now: sharedMicros,
  /** How often somebody connected. */
  connections: () => connections,
  forget: () => {
    seen = new Map()
  },
  count: (range) => within(range).length,
  /** Milliseconds on the way. */
  latencies: (range) => within(range).map(([published, arrived]) => (arrived - published) / 1000),
})
