// @ts-check
/**
 * A connection to a face, kept while it lasts.
 *
 * Whether an answer is missing is not decided by a clock: the server has to answer so many other requests, one after the
 * other, while it owes that one. The timer only says when to begin to ask.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {Pick<typeof import('../adapters/http/raw.js'), 'connect' | 'sendRaw'>} Raw */

const PATIENCE_MS = 250
const PROBES = 100
const PROBE = 'GET /v2/webhooks/samples HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'

export class Unanswered extends Error {}

/**
 * @param {Raw} raw
 * @param {number} port
 * @param {boolean} isKept false: a connection for each request
 */
export function openLink({ connect, sendRaw }, port, isKept) {
  /** @type {import('../adapters/http/raw.js').RawConnection | undefined} */
  let connection
  let isOver = true

  /**
   * @template T
   * @param {Promise<T>} owed
   * @param {string} what
   */
  async function within(owed, what) {
    let isSettled = false
    const settled = owed.then(
      () => {
        isSettled = true
      },
      () => {
        isSettled = true
      },
    )
    const timer = new AbortController()
    await Promise.race([settled, sleep(PATIENCE_MS, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
    for (let probe = 0; !isSettled; probe += 1) {
      if (probe === PROBES) throw new Unanswered(`${what} while ${PROBES} later requests were answered`)
      const { status } = await sendRaw(port, PROBE)
      if (status !== 200) throw new Unanswered(`a good request got ${status}`)
    }
    return owed
  }

  async function fresh() {
    connection?.end()
    const made = await connect(port)
    connection = made
    isOver = false
    void made.closed.then(() => {
      if (connection === made) isOver = true
    })
    return made
  }

  /** @param {import('../adapters/http/raw.js').RawConnection} on @param {boolean} head */
  async function finalOn(on, head) {
    for (;;) {
      const response = await on.next({ head })
      if (response.status >= 200) return response
    }
  }

  return {
    /**
     * The final answer to the bytes of one request.
     *
     * @param {Buffer} bytes
     * @param {boolean} head the request is HEAD
     */
    async ask(bytes, head) {
      const isFresh = isOver || !isKept || connection === undefined
      const on = isFresh || connection === undefined ? await fresh() : connection
      on.write(bytes)
      const answer = await within(finalOn(on, head), 'no answer').catch((error) => {
        // A server may close a connection that was at rest just as it is used again.
        isOver = true
        if (isFresh || error instanceof Unanswered) throw error
        return fresh().then((again) => {
          again.write(bytes)
          return within(finalOn(again, head), 'no answer')
        })
      })
      if (answer.headers.connection === 'close') isOver = true
      return answer
    },
    /** All that is answered to bytes after which the client closes its side; ends when the server has closed its own. */
    async tell(/** @type {string | Buffer} */ bytes) {
      const on = await connect(port)
      on.write(bytes)
      on.socket.end()
      /** @type {import('../adapters/http/raw.js').RawResponse[]} */
      const answers = []
      const all = (async () => {
        for (;;) answers.push(await on.next())
      })().catch(() => {})
      try {
        await within(Promise.all([all, on.closed]), 'the connection stays open')
      } finally {
        on.end()
      }
      return answers
    },
    close() {
      connection?.end()
    },
  }
}
