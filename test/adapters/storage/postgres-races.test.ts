/**
 * Races between real sessions: each of them lost, repeated or brought back a delivery with a simpler statement
 * (`postgres-simpler-statements.test.ts` shows that where the simpler statement can take its place).
 */
import { errorCode } from 'hookswitch'
import { type Group, isNotWritten, type Store, shardOf, type Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPositions } from '../../../src/delivery/positions.js'
import { manualClock } from '../../../src/testkit/clock.js'
import { acceptanceAt, acceptanceOf, keyOf, startOf } from '../../../src/testkit/conformance/node.js'
import {
  freshId,
  newAccount,
  newApiKey,
  newDelivery,
  newEvent,
  newUser,
} from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import {
  gate,
  holdNextCommit,
  isGroup,
  LEASE_MS,
  loseNextAnswer,
  openNode,
  type QueryHooks,
  type QueueNode,
  waitForBlockedSessions,
} from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

type Hooks = { -readonly [Name in keyof QueryHooks]: QueryHooks[Name] }

describe.skipIf(!server)('races in PostgreSQL', () => {
  const direct = server!
  let clock: ManualClock
  let schema: string
  let hooks: Hooks
  let node: QueueNode
  const opened: QueueNode[] = []
  const sessions: pg.Client[] = []

  beforeEach(async () => {
    clock = manualClock()
    schema = direct.freshSchema()
    hooks = {}
    node = await open('node-1', hooks)
    await node.own()
    await node.load()
  })
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.end()
    for (const one of opened.splice(0)) await one.close()
  })

  async function open(owner: string, withHooks?: Hooks): Promise<QueueNode> {
    const one = await openNode(direct, { schema, clock, owner, ...(withHooks && { hooks: withHooks }) })
    opened.push(one)
    return one
  }
  /** A session of somebody else, with an open transaction. */
  async function transaction(): Promise<(sql: string, values?: unknown[]) => Promise<pg.QueryResult>> {
    const client = new pg.Client({ connectionString: direct.url })
    await client.connect()
    sessions.push(client)
    await client.query('begin')
    return (sql, values) => client.query(sql.replaceAll('$schema', `"${schema}"`), values)
  }
  const rows = async (table: string) =>
    (await direct.sql(`select count(*)::int as count from "${schema}".${table}`))[0]!.count as number
  const deadlocks = async () =>
    (await direct.sql('select deadlocks from pg_stat_database where datname = current_database()'))[0]!
      .deadlocks
  const disable = (store: Store, webhook: Webhook) =>
    store.webhooks.replace(
      { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 },
      1,
    )
  /** Connections say that they lead to a server that has taken over. */
  const toNewServer: QueryHooks['rewrite'] = (query) =>
    query.text.includes('pg_walfile_name') ? { text: "select '0000000A' as timeline" } : query
  /** Two nodes with half of the shards each. Returns the other one, and a webhook of each. */
  async function pair(withHooks?: Hooks) {
    const other = await open('node-2', withHooks)
    await other.own()
    const { leaving } = await node.renew()
    await node.store.deliveries.handOver(node.lease, leaving)
    await node.renew()
    await other.renew()
    await other.load()
    await node.load()
    const webhookOf = async (one: QueueNode) => {
      for (;;) {
        const webhook = await one.webhook()
        if (one.lease.shards.includes(shardOf(webhook.id))) return webhook
      }
    }
    return { other, own: await webhookOf(node), theirs: await webhookOf(other) }
  }

  it('a renewal that is under way while shards are handed over does not make them its own again', async () => {
    const other = await open('node-2')
    await other.own()
    const { leaving } = await node.renew()
    const query = await transaction()
    await query(`select pg_advisory_xact_lock(hashtextextended('"${schema}" leases', 0))`)
    const renewed = node.renew()
    await waitForBlockedSessions(direct, 1, schema)
    const handedOver = node.store.deliveries.handOver(node.lease, leaving)
    await waitForBlockedSessions(direct, 2, schema)
    await query('commit')
    await Promise.all([renewed, handedOver])

    await other.renew()
    await other.load()
    let webhook = await node.webhook()
    while (!other.lease.shards.includes(shardOf(webhook.id))) webhook = await node.webhook()
    await node.accept(webhook)
    expect((await other.poll()).rows).toHaveLength(1)
  })

  describe('a group that waits for its node', () => {
    it.each([
      ['its version is raised', 'update $schema.node set version = version + 1', 'outdated'],
      ['its lease is ended', 'delete from $schema.node', 'fenced'],
    ])('writes nothing when %s meanwhile', async (_, change, kind) => {
      const webhook = await node.webhook()
      const [delivery] = await node.accept(webhook)
      const { acceptance, deliveries } = node.prepare(webhook)
      const query = await transaction()
      await query(change)
      const committed = node.tryCommit({
        accepted: [acceptance],
        ended: [node.settlement(delivery!, 'delivered')],
        starting: { key: 1, deliveries: deliveries.map(startOf) },
      })
      await waitForBlockedSessions(direct, 1, schema)
      await query('commit')
      expect((await committed).kind).toBe(kind)
      expect([
        await rows('event'),
        await rows('waiting'),
        await rows('attempt'),
        await rows('start'),
      ]).toEqual([1, 1, 0, 0])
    })
  })

  describe('a group whose answer is lost', () => {
    async function commitTwice(parts: Partial<Group>) {
      const group = node.group(parts)
      loseNextAnswer(hooks)
      const { deliveries } = node.store
      await expect(deliveries.commit(group)).rejects.toMatchObject({ code: 'StoreUnavailable' })
      return deliveries.commit({ ...group, isRepeat: true })
    }

    it('accepts, settles and starts once', async () => {
      const webhook = await node.webhook()
      const [delivery] = await node.accept(webhook, { callId: 'call' })
      const { acceptance, deliveries } = node.prepare(webhook, { callId: 'call' })
      const again = await commitTwice({
        accepted: [acceptance],
        ended: [node.settlement(delivery!, 'delivered')],
        starting: { key: 1, deliveries: deliveries.map(startOf) },
      })
      expect(again).toMatchObject({
        kind: 'committed',
        accepted: [{ events: [{ id: acceptance.events[0]!.id, sequence: 2, duplicate: false }] }],
        ended: [{ kind: 'settled' }],
        notStarted: [],
      })
      expect([
        await rows('event'),
        await rows('waiting'),
        await rows('attempt'),
        await rows('start'),
      ]).toEqual([2, 1, 1, 1])
    })

    it('writes no attempt after an erasure', async () => {
      const webhook = await node.webhook()
      const [delivery] = await node.accept(webhook, { callId: 'gone' })
      const group = node.group({ ended: [node.settlement(delivery!, 'delivered')] })
      loseNextAnswer(hooks)
      await expect(node.store.deliveries.commit(group)).rejects.toMatchObject({ code: 'StoreUnavailable' })
      const other = await open('editor')
      while ((await other.store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 10)) > 0) {}
      expect((await node.applyChanges()).removed).toEqual([keyOf(delivery!)])
      const again = await node.tryCommit({ ended: group.ended, isRepeat: true })
      expect(again).toMatchObject({ kind: 'committed', ended: [{ kind: 'fenced' }] })
      expect([await rows('event'), await rows('attempt')]).toEqual([0, 0])
    })
  })

  it('an erasure waits for a running group, and removes what it wrote', async () => {
    const webhook = await node.webhook()
    const { acceptance } = node.prepare(webhook, { callId: 'gone' })
    // The group waits for the number that this session has taken.
    const query = await transaction()
    await query(`insert into $schema.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
      values (1, 0, 0, 1, 'other', 'account', 'gone', 'channel_create')`)
    const committed = node.tryCommit({ accepted: [acceptance] })
    await waitForBlockedSessions(direct, 1, schema)
    await direct.sql(`insert into "${schema}".event (position, timestamp_ms, accepted_ms, id, account_id, call_id, hook)
      values (2, 0, 0, 'earlier', 'account', 'gone', 'channel_create')`)
    const other = await open('editor')
    const erased = other.store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 10)
    await waitForBlockedSessions(direct, 2, schema)
    await query('rollback')
    expect((await committed).kind).toBe('committed')
    await erased
    while ((await other.store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 10)) > 0) {}
    expect([await rows('event'), await rows('waiting')]).toEqual([0, 0])
    expect((await node.tryCommit({ accepted: [acceptance] })).kind).toBe('outdated')
  })

  describe('a webhook that is disabled while its shard moves', () => {
    it('is loaded as disabled by a node that takes the shard afterwards', async () => {
      const webhook = await node.webhook()
      await node.accept(webhook)
      await node.store.deliveries.release(node.owner)
      const next = await open('node-2')
      const held = holdNextCommit(hooks)
      const disabled = disable(node.store, webhook)
      await held.reached
      const owned = next.own()
      await waitForBlockedSessions(direct, 1, schema)
      held.release()
      expect(await disabled).toBe(true)
      await owned
      const { rows: waiting, webhooks } = await next.load()
      expect([waiting.length, webhooks.get(webhook.id)?.epoch]).toEqual([1, 2])
    })

    it('is a change for a node that takes the shard before', async () => {
      const webhook = await node.webhook()
      await node.accept(webhook)
      await node.store.deliveries.release(node.owner)
      const nextHooks: Hooks = {}
      const next = await open('node-2', nextHooks)
      const held = holdNextCommit(nextHooks)
      const owned = next.own()
      await held.reached
      const disabled = disable(node.store, webhook)
      await waitForBlockedSessions(direct, 1, schema)
      held.release()
      await owned
      const { webhooks } = await next.load()
      expect(await disabled).toBe(true)
      const changed = await next.applyChanges()
      const epoch = changed.webhooks[0]?.epoch ?? webhooks.get(webhook.id)?.epoch
      expect(epoch).toBe(2)
    })

    it('is disabled although nobody owns the shard', async () => {
      const webhook = await node.webhook()
      await node.store.deliveries.release(node.owner)
      expect(await disable(node.store, webhook)).toBe(true)
      expect((await node.store.deliveries.webhookOf(webhook.id))?.epoch).toBe(2)
    })
  })

  it('starts nothing of a webhook once its disabling is committed', async () => {
    const webhook = await node.webhook()
    const deliveries = await node.acceptMany(webhook, 2)
    const editor = await open('editor')
    const disabling = disable(editor.store, webhook)
    const started = node.tryCommit({ starting: { key: 1, deliveries: [startOf(deliveries[0]!)] } })
    const [result] = await Promise.all([started, disabling])
    // The start came first, or the group was outdated.
    expect(['committed', 'outdated']).toContain(result.kind)
    expect((await node.tryCommit({ starting: { key: 2, deliveries: [startOf(deliveries[1]!)] } })).kind).toBe(
      'outdated',
    )
    await node.applyChanges()
    const late = await node.tryCommit({ starting: { key: 3, deliveries: [startOf(deliveries[1]!)] } })
    expect(late).toMatchObject({ kind: 'committed', notStarted: [0] })
  })

  it('edits, settlements that disable and groups of two nodes cause no deadlock', async () => {
    const { other, own, theirs } = await pair()
    const before = await deadlocks()
    const health = (failuresInRow: number) => ({ endpoint: { epoch: 1, health: { failuresInRow } } })
    const rounds = Array.from({ length: 15 }, (_, index) => index)
    /** Edits follow each other so fast that a group may be outdated many times. */
    const commitThroughEdits = async (one: QueueNode, parts: Partial<Group>) => {
      while ((await one.tryCommit(parts)).kind === 'outdated') await one.applyChanges()
    }
    const work = async (one: QueueNode, webhooks: readonly Webhook[]) => {
      for (const round of rounds) {
        const { acceptance, deliveries } = one.prepare(webhooks[0]!)
        await commitThroughEdits(one, { accepted: [acceptance] })
        const ended = [one.settlement(deliveries[0]!, 'exhausted', health(round))]
        await commitThroughEdits(one, { accepted: [one.prepare(webhooks).acceptance], ended })
      }
    }
    const edit = async (webhook: Webhook) => {
      for (const round of rounds) {
        const revision = round + 2
        const next = { ...webhook, settings: { ...webhook.settings, name: `Name ${round}` }, revision }
        expect(await node.store.webhooks.replace(next, revision - 1)).toBe(true)
      }
    }
    await Promise.all([work(node, [own, theirs]), work(other, [theirs, own]), edit(own), edit(theirs)])
    expect(await deadlocks()).toBe(before)
    expect(await rows('attempt')).toBe(2 * rounds.length)
  })

  it('groups of two nodes with the same calls and keys cause no deadlock, and number each call without gaps', async () => {
    const { other } = await pair()
    const before = await deadlocks()
    const calls = Array.from({ length: 8 }, (_, index) => `call-${index}`)
    const work = async (one: QueueNode, order: readonly string[]) => {
      const numbers: string[] = []
      for (let round = 0; round < 10; round += 1) {
        const events = order.map((callId) =>
          newEvent({
            callId,
            idempotency: { key: `${callId}-${round}`, bodyHash: 'hash', untilMs: clock.now() + 9_000 },
          }),
        )
        const { accepted } = await one.commit({ accepted: events.map((event) => acceptanceOf(event)) })
        for (const [index, result] of accepted.entries()) {
          if (result.kind !== 'accepted') throw result.error
          if (!result.events[0]!.duplicate) numbers.push(`${order[index]} ${result.events[0]!.sequence}`)
        }
      }
      return numbers
    }
    const found = (await Promise.all([work(node, calls), work(other, calls.toReversed())])).flat()
    const expected = calls.flatMap((call) => Array.from({ length: 10 }, (_, index) => `${call} ${index + 1}`))
    expect(found.sort()).toEqual(expected.sort())
    expect(await deadlocks()).toBe(before)
  })

  it('a group of many keys is accepted while another node accepts the same keys one by one', async () => {
    const { other } = await pair()
    const events = Array.from({ length: 600 }, (_, index) =>
      newEvent({ idempotency: { key: `key-${index}`, bodyHash: 'hash', untilMs: clock.now() + 60_000 } }),
    )
    const again = (index: number) => acceptanceOf({ ...newEvent(), idempotency: events[index]!.idempotency! })
    const oneByOne = async () => {
      for (let index = 0; index < events.length; index++) await other.commit({ accepted: [again(index)] })
    }
    const [{ accepted }] = await Promise.all([
      node.commit({ accepted: events.map((event) => acceptanceOf(event)) }),
      oneByOne(),
    ])
    expect(accepted.map(({ kind }) => kind)).toEqual(events.map(() => 'accepted'))
  })

  it('a nudge of a transaction that was running at the last poll is found by the next', async () => {
    const { other, theirs } = await pair()
    const { deliveries } = node.prepare(theirs)
    const [late] = deliveries
    const [{ key }] = (await direct.sql(`select key from "${schema}".webhook where id = $1`, [
      theirs.id,
    ])) as [{ key: number }]
    const query = await transaction()
    await query(
      `insert into $schema.event (position, timestamp_ms, accepted_ms, id, account_id, hook, body)
        values ($1, 0, 0, 'late', 'account', 'channel_create', '{}')`,
      [late!.position],
    )
    await query(
      `insert into $schema.waiting (position, event, lane, accepted_ms, webhook_key, sequence, epoch, variant, form, id)
        values ($1, $1, 0, 0, $2, 0, 1, 0, 0, '!late')`,
      [late!.position, key],
    )
    await query(`insert into $schema.nudge (position, webhook_key, shard) values ($1, $2, $3)`, [
      late!.position,
      key,
      shardOf(theirs.id),
    ])
    const [early] = await node.accept(theirs)
    expect((await other.poll()).rows.map(keyOf)).toEqual([keyOf(early!)])
    await query('commit')
    expect((await other.poll()).rows.map(keyOf)).toEqual([keyOf(late!)])
    expect((await other.poll()).rows).toEqual([])
  })

  it('a former owner takes no nudges of the next', async () => {
    const webhook = await node.webhook()
    clock.advance(LEASE_MS)
    const next = await open('node-2')
    await next.own()
    await next.load()
    const publisher = await open('node-3')
    const { acceptance, deliveries } = publisher.prepare(webhook)
    await publisher.store.deliveries.commit({
      ...publisher.group({ accepted: [acceptance] }),
      lease: undefined,
    })
    expect(await node.store.deliveries.poll(node.lease)).toBeUndefined()
    expect((await next.poll()).rows.map(keyOf)).toEqual(deliveries.map(keyOf))
  })

  it('a node that may have missed nudges loads its shards again', async () => {
    const webhook = await node.webhook()
    const publisher = await open('node-2')
    const { acceptance, deliveries } = publisher.prepare(webhook)
    await publisher.store.deliveries.commit({
      ...publisher.group({ accepted: [acceptance] }),
      lease: undefined,
    })
    hooks.after = (text) => {
      if (!text.includes('as "pendingElsewhere"')) return
      delete hooks.after
      throw new Error('Connection terminated unexpectedly')
    }
    await expect(node.store.deliveries.poll(node.lease)).rejects.toMatchObject({ code: 'StoreUnavailable' })
    const polled = await node.poll()
    expect(polled.version).toBeGreaterThan(node.version)
    expect((await node.applyChanges()).mustReload).toBe(true)
    expect(node.loaded.rows.map(keyOf)).toEqual(deliveries.map(keyOf))
  })

  it('a node finds nudges of a server that gives the numbers of lost transactions again', async () => {
    const future = await open('node-2', hooks)
    await node.store.deliveries.release(node.owner)
    hooks.rewrite = (query) =>
      query.name?.startsWith('queue_poll_')
        ? {
            ...query,
            name: 'future',
            text: query.text.replace('pg_snapshot_xmin(pg_current_snapshot())', "'999999999'"),
          }
        : query
    await future.own()
    await future.load()
    await future.poll()
    hooks.rewrite = toNewServer
    await future.endConnections()
    // The first call on another server fails, and those on connections that are lost.
    await expect
      .poll(() => future.tryCommit({ finished: [1] }).then(({ kind }) => kind, errorCode))
      .toBe('outdated')
    expect((await future.applyChanges()).mustReload).toBe(true)
    const webhook = await future.webhook()
    const publisher = await open('node-3')
    const { acceptance, deliveries } = publisher.prepare(webhook)
    await publisher.store.deliveries.commit({
      ...publisher.group({ accepted: [acceptance] }),
      lease: undefined,
    })
    expect((await future.poll()).rows.map(keyOf)).toEqual(deliveries.map(keyOf))
  })

  it('a group that waits for a connection when another call meets a new server is not written there', async () => {
    const webhook = await node.webhook()
    const [waiting] = await node.acceptMany(webhook, 1)
    /** Connections that wait to learn which server they lead to. */
    const held: (() => void)[] = []
    hooks.before = (text) => {
      if (!text.includes('pg_walfile_name')) return
      const { passed, open: letPass } = gate()
      held.push(letPass)
      return passed
    }
    await node.endConnections()
    const { acceptance } = node.prepare(webhook)
    const heldBefore = held.length
    const group = { accepted: [acceptance], starting: { key: 1, deliveries: [startOf(waiting!)] } }
    const isRefused = node.tryCommit(group).then(({ kind }) => kind, isNotWritten)
    await expect.poll(() => held.length).toBeGreaterThan(heldBefore)
    const heldWithGroup = held.length
    const another = node.store.accounts.byRealm('realm').then(() => 'answered', errorCode)
    await expect.poll(() => held.length).toBeGreaterThan(heldWithGroup)
    hooks.rewrite = toNewServer
    delete hooks.before
    const ofGroup = held.splice(heldBefore, heldWithGroup - heldBefore)
    for (const letPass of held) letPass()
    expect(await another).toBe('StoreUnavailable')
    for (const letPass of ofGroup) letPass()
    expect(await isRefused).toBe(true)
    expect([await rows('event'), await rows('start')]).toEqual([1, 0])
    expect((await node.tryCommit({ accepted: [acceptance] })).kind).toBe('outdated')
    expect((await node.applyChanges()).mustReload).toBe(true)
    expect((await node.commit({ accepted: [acceptance] })).accepted[0]!.kind).toBe('accepted')
  })

  it('a group that is repeated on a new server is not written before the shards are loaded from there', async () => {
    const webhook = await node.webhook()
    const { acceptance } = node.prepare(webhook)
    hooks.before = (text) => {
      if (!isGroup(text)) return
      delete hooks.before
      throw new Error('Connection terminated unexpectedly')
    }
    const group = node.group({ accepted: [acceptance] })
    const commit = async (given: Group) =>
      Promise.resolve(node.store.deliveries.commit(given)).then(({ kind }) => kind, errorCode)
    expect(await commit(group)).toBe('StoreUnavailable')
    hooks.rewrite = toNewServer
    await node.endConnections()
    await expect.poll(() => commit({ ...group, isRepeat: true })).toBe('outdated')
    expect(await rows('event')).toBe(0)
    expect((await node.applyChanges()).mustReload).toBe(true)
    expect((await node.tryCommit({ accepted: [acceptance] })).kind).toBe('committed')
  })

  it('a group that is repeated while the server still commits it finds what it has ended', async () => {
    const webhook = await node.webhook()
    const [delivered, failed] = await node.acceptMany(webhook, 2)
    const group = node.group({
      ended: [node.settlement(delivered!, 'delivered'), node.settlement(failed!, 'waiting')],
      isRepeat: true,
    })
    const held = holdNextCommit(hooks)
    const first = node.store.deliveries.commit(group)
    await held.reached
    const again = await open(node.owner)
    const repeated = again.store.deliveries.commit(group)
    await waitForBlockedSessions(direct, 1, schema)
    held.release()
    const settled = { kind: 'committed', ended: [{ kind: 'settled' }, { kind: 'settled' }] }
    expect([await first, await repeated]).toMatchObject([settled, settled])
    expect([await rows('attempt'), await rows('waiting')]).toEqual([2, 1])
  })

  describe.each([
    ['of a node', true],
    ['without a lease', false],
  ])('a group %s that is repeated while its first run is under way', (_, hasLease) => {
    it('finds what that accepts', async () => {
      const webhook = await node.webhook()
      const { acceptance } = node.prepare(webhook, { callId: 'call' })
      const made = node.group({ accepted: [acceptance] })
      const group = hasLease ? made : { ...made, lease: undefined }
      // The first run waits for the number that this session has taken.
      const query = await transaction()
      await query(`insert into $schema.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
        values (1, 0, 0, 1, 'other', 'account', 'call', 'channel_create')`)
      const first = Promise.resolve(node.store.deliveries.commit(group))
      await waitForBlockedSessions(direct, 1, schema)
      const repeatHooks: Hooks = {}
      const again = await open(node.owner, repeatHooks)
      const [reached, passed] = [gate(), gate()]
      repeatHooks.before = (_text, { name }) => {
        if (!name?.startsWith('commit_taken_')) return
        delete repeatHooks.before
        reached.open()
        return passed.passed
      }
      const repeated = Promise.resolve(again.store.deliveries.commit({ ...group, isRepeat: true }))
      // Either it waits for the first run, or it has read the events before that is committed.
      await Promise.race([reached.passed, waitForBlockedSessions(direct, 2, schema)])
      await query('rollback')
      expect((await first).kind).toBe('committed')
      passed.open()
      expect(await repeated).toMatchObject({ accepted: [{ kind: 'accepted', events: [{ sequence: 1 }] }] })
      expect([await rows('event'), await rows('waiting')]).toEqual([1, 1])
    })
  })

  it('a number that could not be committed, and that another node then gave, is a gap', async () => {
    const { other, own } = await pair()
    const numberOf = async (one: QueueNode) => {
      const { acceptance } = one.prepare(own, { callId: 'call' })
      const [result] = (await one.commit({ accepted: [acceptance] })).accepted
      return result?.kind === 'accepted' ? result.events[0]!.sequence : undefined
    }
    expect([await numberOf(node), await numberOf(other)]).toEqual([1, 2])
    await node.poll()
    // On the slow path, since another node has given a number. The connection is lost before COMMIT arrives.
    const group = node.group({ accepted: [node.prepare(own, { callId: 'call' }).acceptance] })
    hooks.before = (text) => {
      if (text !== 'COMMIT') return
      delete hooks.before
      throw new Error('Connection terminated unexpectedly')
    }
    await expect(node.store.deliveries.commit(group)).rejects.toMatchObject({ code: 'StoreUnavailable' })
    expect(await rows('event')).toBe(2)
    expect(await numberOf(other)).toBe(3)
    expect(await node.store.deliveries.commit({ ...group, isRepeat: true })).toMatchObject({
      accepted: [{ events: [{ sequence: 4 }], mayHaveGap: true }],
    })
  })

  it('an event at a position of another one is refused alone, so that its node gives it another position', async () => {
    const [one, two] = [await node.webhook(), await node.webhook()]
    await node.commit({ accepted: [acceptanceAt(5_000_000, newEvent(), [one])] })
    const group = node.group({
      accepted: [
        acceptanceAt(5_000_000, newEvent(), [two]),
        acceptanceAt(5_000_000, newEvent(), []),
        node.prepare(one).acceptance,
      ],
    })
    const collision = { kind: 'refused', error: { code: 'Conflict', field: 'id' } }
    expect(await node.store.deliveries.commit({ ...group, lease: undefined })).toMatchObject({
      accepted: [collision, collision, { kind: 'accepted' }],
    })
  })

  it('an inbox entry whose removal had no answer is removed, also for the repeat', async () => {
    const query = await transaction()
    const id = freshId('event')
    await node.store.inbox!.put(sessions.at(-1)!, { id, accountId: 'account', event: '{}' })
    await query('commit')
    const group = node.group({ accepted: [acceptanceOf([], [], [id])] })
    loseNextAnswer(hooks)
    await expect(node.store.deliveries.commit(group)).rejects.toMatchObject({ code: 'StoreUnavailable' })
    expect(await rows('inbox')).toBe(0)
    expect(await node.store.deliveries.commit({ ...group, isRepeat: true })).toMatchObject({
      accepted: [{ kind: 'accepted', events: [] }],
    })
  })

  it('of two users that are created with one id at the same time, one is refused', async () => {
    const account = newAccount()
    await node.store.accounts.insert(account, newApiKey(account.id), [])
    const other = await open('node-2')
    const held = holdNextCommit(hooks)
    const create = ({ store }: QueueNode, username: string) =>
      store.accounts
        .putUser(newUser(account.id, { id: 'same', username }), { isNew: true })
        .then(() => 'created', errorCode)
    const first = create(node, 'first')
    await held.reached
    const second = create(other, 'second')
    await waitForBlockedSessions(direct, 1, schema)
    held.release()
    expect([await first, await second]).toEqual(['created', 'Conflict'])
    expect((await node.store.accounts.users(account.id)).map(({ username }) => username)).toEqual(['first'])
  })

  it('an acceptance for a webhook that is being removed is refused or keeps it', async () => {
    const { other, theirs } = await pair()
    const query = await transaction()
    await query('delete from $schema.webhook where id = $1', [theirs.id])
    const { acceptance } = node.prepare(theirs)
    const committed = node.commit({ accepted: [acceptance] })
    await waitForBlockedSessions(direct, 1, schema)
    await query('commit')
    const [result] = (await committed).accepted
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'NotFound' } })
    expect([await rows('event'), await rows('waiting')]).toEqual([0, 0])
    await other.poll()
  })

  it('takes no shard for a group that is under way: the next owner loads what it wrote', async () => {
    const webhook = await node.webhook()
    const { acceptance, deliveries } = node.prepare(webhook, { callId: 'call' })
    const query = await transaction()
    await query(`insert into $schema.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
      values (1, 0, 0, 1, 'other', 'account', 'call', 'channel_create')`)
    const committed = node.tryCommit({ accepted: [acceptance] })
    await waitForBlockedSessions(direct, 1, schema)
    clock.advance(LEASE_MS)
    const next = await open('node-2')
    const owned = next.own()
    await waitForBlockedSessions(direct, 2, schema)
    await query('rollback')
    expect((await committed).kind).toBe('committed')
    await owned
    expect((await next.load()).rows.map(keyOf)).toEqual(deliveries.map(keyOf))
    expect((await node.tryCommit({ finished: [1] })).kind).toBe('fenced')
  })

  it('stores starts of any number in rows that fit a page', async () => {
    const webhook = await node.webhook()
    const deliveries = await node.acceptMany(webhook, 1_100)
    await node.start(...deliveries)
    clock.advance(LEASE_MS)
    const next = await open('node-2')
    await next.own()
    expect((await next.load()).interrupted).toHaveLength(1_100)
    const [{ bytes }] = (await direct.sql(
      `select max(pg_column_size(s.*))::int as bytes from "${schema}".start s`,
    )) as [{ bytes: number }]
    expect(bytes).toBeLessThan(2_000)
  })

  it('starts of two leases of one node do not replace each other', async () => {
    const webhook = await node.webhook()
    const [one, two] = await node.acceptMany(webhook, 2)
    await node.start(one!)
    clock.advance(LEASE_MS)
    const again = await open('node-1')
    await again.own()
    await again.load()
    await again.start(two!)
    clock.advance(LEASE_MS)
    const next = await open('node-2')
    await next.own()
    expect((await next.load()).interrupted.map(keyOf).sort(byPosition)).toEqual([one!, two!].map(keyOf))
  })

  it('positions of several nodes never collide', async () => {
    const { other } = await pair()
    expect(node.lease.node).not.toBe(other.lease.node)
    const made = [node, other].map(({ lease }) => createPositions(lease.node).next(clock.now()))
    expect(new Set(made).size).toBe(2)
  })

  it('lanes are in order of numbers where the clocks of nodes differ', async () => {
    const webhook = await node.webhook()
    const [late, early] = [newEvent({ callId: 'call' }), newEvent({ callId: 'call' })]
    const positions = createPositions(node.lease.node)
    early.position = positions.next(clock.now() - 5_000)
    late.position = positions.next(clock.now())
    for (const event of [late, early]) {
      const delivery = { ...newDelivery(webhook, event), position: event.position! }
      const group = node.group({})
      const { deliveries } = node.store
      await deliveries.commit({ ...group, accepted: [acceptanceOf(event, [delivery])] })
    }
    const { rows: loaded } = await node.load()
    expect(loaded.map(({ sequence, position }) => [sequence, position])).toEqual([
      [1, late.position],
      [2, early.position],
    ])
  })

  it('blames an acceptance that cannot be stored, and no other', async () => {
    const webhook = await node.webhook()
    const good = node.prepare(webhook)
    const bad = newEvent({ callId: 'a\0b' })
    const { accepted } = await node.commit({ accepted: [acceptanceOf(bad), good.acceptance] })
    expect(accepted.map(({ kind }) => kind)).toEqual(['refused', 'accepted'])
    const [refused] = accepted
    expect(refused?.kind === 'refused' && errorCode(refused.error)).toBe('InvalidInput')
  })

  it('takes one statement for a group of accepted, ended and started deliveries', async () => {
    const webhook = await node.webhook()
    const ended = await node.acceptMany(webhook, 3)
    const { acceptance, deliveries } = node.prepare(webhook)
    const texts: string[] = []
    hooks.before = (text) => void texts.push(text)
    await node.commit({
      accepted: [acceptance],
      ended: ended.map((one) => node.settlement(one, 'delivered')),
      starting: { key: 1, deliveries: deliveries.map(startOf) },
    })
    delete hooks.before
    expect(texts.filter((text) => !text.includes('hasWork')).map(isGroup)).toEqual([true])
  })
})

const byPosition = (a: { readonly position: number }, b: { readonly position: number }) =>
  a.position - b.position
