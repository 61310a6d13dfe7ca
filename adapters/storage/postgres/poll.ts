import { shardOf } from 'hookswitch/store'
import type { Doors } from './session-doors.js'
import type { Listening } from './session-listen.js'
import { type NudgeRow, wakeStatements } from './sql/wake.js'
import { readMessage, type Waking } from './wake.js'

export interface PollDoors extends Pick<Doors, 'session' | 'schema' | 'channel' | 'log'> {
  readonly waking: Waking
  /** Tells of these webhooks as far as they are due. */
  tell(webhookIds: readonly string[]): Promise<void>
}

/** How this node comes to know what others wrote. */
export interface Polling {
  open(): Promise<void>
  close(): Promise<void>
  /** What others write now may be missed by a look of now: looks again later, a few times. */
  lookLater(): void
}

/** With the check of the listening connection still less than one statement a second. */
const EVERY_MS = 1_010
/** The connection that listens is asked now and then whether it lives: it says nothing of itself. */
const CHECK_EVERY_MS = 60_000
const LISTEN_AGAIN_MS = 1_000
const LISTEN_AGAIN_MOST_MS = 30_000
/** Longer than any statement of an acceptance may take. */
const LATER_MS = [1_000, 5_000, 20_000, 65_000]

/**
 * Listens to what other nodes tell, and looks once a second into what they must not have told in vain: what is heard is
 * quick, what is looked for is sure.
 */
export function createPolling({ session, schema, channel, log, waking, tell }: PollDoors): Polling {
  const sql = wakeStatements(schema)
  const timers = new Set<NodeJS.Timeout>()
  let isOpen = false
  let failed = false
  let listening: Listening | undefined
  let pauseMs = LISTEN_AGAIN_MS
  let working: Promise<unknown> = Promise.resolve()

  /** Runs later, unless the store is closed by then; keeps no process alive. */
  function later(ms: number, work: () => Promise<void>): void {
    if (!isOpen) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      working = Promise.all([working, work()])
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  async function poll(): Promise<void> {
    const shards = waking.shards()
    try {
      if (shards.length > 0) await pollIn(shards)
    } catch {
      // Those who work say it. What was told meanwhile may be lost with the server.
      failed = true
    }
    later(EVERY_MS, poll)
  }

  async function pollIn(shards: readonly number[]): Promise<void> {
    const rows = await session.query<NudgeRow>(sql.poll, [shards])
    const due = rows.flatMap(({ webhookId }) => webhookId ?? [])
    if (due.length > 0) await tell(due)
    if (failed || due.length < rows.length) waking.wake(undefined)
    failed = false
  }

  async function listen(): Promise<void> {
    try {
      const heard = await session.listen(channel, { heard: hear, lost })
      if (!isOpen) return await heard.stop()
      listening = heard
      pauseMs = LISTEN_AGAIN_MS
    } catch (thrown) {
      log.warn(
        { reason: thrown instanceof Error ? thrown.message : 'unknown' },
        'cannot listen to other nodes: what they accept is found within a second',
      )
      again()
    }
  }
  function lost(): void {
    listening = undefined
    if (isOpen) log.info({}, 'the connection that listens to other nodes was lost; connecting again')
    again()
  }
  function again(): void {
    later(pauseMs, listen)
    pauseMs = Math.min(LISTEN_AGAIN_MOST_MS, pauseMs * 2)
  }

  function hear(text: string): void {
    const message = readMessage(text)
    if (!message || message.look.some(waking.ownsHere)) waking.wake(undefined)
    const own = (message?.due ?? []).filter((webhookId) => waking.ownsHere(shardOf(webhookId)))
    // A read that fails is made up for by the poll.
    if (own.length > 0) working = Promise.all([working, tell(own).catch(() => {})])
  }

  async function check(): Promise<void> {
    await listening?.check()
    later(CHECK_EVERY_MS, check)
  }

  return {
    async open() {
      isOpen = true
      await listen()
      later(EVERY_MS, poll)
      later(CHECK_EVERY_MS, check)
    },
    async close() {
      isOpen = false
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
      await listening?.stop()
      listening = undefined
      await working
    },
    lookLater() {
      for (const ms of LATER_MS) later(ms, async () => waking.wake(undefined))
    },
  }
}
