import * as kit from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { fetchText, listen, startReceiver, startWithSteps } from './receiver-client.js'

describe('steps with a valid response', () => {
  it('send status, headers and body', async () => {
    const receiver = await startWithSteps(
      kit.status(201, { headers: { 'X-Made': 'yes' }, body: '{"name":"Zoë"}' }),
    )
    expect(await fetchText(receiver.url())).toMatchObject({
      status: 201,
      headers: { 'x-made': 'yes' },
      body: '{"name":"Zoë"}',
    })
  })

  it('send any status with three digits, and no Content-Length where it is not allowed', async () => {
    const first = async (code: number) => {
      const receiver = await startWithSteps(kit.status(code))
      const received = listen(receiver)
      await kit.until(() => received.text.endsWith('\r\n\r\n'))
      received.socket.destroy()
      return received.text
    }
    expect(await first(99)).toMatch(/^HTTP\/1\.1 099 /)
    expect(await first(600)).toMatch(/^HTTP\/1\.1 600 .*content-length: 0/s)
    expect(await first(204)).not.toContain('content-length')
  })

  it('send no body for HEAD', async () => {
    const receiver = await startWithSteps(kit.status(200, { body: 'hidden' }))
    const received = listen(receiver, 'HEAD')
    await kit.until(() => received.text.endsWith('\r\n\r\n'))
    received.socket.write('HEAD /2 HTTP/1.1\r\n\r\n')
    await kit.until(() => received.text.match(/200/g)?.length === 2)
    expect(received.text).not.toContain('hidden')
    expect(received.text).toContain('content-length: 6')
    received.socket.destroy()
  })

  it.each([
    [kit.status(202, { delayMs: 1_000 }), 202],
    [kit.delay(1_000), 200],
    [kit.delay(1_000, kit.status(404)), 404],
  ])('wait for the given delay: %o', async (step, code) => {
    const clock = kit.manualClock()
    const receiver = await startReceiver({ clock, script: [step] })
    let isAnswered = false
    const response = fetchText(receiver.url()).finally(() => {
      isAnswered = true
    })
    await receiver.next()
    await clock.advance(999)
    expect([isAnswered, clock.sleepers().count]).toEqual([false, 1])
    await clock.advance(1)
    expect((await response).status).toBe(code)
  })

  it('stop waiting when the client disconnects', async () => {
    const clock = kit.manualClock()
    const receiver = await startReceiver({ clock, script: [kit.delay(60_000)] })
    const received = listen(receiver)
    await receiver.next()
    await kit.until(() => clock.sleepers().count === 1)
    received.socket.destroy()
    await kit.until(() => clock.sleepers().count === 0)
  })

  it('retryAfter sends seconds, a date, or any text', async () => {
    const receiver = await startWithSteps(
      kit.retryAfter(120),
      kit.retryAfter(new Date(Date.UTC(2026, 0, 2, 3, 4, 5)), 429),
      kit.retryAfter('-1e3'),
    )
    const received = [
      await fetchText(receiver.url()),
      await fetchText(receiver.url()),
      await fetchText(receiver.url()),
    ]
    expect(received.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
      [503, '120'],
      [429, 'Fri, 02 Jan 2026 03:04:05 GMT'],
      [503, '-1e3'],
    ])
  })

  it('redirect sends a location', async () => {
    const receiver = await startWithSteps(kit.redirect('http://10.0.0.1/'), kit.redirect('/next', 308))
    expect(await fetchText(receiver.url())).toMatchObject({
      status: 302,
      headers: { location: 'http://10.0.0.1/' },
    })
    expect(await fetchText(receiver.url())).toMatchObject({ status: 308, headers: { location: '/next' } })
  })
})

describe('gate', () => {
  it('holds requests until it is released, then passes all', async () => {
    const held = kit.gate(kit.status(202))
    const receiver = await startWithSteps(held)
    const responses = [fetchText(receiver.url()), fetchText(receiver.url())]
    await kit.until(() => held.waiting === 2)
    held.release()
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([202, 202])
    expect((await fetchText(receiver.url())).status).toBe(202)
    expect(held.waiting).toBe(0)
  })

  it('releases a number of requests in the order of arrival, and keeps the rest for later requests', async () => {
    const held = kit.gate()
    const receiver = await startWithSteps(held)
    const order: number[] = []
    for (const number of [1, 2, 3]) {
      void fetchText(receiver.url()).then(() => order.push(number))
      await receiver.next()
    }
    await kit.until(() => held.waiting === 3)
    held.release(2)
    await kit.until(() => order.length === 2)
    expect([...order].sort(), 'the first two').toEqual([1, 2])
    expect(held.waiting).toBe(1)
    held.release(2)
    await fetchText(receiver.url())
    expect(held.waiting).toBe(0)
  })

  it('forgets requests whose client disconnected', async () => {
    const held = kit.gate()
    const receiver = await startWithSteps(held)
    const client = listen(receiver)
    await kit.until(() => held.waiting === 1)
    client.socket.destroy()
    await kit.until(() => held.waiting === 0)
    held.release(1)
    expect((await fetchText(receiver.url())).status).toBe(200)
  })
})
