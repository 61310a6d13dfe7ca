/** Receives, counts and answers. */
import { answerParent } from '../processes.js'
import { bareServer, listen } from './bare-server.js'

let sample = ''
let received = 0

const server = bareServer((buffer, length) => {
  received += 1
  if (sample === '') sample = buffer.toString('latin1', 0, length)
})

answerParent({
  listen: () => listen(server),
  /** The first request, as it came. */
  sample: () => sample,
  received: () => received,
})
