/**
 * Notices within about two seconds that the server says nothing any more: a process that is stopped, a machine that hangs, a
 * network that drops everything. Without it, each call waits for the whole time limit of its statement.
 *
 * - Where something has waited for the server for `ASK_AFTER_MS`, a query is sent over a separate connection, so that it waits
 *   neither for a lock nor for a free connection. If within `ANSWER_WITHIN_MS` neither that question nor anything else is
 *   answered, the server is silent. A statement that takes long is no reason. An error of the server is an answer, such as "too
 *   many connections", and so is a connection that it opens.
 * - Then everything that has waited for so long is given up, as after its time limit: what was sent may have been carried out.
 *   New calls are refused at once, until the server answers a question.
 * - Times are real: they are those of sockets. A pause of this process gives no alarm, since an answer that has arrived meanwhile
 *   is read before a question is given up.
 */
import { ServerSilent } from './errors.js'

/** A watch over one server. */
export interface SilenceWatch {
  /** Throws `ServerSilent` while the server is known to be silent. */
  check(): void
  /** The server has answered something. */
  answered(): void
  /**
   * Something has waited for the server for `ASK_AFTER_MS`.
   *
   * @param giveUp called once, if the server is silent
   * @returns a function that ends the wait
   */
  suspect(giveUp: (thrown: ServerSilent) => void): () => void
  /** Asks no more. */
  close(): void
}

/** After how long a wait the server is queried, ms. */
export const ASK_AFTER_MS = 1_000
const ANSWER_WITHIN_MS = 1_000
/** Time to read an answer that arrived while the process was busy. */
const GRACE_MS = 100
/** Between two questions to a server that is silent. */
const REPEAT_MS = 250

/** @param ask resolves when the server has answered, in whatever way; false: nobody answers. Never rejects */
export function createSilenceWatch(ask: () => Promise<boolean>): SilenceWatch {
  const waits = new Set<(thrown: ServerSilent) => void>()
  let answers = 0
  let isAsking = false
  let isSilent = false
  let isClosed = false

  async function question(): Promise<void> {
    const answersBefore = answers
    const asked = ask()
    const late = pause(ANSWER_WITHIN_MS).then(() => pause(GRACE_MS))
    const isAnswered = await Promise.race([asked, late.then(() => false)])
    if (isAnswered || answers > answersBefore || isClosed) return
    isSilent = true
    for (const giveUp of waits) giveUp(new ServerSilent())
    waits.clear()
    for (let isBack = await asked; !isBack && !isClosed; isBack = await ask()) await pause(REPEAT_MS)
    isSilent = false
  }

  /** Asks for as long as something waits. */
  async function askWhileWaiting(): Promise<void> {
    if (isAsking) return
    isAsking = true
    while (waits.size > 0 && !isClosed) {
      await question()
      if (waits.size > 0) await pause(ANSWER_WITHIN_MS)
    }
    isAsking = false
  }

  return {
    check() {
      if (isSilent) throw new ServerSilent()
    },
    answered() {
      answers += 1
    },
    suspect(giveUp) {
      if (isSilent) giveUp(new ServerSilent())
      else {
        waits.add(giveUp)
        void askWhileWaiting()
      }
      return () => waits.delete(giveUp)
    },
    close() {
      isClosed = true
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
