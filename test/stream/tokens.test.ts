import { memoryStore } from 'hookswitch'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Instance, startInstance } from './harness.js'

/** Reads a stream over HTTP with the token of an account. */
async function request(instance: Instance, account: string, path: string, token?: string) {
  const { hs, clock } = instance
  const used = token ?? (await hs.auth.signIn({ apiKey: account.padEnd(64, 'k') })).token
  const response = await hs.handle({
    method: 'GET',
    url: `/v2/accounts/${path}`,
    headers: { 'x-auth-token': used },
  })
  let text = ''
  let isDone = false
  onTestFinished(() => response.stream?.close())
  void (async () => {
    const { stream } = response
    for (let part = await stream?.next(); part !== undefined; part = await stream?.next()) text += part
    isDone = true
  })()
  await clock.settle()
  return {
    token: used,
    response,
    get text() {
      return text
    },
    get isDone() {
      return isDone
    },
  }
}

const END = 'event: end\ndata: {"reason":"token"}\n\n'

describe('the token of a stream', () => {
  it.each([
    ['is signed out', ({ hs }: Instance, token: string) => hs.auth.signOut(token)],
    ['loses its key', ({ hs }: Instance) => hs.accounts.rotateApiKey('top')],
    [
      'belongs to an account that is disabled',
      ({ hs }: Instance) => hs.accounts.update('top', { enabled: false }),
    ],
  ])('%s: its streams end at once, others go on', async (how, revoke) => {
    const instance = await startInstance()
    const [own, below, other] = [
      await request(instance, 'top', 'top/stream'),
      await request(instance, 'top', 'left/stream'),
      await request(instance, 'other', 'other/stream'),
    ]
    const sameToken = await request(instance, 'top', 'left/stream', own.token)
    await revoke(instance, own.token)
    await instance.clock.settle()
    for (const stream of [own, sameToken]) {
      expect(stream.text).toContain(END)
      expect(stream.isDone).toBe(true)
    }
    expect(other.isDone).toBe(false)
    // Another token of the account is only affected by what happens to its key or account.
    expect(below.isDone).toBe(how !== 'is signed out')
  })

  it('that expires ends its streams within thirty seconds', async () => {
    const instance = await startInstance({ tokenTtlSeconds: 100 })
    const stream = await request(instance, 'top', 'top/stream')
    await instance.clock.advance(99_000)
    expect(stream.isDone).toBe(false)
    await instance.clock.advance(31_000)
    expect(stream.text).toContain(END)
    expect(stream.isDone).toBe(true)
  })

  it('of an account above: the stream ends when the account is moved away, and nothing is sent before', async () => {
    const instance = await startInstance()
    await instance.webhook('left')
    const stream = await request(instance, 'top', 'left/stream?types=attempt')
    await instance.hs.accounts.update('left', { parentId: 'other' })
    await instance.publish(1, 'left')
    await instance.clock.advance(1_000)
    expect(stream.text).not.toContain('event: attempt')
    await instance.clock.advance(31_000)
    expect(stream.text).toContain(END)
  })

  it('has at most ten streams', async () => {
    const instance = await startInstance()
    const first = await request(instance, 'top', 'top/stream')
    for (let n = 0; n < 9; n += 1) await request(instance, 'top', 'top/stream', first.token)
    const { response } = await request(instance, 'top', 'top/stream', first.token)
    expect(response).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
    expect(response).not.toHaveProperty('stream')
    const another = await request(instance, 'top', 'top/stream')
    expect(another.response.status).toBe(200)
    first.response.stream!.close()
    const again = await request(instance, 'top', 'top/stream', first.token)
    expect(again.response.status).toBe(200)
  })

  it('is not ended while the store is out', async () => {
    const store = memoryStore()
    let isOut = false
    const failing = {
      ...store,
      tokens: {
        ...store.tokens,
        read: (hash: string) => (isOut ? Promise.reject(new Error('out')) : store.tokens.read(hash)),
      },
    }
    const second = await startInstance({ store: failing })
    const stream = await request(second, 'top', 'top/stream')
    isOut = true
    await second.clock.advance(60_000)
    expect(stream.isDone).toBe(false)
    isOut = false
    await second.hs.auth.signOut(stream.token)
    await second.clock.settle()
    expect(stream.isDone).toBe(true)
  })

  it('is told that the connection lives, every fifteen seconds', async () => {
    const instance = await startInstance()
    const stream = await request(instance, 'top', 'top/stream')
    await instance.clock.advance(46_000)
    expect(stream.text).toBe('retry: 2000\n\n:\n\n:\n\n:\n\n')
  })
})
