import { gunzipSync } from 'node:zlib'
import * as kit from 'hookswitch/testkit'
import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { ask, listen, playing, started } from './receiver-client.js'

/** What a client has seen when the receiver ended the connection. */
async function toTheEnd(receiver: kit.ScriptedReceiver) {
  const seen = listen(receiver)
  await kit.until(() => seen.end)
  return seen
}

describe('answers that go wrong', () => {
  it('hang: nothing comes and the connection stands', async () => {
    const receiver = await playing(kit.hang())
    const seen = listen(receiver)
    await receiver.next()
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect([seen.text, seen.end, receiver.openConnections]).toEqual(['', undefined, 1])
    seen.socket.destroy()
    await kit.until(() => receiver.openConnections === 0)
  })

  it('reset before and inside an answer', async () => {
    const receiver = await playing(
      kit.reset(),
      kit.reset({ afterBytes: 12 }),
      kit.reset({ afterBytes: 5, answer: {} }),
    )
    expect(await toTheEnd(receiver)).toMatchObject({ text: '', end: 'reset' })
    for (const bytes of ['HTTP/1.1 200', 'HTTP/']) {
      const seen = await toTheEnd(receiver)
      expect(seen.end).toBe('reset')
      expect(bytes.startsWith(seen.text)).toBe(true)
    }
  })

  it('close silently', async () => {
    const receiver = await playing(kit.closeSilently())
    expect(await toTheEnd(receiver)).toMatchObject({ text: '', end: 'fin' })
    await expect(ask(receiver.url())).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
  })

  it('talk garbage', async () => {
    const receiver = await playing(kit.garbage())
    await expect(ask(receiver.url())).rejects.toMatchObject({ name: 'HTTPParserError' })
  })

  it('send raw bytes as they are, and answer what comes after them', async () => {
    const receiver = await playing(
      kit.rawBytes('HTTP/1.1 299 ', Buffer.from('X\r\ncontent-length: 2\r\n\r\nhi')),
      kit.status(200),
    )
    expect(await ask(receiver.url())).toMatchObject({ status: 299, body: 'hi' })
    expect((await ask(receiver.url())).status).toBe(200)
  })

  it('declare more body than they send', async () => {
    const receiver = await playing(kit.shortBody({ declared: 50, sent: 20 }))
    const seen = await toTheEnd(receiver)
    expect(seen.text).toContain('content-length: 50\r\n')
    expect(seen.text.split('\r\n\r\n')[1]).toBe('s'.repeat(20))
    await expect(ask(receiver.url())).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
  })

  it('drip headers and bodies byte by byte, and come to an end where told', async () => {
    const receiver = await playing(
      kit.dripHeaders({ everyMs: 1, bytes: 3 }),
      kit.dripBody({ everyMs: 1, bytes: 4 }),
    )
    expect(await ask(receiver.url())).toMatchObject({ status: 200, headers: { 'x-drip': 'ddd' } })
    expect(await ask(receiver.url())).toMatchObject({ status: 200, body: 'dddd' })
  })

  it.each([
    [kit.dripHeaders({ everyMs: 50 }), /^HTTP\/1\.1 200 OK\r\nx-drip: d{5}$/],
    [kit.dripBody({ everyMs: 50 }), /chunked\r\n\r\n(1\r\nd\r\n){5}$/],
  ])('drip without end: one byte each time that is due (%o)', async (step, expected) => {
    const clock = kit.manualClock()
    const receiver = await started({ clock, script: [step] })
    const seen = listen(receiver)
    for (let due = 50; due <= 200; due += 50) {
      await kit.until(() => clock.sleepers().nextDueMs === due)
      await clock.advance(50)
    }
    await kit.until(() => expected.test(seen.text))
    await kit.until(() => clock.sleepers().count === 1)
    seen.socket.destroy()
    await kit.until(() => clock.sleepers().count === 0)
  })

  it('send a body without end until the client goes away', async () => {
    const receiver = await playing(kit.endlessBody())
    const { body } = await request(receiver.url())
    let read = 0
    for await (const chunk of body) {
      read += (chunk as Buffer).length
      if (read > 10_000_000) break
    }
    await kit.until(() => receiver.openConnections === 0)
  })

  it('flood with interim answers, for ever or before the true one', async () => {
    const receiver = await playing(kit.flood1xx({ count: 1_000 }), kit.flood1xx({ code: 102 }))
    expect((await ask(receiver.url())).status).toBe(200)
    const seen = listen(receiver)
    await kit.until(() => seen.text.length > 100_000)
    expect(new Set(seen.text.match(/HTTP\/1\.1 \d+/g))).toEqual(new Set(['HTTP/1.1 102']))
    seen.socket.destroy()
    // The first client keeps its connection for a while.
    await kit.until(() => receiver.openConnections <= 1)
  })

  it('send few bytes that inflate to many', async () => {
    const receiver = await playing(kit.gzipBomb({ inflatedMiB: 3 }))
    const answer = await request(receiver.url())
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    expect(answer.headers['content-encoding']).toBe('gzip')
    expect(bytes.length).toBeLessThan(10_000)
    expect(gunzipSync(bytes)).toHaveLength(3 * 1_048_576)
  })

  it('answer twice to one request', async () => {
    const receiver = await playing(kit.unsolicited())
    const seen = listen(receiver)
    await kit.until(() => seen.text.endsWith('unasked'))
    expect(seen.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    seen.socket.destroy()
  })

  it('leave the receiver able to close, whatever it is doing', async () => {
    const steps = [
      kit.hang(),
      kit.gate(),
      kit.delay(60_000),
      kit.dripHeaders({ everyMs: 1 }),
      kit.dripBody({ everyMs: 1 }),
      kit.endlessBody(),
      kit.flood1xx(),
    ]
    const receiver = await playing(...steps)
    // Clients that never read: the receiver's writes stand still.
    const clients = steps.map(() => listen(receiver).socket.pause())
    await receiver.next(steps.length)
    await receiver.close()
    expect(receiver.openConnections).toBe(0)
    for (const client of clients) client.destroy()
    // The event loop turns: no step spins on its dead connection.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
