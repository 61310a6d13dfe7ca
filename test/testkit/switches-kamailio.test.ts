import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { manualClock, scriptedReceiver, status, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type FakeKamailioOptions, fakeKamailio } from '../../src/testkit/switches/index.js'
import { connected, started } from './switches-client.js'

const recording = readFileSync(new URL('../../examples/demo/kamailio-dialogs.ndjson', import.meta.url))
const lines = recording.toString().trimEnd().split('\n')

const start = (options: Partial<FakeKamailioOptions> = {}) => started(fakeKamailio({ recording, ...options }))
const receiver = () => started(scriptedReceiver())

describe('lines as netstrings', () => {
  it('are sent to every client byte for byte, whatever the client sends', async () => {
    const fake = await start({ recording: gzipSync(recording) })
    const client = await connected(fake)
    await fake.waitFor('subscribed')
    client.send('7:garbage,'.repeat(10_000))
    await fake.play({ speed: Infinity })
    const expected = lines.map((line) => `${Buffer.byteLength(line)}:${line},`).join('')
    await until(() => client.received.length >= Buffer.byteLength(expected))
    expect(Buffer.from(client.received, 'latin1').toString() === expected).toBe(true)
  })

  it('are cut in the middle of a line by cutIn', async () => {
    const fake = await start()
    const client = await connected(fake)
    await fake.waitFor('subscribed')
    fake.cutIn(7)
    await fake.advance()
    await client.closed()
    expect(client.received).toBe(`${lines[0]?.length}:${lines[0]}`.slice(0, 7))
  })

  it('wait for a client that does not read', async () => {
    const many = Buffer.concat(Array(40).fill(recording))
    const fake = await start({ recording: many })
    const client = await connected(fake, '', false)
    await fake.waitFor('subscribed')
    const playing = fake.play({ speed: Infinity })
    await until(() => fake.position > 100)
    expect(fake.position).toBeLessThan(fake.length)
    client.socket.destroy()
    await playing
    expect(fake.position).toBe(fake.length)
  })
})

describe('lines by HTTP', () => {
  it('are posted one object per request, in order', async () => {
    const hook = await receiver()
    const fake = await start({ url: hook.url('/kamailio'), headers: { authorization: 'Bearer sesame' } })
    await fake.advance(5)
    expect(hook.requests.map(({ body }) => body)).toEqual(lines.slice(0, 5))
    expect(hook.requests[0]).toMatchObject({
      method: 'POST',
      path: '/kamailio',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sesame' },
    })
    expect(fake.answers).toEqual(Array(5).fill({ status: 200, lines: 1 }))
  })

  it('are posted in batches as NDJSON, the rest at the end of advance', async () => {
    const hook = await receiver()
    const fake = await start({ url: hook.url(), batch: 4 })
    await fake.advance(10)
    expect(hook.requests.map(({ body }) => body.split('\n').length)).toEqual([4, 4, 2])
    expect(hook.requests.flatMap(({ body }) => body.split('\n'))).toEqual(lines.slice(0, 10))
    expect(hook.requests[0]?.headers['content-type']).toBe('application/x-ndjson')
  })

  it('are posted again after 503, when Retry-After has passed, and after no other status', async () => {
    const hook = await receiver()
    const busy = status(503, { headers: { 'retry-after': '7' } })
    hook.on('/', [busy, status(503), status(204), status(400)])
    const clock = manualClock()
    const fake = await start({ url: hook.url(), clock })
    const advancing = fake.advance(2)
    await hook.next(1)
    await until(() => clock.sleepers().nextDueMs === 7_000)
    await clock.advance(7_000)
    await hook.next(1)
    await until(() => clock.sleepers().nextDueMs === 8_000)
    await clock.advance(1_000)
    await advancing
    expect(fake.answers.map((answer) => answer.status)).toEqual([503, 503, 204, 400])
    expect(hook.requests.map(({ body }) => body)).toEqual([lines[0], lines[0], lines[0], lines[1]])
  })

  it('are lost without a response, during a silence, and when the request is cut', async () => {
    const hook = await receiver()
    const fake = await start({ url: hook.url() })
    fake.cutIn(20)
    await fake.advance(2)
    await hook.next(1)
    expect(fake.answers.map((answer) => answer.status)).toEqual([undefined, 200])
    fake.silence()
    await fake.advance()
    fake.speak()
    await fake.advance()
    expect(hook.requests.map(({ body }) => body)).toEqual([lines[1], lines[3]])
    await hook.close()
    await fake.advance()
    expect(fake.answers.at(-1)).toEqual({ status: undefined, lines: 1 })
  })

  it('are no longer retried after close', async () => {
    const hook = await receiver()
    hook.on('/', [status(503)])
    const clock = manualClock()
    const fake = await start({ url: hook.url(), clock })
    const advancing = fake.advance()
    await hook.next(1)
    await until(() => clock.sleepers().count > 0)
    await fake.close()
    await advancing
  })
})

it.each([
  [{ recording: Buffer.from('garbage') }, /recording holds no lines of a Kamailio/],
  [{ url: 'somewhere' }, /url must be a URL/],
  [{ batch: 0 }, /batch must be a whole number/],
  [{ headers: { a: 1 } }, /headers must be strings/],
])('%o is rejected by name', (options, message) => {
  expect(() => fakeKamailio({ recording, ...options } as never)).toThrow(message)
})
