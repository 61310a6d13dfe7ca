// @ts-check
/**
 * A connection to a server, reused while it lasts.
 *
 * A missing response is not detected by a timeout alone: while it is missing, the server must respond to a number of
 * other requests in sequence. The timeout only decides when these probes start.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {Pick<typeof import('../adapters/http/raw.js'), 'connect' | 'sendRaw'>} Raw */

const PROBE_DELAY_MS = 250
const PROBES = 100
const PROBE = 'GET /v2/webhooks/samples HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'

export class NoResponseError extends Error {}

/**
 * @param {Raw} raw
 * @param {number} port
 * @param {boolean} isReused false: opens a connection for each request
 */
export function openConnection({ connect, sendRaw }, port, isReused) {
  /** @type {import('../adapters/http/raw.js').RawConnection | undefined} */
  let current
  let isEnded = true

  /**
   * Waits for a result; throws if it is still missing after the probes.
   *
   * @template T
   * @param {Promise<T>} pending
   * @param {string} problem
   */
  async function withProbes(pending, problem) {
    let isSettled = false
    const settled = pending.then(
      () => {
        isSettled = true
      },
      () => {
        isSettled = true
      },
    )
    const timer = new AbortController()
    await Promise.race([settled, sleep(PROBE_DELAY_MS, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
    for (let probe = 0; !isSettled; probe += 1) {
      if (probe === PROBES)
        throw new NoResponseError(`${problem} while ${PROBES} later requests were answered`)
      const { status } = await sendRaw(port, PROBE)
      if (status !== 200) throw new NoResponseError(`a valid request got ${status}`)
    }
    return pending
  }

  async function reconnect() {
    current?.end()
    const opened = await connect(port)
    current = opened
    isEnded = false
    void opened.closed.then(() => {
      if (current === opened) isEnded = true
    })
    return opened
  }

  /** @param {import('../adapters/http/raw.js').RawConnection} connection @param {boolean} isHead */
  async function finalResponse(connection, isHead) {
    for (;;) {
      const response = await connection.next({ head: isHead })
      if (response.status >= 200) return response
    }
  }

  return {
    /**
     * Sends the bytes of one request and returns its final response.
     *
     * @param {Buffer} bytes
     * @param {boolean} isHead whether the method is HEAD
     */
    async request(bytes, isHead) {
      const isNew = isEnded || !isReused || current === undefined
      const connection = isNew || current === undefined ? await reconnect() : current
      connection.write(bytes)
      const response = await withProbes(finalResponse(connection, isHead), 'no response').catch((error) => {
        // A server may close an idle connection just as it is used again.
        isEnded = true
        if (isNew || error instanceof NoResponseError) throw error
        return reconnect().then((retried) => {
          retried.write(bytes)
          return withProbes(finalResponse(retried, isHead), 'no response')
        })
      })
      if (response.headers.connection === 'close') isEnded = true
      return response
    },
    /** Sends bytes on a new connection, closes the client's side and returns all responses until the server closes. */
    async sendAndClose(/** @type {string | Buffer} */ bytes) {
      const connection = await connect(port)
      connection.write(bytes)
      connection.socket.end()
      /** @type {import('../adapters/http/raw.js').RawResponse[]} */
      const responses = []
      const all = (async () => {
        for (;;) responses.push(await connection.next())
      })().catch(() => {})
      try {
        await withProbes(Promise.all([all, connection.closed]), 'the connection stays open')
      } finally {
        connection.end()
      }
      return responses
    },
    close() {
      current?.end()
    },
  }
}
