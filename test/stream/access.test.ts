/**
 * What a reader may not see any more because an account was moved away, on every path on which items reach a stream: of this
 * node and of another one, as they happen, polled, in batches, and from the log where a stream resumes.
 */
import { memoryStore } from 'hookswitch'
import type { Store } from 'hookswitch/store'
import { type ManualClock, manualClock } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addLiveItems } from '../support/live-store.js'
import { type Instance, startInstance } from './harness.js'

/** Two nodes on one store, or one node on a store of its own; reads of the log wait while `isHeld`. */
async function startNodes(isShared: boolean) {
  const clock = manualClock()
  const state = { isHeld: false }
  const original = isShared ? addLiveItems(memoryStore({ shared: true, clock }), clock) : memoryStore()
  const store: Store = {
    ...original,
    deliveries: {
      ...original.deliveries,
      async attemptLog(query) {
        if (query.limit > 1) while (state.isHeld) await clock.sleep(10)
        return original.deliveries.attemptLog(query)
      },
    },
  }
  const nodeA = await startInstance({ store }, clock)
  const nodeB = isShared ? await startInstance({ store }, clock) : nodeA
  return { nodeA, nodeB, clock, state }
}

/** Reads a stream over HTTP with the token of the account `top`. */
async function follow({ hs, clock }: Instance, path: string, lastId?: string) {
  const { token } = await hs.auth.signIn({ apiKey: 'top'.padEnd(64, 'k') })
  const { stream, status } = await hs.handle({
    method: 'GET',
    url: `/v2/accounts/${path}`,
    headers: { 'x-auth-token': token, ...(lastId !== undefined && { 'last-event-id': lastId }) },
  })
  expect(status).toBe(200)
  onTestFinished(() => stream?.close())
  const reader = { text: '' }
  void (async () => {
    for (let part = await stream?.next(); part !== undefined; part = await stream?.next()) reader.text += part
  })()
  await clock.advance(200)
  return reader
}

/** Makes an item of each kind in the account `left`, on each node. Returns a text that each of them contains, by kind and node. */
async function act({ nodeA, nodeB }: { readonly nodeA: Instance; readonly nodeB: Instance }, name: string) {
  const marks: Record<string, string> = {}
  for (const [node, which] of [
    [nodeA, 'of one'],
    [nodeB, 'of two'],
  ] as const) {
    marks[`event ${which}`] = marks[`attempt ${which}`] = `${name} ${which}`
    await node.publish(1, 'left', { callId: `${name} ${which}` })
    marks[`webhook ${which}`] = await node.webhook('left', { hook: 'parking' })
  }
  // Less than the thirty seconds after which the token is checked again.
  await nodeA.clock.advance(5_000)
  return marks
}

/**
 * On another node, if there is one: that of the reader learns of it within two seconds, and checks the token later. On a node
 * of its own the stream ends at once.
 */
async function moveAway({ nodeB, clock }: { readonly nodeB: Instance; readonly clock: ManualClock }) {
  await nodeB.hs.accounts.update('left', { parentId: 'other' })
  await clock.advance(3_000)
}

/** The kinds and nodes whose items are in the text of a stream. */
function found(text: string, marks: Readonly<Record<string, string>>): readonly string[] {
  const items = text.split('\n\n')
  return Object.keys(marks).filter((name) =>
    items.some(
      (item) => item.includes(`event: ${name.split(' ')[0]}\n`) && item.includes(`"${marks[name]}"`),
    ),
  )
}

describe.each([
  { store: 'one node', isShared: false },
  { store: 'two nodes', isShared: true },
])('an account that is moved away from $store', ({ isShared }) => {
  const TYPES = 'types=attempt,event,webhook'
  it.each([`left/stream?${TYPES}`, `top/stream?${TYPES}&descendants=true`])(
    'leaves the stream on every path at once: %s',
    async (path) => {
      const nodes = await startNodes(isShared)
      await nodes.nodeA.webhook('left')
      const reader = await follow(nodes.nodeA, path)
      const before = await act(nodes, 'before')
      expect(found(reader.text, before)).toEqual(Object.keys(before))
      await moveAway(nodes)
      const after = await act(nodes, 'after')
      expect(found(reader.text, after)).toEqual([])
    },
  )

  it.each(['left/stream?types=attempt', 'top/stream?types=attempt&descendants=true'])(
    'leaves a stream that resumes, before it has read the log: %s',
    async (path) => {
      const nodes = await startNodes(isShared)
      await nodes.nodeA.webhook('left')
      const first = await follow(nodes.nodeA, path)
      await act(nodes, 'seen')
      const lastId = /id: (.*)\n/.exec(first.text)![1]!
      const missed = await act(nodes, 'missed')
      const attempts = ['attempt of one', 'attempt of two']
      // Without the move it reads what it has missed.
      expect(found((await follow(nodes.nodeA, path, lastId)).text, missed)).toEqual(attempts)
      nodes.state.isHeld = true
      const resumed = await follow(nodes.nodeA, path, lastId)
      await moveAway(nodes)
      nodes.state.isHeld = false
      await nodes.clock.advance(5_000)
      expect(found(resumed.text, missed)).toEqual([])
    },
  )
})
