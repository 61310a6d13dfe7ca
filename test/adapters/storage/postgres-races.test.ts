/**
 * Races between real sessions: each of them lost, repeated or brought back a delivery with a simpler statement
 * (`postgres-simpler-statements.test.ts` shows that where the simpler statement can take its place).
 */
import { errorCode } from 'hookswitch'
import { type Group, shardOf, type Webhook } from 'hookswitch/store'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPositions } from '../../../src/delivery/positions.js'
import { acceptanceAt, acceptanceOf, keyOf, startOf } from '../../../src/testkit/conformance/node.js'
import {
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
  type QueryHooks,
  type QueueNode,
} from './postgres-queue-harness.js'
import { Arena, disable } from './postgres-race.js'

const server = await postgresForTests()
afterAll(() => server?.end())

type Hooks = { -readonly [Name in keyof QueryHooks]: QueryHooks[Name] }

describe.skipIf(!server)('races in PostgreSQL', () => {
  const direct = server!
  let arena: Arena
  let hooks: Hooks
  let node: QueueNode

  beforeEach(async () => {
    hooks = {}
    arena = new Arena(direct)
    await arena.open(hooks)
    node = arena.node
  })
  afterEach(() => arena.close())

  const rows = (table: string) => arena.count(table)
  const deadlocks = async () =>
    (await direct.sql('select deadlocks from pg_stat_database where datname = current_database()'))[0]!
      .deadlocks
  /** Connections say that they lead to a server that has taken over. */
  const toNewServer: QueryHooks['rewrite'] = (query) =>
    query.text.includes('pg_walfile_name') ? { text: "select '0000000A' as timeline" } : query

  it('a renewal that is under way while shards are handed over does not make them its own again', async () => {
    const other = await arena.openNode('node-2')
    await other.own()
    const { leaving } = await node.renew()
    const query = await arena.transaction()
    await query(`select pg_advisory_xact_lock(hashtextextended('"${arena.schema}" leases', 0))`)
    const renewed = node.renew()
    await arena.blocked(1)
    const handedOver = node.store.deliveries.handOver(node.lease, leaving)
    await arena.blocked(2)
    await query('commit')
    await Promise.all([renewed, handedOver])

    await other.renew()
    await other.load()
    let webhook = await node.webhook()
    while (!other.lease.shards.includes(shardOf(webhook.id))) webhook = await node.webhook()
    await node.accept(webhook)
    expect((await other.poll()).rows).toHaveLength(1)
  })

  it('a group whose answer is lost accepts, settles and starts once', async () => {
    const webhook = await node.webhook()
    const [delivery] = await node.accept(webhook, { callId: 'call' })
    const { acceptance, deliveries } = node.prepare(webhook, { callId: 'call' })
    const group = node.group({
      accepted: [acceptance],
      ended: [node.settlement(delivery!, 'delivered')],
      starting: { key: 1, deliveries: deliveries.map(startOf) },
    })
    loseNextAnswer(hooks)
    await expect(node.store.deliveries.commit(group)).rejects.toMatchObject({ code: 'StoreUnavailable' })
    expect(await node.store.deliveries.commit({ ...group, isRepeat: true })).toMatchObject({
      kind: 'committed',
      accepted: [{ events: [{ id: acceptance.events[0]!.id, sequence: 2, duplicate: false }] }],
      ended: [{ kind: 'settled' }],
      notStarted: [],
    })
    expect([await rows('event'), await rows('waiting'), await rows('attempt'), await rows('start')]).toEqual([
      2, 1, 1, 1,
    ])
  })

  it('a webhook that is disabled right after its shard was taken is a change for the new owner', async () => {
    const webhook = await node.webhook()
    await node.accept(webhook)
    await node.store.deliveries.release(node.owner)
    const nextHooks: Hooks = {}
    const next = await arena.openNode('node-2', nextHooks)
    const held = holdNextCommit(nextHooks)
    const owned = next.own()
    await held.reached
    const disabled = disable(node.store, webhook)
    await arena.blocked(1)
    held.release()
    await owned
    const { webhooks } = await next.load()
    expect(await disabled).toBe(true)
    const changed = await next.applyChanges()
    const epoch = changed.webhooks[0]?.epoch ?? webhooks.get(webhook.id)?.epoch
    expect(epoch).toBe(2)
  })

  it('starts nothing of a webhook once its disabling is committed', async () => {
    const webhook = await node.webhook()
    const deliveries = await node.acceptMany(webhook, 2)
    const editor = await arena.openNode('editor')
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
    const { other, own, theirs } = await arena.pair()
    const before = await deadlocks()
    const health = (failuresInRow: number) => ({ endpoint: { epoch: 1, health: { failuresInRow } } })
    const rounds = Array.from({ length: 15 }, (_, index) => index)
    /** Edits follow each other so fast that a group may be outdated many times. */
    const commitThroughEdits = async (queueNode: QueueNode, parts: Partial<Group>) => {
      while ((await queueNode.tryCommit(parts)).kind === 'outdated') await queueNode.applyChanges()
    }
    const work = async (queueNode: QueueNode, webhooks: readonly Webhook[]) => {
      for (const round of rounds) {
        const { acceptance, deliveries } = queueNode.prepare(webhooks[0]!)
        await commitThroughEdits(queueNode, { accepted: [acceptance] })
        const ended = [queueNode.settlement(deliveries[0]!, 'exhausted', health(round))]
        await commitThroughEdits(queueNode, { accepted: [queueNode.prepare(webhooks).acceptance], ended })
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

  it('a group of many keys is accepted while another node accepts the same keys one by one', async () => {
    const { other } = await arena.pair()
    const events = Array.from({ length: 600 }, (_, index) =>
      newEvent({
        idempotency: { key: `key-${index}`, bodyHash: 'hash', untilMs: arena.clock.now() + 60_000 },
      }),
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

  it('a node that may have missed incoming deliveries loads its shards again', async () => {
    const webhook = await node.webhook()
    const publisher = await arena.openNode('node-2')
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

  it('a node finds incoming deliveries of a server that gives the numbers of lost transactions again', async () => {
    const future = await arena.openNode('node-2', hooks)
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
    const publisher = await arena.openNode('node-3')
    const { acceptance, deliveries } = publisher.prepare(webhook)
    await publisher.store.deliveries.commit({
      ...publisher.group({ accepted: [acceptance] }),
      lease: undefined,
    })
    expect((await future.poll()).rows.map(keyOf)).toEqual(deliveries.map(keyOf))
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
    const again = await arena.openNode(node.owner)
    const repeated = again.store.deliveries.commit(group)
    await arena.blocked(1)
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
      const query = await arena.transaction()
      await query(`insert into $schema.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
        values (1, 0, 0, 1, 'other', 'account', 'call', 'channel_create')`)
      const first = Promise.resolve(node.store.deliveries.commit(group))
      await arena.blocked(1)
      const repeatHooks: Hooks = {}
      const again = await arena.openNode(node.owner, repeatHooks)
      const [reached, passed] = [gate(), gate()]
      repeatHooks.before = (_text, { name }) => {
        if (!name?.startsWith('commit_taken_')) return
        delete repeatHooks.before
        reached.open()
        return passed.passed
      }
      const repeated = Promise.resolve(again.store.deliveries.commit({ ...group, isRepeat: true }))
      // Either it waits for the first run, or it has read the events before that is committed.
      await Promise.race([reached.passed, arena.blocked(2)])
      await query('rollback')
      expect((await first).kind).toBe('committed')
      passed.open()
      expect(await repeated).toMatchObject({ accepted: [{ kind: 'accepted', events: [{ sequence: 1 }] }] })
      expect([await rows('event'), await rows('waiting')]).toEqual([1, 1])
    })
  })

  it('a number that could not be committed, and that another node then gave, is a gap', async () => {
    const { other, own } = await arena.pair()
    const numberOf = async (queueNode: QueueNode) => {
      const { acceptance } = queueNode.prepare(own, { callId: 'call' })
      const [result] = (await queueNode.commit({ accepted: [acceptance] })).accepted
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
    const [first, second] = [await node.webhook(), await node.webhook()]
    await node.commit({ accepted: [acceptanceAt(5_000_000, newEvent(), [first])] })
    const group = node.group({
      accepted: [
        acceptanceAt(5_000_000, newEvent(), [second]),
        acceptanceAt(5_000_000, newEvent(), []),
        node.prepare(first).acceptance,
      ],
    })
    const collision = { kind: 'refused', error: { code: 'Conflict', field: 'id' } }
    expect(await node.store.deliveries.commit({ ...group, lease: undefined })).toMatchObject({
      accepted: [collision, collision, { kind: 'accepted' }],
    })
  })

  it('of two users that are created with one id at the same time, one is refused', async () => {
    const account = newAccount()
    await node.store.accounts.insert(account, newApiKey(account.id), [])
    const other = await arena.openNode('node-2')
    const held = holdNextCommit(hooks)
    const create = ({ store }: QueueNode, username: string) =>
      store.accounts
        .putUser(newUser(account.id, { id: 'same', username }), { isNew: true })
        .then(() => 'created', errorCode)
    const first = create(node, 'first')
    await held.reached
    const second = create(other, 'second')
    await arena.blocked(1)
    held.release()
    expect([await first, await second]).toEqual(['created', 'Conflict'])
    expect((await node.store.accounts.users(account.id)).map(({ username }) => username)).toEqual(['first'])
  })

  it('stores starts of any number in rows that fit a page', async () => {
    const webhook = await node.webhook()
    const deliveries = await node.acceptMany(webhook, 1_100)
    await node.start(...deliveries)
    arena.clock.advance(LEASE_MS)
    const next = await arena.openNode('node-2')
    await next.own()
    expect((await next.load()).interrupted).toHaveLength(1_100)
    const [{ bytes }] = (await direct.sql(
      `select max(pg_column_size(s.*))::int as bytes from "${arena.schema}".start s`,
    )) as [{ bytes: number }]
    expect(bytes).toBeLessThan(2_000)
  })

  it('starts of two leases of one node do not replace each other', async () => {
    const webhook = await node.webhook()
    const [first, second] = await node.acceptMany(webhook, 2)
    await node.start(first!)
    arena.clock.advance(LEASE_MS)
    const again = await arena.openNode('node-1')
    await again.own()
    await again.load()
    await again.start(second!)
    arena.clock.advance(LEASE_MS)
    const next = await arena.openNode('node-2')
    await next.own()
    expect((await next.load()).interrupted.map(keyOf).sort(byPosition)).toEqual([first!, second!].map(keyOf))
  })

  it('lanes are in order of numbers where the clocks of nodes differ', async () => {
    const webhook = await node.webhook()
    const [late, early] = [newEvent({ callId: 'call' }), newEvent({ callId: 'call' })]
    const positions = createPositions(node.lease.node)
    early.position = positions.next(arena.clock.now() - 5_000)
    late.position = positions.next(arena.clock.now())
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
      ended: ended.map((settlement) => node.settlement(settlement, 'delivered')),
      starting: { key: 1, deliveries: deliveries.map(startOf) },
    })
    delete hooks.before
    expect(texts.filter((text) => !text.includes('hasWork')).map(isGroup)).toEqual([true])
  })
})

const byPosition = (a: { readonly position: number }, b: { readonly position: number }) =>
  a.position - b.position
