/** A receiver that takes its time to answer, and notes when requests come. */
import { answerParent, sharedMicros } from '../processes.js'
import { bareServer, listen } from './bare-server.js'

let answerMs = 0
let moments = []
const server = bareServer(
  () => {
    moments.push(sharedMicros())
  },
  { write: (socket, answer) => setTimeout(() => socket.write(answer), answerMs) },
)

answerParent({
  listen(input) {
    answerMs = input.answerMs
    return listen(server)
  },
  forget() {
    moments = []
  },
  received: () => moments.length,
  /** On the clock of all processes; undefined: none came yet. */
  first: () => moments[0],
  /** Requests a second between two shares of all that came. */
  pace({ from, to }) {
    const [first, last] = [from, to].map((share) => Math.round(share * (moments.length - 1)))
    return ((last - first) * 1e6) / (moments[last] - moments[first])
  },
})
