import type { Core } from './core.js'
import type { Erasure } from './delivery/erasure-store.js'
import { type Failure, invalidInput } from './errors.js'

/** What is to be erased: a call, all calls of a number, or, with neither, everything sent about an account. */
export interface EraseWish {
  readonly accountId: string
  /** With its other legs. */
  readonly callId?: string
  /** A number or user name as it stands in events: `+15551234`, `alice`. A leading `+` makes no difference. */
  readonly number?: string
}

/** What was erased. */
export interface Erased {
  /** Calls that were meant; absent where the whole account was. */
  readonly callIds?: readonly string[]
  /** Rows that were removed. */
  readonly rows: number
}

/** Rows removed, and bodies looked through, at a time: a large batch would hold up the calls behind it. */
const BATCH = 200

const KEYS = ['accountId', 'callId', 'number']

/**
 * Erases for good what is kept of calls: events, deliveries, pending ones too, attempts, numbers, legs, keys. Of an
 * account also deleted webhooks; its live webhooks, tokens and users are removed with their own verbs.
 *
 * @throws `InvalidInput` naming the field, `StoreUnavailable`
 */
export async function erase({ store, clock }: Core, wish: EraseWish): Promise<Erased> {
  const failures = problemsOf(wish)
  if (failures.length > 0) throw invalidInput(failures)
  const { deliveries } = store
  const { accountId, callId, number } = wish

  async function mentioning(text: string): Promise<string[]> {
    const found = new Set<string>()
    let cursor: number | undefined
    do {
      const page = await deliveries.mentions(accountId, text, cursor, BATCH)
      for (const one of page.callIds) found.add(one)
      cursor = page.cursor
      await clock.yield()
    } while (cursor !== undefined)
    return [...found]
  }

  async function eraseAll(what: Erasure): Promise<number> {
    let rows = 0
    for (;;) {
      const count = await deliveries.erase(what, BATCH)
      if (count === 0) return rows
      rows += count
      await clock.yield()
    }
  }

  if (callId === undefined && number === undefined) {
    const rows = await eraseAll({ accountId })
    await deliveries.scrub()
    return { rows }
  }
  const named = callId === undefined ? await mentioning(number!.replace(/^\+/, '')) : [callId]
  const legs = new Set(named)
  for (const one of named) for (const leg of await deliveries.legs(accountId, one)) legs.add(leg)
  const callIds = [...legs]
  let rows = 0
  for (let from = 0; from < callIds.length; from += BATCH) {
    rows += await eraseAll({ accountId, callIds: callIds.slice(from, from + BATCH) })
  }
  await deliveries.scrub()
  return { callIds, rows }
}

function problemsOf(wish: unknown): Failure[] {
  if (typeof wish !== 'object' || wish === null) {
    return [{ path: '', rule: 'type', message: 'must be an object', target: 'object' }]
  }
  const { accountId, callId, number } = wish as Record<string, unknown>
  const failures: Failure[] = []
  const add = (path: string, message: string) => failures.push({ path, rule: 'error', message })
  for (const key of Object.keys(wish)) if (!KEYS.includes(key)) add(key, 'is nothing to erase by')
  if (typeof accountId !== 'string' || accountId === '') add('accountId', 'must be an id')
  if (callId !== undefined && (typeof callId !== 'string' || callId === '')) add('callId', 'must be an id')
  if (
    number !== undefined &&
    (typeof number !== 'string' || !/^\+?[^\s"\\\p{Cc}\p{Cs}+]{3,128}$/u.test(number))
  ) {
    add('number', 'must be a number or name of 3 to 128 characters')
  }
  if (callId !== undefined && number !== undefined) add('number', 'goes without callId')
  return failures
}
