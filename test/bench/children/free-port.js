/** A port that nobody listens on. */
import { createServer } from 'node:net'
import { listen } from './bare-server.js'

export async function freePort() {
  const server = createServer()
  const { port } = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}
