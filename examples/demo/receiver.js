// @ts-check
/** The webhook receiver of the demo. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'

/** The number of requests to `/unsteady` that fail before it recovers. */
const FAILURES = 2

/**
 * Starts the receiver. `/unsteady` responds to its first requests with 500, every other request gets 200. What it has
 * taken before is not processed again.
 *
 * @param {number} preferredPort the port; if it is taken, any other
 * @param {string} [logFile] file for every request, one JSON object per line, written before the response
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startReceiver(preferredPort, logFile) {
  const log = logFile === undefined ? undefined : openLog(logFile)
  let failuresLeft = FAILURES
  /** What was processed, by webhook and event: both ids stay when a request comes again, also as a replay. */
  const processed = new Set()

  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const fails = request.url === '/unsteady' && failuresLeft-- > 0
      const status = fails ? 500 : 200
      const { method, url, headers } = request
      const body = Buffer.concat(chunks).toString()
      // At once: a request that was answered must be in the file even if this process is killed now.
      if (log !== undefined) writeSync(log, `${JSON.stringify({ method, url, status, headers, body })}\n`)
      if (fails) return response.writeHead(status).end('an error\n')
      const id = `${headers['x-hook-id']} ${eventIdOf(body)}`
      response.writeHead(status).end(processed.has(id) ? 'already processed\n' : 'thank you\n')
      processed.add(id)
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
      if (log !== undefined) closeSync(log)
    },
  }
}

/** @param {string} body JSON or form fields */
const eventIdOf = (body) => /\bevent_id"?[:=]"?(\w+)/.exec(body)?.[1]

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
 * @param {string} name
 * @returns {number} its descriptor
 */
function openLog(name) {
  try {
    return openSync(name, 'w')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`--receiver-log: ${name} cannot be written (${reason})`)
  }
}
