/** Finds a free port of the loopback interface. */
import { createServer } from 'node:net'
import { listen } from './bare-server.js'

export async function findFreePort() {
  const server = createServer()
  const { port } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}
