/** Answers 400 until it comes back, and 200 from then on. */
import { handleRequests } from '../processes.js'
import { createBareServer, listen } from './bare-server.js'

const REJECTION = Buffer.from('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
let isBack = false
const server = createBareServer(() => {}, {
  write: (socket, response) => void socket.write(isBack ? response : REJECTION),
})

handleRequests({
  listen: () => listen(server),
  comeBack() {
    isBack = true
  },
})
