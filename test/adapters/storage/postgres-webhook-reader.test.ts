import { describe, expect, it } from 'vitest'
import type { WebhookRow } from '../../../adapters/storage/postgres/rows.js'
import type { Session } from '../../../adapters/storage/postgres/session.js'
import { webhookReader } from '../../../adapters/storage/postgres/webhook-reader.js'

const row = (id: string): WebhookRow => ({ doc: JSON.stringify({ id }), health: null })

/** A reader over a server with prepared answers, one per statement. */
function readerWith(...answers: (readonly WebhookRow[])[]) {
  const asked: unknown[] = []
  const query = async (_statement: unknown, values: readonly unknown[]) => {
    asked.push(values)
    return answers[asked.length - 1]!
  }
  return { read: webhookReader({ query: query as unknown as Session['query'] }, '"hooks"'), asked }
}

describe('the webhook reader', () => {
  it('reads all webhooks requested in one turn of the event loop with one statement, in any order', async () => {
    const { read, asked } = readerWith([row('b'), row('a')])
    const found = await Promise.all(['a', 'nobody', 'b', 'a'].map(read))
    expect(found.map((webhook) => webhook?.id)).toEqual(['a', undefined, 'b', 'a'])
    expect(asked).toHaveLength(1)
  })

  it('reads what is requested during a read afterwards, not from the answer of that read', async () => {
    const { read, asked } = readerWith([row('a')], [row('a')])
    const first = read('a')
    await undefined
    expect((await Promise.all([first, read('a')])).map((webhook) => webhook?.id)).toEqual(['a', 'a'])
    expect(asked).toHaveLength(2)
  })
})
