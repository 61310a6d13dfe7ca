/**
 * Races between real sessions, each with the statements of the store and with a simpler one that loses, repeats or brings back
 * something, or never ends.
 */
import { errorCode } from 'hookswitch'
import { shardOf } from 'hookswitch/store'
import { afterAll, describe, expect } from 'vitest'
import type { Message } from '../../../adapters/storage/postgres/notifications.js'
import { acceptanceOf, keyOf, startOf } from '../../../src/testkit/conformance/node.js'
import { newAccount, newApiKey, newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { blockedSessions, holdNextCommit, LEASE_MS, type QueryHooks } from './postgres-queue-harness.js'
import { type Arena, disable, race, replacing, type Simpler } from './postgres-race.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** Parts of a group that no other part depends on are written whatever becomes of the others. */
const withoutDivision = replacing('group_', /select 1 \/ \(/, 'select 1 + 0 * (')
const withoutLeaseLock = {
  fast: replacing('group_', /for share/, ''),
  slow: replacing('commit_lease_', /for (share|no key update)/, ''),
}

const notificationsLost = replacing('wake_notify_', /pg_notify\(\$1, \$2\)/, 'coalesce($1, $2)')

describe.skipIf(!server)('a race in PostgreSQL', () => {
  const direct = server!

  for (const [what, change, kind] of [
    ['version is raised', 'update $schema.node set version = version + 1', 'outdated'],
    ['lease is ended', 'delete from $schema.node', 'fenced'],
  ] as const) {
    race(direct, {
      name: `a group that waits for its node while its ${what} writes nothing`,
      without: 'where its parts are independent',
      simpler: [withoutDivision],
      async run(arena) {
        const { node } = arena
        const webhook = await node.webhook()
        const { acceptance, deliveries } = node.prepare(webhook)
        const query = await arena.transaction()
        await query(change)
        const committed = node.tryCommit({
          accepted: [acceptance],
          starting: { key: 1, deliveries: deliveries.map(startOf) },
        })
        await arena.blocked(1)
        await query('commit')
        const result = await committed
        return [
          result.kind,
          await arena.count('event'),
          await arena.count('waiting'),
          await arena.count('start'),
        ]
      },
      good: [kind, 0, 0, 0],
      bad: ['committed', 1, 1, 1],
    })
  }

  /** Attempts are written from the values of the group, under the condition that the lease holds. */
  const attemptsFromValues: Simpler = {
    name: 'group_',
    rewrite(text) {
      const values = /from (unnest\([^)]*\) with ordinality\s+u \([^)]*\))/.exec(text)?.[1]
      const rows = /select event, delivery, lane, coalesce\(at_ms, (\$\d+::float8)\)[\s\S]*?order by i/
      // Groups that only accept have no attempts.
      if (values === undefined || !rows.test(text)) return text
      const select = (_: string, now: string) =>
        `select 0, u.delivery, 0, ${now}, 0, 0, u.key, 1, u.n, u.attempts, u.tries, u.interruptions, 0, 2, u.state, 'same',
          null, u.reason, u.failed_ms, u.doc from ${values} cross join f`
      return withoutDivision.rewrite(text).replace(rows, select)
    },
  }
  race(direct, {
    name: 'a settlement that is sent again records one attempt',
    without: 'where attempts do not come from the rows that were deleted or updated',
    simpler: [attemptsFromValues],
    async run(arena) {
      const { node } = arena
      const [delivery] = await node.accept(await node.webhook())
      const ended = [node.settlement(delivery!, 'delivered')]
      await node.commit({ ended })
      await node.commit({ ended })
      return arena.count('attempt')
    },
    good: 1,
    bad: 2,
  })
  race(direct, {
    name: 'a settlement after an erasure brings nothing back',
    without: 'where attempts do not come from the rows that were deleted or updated',
    simpler: [attemptsFromValues],
    async run(arena) {
      const { node } = arena
      const [delivery] = await node.accept(await node.webhook(), { callId: 'gone' })
      await eraseAll(arena, 'gone')
      await node.applyChanges()
      await node.commit({ ended: [node.settlement(delivery!, 'delivered')] })
      return [await arena.count('event'), await arena.count('attempt')]
    },
    good: [0, 0],
    bad: [0, 1],
  })

  race(direct, {
    name: 'a group that is sent again accepts its event as it is stored',
    without: 'where its id is not looked up first',
    simpler: [replacing('commit_events_', /where e\.id = u\.id/, 'where false and e.id = u.id')],
    async run(arena) {
      const { node } = arena
      const webhook = await node.webhook()
      const { acceptance } = node.prepare(webhook, { callId: 'call' })
      await node.commit({ accepted: [acceptance] })
      const again = await node.commit({ accepted: [acceptance], isRepeat: true })
      return again.accepted.map((acceptance) =>
        acceptance.kind === 'accepted' ? acceptance.events[0]!.sequence : acceptance.kind,
      )
    },
    good: [1],
    bad: ['refused'],
  })

  for (const path of ['fast', 'slow'] as const) {
    const isRepeat = path === 'slow'
    race(direct, {
      name: `a takeover waits for a group on the ${path} path, and the next owner loads what it wrote`,
      without: 'where the group does not lock its lease',
      simpler: [withoutLeaseLock[path]],
      async run(arena) {
        const { node } = arena
        const webhook = await node.webhook()
        const { acceptance, deliveries } = node.prepare(webhook, { callId: 'call' })
        const query = await arena.holdNumber('call')
        const committed = node.tryCommit({ accepted: [acceptance], isRepeat })
        await arena.blocked(1)
        arena.clock.advance(LEASE_MS)
        const next = await arena.openNode('node-2')
        const owned = next.own()
        const taken = await arena.doneOrBlocked(owned, 2)
        const loaded = taken === 'done' ? await next.load() : undefined
        await query('rollback')
        const { kind } = await committed
        await owned
        const { rows } = loaded ?? (await next.load())
        return {
          kind,
          taken,
          loaded: rows.length,
          stored: await arena.count('waiting'),
          accepted: deliveries.length,
        }
      },
      good: { kind: 'committed', taken: 'blocked', loaded: 1, stored: 1, accepted: 1 },
      bad: { kind: 'committed', taken: 'done', loaded: 0, stored: 1, accepted: 1 },
    })
    race(direct, {
      name: `a webhook is disabled after a start on the ${path} path, or before it and the start is refused`,
      without: 'where the group does not lock its lease',
      simpler: [withoutLeaseLock[path]],
      async run(arena) {
        const { node } = arena
        const webhook = await node.webhook()
        const [delivery] = await node.accept(webhook)
        const { acceptance } = node.prepare(webhook, { callId: 'call' })
        const query = await arena.holdNumber('call')
        const committed = node.tryCommit({
          accepted: [acceptance],
          starting: { key: 1, deliveries: [startOf(delivery!)] },
          isRepeat,
        })
        await arena.blocked(1)
        const editor = await arena.openNode('editor')
        const disabling = disable(editor.store, webhook)
        const disabled = await arena.doneOrBlocked(disabling, 2)
        const startsBefore = await arena.count('start')
        await query('rollback')
        const { kind } = await committed
        await disabling
        // A start that is stored after the webhook was disabled would be sent.
        const startsLate = disabled === 'done' ? (await arena.count('start')) - startsBefore : 0
        return { kind, disabled, startsLate }
      },
      good: { kind: 'committed', disabled: 'blocked', startsLate: 0 },
      bad: { kind: 'committed', disabled: 'done', startsLate: 1 },
    })
  }

  race(direct, {
    name: 'a webhook that is disabled while its shard is taken is loaded as disabled',
    without: 'where the edit does not lock the shard',
    simpler: [replacing('version_shards_', /for share/, '')],
    async run(arena) {
      const { node } = arena
      const webhook = await node.webhook()
      await node.accept(webhook)
      await node.store.deliveries.release(node.owner)
      const hooks: QueryHooks = {}
      const editor = await arena.openNode('editor', hooks)
      const next = await arena.openNode('node-2')
      const held = holdNextCommit(hooks)
      const disabled = disable(editor.store, webhook)
      await held.reached
      const owned = next.own()
      const taken = await arena.doneOrBlocked(owned, 1)
      const early = taken === 'done' ? await next.load() : undefined
      held.release()
      await disabled
      await owned
      const { webhooks } = early ?? (await next.load())
      const changed = await next.applyChanges()
      return { taken, epoch: changed.webhooks[0]?.epoch ?? webhooks.get(webhook.id)?.epoch }
    },
    good: { taken: 'blocked', epoch: 2 },
    bad: { taken: 'done', epoch: 1 },
  })

  race(direct, {
    name: 'an erasure waits for a running group and removes what it wrote',
    without: 'where it raises no version',
    simpler: [replacing('version_shards_', /where id = any/, 'where false and id = any')],
    async run(arena) {
      const { node } = arena
      const webhook = await node.webhook()
      const { acceptance } = node.prepare(webhook, { callId: 'gone' })
      const query = await arena.holdNumber('gone')
      const committed = node.tryCommit({ accepted: [acceptance] })
      await arena.blocked(1)
      await arena.sql(`insert into $schema.event (position, timestamp_ms, accepted_ms, id, account_id, call_id, hook)
        values (2, 0, 0, 'earlier', 'account', 'gone', 'channel_create')`)
      const erased = eraseAll(arena, 'gone')
      const waited = await arena.doneOrBlocked(erased, 2)
      await query('rollback')
      const { kind } = await committed
      await erased
      return { waited, kind, events: await arena.count('event'), waiting: await arena.count('waiting') }
    },
    good: { waited: 'blocked', kind: 'committed', events: 0, waiting: 0 },
    bad: { waited: 'done', kind: 'committed', events: 1, waiting: 1 },
  })

  race(direct, {
    name: 'an edit and a settlement of its webhook do not wait for each other',
    without: 'where the edit locks the webhook before the node',
    simpler: [
      {
        name: 'version_shards_',
        rewrite(text) {
          const schema = /from (\S+)\.shard/.exec(text)![1]
          const held = `with held as materialized (select 1 from ${schema}.webhook order by key for update)`
          return `${held} ${text.replace('order by id', 'and (select count(*) from held) >= 0 order by id')}`
        },
      },
    ],
    async run(arena) {
      const { node } = arena
      const webhook = await node.webhook()
      const [delivery] = await node.accept(webhook)
      const query = await arena.transaction()
      await query('select 1 from $schema.node for update')
      const health = { endpoint: { epoch: 1, health: { failuresInRow: 1 } } }
      const settled = node.tryCommit({ ended: [node.settlement(delivery!, 'exhausted', health)] })
      await arena.blocked(1)
      const editor = await arena.openNode('editor')
      const disabled = disable(editor.store, webhook)
      await arena.blocked(2)
      await query('commit')
      await Promise.all([settled, disabled])
      return [...new Set(arena.sqlStates)].filter((state) => state === '40P01')
    },
    good: [],
    bad: ['40P01'],
  })

  /** Rows are inserted in this order, whatever order they were sent in. */
  const inserting = (table: string, order: string, owner: string): Simpler => ({
    name: 'group_',
    owner,
    rewrite: (text) =>
      text.replace(
        new RegExp(`(insert into \\S+\\.${table} [\\s\\S]*?from unnest\\([^)]*\\)(?:\\s+u \\([^)]*\\))?)`),
        `$1 order by ${order}`,
      ),
  })
  for (const [what, table, ascending, descending] of [
    ['calls', 'event', 'u.call_id', 'u.call_id desc'],
    ['keys', 'idempotency', '4', '4 desc'],
  ] as const) {
    race(direct, {
      name: `groups of two nodes with the same ${what} do not wait for each other`,
      without: 'where their rows are not sorted',
      simpler: [inserting(table, ascending, 'node-1'), inserting(table, descending, 'node-2')],
      async run(arena) {
        const { node } = arena
        const { other } = await arena.pair()
        const names = ['a', 'b', 'c']
        // Each group inserts one row, and then waits for this session.
        const query = await arena.transaction()
        if (table === 'event')
          await query(
            `insert into $schema.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
              values (1, 0, 0, 1, 'held', 'account', 'b', 'channel_create')`,
          )
        else
          await query(
            `insert into $schema.idempotency (until_ms, sequence, account_id, key, event_id, body_hash)
              values (1, 0, 'account', 'b', 'held', '')`,
          )
        const groupOf = (own: string) =>
          names.map((name) =>
            acceptanceOf(
              newEvent({
                callId: table === 'event' ? name : `${own}-${name}`,
                ...(table === 'idempotency' && {
                  idempotency: { key: name, bodyHash: 'hash', untilMs: arena.clock.now() + 9_000 },
                }),
              }),
            ),
          )
        const first = node.commit({ accepted: groupOf('first') })
        await arena.blocked(1)
        const second = other.commit({ accepted: groupOf('second').toReversed() })
        await arena.blocked(2)
        await query('rollback')
        await Promise.all([first, second])
        return [...new Set(arena.sqlStates)].filter((state) => state === '40P01')
      },
      good: [],
      bad: ['40P01'],
    })
  }

  race(direct, {
    name: 'an incoming delivery of a transaction that was running at the last poll is found by the next',
    without: 'where the next poll begins after all transactions that the last one saw',
    simpler: [replacing('queue_poll_', /pg_snapshot_xmin/, 'pg_snapshot_xmax')],
    async run(arena) {
      const { node } = arena
      const { other, theirs } = await arena.pair()
      const query = await arena.holdNumber('late')
      const late = node.prepare(theirs, { callId: 'late' })
      const committed = node.tryCommit({ accepted: [late.acceptance], isRepeat: true })
      await arena.blocked(1)
      // Only a later transaction tells the two apart.
      const publisher = await arena.openNode('publisher')
      const early = publisher.prepare(theirs)
      await publisher.store.deliveries.commit({
        ...publisher.group({ accepted: [early.acceptance] }),
        lease: undefined,
      })
      const first = (await other.poll()).rows.length
      await query('rollback')
      await committed
      return [first, (await other.poll()).rows.length]
    },
    good: [1, 1],
    bad: [1, 0],
  })

  race(direct, {
    name: 'a former owner takes no incoming deliveries of the next',
    without: 'where it takes those of the shards that it remembers',
    simpler: [
      replacing(
        'queue_poll_',
        /where shard = any \(array\([\s\S]*?from n\)\)\)/,
        'where shard = any (array(select generate_series(0, 63)))',
        'node-1',
      ),
    ],
    async run(arena) {
      const { node } = arena
      const webhook = await node.webhook()
      arena.clock.advance(LEASE_MS)
      const next = await arena.openNode('node-2')
      await next.own()
      await next.load()
      const publisher = await arena.openNode('publisher')
      const { acceptance, deliveries } = publisher.prepare(webhook)
      await publisher.store.deliveries.commit({
        ...publisher.group({ accepted: [acceptance] }),
        lease: undefined,
      })
      const former = await node.store.deliveries.poll(node.lease)
      const { rows } = await next.poll()
      return { former: former?.waiting.count, next: rows.map(keyOf).length, accepted: deliveries.length }
    },
    good: { former: undefined, next: 1, accepted: 1 },
    bad: { former: undefined, next: 0, accepted: 1 },
  })

  race(direct, {
    name: 'an acceptance for a webhook that is being removed is refused',
    without: 'where it does not lock the webhook of another node',
    simpler: [replacing('group_', /for key share/, '')],
    async run(arena) {
      const { node } = arena
      const { theirs } = await arena.pair()
      const query = await arena.transaction()
      await query('delete from $schema.webhook where id = $1', [theirs.id])
      const { acceptance } = node.prepare(theirs)
      const committed = node.commit({ accepted: [acceptance] })
      await arena.doneOrBlocked(committed, 1)
      await query('commit')
      const [result] = (await committed).accepted
      return { kind: result!.kind, waiting: await arena.count('waiting') }
    },
    good: { kind: 'refused', waiting: 0 },
    bad: { kind: 'accepted', waiting: 1 },
  })

  race(direct, {
    name: 'two nodes accept an inbox entry once',
    without: 'where a group does not depend on the entry that it removes',
    simpler: [withoutDivision],
    async run(arena) {
      const { node } = arena
      const webhook = await node.webhook()
      await arena.sql(`insert into $schema.inbox (shard, event_id, account_id, call_id, event)
        values (0, 'entry', 'account', 'call', '{}')`)
      const query = await arena.transaction()
      await query(`delete from $schema.inbox where event_id = 'entry'`)
      const { acceptance } = node.prepare(webhook)
      const committed = node.commit({ accepted: [{ ...acceptance, inboxIds: ['entry'] }] })
      await arena.blocked(1)
      await query('commit')
      const [result] = (await committed).accepted
      return {
        result: result!.kind === 'refused' ? errorCode(result!.error) : result!.kind,
        events: await arena.count('event'),
      }
    },
    good: { result: 'Conflict', events: 0 },
    bad: { result: 'accepted', events: 1 },
  })

  race(direct, {
    name: 'two moves that would close a circle wait for each other, although they have no account in common',
    without: 'where they only share the tree',
    simpler: [replacing('account_lock_tree', /pg_advisory_xact_lock\(/, 'pg_advisory_xact_lock_shared(')],
    async run(arena) {
      const { accounts } = arena.node.store
      const insert = async (parentId?: string) => {
        const account = newAccount(parentId === undefined ? {} : { parentId })
        await accounts.insert(account, newApiKey(account.id), [])
        return account
      }
      const [left, right] = [await insert(), await insert()]
      const [belowLeft, belowRight] = [await insert(left.id), await insert(right.id)]
      // Each move waits for its new parent after it has looked at its place.
      const query = await arena.transaction()
      await query('select id from $schema.account where id = any($1) for update', [
        [belowLeft.id, belowRight.id],
      ])
      const second = await arena.openNode('node-2')
      const moves = Promise.all([
        accounts.update({ ...left, parentId: belowRight.id }, { acyclic: true }).catch(errorCode),
        second.store.accounts
          .update({ ...right, parentId: belowLeft.id }, { acyclic: true })
          .catch(errorCode),
      ])
      const blocked = async (text: string) => blockedSessions(direct, text)
      await expect
        .poll(async () => (await blocked(arena.schema)) + (await blocked('pg_advisory_xact_lock(')))
        .toBeGreaterThanOrEqual(2)
      await query('commit')
      return (await moves).filter(Boolean)
    },
    good: ['Conflict'],
    bad: [],
  })

  race(direct, {
    name: 'an edit notifies the owner of the shard',
    without: 'where nothing is sent',
    simpler: [notificationsLost],
    async run(arena) {
      const webhook = await arena.node.webhook()
      const channel = await arena.listen()
      const editor = await arena.openNode('editor')
      await disable(editor.store, webhook)
      // Sends what is still to be sent.
      await editor.store.close()
      const messages = (await channel.received()).map((text) => JSON.parse(text) as Message)
      return messages.flatMap(({ shards }) => shards).map((shard) => shard === shardOf(webhook.id))
    },
    good: [true],
    bad: [],
  })

  race(direct, {
    name: 'an edit whose notification is lost is found by the poll of the owner',
    without: 'where the poll does not compare versions',
    always: [notificationsLost],
    simpler: [replacing('queue_watch_', /n\.version > u\.version/, 'false')],
    async run(arena) {
      const webhook = await arena.node.webhook()
      let notified = 0
      arena.node.store.deliveries.subscribe(() => {
        notified += 1
      })
      const editor = await arena.openNode('editor')
      await disable(editor.store, webhook)
      await editor.store.close()
      const before = arena.statements('queue_watch_', 'node-1')
      // The one that is running may have begun before the edit.
      await expect.poll(() => arena.statements('queue_watch_', 'node-1')).toBeGreaterThan(before + 2)
      return notified > 0
    },
    good: true,
    bad: false,
  })
})

async function eraseAll(arena: Arena, callId: string): Promise<void> {
  const eraser = await arena.openNode('eraser')
  while ((await eraser.store.deliveries.erase({ accountId: 'account', callIds: [callId] }, 10)) > 0) {}
}
