/** Counts requests and responds to them. */
import { handleRequests } from '../processes.js'
import { createBareServer, listen } from './bare-server.js'

let sample = ''
let received = 0

const server = createBareServer((buffer, length) => {
  received += 1
  if (sample === '') sample = buffer.toString('latin1', 0, length)
})

handleRequests({
  listen: () => listen(server),
  /** The bytes of the first request. */
  sample: () => sample,
  received: () => received,
})
