/** The path of a group that assumes what the store remembers. */
import type { CallNumbers, GroupResult } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import { describe, expect, it } from 'vitest'
import { createCommit } from '../../../adapters/storage/postgres/commit.js'
import type { Nodes } from '../../../adapters/storage/postgres/nodes.js'
import type { Notifier } from '../../../adapters/storage/postgres/notifications.js'
import type { Session } from '../../../adapters/storage/postgres/session.js'
import { acceptanceOf } from '../../../src/testkit/conformance/node.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'

describe('a group of more webhooks than the store remembers', () => {
  it('is written by reading, not refused', async () => {
    const webhooks = [newWebhook(), newWebhook()]
    const statements: string[] = []
    const result: GroupResult = { kind: 'committed', accepted: [], ended: [], notStarted: [], version: 0 }
    const session: Session = {
      async query<Row>({ name }: { readonly name: string }) {
        statements.push(name)
        return webhooks.map(({ id }, key) => ({ id, key })) as Row[]
      },
      async transaction<T>() {
        statements.push('transaction')
        return { result } as T
      },
      listen: () => Promise.reject(new Error('not used')),
    }
    const commit = createCommit({
      session,
      schema: '"hooks"',
      notifier: { notify() {} } as unknown as Notifier,
      nodes: { numberOf: () => -1, setPending() {}, applied() {}, mustLoad: () => false } as unknown as Nodes,
      memory: {
        webhookKeys: new LRUCache({ max: 1 }),
        numbers: new LRUCache<string, CallNumbers>({ max: 1 }),
      },
    })
    const event = newEvent()
    event.position = 1
    const acceptance = acceptanceOf(
      event,
      webhooks.map((webhook) => newDelivery(webhook, event)),
    )
    const group = { lease: undefined, version: 0, now: 0, accepted: [acceptance], ended: [], finished: [] }
    expect(await commit({ ...group, pending: 0, isRepeat: false })).toBe(result)
    expect(statements).toEqual(['webhook_keys', 'transaction'])
  })
})
