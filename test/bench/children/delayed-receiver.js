/** A receiver that responds after a delay and records when requests arrive. */
import { handleRequests, sharedMicros } from '../processes.js'
import { createBareServer, listen } from './bare-server.js'

let delayMs = 0
let arrivals = []
/** Responses that are held back; `undefined`: none are. */
let held
const server = createBareServer(
  () => {
    arrivals.push(sharedMicros())
  },
  {
    write(socket, response) {
      const respond = () => socket.write(response)
      if (held) held.push(respond)
      else setTimeout(respond, delayMs)
    },
  },
)

handleRequests({
  listen(input) {
    delayMs = input.delayMs
    return listen(server)
  },
  reset() {
    arrivals = []
  },
  /** Requests get no response until `release`. */
  hold() {
    held = []
  },
  release() {
    for (const respond of held ?? []) respond()
    held = undefined
  },
  received: () => arrivals.length,
  /** Arrival of the first request on the shared clock, in µs; `undefined` if there is none yet. */
  firstArrival: () => arrivals[0],
  /** Requests a second between two positions, given as shares of all requests. */
  rate({ from, to }) {
    const [first, last] = [from, to].map((share) => Math.round(share * (arrivals.length - 1)))
    return ((last - first) * 1e6) / (arrivals[last] - arrivals[first])
  },
})
