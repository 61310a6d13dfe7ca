/** Names of webhooks that a screen knows by their ids: each is read once, a few at a time, and again after a change. */
import { signal } from '@preact/signals'
import type { Webhook } from 'hookswitch/client'
import { accountRequest, optional } from '../api/api.js'

/** Names by account and id; '' while one is being read, and for a webhook that is gone. */
const names = signal<ReadonlyMap<string, string>>(new Map())
const waiting: (() => Promise<void>)[] = []
const MAX_RUNNING = 4
/** Names that are kept. */
const MAX_NAMES = 10_000
let running = 0

const keyOf = (accountId: string, webhookId: string) => `${accountId}/${webhookId}`

function remember(key: string, name: string): void {
  const kept = names.peek().size < MAX_NAMES ? names.peek() : []
  names.value = new Map([...kept, [key, name]])
}

async function work(): Promise<void> {
  if (running >= MAX_RUNNING) return
  running += 1
  for (let next = waiting.shift(); next; next = waiting.shift()) await next()
  running -= 1
}

/** The name of a webhook; `undefined`: it is not known yet, or the webhook is gone. */
export function webhookName(accountId: string, webhookId: string): string | undefined {
  const key = keyOf(accountId, webhookId)
  const known = names.value.get(key)
  if (known === undefined) queueMicrotask(() => request(accountId, webhookId))
  return known === '' ? undefined : known
}

/** To be called when a screen is left: until the next one the names may change. */
export function forgetNames(): void {
  names.value = new Map()
}

/** Reads the name again, if it is known: the webhook has changed. */
export function rereadName(accountId: string, webhookId: string): void {
  if (names.peek().has(keyOf(accountId, webhookId))) read(accountId, webhookId)
}

function request(accountId: string, webhookId: string): void {
  const key = keyOf(accountId, webhookId)
  if (names.peek().has(key)) return
  remember(key, '')
  read(accountId, webhookId)
}

function read(accountId: string, webhookId: string): void {
  waiting.push(async () => {
    const found = await optional(
      accountRequest<Webhook>('GET', '/webhooks/{webhook_id}', { accountId, webhookId }),
    ).catch(() => undefined)
    if (found) remember(keyOf(accountId, webhookId), found.name)
  })
  void work()
}
