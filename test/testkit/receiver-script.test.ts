import * as kit from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { ask, listen, playing, started } from './receiver-client.js'

describe('answers in good form', () => {
  it('carry status, headers and body', async () => {
    const receiver = await playing(kit.status(201, { headers: { 'X-Made': 'yes' }, body: '{"name":"Zoë"}' }))
    expect(await ask(receiver.url())).toMatchObject({
      status: 201,
      headers: { 'x-made': 'yes' },
      body: '{"name":"Zoë"}',
    })
  })

  it('carry any status, spelled with three digits, and no length where none may be', async () => {
    const first = async (code: number) => {
      const receiver = await playing(kit.status(code))
      const seen = listen(receiver)
      await kit.until(() => seen.text.endsWith('\r\n\r\n'))
      seen.socket.destroy()
      return seen.text
    }
    expect(await first(99)).toMatch(/^HTTP\/1\.1 099 /)
    expect(await first(600)).toMatch(/^HTTP\/1\.1 600 .*content-length: 0/s)
    expect(await first(204)).not.toContain('content-length')
  })

  it('have no body for HEAD', async () => {
    const receiver = await playing(kit.status(200, { body: 'unseen' }))
    const seen = listen(receiver, 'HEAD')
    await kit.until(() => seen.text.endsWith('\r\n\r\n'))
    seen.socket.write('HEAD /2 HTTP/1.1\r\n\r\n')
    await kit.until(() => seen.text.match(/200/g)?.length === 2)
    expect(seen.text).not.toContain('unseen')
    expect(seen.text).toContain('content-length: 6')
    seen.socket.destroy()
  })

  it.each([
    [kit.status(202, { delayMs: 1_000 }), 202],
    [kit.delay(1_000), 200],
    [kit.delay(1_000, kit.status(404)), 404],
  ])('wait as long as they are told: %o', async (step, code) => {
    const clock = kit.manualClock()
    const receiver = await started({ clock, script: [step] })
    let answered = false
    const asked = ask(receiver.url()).finally(() => {
      answered = true
    })
    await receiver.next()
    await clock.advance(999)
    expect([answered, clock.sleepers().count]).toEqual([false, 1])
    await clock.advance(1)
    expect((await asked).status).toBe(code)
  })

  it('stop waiting when the client goes away', async () => {
    const clock = kit.manualClock()
    const receiver = await started({ clock, script: [kit.delay(60_000)] })
    const seen = listen(receiver)
    await receiver.next()
    await kit.until(() => clock.sleepers().count === 1)
    seen.socket.destroy()
    await kit.until(() => clock.sleepers().count === 0)
  })

  it('ask to come back later, by seconds, by date, by any text', async () => {
    const receiver = await playing(
      kit.retryAfter(120),
      kit.retryAfter(new Date(Date.UTC(2026, 0, 2, 3, 4, 5)), 429),
      kit.retryAfter('-1e3'),
    )
    const seen = [await ask(receiver.url()), await ask(receiver.url()), await ask(receiver.url())]
    expect(seen.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
      [503, '120'],
      [429, 'Fri, 02 Jan 2026 03:04:05 GMT'],
      [503, '-1e3'],
    ])
  })

  it('redirect', async () => {
    const receiver = await playing(kit.redirect('http://10.0.0.1/'), kit.redirect('/next', 308))
    expect(await ask(receiver.url())).toMatchObject({
      status: 302,
      headers: { location: 'http://10.0.0.1/' },
    })
    expect(await ask(receiver.url())).toMatchObject({ status: 308, headers: { location: '/next' } })
  })
})

describe('gate', () => {
  it('holds requests until it is released, then lets all through', async () => {
    const door = kit.gate(kit.status(202))
    const receiver = await playing(door)
    const asked = [ask(receiver.url()), ask(receiver.url())]
    await kit.until(() => door.waiting === 2)
    door.release()
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([202, 202])
    expect((await ask(receiver.url())).status).toBe(202)
    expect(door.waiting).toBe(0)
  })

  it('lets as many through as it is told, in the order of arrival, and remembers what it was told', async () => {
    const door = kit.gate()
    const receiver = await playing(door)
    const order: number[] = []
    for (const number of [1, 2, 3]) {
      void ask(receiver.url()).then(() => order.push(number))
      await receiver.next()
    }
    await kit.until(() => door.waiting === 3)
    door.release(2)
    await kit.until(() => order.length === 2)
    expect([...order].sort(), 'the first two').toEqual([1, 2])
    expect(door.waiting).toBe(1)
    door.release(2)
    await ask(receiver.url())
    expect(door.waiting).toBe(0)
  })

  it('forgets who went away', async () => {
    const door = kit.gate()
    const receiver = await playing(door)
    const gone = listen(receiver)
    await kit.until(() => door.waiting === 1)
    gone.socket.destroy()
    await kit.until(() => door.waiting === 0)
    door.release(1)
    expect((await ask(receiver.url())).status).toBe(200)
  })
})
