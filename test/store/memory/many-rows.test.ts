/** Reads of the memory store over many rows: the same results as over few, without work that grows faster than they do. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createTwoPhaseSender } from '../../delivery/two-phase-sender.js'

async function started(webhooks: number) {
  const sender = createTwoPhaseSender()
  const hs = createHookswitch({ store: memoryStore(), clock: manualClock(), allowLocal: true, sender })
  onTestFinished(() => hs.close({ drainMs: 0 }))
  onTestFinished(() => sender.cancelAll())
  await hs.start()
  await hs.accounts.create({ id: 'a', name: 'A', realm: 'a.example' })
  for (let n = 0; n < webhooks; n++)
    await hs.webhooks.create('a', { name: `${n}`, uri: 'http://127.0.0.1:9/', hook: 'all' })
  return hs
}

const publish = (hs: Awaited<ReturnType<typeof started>>, callId: string, fields: object = {}) =>
  hs.publish({ hook: 'channel_bridge', accountId: 'a', callId, ...fields })

async function searchAll(hs: Awaited<ReturnType<typeof started>>, limit: number) {
  const pages: string[][] = []
  let cursor: number | undefined
  do {
    const found = await hs.operator.search({ accountId: 'a', limit, ...(cursor !== undefined && { cursor }) })
    pages.push(found.deliveries.map(({ id }) => id))
    cursor = found.cursor
  } while (cursor !== undefined)
  return pages
}

it('a search pages through thousands of deliveries, newest first, each once', async () => {
  const hs = await started(1)
  for (let n = 0; n < 2_500; n++) await publish(hs, `call ${n}`)
  const pages = await searchAll(hs, 700)
  expect(pages.map(({ length }) => length)).toEqual([700, 700, 700, 400])
  const [webhook] = await hs.webhooks.list('a')
  const newest = (await hs.webhooks.deliveries('a', webhook!.id, { limit: 1_000 })).map(({ id }) => id)
  expect(pages.flat().slice(0, 1_000)).toEqual(newest)
  expect(new Set(pages.flat()).size).toBe(2_500)
})

it('a search keeps the deliveries of one event on one page, however many they are', async () => {
  const hs = await started(1_300)
  await publish(hs, 'first')
  await publish(hs, 'second')
  expect((await searchAll(hs, 10)).map(({ length }) => length)).toEqual([1_300, 1_300])
})

it('a call has each of its legs once, and is forgotten with all of them', async () => {
  const hs = await started(1)
  const legs = Array.from({ length: 300 }, (_, n) => `leg ${n}`)
  for (let round = 0; round < 2; round++)
    for (const leg of legs) await publish(hs, 'call', { otherLegCallId: leg })
  const history = await hs.webhooks.call('a', 'call')
  expect(history.legs.map(({ callId }) => callId)).toEqual(['call', ...legs])
  const { callIds } = await hs.erase({ accountId: 'a', callId: 'call' })
  expect(callIds).toHaveLength(301)
  await expect(hs.webhooks.call('a', 'leg 7')).rejects.toMatchObject({ code: 'NotFound' })
})
