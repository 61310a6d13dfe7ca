/** Receivers that fail: one responds late, one never responds, one refuses connections. */
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { handleRequests } from '../processes.js'
import { listen } from './bare-server.js'
import { findFreePort } from './free-port.js'

const createSlowServer = ({ delayMs }) =>
  createHttpServer((request, response) => {
    request.resume()
    setTimeout(() => response.end('ok'), delayMs)
  })

/** Accepts connections and reads, but never responds. */
const createSilentServer = () =>
  createServer((socket) => {
    socket.on('error', () => {})
    socket.resume()
  })

const freePorts = (count) => Promise.all(Array.from({ length: count }, findFreePort))

handleRequests({
  /** Opens many ports of each kind. */
  async listenOnMany({ silent, closed, delayMs }) {
    const [slow, ...servers] = await Promise.all([
      listen(createSlowServer({ delayMs })),
      ...Array.from({ length: silent }, () => listen(createSilentServer())),
    ])
    return {
      slowPort: slow.port,
      silentPorts: servers.map(({ port }) => port),
      closedPorts: await freePorts(closed),
    }
  },
  async listen({ delayMs }) {
    const [{ port: slowPort }, { port: silentPort }] = await Promise.all([
      listen(createSlowServer({ delayMs })),
      listen(createSilentServer()),
    ])
    // Nothing listens on a free port, so connections to it are refused.
    return { slowPort, silentPort, closedPort: await findFreePort() }
  },
})
