/** Receivers that do badly: one answers late, one never, and one is not there. */
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { answerParent } from '../processes.js'
import { listen } from './bare-server.js'

const slow = ({ answerMs }) =>
  createHttpServer((request, response) => {
    request.resume()
    setTimeout(() => response.end('ok'), answerMs)
  })

/** Takes connections and reads, and says nothing. */
const silent = () =>
  createServer((socket) => {
    socket.on('error', () => {})
    socket.resume()
  })

/** The port of a server that was there a moment ago: connections are refused. */
async function closedPort() {
  const server = createServer()
  const { port } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

answerParent({
  async listen({ answerMs }) {
    const [{ port: slowPort }, { port: silentPort }] = await Promise.all([
      listen(slow({ answerMs })),
      listen(silent()),
    ])
    return { slowPort, silentPort, closedPort: await closedPort() }
  },
})
