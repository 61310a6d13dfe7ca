// @ts-check
/** The webhook receiver of the demo. */
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'

/** The number of requests to `/unsteady` that fail before it recovers. */
const FAILURES = 2

/**
 * Starts the receiver. `/unsteady` responds to its first requests with 503 and `Retry-After`, every other request
 * gets 200.
 *
 * @param {number} preferredPort the port; if it is taken, any other
 * @param {string} [logFile] file for every request, one JSON object per line
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startReceiver(preferredPort, logFile) {
  const log = logFile === undefined ? undefined : createWriteStream(logFile)
  if (log) await opened(log, logFile ?? '')
  let failuresLeft = FAILURES

  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const fails = request.url === '/unsteady' && failuresLeft-- > 0
      const status = fails ? 503 : 200
      const { method, url, headers } = request
      log?.write(
        `${JSON.stringify({ method, url, status, headers, body: Buffer.concat(chunks).toString() })}\n`,
      )
      response
        .writeHead(status, fails ? { 'retry-after': '1' } : {})
        .end(fails ? 'try later\n' : 'thank you\n')
    })
  })
  await listening(server, preferredPort).catch(() => listening(server, 0))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (log) await new Promise((resolve) => log.end(resolve))
    },
  }
}

/**
 * @param {import('node:http').Server} server
 * @param {number} port
 * @returns {Promise<void>}
 */
function listening(server, port) {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/**
 * @param {import('node:fs').WriteStream} stream
 * @param {string} name
 * @returns {Promise<void>}
 */
function opened(stream, name) {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve())
    stream.once('error', (error) =>
      reject(new Error(`--receiver-log: ${name} cannot be written (${error.message})`)),
    )
  })
}
