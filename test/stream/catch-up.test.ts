/** A stream that resumes: what it reads from the log, and what it held back meanwhile. */
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { LoggedAttempt } from '../../src/delivery/delivery-queries.js'
import { catchUp } from '../../src/stream/catch-up.js'
import { type LiveRecord, OpenStream } from '../../src/stream/open-stream.js'
import { contentOf } from '../../src/stream/subscriber.js'
import { streamAttemptJson } from '../../src/wire/stream-json.js'
import { anAccount } from '../delivery/fixtures.js'

const aRecord = (position: number, accountId = 'acc'): LoggedAttempt =>
  ({
    id: `r${position}`,
    accountId,
    webhookId: `w${position % 7}`,
    hook: 'channel_create',
    eventId: 'e',
    deliveryId: `d${position}`,
    uri: 'https://r.example/',
    method: 'post',
    attempt: 1,
    retriesLeft: 0,
    result: 'success',
    atMs: 0,
    position,
  }) as LoggedAttempt

function createHarness(records: readonly LoggedAttempt[]) {
  const clock = manualClock()
  const access = { mayRead: (_accountId: string) => true, onPage: () => {} }
  const sent: string[] = []
  const stream = new OpenStream(
    { clock, onDrop() {}, onEnd() {} },
    {
      accountId: 'acc',
      filter: { types: ['attempt'], descendants: true },
      accountIds: ['acc', 'sub'],
      callIds: undefined,
      position: 0,
      scope: 'scope',
      lastId: 'last',
    },
  )
  stream.held = []
  const read = (async () => {
    for (let taken = await stream.take(); taken !== undefined; taken = await stream.take())
      if (taken !== 'idle') sent.push((taken.data as { id: string }).id)
  })()
  const deps = {
    clock: { yield: async () => {} },
    attemptsPerWebhook: () => 1_000_000,
    lineage: async (id: string) =>
      id === 'sub' ? [anAccount('sub', 'acc'), anAccount('acc')] : [anAccount(id)],
    mayRead: (_: OpenStream, accountId: string) => access.mayRead(accountId),
    store: {
      async attemptLog({ after = 0, limit }: { readonly after?: number; readonly limit: number }) {
        access.onPage()
        const attempts = records.filter(({ position }) => position > after).slice(0, limit)
        return { attempts, position: attempts.at(-1)?.position ?? after }
      },
    },
  }
  return {
    stream,
    access,
    /** Catches up; resolves to the ids of the records that the reader gets. */
    async run(held: readonly LiveRecord[] = []) {
      // Recorded while the log is read.
      access.onPage = () => {
        for (const live of held) stream.record(live)
        access.onPage = () => {}
      }
      await catchUp(deps as unknown as Parameters<typeof catchUp>[0], stream)
      stream.close()
      await read
      return sent
    },
  }
}

const liveOf = (record: LoggedAttempt, hasPosition: boolean): LiveRecord => ({
  record,
  content: contentOf('attempt', streamAttemptJson(record, undefined)),
  ...(hasPosition && { position: record.position }),
})

const idsOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `r${from + index}`)
const records = (count: number) => Array.from({ length: count }, (_, index) => aRecord(index + 1))

describe('a stream that resumes', () => {
  it('sends the log in order, then what was held back', async () => {
    const later = aRecord(4)
    expect(await createHarness(records(3)).run([liveOf(later, true)])).toEqual(idsOf(1, 4))
  })

  it('sends nothing of an account that its reader may not see, and asks again for each part of the log', async () => {
    const log = records(1_200).map((record) => ({
      ...record,
      accountId: record.position % 2 ? 'acc' : 'sub',
    }))
    const refused = createHarness(log)
    refused.access.mayRead = (accountId) => accountId === 'acc'
    expect(await refused.run()).toEqual(idsOf(1, 1_200).filter((_, index) => index % 2 === 0))
    const lost = createHarness(log)
    const asked: string[] = []
    lost.access.mayRead = (accountId) => {
      asked.push(accountId)
      return asked.length <= 2
    }
    expect(await lost.run()).toEqual(idsOf(1, 500))
    expect(asked).toEqual(['acc', 'sub', 'acc', 'sub', 'acc', 'sub'])
  })

  it.each([true, false])(
    'sends a record once that it held back and found in the log (its position is known: %s)',
    async (hasPosition) => {
      const log = records(3)
      expect(await createHarness(log).run(log.map((record) => liveOf(record, hasPosition)))).toEqual(
        idsOf(1, 3),
      )
    },
  )

  it('sends what it held back once too where it sent more records than it remembers', async () => {
    const log = records(20_600)
    const sent = await createHarness(log).run(log.slice(-100).map((record) => liveOf(record, true)))
    expect(sent).toHaveLength(20_600)
    expect(new Set(sent).size).toBe(20_600)
  })
})
